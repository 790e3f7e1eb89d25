"""Formats: which bots meet at which table, in which seats, with which deal. Pure functions of plan and results.

The formats below come in by the same door as a plugin's: the hook `arena_formats`.
"""

from __future__ import annotations

from harness.core.format import Format
from harness.plugins.hooks import hookimpl
from harness.schedule.gauntlet import GAUNTLET
from harness.schedule.knockout import KNOCKOUT
from harness.schedule.ladder import LADDER
from harness.schedule.round_robin import ROUND_ROBIN
from harness.schedule.schedule import Schedule, rotations
from harness.schedule.swiss import SWISS

__all__ = ["FORMATS", "Schedule", "arena_formats", "rotations"]

FORMATS = {each.name: each for each in (ROUND_ROBIN, GAUNTLET, SWISS, KNOCKOUT, LADDER)}


@hookimpl
def arena_formats() -> list[Format]:
    """Round-robin, gauntlet, swiss, knockout and ladder."""
    return list(FORMATS.values())
