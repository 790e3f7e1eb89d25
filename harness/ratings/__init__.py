"""Ratings that mean something: TrueSkill, a Plackett-Luce cross-check, intervals over deals, bands of equals."""

from harness.ratings.intervals import LEVEL, Interval
from harness.ratings.leaderboard import Leaderboard, Standing, leaderboard, leaderboards
from harness.ratings.overall import Overall, OverallLine, overall
from harness.ratings.ratings import (
    BotRating,
    Ratings,
    RatingSet,
    by_game,
    by_option,
    by_players,
    in_schedule_order,
    rate_records,
)

__all__ = [
    "LEVEL",
    "BotRating",
    "Interval",
    "Leaderboard",
    "Overall",
    "OverallLine",
    "RatingSet",
    "Ratings",
    "Standing",
    "by_game",
    "by_option",
    "by_players",
    "in_schedule_order",
    "leaderboard",
    "leaderboards",
    "overall",
    "rate_records",
]
