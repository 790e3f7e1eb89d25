"""A leaderboard, or a table like one, for a page: what is read, and what it is sorted by."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from harness.output.columns import COLUMNS, NOTHING, ScoreText
from harness.output.data_table import DataTable
from harness.output.tables import leaderboard_table
from harness.ratings import Leaderboard
from harness.runs.store import EntrantInfo

if TYPE_CHECKING:
    from harness.output.pages.figure import Chart

QUIET = ("0", "", NOTHING)
"""What an alarm says when nothing is wrong."""


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell of a leaderboard: what is read, what it is sorted by, and its CSS classes."""

    text: str
    key: str
    kind: str
    link: bool = False
    """Whether it names the bot."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of a leaderboard."""

    bot: str
    cells: list[Cell]


@dataclass(frozen=True, slots=True)
class BoardPart:
    """One leaderboard's part of the page."""

    title: str
    headers: Sequence[tuple[str, str]]
    """With their CSS classes."""
    lines: list[Entry]
    summary: Sequence[str]
    notes: Sequence[str]
    charts: Sequence[Chart] = ()


def board_part(
    board: Leaderboard,
    drawn: Sequence[Chart] = (),
    score_text: ScoreText | None = None,
    entrants: Sequence[EntrantInfo] = (),
) -> BoardPart:
    """A leaderboard for a page."""
    keys = {column.name: column.sort_by or column.name for column in COLUMNS}
    return table_part(leaderboard_table(board, score_text=score_text, entrants=entrants), keys, drawn)


def table_part(table: DataTable, keys: Mapping[str, str], drawn: Sequence[Chart] = ()) -> BoardPart:
    """A table for a page; `keys` has the fields that columns are sorted by. Alarms are there if something is wrong."""
    shown = [
        place
        for place, header in enumerate(table.headers)
        if header not in table.alarms or any(row[place] not in QUIET for row in table.cells)
    ]

    def kind(header: str, text: str = "") -> str:
        alarm = header in table.alarms and text not in QUIET
        classes = (
            ("word", header in table.words),
            ("bot", header == "bot"),
            ("group", header == "group"),
            ("alarm", alarm),
        )
        return " ".join(name for name, fits in classes if fits)

    lines = [
        Entry(
            str(row["bot"]),
            [
                Cell(
                    cells[place],
                    _key(row.get(keys.get(header := table.headers[place], header), cells[place])),
                    kind(header, cells[place]),
                    header == "bot",
                )
                for place in shown
            ],
        )
        for row, cells in zip(table.rows, table.cells, strict=True)
    ]
    headers = [table.headers[place] for place in shown]
    told = [text for header, text in table.legends.items() if header in headers]
    legend = " ".join([*told, table.legend]).strip()
    titles = [(header.upper() if header in table.alarms else header, kind(header)) for header in headers]
    return BoardPart(table.title, titles, lines, table.summary, [*table.notes, legend], drawn)


def _key(value: object) -> str:
    return "" if value is None else str(value)
