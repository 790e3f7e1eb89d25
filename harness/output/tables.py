"""Tables as values, and their text in every format: tabulate's, CSV and JSON."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape

from tabulate import tabulate, tabulate_formats

from harness.core.errors import UnknownName

FORMATS = ("csv", "json", *sorted(tabulate_formats))

Row = dict[str, object]
EMPTY = "No matches yet."


@dataclass(frozen=True, slots=True)
class DataTable:
    """One table: rows for programs, cells for people."""

    title: str
    rows: list[Row]
    """Plain data, the same keys in each."""
    headers: Sequence[str]
    cells: list[list[str]]
    notes: list[str] = field(default_factory=list)
    """Sentences below the table; programs find the same facts in the rows."""
    legend: str = ""
    """How to read tables of this kind; stands once below all of them."""
    words: frozenset[str] = frozenset(("bot",))
    """Headers of columns that hold words: aligned to the left."""


def text_of(tables: Sequence[DataTable], table_format: str) -> str:
    """The tables in one of FORMATS."""
    if table_format not in FORMATS:
        raise UnknownName("table format", table_format, FORMATS)
    if table_format == "json":
        return json.dumps({table.title: table.rows for table in tables}, indent=2, allow_nan=False)
    if table_format == "csv":
        return _csv(tables)
    legends = dict.fromkeys(table.legend for table in tables if table.legend)
    return "\n\n".join([*(_one(table, table_format) for table in tables), *legends]) or EMPTY


def _one(table: DataTable, table_format: str) -> str:
    align = ["left" if header in table.words else "right" for header in table.headers]
    grid = tabulate(
        table.cells,
        headers=table.headers,
        tablefmt=table_format,
        disable_numparse=True,
        colalign=align if table.cells else None,
    )
    return "\n\n".join([_heading(table.title, table_format), grid, *table.notes])


def _heading(title: str, table_format: str) -> str:
    if table_format in ("github", "pipe"):
        return f"## {title}"
    return f"<h2>{escape(title)}</h2>" if table_format in ("html", "unsafehtml") else title


def _csv(tables: Sequence[DataTable]) -> str:
    columns = list(dict.fromkeys(key for table in tables for row in table.rows for key in row))
    out = io.StringIO()
    writer = csv.DictWriter(out, ["game", *columns], lineterminator="\n")
    writer.writeheader()
    for table in tables:
        for row in table.rows:
            writer.writerow({"game": table.title, **row})
    return out.getvalue().rstrip("\n")
