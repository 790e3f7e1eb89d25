"""Formats: which bots meet at which table, in which seats, with which deal. Pure functions of plan and results."""

from harness.schedule.format import Format, Outcome
from harness.schedule.formats import FORMATS, check
from harness.schedule.plan import GamePlan, Plan
from harness.schedule.schedule import count, is_adaptive, matches, outcomes, rotations, rounds, simulated_schedule

__all__ = [
    "FORMATS",
    "Format",
    "GamePlan",
    "Outcome",
    "Plan",
    "check",
    "count",
    "is_adaptive",
    "matches",
    "outcomes",
    "rotations",
    "rounds",
    "simulated_schedule",
]
