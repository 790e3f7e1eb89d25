"""One bot in a run: everything that the records say about it, as plain data."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from harness.core.errors import UnknownName
from harness.core.format import Plan
from harness.core.types import GameRecord
from harness.match.faults import cause_of
from harness.output.columns import Fields
from harness.output.details import pairwise_table
from harness.output.tables import leaderboard_table
from harness.ratings import Leaderboard, RatingSet, by_game, by_option, by_players
from harness.ratings.evidence import shares_ahead
from harness.runs.boards import rating_set_of

MOST_FAULTS = 100
"""A bot that fails in every match need not have them all listed."""


def bot_summary(records: Iterable[GameRecord], bot: str, plan: Plan | None = None) -> dict[str, object]:
    """The bot's lines (by game, by number of players, by option), its opponents, its seats and its faults; records come
    in the order of the schedule."""
    rating_sets = {
        name: rating_set_of(plan, by, whole=False) if plan else RatingSet(by)
        for name, by in (("games", by_game), ("players", by_players), ("options", by_option))
    }
    seats: dict[tuple[str, int, int], list[float]] = {}
    faults: list[Fields] = []
    for record in records:
        for rating_set in rating_sets.values():
            rating_set.add(record)
        for seat, name in enumerate(record.seats):
            if name == bot:
                sums = seats.setdefault((record.game, len(record.seats), seat), [0.0] * 3)
                sums[0] += 1
                sums[1] += shares_ahead(record.ranks)[seat]
                sums[2] += record.scores[seat]
                faults += _faults(record, seat)
    boards = {by: rating_set.boards() for by, rating_set in rating_sets.items()}
    known = {name for board in boards["games"] for name in board.ratings.lines}
    if bot not in known:
        raise UnknownName("bot of these records", bot, known)
    return {
        "bot": bot,
        **{by: dict(_lines(parts, bot)) for by, parts in boards.items()},
        "opponents": {
            board.title: [row for row in pairwise_table(board).rows if row["bot"] == bot]
            for board in boards["games"]
            if bot in board.ratings.lines
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
        "faults": faults[:MOST_FAULTS],
    }


def _lines(boards: Iterable[Leaderboard], bot: str) -> Iterator[tuple[str, Fields]]:
    for board in boards:
        for row in leaderboard_table(board).rows:
            if row["bot"] == bot:
                yield board.title, row


def _faults(record: GameRecord, seat: int) -> Iterator[Fields]:
    for fault in record.failures:
        if fault.seat == seat:
            yield {
                "match": record.id,
                "kind": fault.kind,
                "cause": cause_of(fault),
                "decision": fault.decision,
                "detail": fault.detail,
            }
