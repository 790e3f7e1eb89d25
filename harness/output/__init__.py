"""What people and programs read: tables in every format, files beside the records, pages and sites."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from harness.output.columns import ScoreText, chosen_columns
from harness.output.data_table import FORMATS, DataTable, text_of
from harness.output.details import alpha_rank_table, pairwise_table, seats_table, surprises_table
from harness.output.overall_table import overall_tables, worth_showing
from harness.output.screen import Layout
from harness.output.tables import leaderboard_table
from harness.ratings import Leaderboard
from harness.runs.store import EntrantInfo

__all__ = ["FORMATS", "KINDS", "DataTable", "leaderboard_tables", "render", "text_of"]

KINDS: dict[str, Callable[[Sequence[Leaderboard]], list[DataTable]]] = {
    "leaderboard": lambda boards: [leaderboard_table(board) for board in boards],
    "games": overall_tables,
    "pairs": lambda boards: [pairwise_table(board) for board in boards],
    "surprises": lambda boards: [surprises_table(board) for board in boards],
    "alpha-rank": lambda boards: [alpha_rank_table(board) for board in boards],
    "seats": lambda boards: [seats_table(board) for board in boards],
}
"""The tables that can be made of leaderboards."""


def leaderboard_tables(
    boards: Sequence[Leaderboard],
    columns: Sequence[str] = (),
    scores: Mapping[str, ScoreText] | None = None,
    over_all: bool = True,
    entrants: Sequence[EntrantInfo] = (),
) -> list[DataTable]:
    """A table for each game with these columns (all by default), scores in words, and a table over all games.

    That one has other columns: it is left out where columns are chosen, and of a CSV file.
    """
    words = scores or {}
    tables = [
        leaderboard_table(board, chosen_columns(columns), words.get(game_of(board)), entrants) for board in boards
    ]
    return [*tables, *worth_showing(boards)] if over_all and not columns else tables


def game_of(board: Leaderboard) -> str:
    """The game that a leaderboard is about: what comes first in its title."""
    return board.title.partition(", ")[0]


def render(
    boards: Sequence[Leaderboard],
    table_format: str = "simple",
    kind: str = "leaderboard",
    layout: Layout | None = None,
) -> str:
    """All leaderboards as text in one of FORMATS, or another kind of table about the same bots."""
    return text_of(KINDS[kind](boards), table_format, layout)
