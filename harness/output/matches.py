"""Tables of matches, and the summary of one bot."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Mapping

from harness.core.errors import UnknownName, printable
from harness.core.plan import Plan
from harness.core.records import GameRecord, shares_ahead
from harness.core.table import Column, Table, columns
from harness.match.faults import cause_of
from harness.output.columns import Fields, ScoreText
from harness.output.leaderboard import leaderboard_table, pairwise_table
from harness.output.tables import grid_text, screen_width
from harness.ratings.counts import by_game, by_option, by_players
from harness.ratings.leaderboard import CountsByGame
from harness.runs.queries import FoundMatches, MatchLine
from harness.runs.standings import counts_of

# A list of matches: seats, scores and what happened.


HEADERS = ("match", "seats and scores", "what happened", "decisions")
TIE = "\N{NO-BREAK SPACE}"
"""Keeps a score on the same line as its bot."""
NUMBER_AND_UNIT = 2
MIN_WRAPPED_CHARS = 16
"""Minimum width of a wrapped column."""


class MatchTable(tuple[MatchLine, ...]):
    """Matches that fit a query, shown as a table. `total` also counts those beyond the limit."""

    total: int
    scores: Mapping[str, ScoreText]

    def __new__(cls, found: FoundMatches, scores: Mapping[str, ScoreText] | None = None) -> MatchTable:
        """Make the table of what was found, with scores in the words of the given games."""
        table = super().__new__(cls, found)
        table.total, table.scores = found.total, scores or {}
        return table

    def __repr__(self) -> str:
        more = remark(len(self), self.total)
        return self.text() + (f"\n\n{more}" if more else "")

    def _repr_html_(self) -> str:
        cells = [_cells(line, self.scores.get(line.game, str)) for line in self]
        return grid_text(Table("matches", columns("text", *HEADERS), cells), "html")

    def text(self) -> str:
        """Return the table, as wide as the terminal, or 80 columns wide without one."""
        cells = [_cells(line, self.scores.get(line.game, str)) for line in self]
        seats, happened = _widths(cells, screen_width())
        rows = [(match, _wrap(sat, seats), _wrap(said, happened), count) for match, sat, said, count in cells]
        return grid_text(Table("matches", [*HEADERS[:3], Column(HEADERS[3], "number")], rows))


def remark(shown: int, total: int) -> str:
    """Return a sentence about matches that are not shown."""
    if not total:
        return "No match fits."
    return f"{total - shown:,} more of {total:,} are beyond the limit." if shown < total else ""


def _cells(line: MatchLine, score_text: ScoreText) -> tuple[str, str, str, str]:
    scores = (score_text(score).replace(" ", TIE) for score in line.scores)
    seats = ", ".join(f"{bot}{TIE}{score}" for bot, score in zip(line.seats, scores, strict=True))
    return printable(line.match), seats, what_happened(line, score_text), str(line.decisions)


def what_happened(line: MatchLine, score_text: ScoreText = str) -> str:
    """Return the winner with its margin, and the bots that failed. A score with several parts has no margin."""
    winners = line.winners
    if len(winners) == len(line.seats):
        text = "shared by all" if len(winners) > 1 else "played alone"
    elif len(winners) > 1:
        text = f"shared by {' and '.join(winners)}"
    else:
        text = f"{winners[0]} won"
        failed = {fault.seat for fault in line.faults}
        fair = sorted((score for seat, score in enumerate(line.scores) if seat not in failed), reverse=True)
        if len(fair) > 1 and len((margin := score_text(fair[0] - fair[1])).split()) <= NUMBER_AND_UNIT:
            text += f" by {margin}"
    for fault in line.faults:
        text += f"; {fault.bot} "
        text += "disqualified" if fault.kind == "disqualified" else f"failed at {fault.decision}: {fault.cause}"
    return text


def _widths(cells: list[tuple[str, str, str, str]], width: int) -> tuple[int, int]:
    """Return the widths of the two columns of text: what they need, or a share of the space."""
    # tabulate makes a column at least two wider than its heading.
    headings = [f"{heading}  " for heading in HEADERS]
    match, seats, happened, count = (max(map(len, column)) for column in zip(headings, *cells, strict=True))
    room = width - match - count - 2 * (len(HEADERS) - 1)
    if seats + happened <= room:
        return seats, happened
    half = room // 2
    seats, happened = min(seats, max(half, room - happened)), min(happened, max(half, room - seats))
    return max(seats, MIN_WRAPPED_CHARS), max(happened, MIN_WRAPPED_CHARS)


def _wrap(text: str, width: int) -> str:
    # A name and score that do not fit one line are better taken apart than broken inside a word.
    parts = [part if len(part) <= width else part.replace(TIE, " ") for part in text.split(" ")]
    return textwrap.fill(" ".join(parts), width, break_on_hyphens=False).replace(TIE, " ")


# One bot in a run, as plain data.


MAX_FAULTS = 100
"""Faults that a summary lists."""


def bot_summary(records: Iterable[GameRecord], bot: str, plan: Plan | None = None) -> dict[str, object]:
    """Return the results of a bot by game, number of players and option, with its opponents, seats and faults.

    Records must come in schedule order.
    """
    tallies = {
        name: counts_of(plan, by, whole=False) if plan else CountsByGame(by)
        for name, by in (("games", by_game), ("players", by_players), ("options", by_option))
    }
    seats: dict[tuple[str, int, int], list[float]] = {}
    faults: list[Fields] = []
    for record in records:
        for tally in tallies.values():
            tally.add(record)
        for seat, name in enumerate(record.seats):
            if name == bot:
                sums = seats.setdefault((record.game, len(record.seats), seat), [0.0] * 3)
                sums[0] += 1
                sums[1] += shares_ahead(record.ranks)[seat]
                sums[2] += record.scores[seat]
                faults += [
                    {
                        "match": record.id,
                        "kind": fault.kind,
                        "cause": cause_of(fault),
                        "decision": fault.decision,
                        "detail": fault.detail,
                    }
                    for fault in record.failures
                    if fault.seat == seat
                ]
    boards = {by: tally.boards() for by, tally in tallies.items()}
    known = {name for board in boards["games"] for name in board.counts.totals}
    if bot not in known:
        raise UnknownName("bot of these records", bot, known)
    return {
        "bot": bot,
        **{
            by: {part.title: row for part in parts for row in leaderboard_table(part).rows if row["bot"] == bot}
            for by, parts in boards.items()
        },
        "opponents": {
            board.title: [row for row in pairwise_table(board).rows if row["bot"] == bot]
            for board in boards["games"]
            if bot in board.counts.totals
        },
        "seats": [
            {
                "game": game,
                "players": players,
                "seat": seat,
                "matches": int(matches),
                "ahead": round(ahead / matches, 4),
                "mean score": round(score / matches, 2),
            }
            for (game, players, seat), (matches, ahead, score) in sorted(seats.items())
        ],
        "faults": faults[:MAX_FAULTS],
    }
