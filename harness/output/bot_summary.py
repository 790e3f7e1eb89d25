"""One bot's page: everything that the records say about it, as plain data."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from harness.core.errors import UnknownName
from harness.core.types import GameRecord
from harness.output.columns import leaderboard_table
from harness.output.details import pairwise_table
from harness.output.tables import Row
from harness.ratings import RatingSet, by_game, by_option, by_players, in_schedule_order
from harness.ratings.evidence import shares_ahead

MOST_FAULTS = 100
"""A bot that fails in every match need not have them all listed."""


def bot_page(records: Iterable[GameRecord], bot: str) -> dict[str, object]:
    """The bot's lines (by game, by number of players, by option), its opponents, its seats and its faults."""
    rating_sets = {"games": RatingSet(by_game), "players": RatingSet(by_players), "options": RatingSet(by_option)}
    seats: dict[tuple[str, int, int], list[float]] = {}
    faults: list[Row] = []
    for record in in_schedule_order(records):
        for rating_set in rating_sets.values():
            rating_set.add(record)
        for seat, name in enumerate(record.seats):
            if name == bot:
                sums = seats.setdefault((record.game, len(record.seats), seat), [0.0] * 3)
                sums[0] += 1
                sums[1] += shares_ahead(record.ranks)[seat]
                sums[2] += record.scores[seat]
                faults += _faults(record, seat)
    rated = rating_sets["games"].rated()
    if not any(bot in ratings.lines for ratings in rated.values()):
        raise UnknownName("bot of these records", bot, {name for ratings in rated.values() for name in ratings.lines})
    return {
        "bot": bot,
        **{by: dict(_lines(rating_set, bot)) for by, rating_set in rating_sets.items()},
        "opponents": {
            title: [row for row in pairwise_table(title, ratings).rows if row["bot"] == bot]
            for title, ratings in rated.items()
            if bot in ratings.lines
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


def _lines(rating_set: RatingSet, bot: str) -> Iterator[tuple[str, Row]]:
    for title, ratings in rating_set.rated().items():
        for row in leaderboard_table(title, ratings).rows:
            if row["bot"] == bot:
                yield title, row


def _faults(record: GameRecord, seat: int) -> Iterator[Row]:
    for fault in record.faults:
        if fault.seat == seat:
            yield {"match": record.id, "kind": fault.kind, "decision": fault.decision, "detail": fault.detail}
