"""Makes a table fit a width: leaves out what may be left out, shortens names, and goes on below in blocks."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from unicodedata import combining, east_asian_width

from harness.output.display_names import short, visible

GAP = 2
EASY_NAME = 24
"""A name of up to so many characters is not shortened to make room for columns that may be left out."""
SHORTEST_NAME = 12
USUAL = 80
"""Columns that are not asked for join in above this width only, but for those that stand first in line."""

Cells = Sequence[Sequence[str]]


@dataclass(frozen=True, slots=True)
class Grid:
    """Columns that are shown side by side."""

    headers: list[str]
    cells: list[list[str]]


def shown_width(text: str) -> int:
    """Columns of a terminal that a line of text takes."""
    return sum(0 if combining(char) else 2 if east_asian_width(char) in "WF" else 1 for char in text)


def fit(
    headers: Sequence[str], cells: Cells, words: frozenset[str], optional: Sequence[str], keys: int, width: int
) -> list[Grid]:
    """The table in one or more blocks that fit: optional columns as there is room, then shorter names, then blocks.

    The first columns, `keys` of them, are repeated in every block.
    """
    named = set(headers[:keys])
    kept = _chosen(headers, cells, words, optional, width)
    headers = [headers[place] for place in kept]
    cells = [[row[place] for place in kept] for row in cells]
    cells = _shortened(headers, cells, words, width)
    return list(_blocks(headers, cells, sum(header in named for header in headers), width))


def in_full(headers: Sequence[str], cells: Cells) -> Grid:
    """The table as it is."""
    return Grid(list(headers), [[visible_lines(cell) for cell in row] for row in cells])


def _widths(headers: Sequence[str], cells: Cells) -> list[int]:
    return [max(map(shown_width, column)) for column in zip(headers, *cells, strict=True)]


def _total(widths: Sequence[int]) -> int:
    return sum(widths) + GAP * (len(widths) - 1)


def _chosen(
    headers: Sequence[str], cells: Cells, words: frozenset[str], optional: Sequence[str], width: int
) -> list[int]:
    """Places of the columns that are shown: those that must be, and of the others, in their order, what fits."""
    widths = [
        min(each, EASY_NAME) if header in words else each
        for header, each in zip(headers, _widths(headers, cells), strict=True)
    ]
    kept = [place for place, header in enumerate(headers) if header not in optional]
    for number, header in enumerate(optional):
        if header not in headers or (width <= USUAL and number):
            continue
        more = sorted([*kept, list(headers).index(header)])
        if _total([widths[place] for place in more]) <= width:
            kept = more
    return kept


def _shortened(headers: Sequence[str], cells: Cells, words: frozenset[str], width: int) -> list[list[str]]:
    """Long names keep their two ends; where that would make two alike, they are wrapped instead."""
    widths = _widths(headers, cells)
    columns = [list(column) for column in zip(*cells, strict=True)] or [[] for _ in headers]
    for place in sorted((place for place, header in enumerate(headers) if header in words), key=lambda p: -widths[p]):
        over = _total(widths) - width
        if over <= 0:
            break
        most = max(widths[place] - over, min(widths[place], SHORTEST_NAME), shown_width(headers[place]))
        columns[place] = _fitted_names(columns[place], most)
        widths[place] = most
    return [[visible_lines(cell) for cell in row] for row in zip(*columns, strict=True)]


def visible_lines(text: str) -> str:
    """The text without what a terminal would act upon; our own line ends stay."""
    return text if text.isprintable() else "\n".join(visible(line) for line in text.split("\n"))


def _fitted_names(names: Sequence[str], most: int) -> list[str]:
    shortened = [short(name, most) for name in names]
    alike = {
        one for one in shortened if len({name for name, it in zip(names, shortened, strict=True) if it == one}) > 1
    }
    return [
        "\n".join(textwrap.wrap(visible(name), most)) if its in alike else its
        for name, its in zip(names, shortened, strict=True)
    ]


def _blocks(headers: Sequence[str], cells: Cells, lead: int, width: int) -> Iterator[Grid]:
    """As many columns as fit, then the next ones; the first ones are repeated in every block."""
    widths = _widths_of_lines(headers, cells)
    room = width - sum(widths[:lead]) - GAP * lead + GAP
    start = lead
    while True:
        end, used = start, 0
        while end < len(headers) and (end == start or used + GAP + widths[end] <= room):
            used += GAP + widths[end]
            end += 1
        chosen = [*range(lead), *range(start, end)]
        yield Grid([headers[place] for place in chosen], [[row[place] for place in chosen] for row in cells])
        if end >= len(headers):
            return
        start = end


def _widths_of_lines(headers: Sequence[str], cells: Cells) -> list[int]:
    return [
        max(shown_width(line) for cell in column for line in cell.split("\n"))
        for column in zip(headers, *cells, strict=True)
    ]


def drawn(grid: Grid, words: frozenset[str], paint: Callable[[str, str], str] | None = None) -> str:
    """The columns as text: a line for the headers, one of dashes, one or more for each row."""
    widths = _widths_of_lines(grid.headers, grid.cells)
    lines = [_line(grid.headers, grid.headers, widths, words), (" " * GAP).join("-" * width for width in widths)]
    for row in grid.cells:
        parts = [cell.split("\n") for cell in row]
        for number in range(max(map(len, parts), default=0)):
            texts = [part[number] if number < len(part) else "" for part in parts]
            lines.append(_line(grid.headers, texts, widths, words, paint))
    return "\n".join(line.rstrip() for line in lines)


def _line(
    headers: Sequence[str],
    texts: Sequence[str],
    widths: Sequence[int],
    words: frozenset[str],
    paint: Callable[[str, str], str] | None = None,
) -> str:
    shown = []
    for header, text, width in zip(headers, texts, widths, strict=True):
        room = " " * (width - shown_width(text))
        padded = text + room if header in words else room + text
        shown.append(paint(header, padded) if paint else padded)
    return (" " * GAP).join(shown)


def wrapped_text(text: str, width: int) -> str:
    """A paragraph in lines that fit."""
    return textwrap.fill(text, width, break_on_hyphens=False, break_long_words=False)
