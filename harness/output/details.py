"""More tables: who finishes ahead of whom, where that is a surprise, and what a seat is worth."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from math import exp, log

from harness.output.columns import NOTHING, Fields, interval_fields, number, percent
from harness.output.data_table import DataTable
from harness.ratings import Leaderboard

MOST_BOTS = 40
"""A table of more bots by as many is read by nobody."""
MOST_SURPRISES = 15
PAIRS_LEGEND = (
    "How often, in percent, the bot of the line finishes ahead of the bot whose number stands at the top; a tie is one "
    "half."
)
SURPRISES_LEGEND = (
    "expected: by the Plackett-Luce strengths of the two. luck: at most so likely is it that luck alone makes any pair "
    "of the table differ so much."
)


def pairwise_table(board: Leaderboard) -> DataTable:
    """How often each bot finishes ahead of each other; a tie is half of one. Of a large field only the surprises."""
    evidence = board.ratings.evidence
    lines = [standing.line for standing in board.standings]
    rows: list[Fields] = []
    cells = []
    for place, line in enumerate(lines, 1):
        shown = [str(place), line.bot]
        for other in lines:
            ahead, met = evidence.finished_ahead(line.number, other.number)
            if met:
                rows.append({"bot": line.bot, "against": other.bot, "met": met, "ahead": round(ahead / met, 4)})
            shown.append(f"{100 * ahead / met:.0f}" if met else NOTHING)
        cells.append(shown)
    if len(lines) <= MOST_BOTS:
        headers = ["#", "bot", *map(str, range(1, len(lines) + 1))]
        return DataTable(board.title, rows, headers, cells, legend=PAIRS_LEGEND)
    few = surprises_table(board)
    note = f"Of {len(lines):,} bots, the pairs that differ most from what is expected. All pairs: --show pairs -f csv."
    return DataTable(board.title, rows, few.headers, few.cells, [*few.notes, note], few.legend, words=few.words)


@dataclass(frozen=True, slots=True)
class Surprise:
    """Two bots and how they fare against each other, the one that does better than expected first."""

    bot: str
    against: str
    met: int
    ahead: float
    expected: float
    exponent: float
    """How hard that is to come by through luck: Hoeffding's exponent for all deals together."""
    luck: float
    """An upper bound for the chance that luck alone makes any pair of the table differ so much."""


def surprises(board: Leaderboard) -> list[Surprise]:
    """All pairs that met, the most surprising first."""
    return sorted(_surprises(board), key=lambda one: (-round(one.exponent, 9), one.bot, one.against))


def _surprises(board: Leaderboard) -> Iterator[Surprise]:
    evidence = board.ratings.evidence
    pairs = list(combinations(board.standings, 2))
    # Matches of one deal have their luck in common, and two bots meet once in each of its rotations.
    seats = sum(one.line.matches for one in board.standings)
    rotations = max(1, round(seats / max(1, board.ratings.matches)))
    for one, other in pairs:
        won, met = evidence.finished_ahead(one.line.number, other.line.number)
        if not met:
            continue
        ahead, expected = won / met, 1 / (1 + 10 ** ((other.strength - one.strength) / 400))
        exponent = max(1.0, met / rotations) * divergence(ahead, expected)
        luck = min(1.0, 2 * len(pairs) * exp(-exponent))
        if ahead >= expected:
            yield Surprise(one.line.bot, other.line.bot, met, ahead, expected, exponent, luck)
        else:
            yield Surprise(other.line.bot, one.line.bot, met, 1 - ahead, 1 - expected, exponent, luck)


def divergence(seen: float, expected: float) -> float:
    """How hard it is for means of `expected` to look like `seen`: Hoeffding's exponent, for values from 0 to 1."""
    parts = ((seen, expected), (1 - seen, 1 - expected))
    return sum(part * log(part / max(whole, 1e-12)) for part, whole in parts if part > 0)


def surprises_table(board: Leaderboard) -> DataTable:
    """The pairs whose results differ most from what the strengths of the two let expect."""
    found = surprises(board)
    rows: list[Fields] = [
        {
            "bot": one.bot,
            "against": one.against,
            "met": one.met,
            "ahead": round(one.ahead, 4),
            "expected": round(one.expected, 4),
            "luck": round(one.luck, 4),
        }
        for one in found
    ]
    cells = [
        [one.bot, one.against, str(one.met), f"{one.ahead:.0%}", f"{one.expected:.0%}", _chance(one.luck)]
        for one in found[:MOST_SURPRISES]
    ]
    return DataTable(
        board.title,
        rows,
        ["bot", "ahead of", "met", "in", "expected", "luck"],
        cells,
        _surprises_notes(found),
        SURPRISES_LEGEND,
        words=frozenset(("bot", "ahead of")),
    )


def _surprises_notes(found: list[Surprise]) -> list[str]:
    if not found:
        return []
    sure = sum(one.luck < 0.05 for one in found)
    if not sure:
        return ["No pair differs more from what is expected than luck explains."]
    return [f"{sure:,} of {len(found):,} pairs differ{'s' if sure == 1 else ''} more than luck explains (below 5%)."]


def _chance(chance: float) -> str:
    return "<0.1%" if chance < 0.001 else f"{chance:.1%}" if chance < 0.1 else f"{chance:.0%}"


def alpha_rank_table(board: Leaderboard) -> DataTable:
    """How much of the time each bot would be played if bots that finish ahead took over: for fields without an order.

    It has no lines where some bots never met.
    """
    shares = board.alpha_rank()
    notes = [] if shares is not None else ["Not everybody has met everybody: there is no table of all pairs to go by."]
    found = shares or []
    return DataTable(
        board.title,
        [{"bot": bot, "share": round(share, 4)} for bot, share in found],
        ["bot", "share"],
        [[bot, f"{share:.1%}"] for bot, share in found],
        notes,
        legend="share: how much of the time a bot would be the one that is played, if those that finish ahead of it "
        "took over. A description of the pairs as they were played, luck included, and no claim.",
    )


def seats_table(board: Leaderboard) -> DataTable:
    """What each seat is worth: the seat advantage of the game."""
    rows: list[Fields] = []
    cells = []
    for (players, seat), sums in board.ratings.evidence.seats().items():
        matches, wins, score, ahead = sums.matches, sums.wins, sums.mean_score, sums.share_ahead
        rows.append(
            {
                "players": players,
                "seat": seat,
                "matches": int(matches),
                "wins": round(wins / matches, 4),
                **interval_fields("ahead", ahead, 4),
                **interval_fields("mean score", score, 2),
            }
        )
        cells.append(
            [str(players), str(seat), f"{matches:.0f}", f"{wins / matches:.1%}", percent(ahead), number(score)]
        )
    legend = "Without a seat advantage a seat finishes ahead of 50% of the table. In brackets: 95% intervals."
    return DataTable(
        board.title, rows, ["players", "seat", "matches", "wins", "ahead", "mean score"], cells, legend=legend
    )
