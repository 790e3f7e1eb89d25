"""Seats a swiss round: neighbours in the standing sit together, but nobody meets twice where that can be avoided."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations, count, pairwise

Met = Mapping[frozenset[str], int]
"""How often two bots have met."""

STEPS = 20_000
"""Places tried in the exact search of one block: enough for a proof up to a dozen bots, a bound beyond."""
BLOCK = 96
"""Bots searched together; a larger field is cut into blocks down the standing, each with plenty of freedom."""


def repeats(tables: Sequence[Sequence[str]], met: Met) -> int:
    """Earlier meetings of those who sit together."""
    return sum(met.get(frozenset(pair), 0) for table in tables for pair in combinations(table, 2))


def seat_by_standing(standing: Sequence[str], seats: int, met: Met, steps: int = STEPS) -> list[list[str]]:
    """Tables of `seats` from the best down, with as few repeats as can be; the length must be a multiple."""
    tables = len(standing) // seats
    blocks = -(-len(standing) // BLOCK)
    cuts = [seats * (tables * block // blocks) for block in range(blocks + 1)]
    return [table for start, end in pairwise(cuts) for table in _block(standing[start:end], seats, met, steps)]


def _block(standing: Sequence[str], seats: int, met: Met, steps: int) -> list[list[str]]:
    search = _Search(standing, seats, met, steps)
    for allowed in count():
        found = search.first_with(allowed)
        if found is not None:
            return found
        if search.steps <= 0:
            return _improved(standing, seats, met)
    raise AssertionError("every seating has some number of repeats")


@dataclass
class _Search:
    """Depth first: the best bot without a place sits down, then the nearest in the standing that still fit."""

    standing: Sequence[str]
    seats: int
    met: Met
    steps: int
    tables: list[list[str]] = field(default_factory=list)

    def first_with(self, allowed: int) -> list[list[str]] | None:
        """The seating nearest to the standing that has at most so many repeats."""
        self.tables = []
        return self.tables if self._fill(list(self.standing), allowed) else None

    def _fill(self, waiting: list[str], allowed: int) -> bool:
        """Seats all who wait, best first."""
        if not waiting:
            return True
        self.tables.append([waiting[0]])
        if self._complete(waiting[1:], 0, allowed):
            return True
        self.tables.pop()
        return False

    def _complete(self, waiting: list[str], start: int, allowed: int) -> bool:
        """Fills the open table from `start` on down the standing, then the tables after it."""
        table = self.tables[-1]
        if len(table) == self.seats:
            return self._fill(waiting, allowed)
        for place in range(start, len(waiting)):
            self.steps -= 1
            if self.steps <= 0:
                return False
            cost = sum([self.met.get(frozenset((waiting[place], other)), 0) for other in table])
            if cost <= allowed:
                table.append(waiting[place])
                if self._complete(waiting[:place] + waiting[place + 1 :], place, allowed - cost):
                    return True
                table.pop()
        return False


def _improved(standing: Sequence[str], seats: int, met: Met) -> list[list[str]]:
    """The standing cut into tables, then exchanges, nearest first, as long as they save repeats."""
    order = list(standing)
    for one, two in _until_quiet(order):
        tables = [order[start : start + seats] for start in (one - one % seats, two - two % seats)]
        before = repeats(tables, met)
        order[one], order[two] = order[two], order[one]
        tables = [order[start : start + seats] for start in (one - one % seats, two - two % seats)]
        if one // seats == two // seats or repeats(tables, met) >= before:
            order[one], order[two] = order[two], order[one]
    return [order[start : start + seats] for start in range(0, len(order), seats)]


def _until_quiet(order: list[str]) -> Iterator[tuple[int, int]]:
    """All pairs of places, nearest first, again and again until a whole pass changed nothing."""
    while True:
        before = list(order)
        for distance in range(1, len(order)):
            yield from zip(range(len(order) - distance), range(distance, len(order)), strict=True)
        if order == before:
            return
