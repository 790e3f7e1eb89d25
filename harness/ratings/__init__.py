"""Ratings that mean something: TrueSkill, `ahead` with intervals over deals, who is told apart, several games."""

from harness.ratings.alpha_rank import AlphaShare
from harness.ratings.intervals import LEVEL, Interval
from harness.ratings.leaderboard import Leaderboard, Standing, in_order, leaderboard, leaderboards
from harness.ratings.overall import Overall, OverallLine, overall
from harness.ratings.rating_set import RatingSet, rate_records
from harness.ratings.ratings import BotRating, Ratings, by_game, by_option, by_players, in_schedule_order
from harness.ratings.voting import VotedPlace

__all__ = [
    "LEVEL",
    "AlphaShare",
    "BotRating",
    "Interval",
    "Leaderboard",
    "Overall",
    "OverallLine",
    "RatingSet",
    "Ratings",
    "Standing",
    "VotedPlace",
    "by_game",
    "by_option",
    "by_players",
    "in_order",
    "in_schedule_order",
    "leaderboard",
    "leaderboards",
    "overall",
    "rate_records",
]
