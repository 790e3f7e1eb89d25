"""What people and programs read: tables in every format, files beside the records, pages and sites."""

from __future__ import annotations

from collections.abc import Iterable

from harness.output.details import pairwise_table, seats_table
from harness.output.tables import FORMATS, DataTable, leaderboard_table, text_of
from harness.ratings import Leaderboard

__all__ = ["FORMATS", "KINDS", "DataTable", "render", "text_of"]

KINDS = {"leaderboard": leaderboard_table, "pairs": pairwise_table, "seats": seats_table}
"""The tables that can be made of a leaderboard."""


def render(boards: Iterable[Leaderboard], table_format: str = "simple", kind: str = "leaderboard") -> str:
    """All leaderboards as text in one of FORMATS, or another kind of table about the same bots."""
    return text_of([KINDS[kind](board) for board in boards], table_format)
