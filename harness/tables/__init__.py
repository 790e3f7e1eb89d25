"""Leaderboards and other tables as text, Markdown, HTML, LaTeX, CSV and JSON."""

from __future__ import annotations

from collections.abc import Mapping

from harness.ratings import Book
from harness.tables.details import pairwise_table, seats_table
from harness.tables.layout import FORMATS, Table, text_of
from harness.tables.leaderboard import leaderboard_table
from harness.tables.page import bot_page

__all__ = ["FORMATS", "KINDS", "Table", "bot_page", "render", "text_of"]

KINDS = {"leaderboard": leaderboard_table, "pairs": pairwise_table, "seats": seats_table}
"""The tables that can be made of a book."""


def render(books: Mapping[str, Book], table_format: str = "simple", kind: str = "leaderboard") -> str:
    """All books as text in one of FORMATS."""
    return text_of([KINDS[kind](name, book) for name, book in books.items()], table_format)
