"""Leaderboards as tables, for people and for the files beside the records."""

from __future__ import annotations

from collections.abc import Sequence

from harness.output.columns import COLUMNS, TOLD, Column, ScoreText, score_column, told_column
from harness.output.data_table import FORMATS, DataTable, LeaderboardTables, text_of
from harness.output.overall_table import worth_showing
from harness.output.reading import summary
from harness.ratings import Leaderboard
from harness.runs.boards import boards_of
from harness.runs.remembered import is_long
from harness.runs.run_files import write_derived
from harness.runs.store import EntrantInfo, RunFolder

__all__ = [
    "FORMATS",
    "DataTable",
    "LeaderboardTables",
    "leaderboard_files",
    "leaderboard_table",
    "text_of",
    "write_leaderboard",
]

FILES = {"md": "github", "json": "json", "csv": "csv"}
"""Ending -> table format."""


def leaderboard_table(
    board: Leaderboard,
    columns: Sequence[Column] = COLUMNS,
    score_text: ScoreText | None = None,
    entrants: Sequence[EntrantInfo] = (),
) -> DataTable:
    """The leaderboard with these columns; scores in the game's words if those are given. `entrants` have teams and
    authors."""
    standings, columns = board.standings, _with_told(columns, entrants)
    optional = sorted((column for column in columns if column.joins), key=lambda column: column.joins)
    told = [score_column(column, score_text) for column in columns] if score_text else columns
    return DataTable(
        board.title,
        [{key: value for column in columns for key, value in column.fields(one).items()} for one in standings],
        [column.name for column in columns],
        [[column.text(one) for column in told] for one in standings],
        board.notes,
        words=frozenset(column.name for column in columns if column.word),
        summary=summary(board),
        optional=[column.name for column in optional],
        legends={column.name: column.legend for column in columns if column.legend},
        alarms=frozenset(column.name for column in columns if column.alarm),
    )


def _with_told(columns: Sequence[Column], entrants: Sequence[EntrantInfo]) -> list[Column]:
    """The columns with what was said of these entrants; where all are shown, also those that somebody has."""
    found = [told_column(column.name, entrants) if column.name in TOLD else column for column in columns]
    if columns is COLUMNS:
        found += [told_column(name, entrants) for name in TOLD if any(getattr(one, name) for one in entrants)]
    return found


def write_leaderboard(run: RunFolder) -> list[Leaderboard]:
    """Rates all records and writes the leaderboard beside them; the leaderboards, one for each game."""
    if is_long(run) and run.info.plan.claims_allow_for != "anytime":  # gathers what pages will want, to be remembered
        from harness.output.pages.facts import facts_of

        boards = facts_of(run).rating_set.boards()
    else:
        boards = boards_of(run)
    write_derived(run.folder, leaderboard_files(boards, run.info.entrants))
    return boards


def leaderboard_files(boards: Sequence[Leaderboard], entrants: Sequence[EntrantInfo] = ()) -> dict[str, bytes]:
    """What is written beside the records: names of files, and what is in each.

    They have all columns and plain numbers: what they hold depends on the records, and on teams and authors of
    entrants, not on a screen, nor on the games that are installed.
    """
    tables = [leaderboard_table(board, entrants=entrants) for board in boards]
    over = worth_showing(boards)
    return {
        f"leaderboard.{ending}": text_of(tables if ending == "csv" else [*tables, *over], table_format).encode() + b"\n"
        for ending, table_format in FILES.items()
    }
