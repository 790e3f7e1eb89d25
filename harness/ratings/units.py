"""What gives one value in a comparison: its matches, and the value that their records have.

The value lies between 0 and 1, and is one half on average if neither bot is better. That is all that a test of it
needs, so units of different kinds may follow each other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from harness.core.chance import Chance
from harness.core.types import GameRecord, MatchSpec
from harness.ratings.question import Question, Unit

Duel = Callable[[GameRecord, str, str], float]
"""From 0 to 1: how far the first bot finished ahead of the second in a match."""
Share = Callable[[GameRecord, str], float]
"""From 0 to 1: the share of the table that a bot finished ahead of."""


def duel(record: GameRecord, one: str, other: str) -> float:
    """1 if the one finished ahead of the other, 0 if behind, one half if level."""
    return 0.5 + 0.5 * _sign(record.ranks[record.seats.index(other)] - record.ranks[record.seats.index(one)])


def share(record: GameRecord, name: str) -> float:
    """The share of the others at the table that a bot finished ahead of; who is level counts half."""
    seat = record.seats.index(name)
    rank, others = record.ranks[seat], [*record.ranks[:seat], *record.ranks[seat + 1 :]]
    return sum([0.5 + 0.5 * _sign(other - rank) for other in others]) / len(others)


def _sign(number: int) -> int:
    return (number > 0) - (number < 0)


def results_of(
    question: Question, unit: Unit, records: Sequence[GameRecord], duel: Duel = duel, share: Share = share
) -> list[float]:
    """A value for each match of a unit; the mean of them is the unit's.

    `duel` and `share` judge a single match: by its ranks, or by something that has the same mean and less luck in it.
    Each must lie between 0 and 1, be settled by the match alone, and treat both bots alike.
    """
    if unit != "turns":
        return [duel(record, question.one, question.other) for record in records]
    first, second = records
    return [share(first, question.one), 1 - share(second, question.other)]


def matches_of(question: Question, unit: Unit, number: int, first: int) -> Iterator[MatchSpec]:
    """The matches of a unit. `first` is the place of its first match in the schedule, if there is but this game.

    Who sits where is drawn anew for each unit, every order being as likely as any other: so units do not depend on each
    other, and which of them were seen tells nothing of those to come, as the test wants it.
    """
    luck = Chance(question.seed)
    name = f"{question.game}-{number}"
    own_deals = question.way == "sets-own-deals"
    for turn, seats in enumerate(_seatings(question, unit, luck, number), 1):
        where = ("deal", question.game, number, turn) if own_deals else ("deal", question.game, number)
        yield MatchSpec(
            id=f"{name}.{turn}",
            index=first + turn - 1,
            set=name,
            game=question.game,
            options=question.settings,
            seed=luck.derive(*where),
            seats=seats,
        )


def _seatings(question: Question, unit: Unit, luck: Chance, number: int) -> Iterator[tuple[str, ...]]:
    one, other = question.one, question.other
    table = [one, *question.company] if unit == "turns" else [one, other, *question.company]
    seats = tuple(luck.shuffled(table, "seating", question.game, number))
    changed = tuple([{one: other, other: one}.get(name, name) for name in seats])
    if unit == "set" and question.company:
        for order in (seats, changed):
            for turn in range(len(order)):
                yield order[turn:] + order[:turn]
        return
    yield seats
    if unit != "match":
        yield changed
