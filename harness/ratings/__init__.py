"""Ratings that mean something: TrueSkill books, a Plackett-Luce cross-check, intervals over deals, bands of equals."""

from harness.ratings.book import OVERALL, Book, Line, Shelf, books, by_game, by_option, by_players, in_schedule_order
from harness.ratings.standing import Leaderboard, Standing, certainty, leaderboard
from harness.ratings.student import LEVEL, Interval

__all__ = [
    "LEVEL",
    "OVERALL",
    "Book",
    "Interval",
    "Leaderboard",
    "Line",
    "Shelf",
    "Standing",
    "books",
    "by_game",
    "by_option",
    "by_players",
    "certainty",
    "in_schedule_order",
    "leaderboard",
]
