"""A list of matches for people: who played, how it ended, what happened."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping

from tabulate import tabulate

from harness.output.columns import ScoreText
from harness.output.screen import screen_width
from harness.runs.match_list import FoundMatches, MatchLine

HEADERS = ("match", "seats and scores", "what happened", "decisions")
TIE = "\N{NO-BREAK SPACE}"
"""Keeps a score beside its bot."""
NUMBER_AND_UNIT = 2
NARROWEST = 16
"""Characters of a column that is wrapped, at least."""


class MatchTable(tuple[MatchLine, ...]):
    """Matches that were asked for: shown as a table. `total` is how many fit, also those past the limit."""

    total: int
    scores: Mapping[str, ScoreText]

    def __new__(cls, found: FoundMatches, scores: Mapping[str, ScoreText] | None = None) -> MatchTable:
        """The table of what was found, with scores in the words of those games that are given."""
        table = super().__new__(cls, found)
        table.total, table.scores = found.total, scores or {}
        return table

    def __repr__(self) -> str:
        more = remark(len(self), self.total)
        return self.text() + (f"\n\n{more}" if more else "")

    def _repr_html_(self) -> str:
        return str(
            tabulate(
                [_cells(line, self.scores.get(line.game, str)) for line in self],
                HEADERS,
                tablefmt="html",
                disable_numparse=True,
            )
        )

    def text(self) -> str:
        """The table, as wide as the terminal, or 80 columns where there is none."""
        cells = [_cells(line, self.scores.get(line.game, str)) for line in self]
        seats, happened = _widths(cells, screen_width())
        rows = [(match, _wrap(sat, seats), _wrap(said, happened), count) for match, sat, said, count in cells]
        align = ("left", "left", "left", "right")
        return str(tabulate(rows, HEADERS, disable_numparse=True, colalign=align if rows else None))


def remark(shown: int, total: int) -> str:
    """What a list of so many matches does not show."""
    if not total:
        return "No match fits."
    return f"{total - shown:,} more of {total:,} are beyond the limit." if shown < total else ""


def _cells(line: MatchLine, score_text: ScoreText) -> tuple[str, str, str, str]:
    told = (score_text(score).replace(" ", TIE) for score in line.scores)
    seats = ", ".join(f"{bot}{TIE}{score}" for bot, score in zip(line.seats, told, strict=True))
    return line.match, seats, what_happened(line, score_text), str(line.decisions)


def what_happened(line: MatchLine, score_text: ScoreText = str) -> str:
    """Who won by how much, and who failed. Where a score has several parts there is no single margin."""
    winners = line.winners
    if len(winners) == len(line.seats):
        told = "shared by all" if len(winners) > 1 else "played alone"
    elif len(winners) > 1:
        told = f"shared by {' and '.join(winners)}"
    else:
        told = f"{winners[0]} won"
        failed = {fault.seat for fault in line.faults}
        fair = sorted((score for seat, score in enumerate(line.scores) if seat not in failed), reverse=True)
        if len(fair) > 1 and len((margin := score_text(fair[0] - fair[1])).split()) <= NUMBER_AND_UNIT:
            told += f" by {margin}"
    for fault in line.faults:
        told += f"; {fault.bot} "
        told += "disqualified" if fault.kind == "disqualified" else f"failed at {fault.decision}: {fault.cause}"
    return told


def _widths(cells: list[tuple[str, str, str, str]], width: int) -> tuple[int, int]:
    """Characters for the two columns of words: what they need, or what is left over."""
    match, seats, happened, _ = (max(map(len, column)) for column in zip(HEADERS, *cells, strict=True))
    room = width - match - len(HEADERS[3]) - 2 * len(HEADERS)  # the last column is two wider than its heading
    if seats + happened <= room:
        return seats, happened
    half = room // 2
    seats, happened = min(seats, max(half, room - happened)), min(happened, max(half, room - seats))
    return max(seats, NARROWEST), max(happened, NARROWEST)


def _wrap(text: str, width: int) -> str:
    return textwrap.fill(text, width, break_on_hyphens=False).replace(TIE, " ")
