"""One bot's page: everything that the records say about it, as plain data."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from harness.errors import UnknownName
from harness.ratings import Shelf, by_game, by_option, by_players, in_schedule_order
from harness.ratings.evidence import shares_ahead
from harness.tables.details import pairwise_table
from harness.tables.layout import Row
from harness.tables.leaderboard import leaderboard_table
from harness.types import GameRecord

MOST_FAULTS = 100
"""A bot that fails in every match need not have them all listed."""


def bot_page(records: Iterable[GameRecord], bot: str) -> dict[str, object]:
    """The bot's lines (by game, by number of players, by option), its opponents, its seats and its faults."""
    shelves = {"games": Shelf(by_game), "players": Shelf(by_players), "options": Shelf(by_option)}
    seats: dict[tuple[str, int, int], list[float]] = {}
    faults: list[Row] = []
    for record in in_schedule_order(records):
        for shelf in shelves.values():
            shelf.add(record)
        for seat, name in enumerate(record.seats):
            if name == bot:
                sums = seats.setdefault((record.game, len(record.seats), seat), [0.0] * 3)
                sums[0] += 1
                sums[1] += shares_ahead(record.ranks)[seat]
                sums[2] += record.scores[seat]
                faults += _faults(record, seat)
    books = shelves["games"].books()
    if not any(bot in book.lines for book in books.values()):
        raise UnknownName("bot of these records", bot, {name for book in books.values() for name in book.lines})
    return {
        "bot": bot,
        **{by: dict(_lines(shelf, bot)) for by, shelf in shelves.items()},
        "opponents": {
            title: [row for row in pairwise_table(title, book).rows if row["bot"] == bot]
            for title, book in books.items()
            if bot in book.lines
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


def _lines(shelf: Shelf, bot: str) -> Iterator[tuple[str, Row]]:
    for title, book in shelf.books().items():
        for row in leaderboard_table(title, book).rows:
            if row["bot"] == bot:
                yield title, row


def _faults(record: GameRecord, seat: int) -> Iterator[Row]:
    for fault in record.faults:
        if fault.seat == seat:
            yield {"match": record.id, "kind": fault.kind, "decision": fault.decision, "detail": fault.detail}
