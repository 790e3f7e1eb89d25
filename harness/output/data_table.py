"""A table as a value, and its text in every format: fitted to a screen, tabulate's, CSV and JSON."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from html import escape
from typing import Any

from tabulate import tabulate, tabulate_formats

from harness.core.errors import UnknownName
from harness.output.columns import NOTHING, Fields
from harness.output.fitting import Grid, drawn, fit, in_full, wrapped_text
from harness.output.screen import Layout, screen

FORMATS = ("csv", "json", *sorted(tabulate_formats))

EMPTY = "No matches yet."
RED, PLAIN = "\x1b[1;31m", "\x1b[0m"


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
    keys: int = 0
    """So many columns, the first ones, name the line: they are repeated where the table goes on below. 0: all up to the
    bot, or the first one."""
    words: frozenset[str] = frozenset(("bot",))
    """Headers of columns that hold words: aligned to the left."""
    summary: list[str] = field(default_factory=list)
    """What it says, in plain sentences."""
    optional: Sequence[str] = ()
    """Columns that a narrow screen leaves out. Up to 80 columns only the first of them joins in, if it fits."""
    legends: Mapping[str, str] = field(default_factory=dict)
    """By column: how to read it, told where it is shown."""
    alarms: frozenset[str] = frozenset()
    """Columns that a screen shows only if something is wrong, and then loudly."""


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
        return text_of(self, "simple", screen(more="wide=True"))

    def _repr_html_(self) -> str:
        return text_of(self, "html")


class WideTables(LeaderboardTables):
    """The same with every column, however wide that is."""

    __slots__ = ()

    def __repr__(self) -> str:
        return text_of(self, "simple", screen(wide=True))


def text_of(tables: Sequence[DataTable], table_format: str, layout: Layout | None = None) -> str:
    """The tables in one of FORMATS. "simple", which people read on a screen, fits the layout; others have it all."""
    if table_format not in FORMATS:
        raise UnknownName("table format", table_format, FORMATS)
    if table_format == "json":
        return json.dumps({table.title: table.rows for table in tables}, indent=2, allow_nan=False)
    if table_format == "csv":
        return _csv(tables)
    if table_format == "simple":
        return on_screen(tables, layout or Layout()) or EMPTY
    legends = dict.fromkeys(
        [*(text for table in tables for text in table.legends.values()), *(table.legend for table in tables)]
    )
    told = " ".join(legend for legend in legends if legend)
    below = [_paragraph(told, table_format)] if told else []
    return "\n\n".join([*(_one(table, table_format) for table in tables), *below]) or EMPTY


def on_screen(tables: Sequence[DataTable], layout: Layout) -> str:
    """The tables as they fit the layout, each with what it says; how to read them, and what was left out, once."""
    parts: list[str] = []
    legends: dict[str, None] = {}
    missing: dict[str, None] = {}
    for table in tables:
        grids, left_out = _fitted(table, layout)
        shown = {header.lower() for grid in grids for header in grid.headers}
        words = table.words | {header.upper() for header in table.words}
        loud = {header.upper() for header in table.alarms} if layout.colour else set()
        parts.append(wrapped_text(table.title, layout.width))
        parts += [drawn(grid, words, partial(_painted, loud) if loud else None) for grid in grids]
        parts += [wrapped_text(note, layout.width) for note in (*table.summary, *table.notes)]
        legends |= dict.fromkeys(text for header, text in table.legends.items() if header.lower() in shown)
        legends |= dict.fromkeys([table.legend] if table.legend else [])
        missing |= dict.fromkeys(left_out)
    if missing:
        legends[f"Not shown: {', '.join(missing)} ({layout.more})."] = None
    if legends:
        parts.append(wrapped_text(" ".join(legends), layout.width))
    return "\n\n".join(parts)


def _fitted(table: DataTable, layout: Layout) -> tuple[list[Grid], list[str]]:
    """The blocks of a table, and the names of columns that were left out; an alarm is there if something is wrong."""
    places = [
        place
        for place, header in enumerate(table.headers)
        if header not in table.alarms or any(row[place] not in ("0", NOTHING) for row in table.cells)
    ]
    headers = [table.headers[place] for place in places]
    cells = [[row[place] for place in places] for row in table.cells]
    if layout.wide:
        grids = [in_full(headers, cells)]
    else:
        keys = table.keys or (headers.index("bot") + 1 if "bot" in headers else 1)
        grids = fit(headers, cells, table.words, table.optional, keys, layout.width)
    shown = {header for grid in grids for header in grid.headers}
    left_out = [header for header in headers if header not in shown]
    loud = [header.upper() if header in table.alarms else header for header in headers]
    renamed = dict(zip(headers, loud, strict=True))
    return [Grid([renamed[header] for header in grid.headers], grid.cells) for grid in grids], left_out


def _painted(loud: set[str], header: str, text: str) -> str:
    return f"{RED}{text}{PLAIN}" if header in loud and text.strip() not in ("0", NOTHING) else text


def _one(table: DataTable, table_format: str) -> str:
    align = ["left" if header in table.words else "right" for header in table.headers]
    grid = tabulate(
        table.cells,
        headers=table.headers,
        tablefmt=table_format,
        disable_numparse=True,
        colalign=align if table.cells else None,
    )
    told = [_paragraph(note, table_format) for note in (*table.summary, *table.notes)]
    return "\n\n".join([_heading(table.title, table_format), grid, *told])


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
