"""Formats: which bots meet at which table, in which seats, with which deal. Pure functions of plan and results."""

from harness.schedule.schedule import FORMATS, Schedule, arena_formats, rotations

__all__ = ["FORMATS", "Schedule", "arena_formats", "rotations"]
