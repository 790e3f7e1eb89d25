"""What formats share: points, seatings, and playing all deals of a round."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice

from harness.core.chance import Chance
from harness.core.errors import StoreError
from harness.core.format import DuplicateSet, GamePlan, OpenRound, Plan
from harness.core.types import GameRecord

PIECE = 1000
"""Matches that an adaptive format asks for at once, about: enough to keep workers busy, few enough to hold."""


@dataclass(slots=True)
class Tally:
    """What one bot did in some matches. Depends on seats, ranks, scores and faults only."""

    points: float = 0.0
    """A point for each opponent beaten, half a point for each one level."""
    most: int = 0
    """The points that were to be had."""
    score: int = 0
    faults: int = 0
    opponents: list[str] = field(default_factory=list)

    @property
    def rate(self) -> float:
        """The share of the points won; a half for who has not played yet."""
        return self.points / self.most if self.most else 0.5


def tally(records: Iterable[GameRecord], into: dict[str, Tally]) -> None:
    """Adds the results to the bots' tallies; each bot of a record must have one."""
    for record in records:
        failed = {fault.seat for fault in record.faults}
        for seat, name in enumerate(record.seats):
            rank, mine = record.ranks[seat], into[name]
            others = [*record.ranks[:seat], *record.ranks[seat + 1 :]]
            mine.points += sum([1.0 if rank < other else 0.5 if rank == other else 0.0 for other in others])
            mine.most += len(others)
            mine.score += record.scores[seat]
            mine.faults += seat in failed


def play_round(
    number: int, tables: Sequence[Sequence[str]], game: GamePlan, plan: Plan, luck: Chance
) -> Generator[OpenRound, Sequence[GameRecord], dict[str, Tally]]:
    """Plays all deals of one round at these tables, in pieces of bounded size; gives back what each bot did."""
    tallies = {name: Tally(opponents=[other for other in table if other != name]) for table in tables for name in table}
    yield _RoundInPieces(_sets(number, tables, game, plan, luck), _sets_of_piece(game), tallies)
    return tallies


class _RoundInPieces(OpenRound):
    """All deals of a round: its pieces do not depend on each other."""

    def __init__(self, sets: Iterator[DuplicateSet], size: int, tallies: dict[str, Tally]) -> None:
        self._sets, self._size, self._tallies = sets, size, tallies

    def more(self) -> list[DuplicateSet]:
        return list(islice(self._sets, self._size))

    def take(self, record: GameRecord) -> None:
        tally([record], self._tallies)


def sizes_of_round(tables: int, game: GamePlan, plan: Plan) -> Iterator[int]:
    """Matches of each piece of a round at so many tables."""
    sets, piece = tables * plan.deals, _sets_of_piece(game)
    return (min(piece, sets - first) * game.players for first in range(0, sets, piece))


def _sets_of_piece(game: GamePlan) -> int:
    return max(1, PIECE // game.players)


def _sets(
    number: int, tables: Sequence[Sequence[str]], game: GamePlan, plan: Plan, luck: Chance
) -> Iterator[DuplicateSet]:
    count = 0
    for deal in range((number - 1) * plan.deals + 1, number * plan.deals + 1):
        for place, table in enumerate(tables, 1):
            count += 1
            yield DuplicateSet(number, count, (deal, place), game.seating(table, luck, number, count))


class RoundRecords:
    """The records of one game, put together by rounds: what each bot did in each of them, as far as it was played."""

    def __init__(self) -> None:
        self.matches: Counter[int] = Counter()
        """Round -> how many of its matches there are."""
        self.tallies: dict[int, dict[str, Tally]] = {}

    def add(self, record: GameRecord) -> None:
        """Takes in a record: its set is named after its round."""
        number = int(record.set.rsplit("-", 1)[-1].split(".")[0])
        self.matches[number] += 1
        played = self.tallies.setdefault(number, {})
        for name in record.seats:
            if name not in played:
                played[name] = Tally(opponents=[other for other in record.seats if other != name])
        tally([record], played)

    def of(self, number: int, game: str, bots: Collection[str], every: bool = False) -> dict[str, Tally]:
        """What these bots did in a round; StoreError if others played there than the rounds before lead to, or not
        `every` one of them."""
        played = self.tallies.get(number, {})
        if not played.keys() <= set(bots) or (every and len(played) < len(bots)):
            raise StoreError(
                f"Round {number} of {game} has records of others than those who should play there: 'arena verify' says "
                "which records are not the run's."
            )
        return played


def amount(points: float) -> str:
    """Points for people: `12` or `12.5`."""
    return f"{points:g}" if points < 100_000 else f"{points:.1f}".removesuffix(".0")


def still_to_play(number: int, rounds: int, played: int, matches: int) -> str:
    """What is open in round `number` of so many, when `played` of its `matches` are known."""
    left = rounds - number + 1
    text = f"{left} of {rounds} rounds {'is' if left == 1 else 'are'} still to be finished"
    if played:
        return f"{text}; {played:,} of {matches:,} matches of round {number} have been played and do not count yet."
    return f"{text}."
