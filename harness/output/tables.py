"""Render tables: fitted to the reader's screen, in tabulate's formats, as CSV, JSON and HTML."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import shutil
import sys
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from html import escape
from typing import Any
from unicodedata import combining, east_asian_width

from tabulate import tabulate, tabulate_formats

from harness.core.errors import UnknownName
from harness.core.table import Column, Table

FORMATS = ("csv", "json", *sorted(tabulate_formats))
NOTHING = "-"
EMPTY = "No matches yet."
QUIET = ("0", "", NOTHING)
"""Cells of an alarm column that report nothing."""
RED, PLAIN = "\x1b[1;31m", "\x1b[0m"


# Names of bots and games on a screen, in a chart or as a file name. Other people choose them, so they are untrusted.


MAX_SHORT_CHARS = 22
MAX_FILE_NAME_CHARS = 60
_PLAIN_NAME = re.compile(rf"[a-z0-9][a-z0-9_-]{{0,{MAX_FILE_NAME_CHARS - 1}}}")
_DEVICE_NAME = re.compile(r"con|prn|aux|nul|(com|lpt)\d")
"""Names that Windows reserves for devices, whatever the extension of the file."""


def visible(name: str) -> str:
    """Return the name without characters that cannot be printed or that reverse the text around them."""
    return "".join(char if char.isprintable() else "\N{REPLACEMENT CHARACTER}" for char in name)


def short(name: str, max_chars: int = MAX_SHORT_CHARS) -> str:
    """Return the name cut in the middle to fit beside a chart: options, which distinguish bots, come last."""
    name = visible(name)
    if len(name) <= max_chars:
        return name
    head = (max_chars - 1) * 2 // 3
    return f"{name[:head]}\N{HORIZONTAL ELLIPSIS}{name[head + 1 - max_chars :]}"


def file_name(name: str) -> str:
    """Return a file name for a name that is valid on any system; different names get different ones."""
    if _PLAIN_NAME.fullmatch(name) and not _DEVICE_NAME.fullmatch(name):
        return name
    digest = sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:10]
    kept = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[: MAX_FILE_NAME_CHARS - 20].rstrip("-")
    return f"{kept or 'bot'}.{digest}"  # plain names have no dot, so the two kinds cannot collide


# The reader's screen.


DEFAULT_WIDTH = 80
"""The width without a terminal, so that files do not depend on the size of a window."""
MIN_WIDTH = 40


@dataclass(frozen=True, slots=True)
class Layout:
    """How tables are laid out for a person."""

    width: int = DEFAULT_WIDTH
    wide: bool = False
    """Show every column and every name in full, however wide that is."""
    colour: bool = False
    more: str = ""
    """What to type to see the columns that are not shown."""


def screen(wide: bool, more: str) -> Layout:
    """Return the layout for the reader's terminal, or for 80 columns without colours."""
    return Layout(screen_width(), wide, colourful(), more)


def screen_width() -> int:
    """Return the columns of the terminal on stdout; COLUMNS in the environment takes precedence."""
    return max(MIN_WIDTH, shutil.get_terminal_size((DEFAULT_WIDTH, 24)).columns)


def progress_width() -> int:
    """Return the columns of the terminal on stderr; COLUMNS in the environment takes precedence."""
    asked = os.environ.get("COLUMNS", "")
    if asked.isdecimal() and int(asked):
        return int(asked)
    try:
        return os.get_terminal_size(sys.stderr.fileno()).columns or DEFAULT_WIDTH
    except (OSError, ValueError, AttributeError):
        return DEFAULT_WIDTH


def colourful() -> bool:
    """Return whether stdout is a terminal that may show colours: NO_COLOR forbids them."""
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def wrapped_text(text: str, width: int) -> str:
    """Return a paragraph in lines of at most `width` characters; long words are not split."""
    return textwrap.fill(text, width, break_on_hyphens=False, break_long_words=False)


# Tables in every format.


class Tables(tuple[Table, ...]):
    """Tables as notebooks show them, found by their titles."""

    wide: bool

    def __new__(cls, tables: Iterable[Table], wide: bool = False) -> Tables:
        """Make a tuple of tables; with `wide` they are shown with every column."""
        made = super().__new__(cls, tables)
        made.wide = wide
        return made

    def __getitem__(self, title: Any) -> Any:
        """Return the table with this title, or at this index."""
        if not isinstance(title, str):
            return super().__getitem__(title)
        by_title = {table.title: table for table in self}
        if title not in by_title:
            raise UnknownName("table", title, by_title)
        return by_title[title]

    def __repr__(self) -> str:
        return text_of(self, "simple", screen(self.wide, more="wide=True"))

    def _repr_html_(self) -> str:
        return text_of(self, "html")


def text_of(tables: Sequence[Table], table_format: str, layout: Layout | None = None) -> str:
    """Return the tables in one of FORMATS. "simple" is fitted to the layout; other formats have every column."""
    if table_format not in FORMATS:
        raise UnknownName("table format", table_format, FORMATS)
    if table_format == "json":
        return json.dumps({table.title: table.rows for table in tables}, indent=2, allow_nan=False)
    if table_format == "csv":
        return _csv(tables)
    if table_format == "simple":
        return on_screen(tables, layout or Layout()) or EMPTY
    parts, legends = [], []
    for table in tables:
        parts += [heading(table.title, table_format), grid_text(table, table_format)]
        parts += [paragraph(sentence, table_format) for sentence in (*table.summary, *table.notes)]
        legends += [one.legend for one in table.head if isinstance(one, Column)]
    legends += [table.legend for table in tables]
    if text := " ".join(dict.fromkeys(filter(None, legends))):
        parts.append(paragraph(text, table_format))
    return "\n\n".join(parts) or EMPTY


def grid_text(table: Table, table_format: str = "simple") -> str:
    """Return the lines of a table alone, as tabulate formats them: without title and notes, not fitted to a screen."""
    columns = table.columns
    headers = [column.name for column in columns]
    align = ["left" if column.kind == "text" else "right" for column in columns]
    cells = [[cell_text(value) for value in line] for line in table.cells]
    # tabulate must not parse numbers in cells: it would align names that look like numbers, and drop digits.
    return str(tabulate(cells, headers, table_format, disable_numparse=True, colalign=align if cells else None))


def heading(title: str, table_format: str) -> str:
    """Return a title in the markup of a format."""
    if table_format in ("github", "pipe"):
        return f"## {title}"
    return f"<h2>{escape(title)}</h2>" if table_format in ("html", "unsafehtml") else title


def paragraph(text: str, table_format: str) -> str:
    """Return a paragraph in the markup of a format."""
    return f"<p>{escape(text)}</p>" if table_format in ("html", "unsafehtml") else text


def _csv(tables: Sequence[Table]) -> str:
    rows = [{"game": table.title, **row} for table in tables for row in table.rows]
    out = io.StringIO()
    # Tables of several games may differ in their columns: the file has all of them.
    writer = csv.DictWriter(out, dict.fromkeys(["game", *(key for row in rows for key in row)]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue().rstrip("\n")


def cell_text(value: object) -> str:
    """Return a value as people read it."""
    if value is None:
        return NOTHING
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:g}" if isinstance(value, float) else str(value)


def as_text(table: Table) -> Table:
    """Return the table with text in its cells, and without alarm columns that report nothing."""
    columns, lines = _text_columns(table)
    return replace(table, head=columns, cells=lines)


def _text_columns(table: Table) -> tuple[list[Column], Lines]:
    columns = table.columns
    lines = [[cell_text(value) for value in line] for line in table.cells]
    shown = [
        place
        for place, column in enumerate(columns)
        if not column.alarm or any(line[place] not in QUIET for line in lines)
    ]
    return _select(columns, lines, shown)


# Fit tables to a screen: drop optional columns, then shorten names, then split into blocks below each other.


GAP = 2
EASY_NAME_CHARS = 24
"""A name of up to this length is not shortened to make room for optional columns."""
MIN_NAME_CHARS = 12
USUAL_WIDTH = 80
"""Up to this width only optional columns with the number 1 are shown."""

Lines = Sequence[Sequence[str]]
Block = tuple[list[Column], Lines]
"""Columns that are printed side by side, with their cells line by line."""


def on_screen(tables: Sequence[Table], layout: Layout) -> str:
    """Return the tables fitted to the layout; legends and the names of missing columns follow once below all."""
    parts: list[str] = []
    legends: dict[str, None] = {}
    missing: dict[str, None] = {}
    for table in tables:
        columns, lines = _text_columns(table)
        blocks = [(columns, _visible_cells(lines))] if layout.wide else fit(columns, lines, table.keys, layout.width)
        shown = {column.name for block, _ in blocks for column in block}
        parts.append(wrapped_text(table.title, layout.width))
        parts += [_draw(*block, layout.colour) for block in blocks]
        parts += [wrapped_text(sentence, layout.width) for sentence in (*table.summary, *table.notes)]
        told = [column.legend for column in columns if column.name in shown]
        legends |= dict.fromkeys(filter(None, [*told, table.legend]))
        missing |= dict.fromkeys(column.name for column in columns if column.name not in shown)
    if missing:
        more = f" ({layout.more})" if layout.more else ""
        legends[f"Not shown: {', '.join(missing)}{more}."] = None
    if legends:
        parts.append(wrapped_text(" ".join(legends), layout.width))
    return "\n\n".join(parts)


def fit(columns: Sequence[Column], lines: Lines, keys: int, width: int) -> list[Block]:
    """Return the columns in one or more blocks that fit; each block repeats the columns that identify a line."""
    names = [column.name for column in columns]
    keys = keys or (names.index("bot") + 1 if "bot" in names else 1)
    kept = _fitting_columns(columns, lines, width)
    columns, lines = _select(columns, lines, kept)
    lines = _visible_cells(_shorten_names(columns, lines, width))
    return list(_blocks(columns, lines, sum(place < keys for place in kept), width))


def _select(columns: Sequence[Column], lines: Lines, places: Sequence[int]) -> Block:
    return [columns[place] for place in places], [[line[place] for place in places] for line in lines]


def _widths(columns: Sequence[Column], lines: Lines) -> list[int]:
    """Return the width of each column; a cell may have several lines."""
    headers = [column.name for column in columns]
    return [
        max(shown_width(line) for cell in column for line in cell.split("\n"))
        for column in zip(headers, *lines, strict=True)
    ]


def _total(widths: Sequence[int]) -> int:
    return sum(widths) + GAP * (len(widths) - 1)


def shown_width(text: str) -> int:
    """Return the columns of a terminal that a line of text takes."""
    return sum(0 if combining(char) else 2 if east_asian_width(char) in "WF" else 1 for char in text)


def _fitting_columns(columns: Sequence[Column], lines: Lines, width: int) -> list[int]:
    """Return the places of the columns to show: the required ones, and of the optional ones those that fit."""
    widths = [
        min(each, EASY_NAME_CHARS) if column.kind == "text" else each
        for column, each in zip(columns, _widths(columns, lines), strict=True)
    ]
    kept = [place for place, column in enumerate(columns) if not column.optional]
    optional = sorted((column.optional, place) for place, column in enumerate(columns) if column.optional)
    for number, place in optional:
        if number > 1 and width <= USUAL_WIDTH:
            break
        more = sorted([*kept, place])
        if _total([widths[one] for one in more]) <= width:
            kept = more
    return kept


def _shorten_names(columns: Sequence[Column], lines: Lines, width: int) -> Lines:
    """Shorten the columns of text, the widest first, until the table fits or no name can get shorter."""
    widths = _widths(columns, lines)
    cells = [list(column) for column in zip(*lines, strict=True)] or [[] for _ in columns]
    texts = [place for place, column in enumerate(columns) if column.kind == "text"]
    for place in sorted(texts, key=lambda place: -widths[place]):
        over = _total(widths) - width
        if over <= 0:
            break
        room = max(widths[place] - over, min(widths[place], MIN_NAME_CHARS), shown_width(columns[place].name))
        cells[place] = _fit_names(cells[place], room)
        widths[place] = room
    return list(zip(*cells, strict=True))


def _fit_names(names: Sequence[str], max_chars: int) -> list[str]:
    """Return the names shortened; where two would look the same, they are wrapped instead."""
    shortened = [short(name, max_chars) for name in names]
    alike = {
        one for one in shortened if len({name for name, it in zip(names, shortened, strict=True) if it == one}) > 1
    }
    return [
        "\n".join(textwrap.wrap(visible(name), max_chars)) if one in alike else one
        for name, one in zip(names, shortened, strict=True)
    ]


def _visible_cells(lines: Lines) -> Lines:
    """Return the cells without characters that a terminal would act on; line ends, which we made, stay."""
    return [
        [cell if cell.isprintable() else "\n".join(map(visible, cell.split("\n"))) for cell in line] for line in lines
    ]


def _blocks(columns: Sequence[Column], lines: Lines, lead: int, width: int) -> Iterator[Block]:
    """Yield as many columns as fit, then the next ones; each block begins with the first `lead` columns."""
    widths = _widths(columns, lines)
    room = width - sum(widths[:lead]) - GAP * lead + GAP
    start = lead
    while True:
        end, used = start, 0
        while end < len(widths) and (end == start or used + GAP + widths[end] <= room):
            used += GAP + widths[end]
            end += 1
        yield _select(columns, lines, [*range(lead), *range(start, end)])
        if end >= len(widths):
            return
        start = end


def _draw(columns: Sequence[Column], lines: Lines, colour: bool) -> str:
    """Return a line for the headers, one of dashes, and one or more for each line of cells."""
    widths = _widths(columns, lines)
    headers = [column.name.upper() if column.alarm else column.name for column in columns]
    drawn = [_draw_line(columns, headers, widths), (" " * GAP).join("-" * width for width in widths)]
    for line in lines:
        parts = [cell.split("\n") for cell in line]
        for number in range(max(map(len, parts), default=0)):
            texts = [part[number] if number < len(part) else "" for part in parts]
            drawn.append(_draw_line(columns, texts, widths, colour))
    return "\n".join(text.rstrip() for text in drawn)


def _draw_line(columns: Sequence[Column], texts: Sequence[str], widths: Sequence[int], colour: bool = False) -> str:
    shown = []
    for column, text, width in zip(columns, texts, widths, strict=True):
        room = " " * (width - shown_width(text))
        padded = text + room if column.kind == "text" else room + text
        shown.append(f"{RED}{padded}{PLAIN}" if colour and column.alarm and text not in QUIET else padded)
    return (" " * GAP).join(shown)
