"""Leaderboards as text, Markdown, CSV and JSON."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping

from tabulate import tabulate, tabulate_formats

from harness.errors import UnknownName
from harness.ratings import Book, Line

HEADERS = (
    "rank",
    "bot",
    "rating",
    "mu",
    "sigma",
    "matches",
    "wins",
    "mean rank",
    "mean score",
    "ms/decision",
    "faults",
)
FORMATS = ("csv", "json", *sorted(tabulate_formats))


def rows(book: Book) -> list[dict[str, object]]:
    """A book as plain data, best first."""
    return [_row(rank, line) for rank, line in enumerate(book.standing(), 1)]


def _row(rank: int, line: Line) -> dict[str, object]:
    return {
        "rank": rank,
        "bot": line.bot,
        "rating": round(line.rating, 3),
        "mu": round(line.mu, 3),
        "sigma": round(line.sigma, 3),
        "matches": line.matches,
        "wins": round(line.wins / line.matches, 4),
        "mean rank": round(line.rank_sum / line.matches, 3),
        "mean score": round(line.score_sum / line.matches, 2),
        "ms/decision": round(1000 * line.time / line.decisions, 4) if line.decisions else 0.0,
        "faults": line.faults,
    }


def render(books: Mapping[str, Book], table_format: str = "simple") -> str:
    """All books as text in one of FORMATS."""
    if table_format == "json":
        return json.dumps({name: rows(book) for name, book in books.items()}, indent=2)
    if table_format == "csv":
        return _csv(books)
    if table_format not in FORMATS:
        raise UnknownName("table format", table_format, FORMATS)
    parts = []
    for name, book in books.items():
        cells = [[_cell(header, row[header]) for header in HEADERS] for row in rows(book)]
        table = tabulate(cells, headers=HEADERS, tablefmt=table_format, disable_numparse=True, colalign=_ALIGN)
        parts.append(f"{name}\n\n{table}" if table_format != "github" else f"## {name}\n\n{table}")
    return "\n\n".join(parts)


_ALIGN = ["right", "left", *["right"] * (len(HEADERS) - 2)]
_SHOWN = {"rating": "{:.2f}", "mu": "{:.2f}", "sigma": "{:.2f}", "wins": "{:.1%}", "mean rank": "{:.2f}",
          "mean score": "{:.1f}", "ms/decision": "{:.3f}"}  # fmt: skip


def _cell(header: str, value: object) -> str:
    return _SHOWN[header].format(value) if header in _SHOWN else str(value)


def _csv(books: Mapping[str, Book]) -> str:
    out = io.StringIO()
    writer = csv.DictWriter(out, ["game", *HEADERS], lineterminator="\n")
    writer.writeheader()
    for name, book in books.items():
        for row in rows(book):
            writer.writerow({"game": name, **row})
    return out.getvalue().rstrip("\n")
