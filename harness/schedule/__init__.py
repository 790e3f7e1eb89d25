"""Formats: which bots meet at which table, in which seats, with which deal. Pure functions of plan and results."""

from harness.schedule.driver import count, is_adaptive, matches, outcomes, rotations, rounds
from harness.schedule.form import Format, Outcome
from harness.schedule.formats import FORMATS, check
from harness.schedule.plan import GamePlan, Plan
from harness.schedule.rehearsal import rehearse

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
    "rehearse",
    "rotations",
    "rounds",
]
