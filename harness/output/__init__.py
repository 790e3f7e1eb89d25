"""Leaderboards and other tables as text, Markdown, HTML, LaTeX, CSV and JSON."""

from __future__ import annotations

from collections.abc import Mapping

from harness.output.bot_summary import bot_page
from harness.output.columns import leaderboard_table
from harness.output.details import pairwise_table, seats_table
from harness.output.tables import FORMATS, DataTable, text_of
from harness.ratings import Ratings

__all__ = ["FORMATS", "KINDS", "DataTable", "bot_page", "render", "text_of"]

KINDS = {"leaderboard": leaderboard_table, "pairs": pairwise_table, "seats": seats_table}
"""The tables that can be made of a book."""


def render(rated: Mapping[str, Ratings], table_format: str = "simple", kind: str = "leaderboard") -> str:
    """All books as text in one of FORMATS."""
    return text_of([KINDS[kind](name, ratings) for name, ratings in rated.items()], table_format)
