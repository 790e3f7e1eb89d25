"""Tables as values, and their text in every format: tabulate's, CSV and JSON."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Any

from tabulate import tabulate, tabulate_formats

from harness.core.errors import StoreError, UnknownName
from harness.output.columns import COLUMNS, Fields
from harness.ratings import Leaderboard
from harness.runs.boards import boards_of
from harness.runs.run_files import going_on, write_whole
from harness.runs.store import RunFolder

FORMATS = ("csv", "json", *sorted(tabulate_formats))

EMPTY = "No matches yet."
FILES = {"md": "github", "json": "json", "csv": "csv"}
"""Ending -> table format."""


@dataclass(frozen=True, slots=True)
class DataTable:
    """One table: rows for programs, cells for people."""

    title: str
    rows: list[Fields]
    """Plain data, the same keys in each."""
    headers: Sequence[str]
    cells: list[list[str]]
    notes: list[str] = field(default_factory=list)
    """Sentences below the table; programs find the same facts in the rows."""
    legend: str = ""
    """How to read tables of this kind; stands once below all of them."""
    words: frozenset[str] = frozenset(("bot",))
    """Headers of columns that hold words: aligned to the left."""


class LeaderboardTables(tuple[DataTable, ...]):
    """Tables of a run, one for each game: shown as tables, and found by their titles."""

    __slots__ = ()

    def __getitem__(self, title: Any) -> Any:
        """The table of this title, or at this place."""
        if not isinstance(title, str):
            return super().__getitem__(title)
        by_title = {table.title: table for table in self}
        if title not in by_title:
            raise UnknownName("table", title, by_title)
        return by_title[title]

    def __repr__(self) -> str:
        return text_of(self, "simple")

    def _repr_html_(self) -> str:
        return text_of(self, "html")


def leaderboard_table(board: Leaderboard) -> DataTable:
    """The leaderboard, best first."""
    standings = board.standings
    return DataTable(
        board.title,
        [{key: value for column in COLUMNS for key, value in column.fields(one).items()} for one in standings],
        [column.name for column in COLUMNS],
        [[column.text(one) for column in COLUMNS] for one in standings],
        board.notes,
        " ".join(column.legend for column in COLUMNS if column.legend),
        frozenset(column.name for column in COLUMNS if column.word),
    )


def write_leaderboard(run: RunFolder) -> list[DataTable]:
    """Rates all records and writes the leaderboard beside them; its tables, one for each game and one over all."""
    tables = [leaderboard_table(board) for board in boards_of(run)]
    try:
        for name, data in leaderboard_files(tables).items():
            write_whole(run.folder / name, data)
    except StoreError as error:
        raise StoreError(f"{error} {going_on(run.folder)}") from error
    return tables


def leaderboard_files(tables: Sequence[DataTable]) -> dict[str, bytes]:
    """What is written beside the records: names of files, and what is in each."""
    return {
        f"leaderboard.{ending}": text_of(tables, table_format).encode() + b"\n"
        for ending, table_format in FILES.items()
    }


def text_of(tables: Sequence[DataTable], table_format: str) -> str:
    """The tables in one of FORMATS."""
    if table_format not in FORMATS:
        raise UnknownName("table format", table_format, FORMATS)
    if table_format == "json":
        return json.dumps({table.title: table.rows for table in tables}, indent=2, allow_nan=False)
    if table_format == "csv":
        return _csv(tables)
    legends = dict.fromkeys(table.legend for table in tables if table.legend)
    told = [_paragraph(legend, table_format) for legend in legends]
    return "\n\n".join([*(_one(table, table_format) for table in tables), *told]) or EMPTY


def _one(table: DataTable, table_format: str) -> str:
    align = ["left" if header in table.words else "right" for header in table.headers]
    grid = tabulate(
        table.cells,
        headers=table.headers,
        tablefmt=table_format,
        disable_numparse=True,
        colalign=align if table.cells else None,
    )
    return "\n\n".join(
        [_heading(table.title, table_format), grid, *(_paragraph(note, table_format) for note in table.notes)]
    )


def _heading(title: str, table_format: str) -> str:
    if table_format in ("github", "pipe"):
        return f"## {title}"
    return f"<h2>{escape(title)}</h2>" if table_format in ("html", "unsafehtml") else title


def _paragraph(text: str, table_format: str) -> str:
    return f"<p>{escape(text)}</p>" if table_format in ("html", "unsafehtml") else text


def _csv(tables: Sequence[DataTable]) -> str:
    columns = list(dict.fromkeys(key for table in tables for row in table.rows for key in row))
    out = io.StringIO()
    writer = csv.DictWriter(out, ["game", *columns], lineterminator="\n")
    writer.writeheader()
    for table in tables:
        for row in table.rows:
            writer.writerow({"game": table.title, **row})
    return out.getvalue().rstrip("\n")
