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
from typing import Any, TextIO
from unicodedata import combining, east_asian_width

from tabulate import LATEX_ESCAPE_RULES, tabulate, tabulate_formats

from harness.core.errors import UnknownName, printable
from harness.core.table import Column, Table

_NOT_ESCAPED = {"asciidoc", "jira", "latex_raw", "mediawiki", "moinmoin", "textile", "unsafehtml", "youtrack"}
"""Formats of tabulate that would print a name as markup."""
FORMATS = ("csv", "json", *sorted({*tabulate_formats} - _NOT_ESCAPED))
MARKDOWN = ("github", "pipe")
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


def short(name: str, max_chars: int = MAX_SHORT_CHARS) -> str:
    """Return the name cut in the middle to fit next to a chart: options, which distinguish bots, come last."""
    name = escape_text(name, "simple")
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


# One escaper for each output format, for strings that other people have chosen. Pages use the one of Jinja.


_MARKDOWN = re.compile(r"([\\`*\[<|&~]|(?<!\w)_|_(?!\w))")
_FORMULA = re.compile(r"[=+\-@\t\r\uff1d\uff0b\uff0d\uff20]")
"""First characters of a cell that is read as a formula; some spreadsheets accept the wide forms of Asian keyboards."""
_NOT_PRINTABLE = re.compile(r"[^ -~\n]")


def escape_text(text: str, table_format: str) -> str:
    """Return one line of text in the markup of a format, with nothing in it that the format would act on."""
    text = text if text.isprintable() else printable(text)
    if table_format == "html":
        return escape(text)
    if table_format in MARKDOWN:
        return _MARKDOWN.sub(r"\\\1", text)
    if table_format.startswith("latex"):
        return "".join([LATEX_ESCAPE_RULES.get(letter, letter) for letter in text])
    if table_format in ("csv", "tsv"):
        return f"'{text}" if _FORMULA.match(text) else text
    return text


def escape_json(data: bytes) -> bytes:
    """Return JSON with escapes for the characters that are not printable; they can only be inside of its texts."""
    text = data.decode()
    if text.isprintable():
        return data
    return _NOT_PRINTABLE.sub(_json_escape, text).encode()


def _json_escape(found: re.Match[str]) -> str:
    return found[0] if found[0].isprintable() else json.dumps(found[0])[1:-1] if found[0] != "\x7f" else "\\u007f"


# The reader's screen.


_COMMAND = re.compile(r"(.*:) +(arena .+)")
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
    return terminal_width(sys.stderr) or DEFAULT_WIDTH


def terminal_width(stream: TextIO) -> int:
    """Return the columns of the terminal that a stream writes to, 0 if there is none; COLUMNS takes precedence."""
    asked = os.environ.get("COLUMNS", "")
    if asked.isdecimal() and int(asked):
        return int(asked)
    try:
        return os.get_terminal_size(stream.fileno()).columns
    except (OSError, ValueError, AttributeError):
        return 0


def fitted(text: str, stream: TextIO) -> str:
    """Return the text with lines that fit the terminal of this stream, wrapped at spaces.

    A command at the end of a line gets a separate line and is not wrapped, so that it can be copied. Text for a file or
    a pipe stays as it is.
    """
    width = terminal_width(stream)
    return "\n".join(_fitted_line(line, max(width, MIN_WIDTH)) for line in text.split("\n")) if width else text


def _fitted_line(line: str, width: int) -> str:
    if len(line) <= width:
        return line
    indent = " " * (len(line) - len(line.lstrip()) + 2)
    command = _COMMAND.fullmatch(line)
    said = textwrap.fill(
        command[1] if command else line, width, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    )
    return f"{said}\n{indent}{command[2]}" if command else said


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
    headers = [_cell(column.name, table_format) for column in columns]  # a header may be the name of a game
    align = ["left" if column.kind == "text" else "right" for column in columns]
    cells = [[_cell(value, table_format) for value in line] for line in table.cells]
    # tabulate must not parse numbers in cells: it would align names that look like numbers, and drop digits.
    return str(tabulate(cells, headers, table_format, disable_numparse=True, colalign=align if cells else None))


def listing_text(table: Table, width: int) -> str:
    """Return the lines of a table of texts; where they do not fit, the widest columns are wrapped between words."""
    cells = [[cell_text(value) for value in line] for line in table.cells]
    # tabulate makes a column at least two wider than its heading.
    columns = list(zip([f"{one.name}--" for one in table.columns], *cells, strict=True))
    least = [max([len(word) for text in column for word in text.split(" ")]) for column in columns]
    widths = [max(map(len, column)) for column in columns]
    room = width - GAP * (len(widths) - 1)

    def fits(most: int) -> bool:
        return sum([max(low, min(one, most)) for low, one in zip(least, widths, strict=True)]) <= room

    most = next((most for most in range(width, MIN_NAME_CHARS, -1) if fits(most)), 0)
    if most:
        cells = [[wrapped_text(text, most) for text in line] for line in cells]
    return grid_text(replace(table, cells=cells))


def _cell(value: object, table_format: str) -> str:
    """Return a cell for tabulate, which escapes HTML and LaTeX itself."""
    text = cell_text(value)
    if table_format == "simple":  # lists that are wrapped already: see MatchTable
        return text if text.isprintable() else printable(text, keep="\n")
    if table_format in (*MARKDOWN, "tsv"):
        return escape_text(text, table_format) if isinstance(value, str) else text
    return escape_text(text, "simple")


def heading(title: str, table_format: str) -> str:
    """Return a title in the markup of a format."""
    title = escape_text(title, table_format)
    return f"<h2>{title}</h2>" if table_format == "html" else f"## {title}" if table_format in MARKDOWN else title


def paragraph(text: str, table_format: str) -> str:
    """Return a paragraph in the markup of a format."""
    text = escape_text(text, table_format)
    return f"<p>{text}</p>" if table_format == "html" else text


def _csv(tables: Sequence[Table]) -> str:
    rows = [{"game": table.title, **row} for table in tables for row in table.rows]
    out = io.StringIO()
    # Tables of several games may differ in their columns: the file has all of them.
    names = dict.fromkeys(["game", *(key for row in rows for key in row)])
    writer = csv.DictWriter(out, names, lineterminator="\n")
    header: dict[str, object] = {name: name for name in names}
    for row in (header, *rows):
        writer.writerow({key: escape_text(cell, "csv") if isinstance(cell, str) else cell for key, cell in row.items()})
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
    columns = [replace(column, name=escape_text(column.name, "simple")) for column in table.columns]
    lines = [[escape_text(cell_text(value), "simple") for value in line] for line in table.cells]
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
        blocks = [(columns, lines)] if layout.wide else fit(columns, lines, table.keys, layout.width)
        shown = {column.name for block, _ in blocks for column in block}
        parts.append(wrapped_text(escape_text(table.title, "simple"), layout.width))
        parts += [_draw(*block, layout.colour) for block in blocks]
        sentences = [escape_text(sentence, "simple") for sentence in (*table.summary, *table.notes)]
        parts += [wrapped_text(sentence, layout.width) for sentence in sentences]
        read = [column.legend for column in columns if column.name in shown]
        legends |= dict.fromkeys(filter(None, [*read, table.legend]))
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
    lines = _shorten_names(columns, lines, width)
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
        "\n".join(textwrap.wrap(printable(name), max_chars)) if one in alike else one
        for name, one in zip(names, shortened, strict=True)
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
