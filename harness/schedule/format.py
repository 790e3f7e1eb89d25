"""What a format is: a generator of rounds for one game that is sent their results, and the parts all formats share."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import NamedTuple

from harness.core.chance import Chance
from harness.core.types import GameRecord
from harness.schedule.plan import GamePlan, Plan

PIECE = 1000
"""Matches that an adaptive format asks for at once, about: enough to keep workers busy, few enough to hold."""


class DuplicateSet(NamedTuple):
    """A duplicate set: these bots, in this order around the table, play one deal in every rotation."""

    group: int
    """The deal in formats that need no results, the round in the others; the first number of a match id."""
    number: int
    """Counts the tables of the group; the second number of a match id."""
    deal: tuple[int, ...]
    """Names the deal: tables of the same name have the same luck. A table has its own, unless tables are to be
    compared: matches of one deal are not independent, so shared deals say less about all deals."""
    seating: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a format itself says in the end, beside the ratings."""

    standing: tuple[str, ...] = ()
    """Bots by the format's own measure, best first; empty if it has none."""
    note: str = ""
    """One sentence for people; it does not name the game."""


Rounds = Generator[list[DuplicateSet], Sequence[GameRecord], Outcome]
"""Yields tables to be played, is sent their records in schedule order, ends with the outcome."""


@dataclass(frozen=True, slots=True)
class Format:
    """A way of choosing who plays whom."""

    name: str
    summary: str
    rounds: Callable[[GamePlan, Plan, Chance], Rounds]
    count: Callable[[GamePlan, Plan], int | None]
    """Matches of one game: exact or an upper bound; None if only the results can tell."""
    adaptive: bool
    """Whether later rounds depend on the results of earlier ones."""
    check: Callable[[GamePlan, Plan], None] = lambda _game, _plan: None
    """Refuses a plan that this format cannot play."""
    settings: frozenset[str] = field(default_factory=frozenset)
    """Fields of Plan, beyond those that all formats have, that it uses."""


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


def seated(table: Sequence[str], luck: Chance, game: GamePlan, group: int, number: int) -> tuple[str, ...]:
    """A seating order of its own for each table and deal, so that over many deals everyone sits beside everyone."""
    return tuple(luck.shuffled(table, "seating", game.name, group, number))


def play_round(
    number: int, tables: Sequence[Sequence[str]], game: GamePlan, plan: Plan, luck: Chance
) -> Generator[list[DuplicateSet], Sequence[GameRecord], dict[str, Tally]]:
    """Plays all deals of one round at these tables, in pieces of bounded size; gives back what each bot did."""
    tallies = {name: Tally(opponents=[other for other in table if other != name]) for table in tables for name in table}
    sets = _sets(number, tables, game, plan, luck)
    while piece := list(islice(sets, max(1, PIECE // game.players))):
        tally((yield piece), tallies)
    return tallies


def _sets(
    number: int, tables: Sequence[Sequence[str]], game: GamePlan, plan: Plan, luck: Chance
) -> Iterator[DuplicateSet]:
    count = 0
    for deal in range((number - 1) * plan.deals + 1, number * plan.deals + 1):
        for place, table in enumerate(tables, 1):
            count += 1
            yield DuplicateSet(number, count, (deal, place), seated(table, luck, game, number, count))
