"""Ratings that mean something: TrueSkill, a Plackett-Luce cross-check, intervals over deals, bands of equals."""

from harness.ratings.intervals import LEVEL, Interval
from harness.ratings.leaderboard import Leaderboard, Standing, leaderboard, leaderboards
from harness.ratings.ratings import (
    OVERALL,
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
    "OVERALL",
    "BotRating",
    "Interval",
    "Leaderboard",
    "RatingSet",
    "Ratings",
    "Standing",
    "by_game",
    "by_option",
    "by_players",
    "in_schedule_order",
    "leaderboard",
    "leaderboards",
    "rate_records",
]
