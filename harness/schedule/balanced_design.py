"""Balanced samples of tables: everyone sits equally often, and meets everyone equally often, as nearly as can be.

Who sits how often is always within one. Who meets whom is a combinatorial design: tables are first chosen
greedily, then repaired by exchanges with falling temperature. Within one is easy when the mean number of
meetings lies between two whole numbers; at a whole number it would take a perfect design, which may not exist.
"""

from __future__ import annotations

from collections.abc import Container
from math import exp, inf
from random import Random

HOT, COLD = 0.4, 0.25
"""Temperatures of the repair, in units of its cost: at first it climbs out of dead ends, at last it only improves."""
SAT, TAKEN = 2**64, 2**32
"""Weights of having sat once more, and of a table that there is already, against one more meeting."""


class Sampler:
    """Draws tables of `seats` out of `bots` (numbers from 0), balanced over all draws so far."""

    def __init__(self, bots: int, seats: int, rng: Random) -> None:
        self.bots, self.seats, self.rng = bots, seats, rng
        self.sat = [0] * bots
        self.met = [[0] * bots for _ in range(bots)]

    def draw(self, tables: int, effort: int) -> list[tuple[int, ...]]:
        """So many different tables, at most half of all; `effort` bounds the exchanges tried to even out meetings."""
        drawn = _Draw(self)
        for _ in range(tables):
            drawn.add(self._next(drawn.copies))
        drawn.part()
        drawn.repair(effort)
        return sorted(tuple(sorted(table)) for table in drawn.tables)

    def _next(self, taken: Container[frozenset[int]]) -> frozenset[int]:
        """Those who have sat least; among them a new table if there is one, and those who have met least."""
        order = self.rng.sample(range(self.bots), self.bots)  # lots decide where nothing else does
        # One number a bot, for speed: what weighs more stands in the higher bits.
        cost = [times * SAT for times in self.sat]
        table: frozenset[int] = frozenset()
        while True:
            best = min(order, key=cost.__getitem__)
            if len(table) == self.seats - 1 and table | {best} in taken and cost[best] % SAT < TAKEN:
                cost[best] += TAKEN
                continue
            table |= {best}
            if len(table) == self.seats:
                return table
            cost = [before + meetings for before, meetings in zip(cost, self.met[best], strict=True)]
            order.remove(best)


class _Draw:
    """The tables of one draw, and exchanges between them that keep everyone's number of tables within one."""

    def __init__(self, sampler: Sampler) -> None:
        self.rng, self.sat, self.met, self.seats = sampler.rng, sampler.sat, sampler.met, sampler.seats
        self.tables: list[frozenset[int]] = []
        self.copies: dict[frozenset[int], int] = {}

    def add(self, table: frozenset[int]) -> None:
        """Seats one more table."""
        self.tables.append(table)
        self._count(table, 1)

    def part(self) -> None:
        """Breaks up tables that were drawn twice by exchanges with others, whatever that does to meetings."""
        for number, table in enumerate(self.tables):
            ways = [
                (goes, other, comes)
                for other, its_bots in enumerate(self.tables if self.copies[table] > 1 else ())
                for goes in table - its_bots
                for comes in its_bots - table
            ]
            for goes, other, comes in self.rng.sample(ways, len(ways)):
                self._exchange((number, goes), (other, comes), inf)
                if self.tables[number] != table:
                    break

    def repair(self, effort: int) -> None:
        """Exchanges bots until the meetings are as even as numbers can be, or the effort is spent."""
        if not self.tables or not effort:
            return
        excess, heat, cooling = self._excess(), HOT, (COLD / HOT) ** (1 / effort)
        for _ in range(effort):
            if excess == 0:
                return
            heat *= cooling
            if self.rng.random() < 0.8:
                excess += self._exchange(self._any(), self._any(), heat)
            else:
                excess += self._substitute(heat)

    def _excess(self) -> int:
        """The sum of squared meetings above the least that their number allows: 0 is a spread of at most one."""
        meetings = [count for bot, row in enumerate(self.met) for count in row[:bot]]
        each, more = divmod(sum(meetings), len(meetings))
        least = (len(meetings) - more) * each**2 + more * (each + 1) ** 2
        return sum(count**2 for count in meetings) - least

    def _any(self) -> tuple[int, int]:
        """A table's number and somebody who sits there."""
        number = int(self.rng.random() * len(self.tables))
        return number, [*self.tables[number]][int(self.rng.random() * self.seats)]

    def _exchange(self, here: tuple[int, int], there: tuple[int, int], heat: float) -> int:
        """Two bots change tables, if that is for the better or luck lets it pass; how the excess changed."""
        (i, goes), (j, comes) = here, there
        one, two = self.tables[i], self.tables[j]
        if goes in two or comes in one:
            return 0
        its, others = self.met[goes], self.met[comes]
        # Those who sit at both tables meet the two bots just as often as before.
        cost = sum([others[bot] - its[bot] + 1 for bot in one if bot not in two and bot != goes])
        cost += sum([its[bot] - others[bot] + 1 for bot in two if bot not in one and bot != comes])
        return self._try({i: one - {goes} | {comes}, j: two - {comes} | {goes}}, 2 * cost, heat)

    def _substitute(self, heat: float) -> int:
        """A bot that sits once more than another gives it a place; how the excess changed."""
        number, goes = self._any()
        table, comes = self.tables[number], int(self.rng.random() * len(self.sat))
        if comes in table or self.sat[goes] != self.sat[comes] + 1:
            return 0
        its, others = self.met[goes], self.met[comes]
        cost = sum([others[bot] - its[bot] + 1 for bot in table if bot != goes])
        return self._try({number: table - {goes} | {comes}}, 2 * cost, heat)

    def _try(self, changes: dict[int, frozenset[int]], cost: int, heat: float) -> int:
        if cost > 0 and self.rng.random() >= exp(-cost / heat):
            return 0
        if any(table in self.copies for table in changes.values()):
            return 0
        for number, table in changes.items():
            self._count(self.tables[number], -1)
            self._count(table, 1)
            self.tables[number] = table
        return cost

    def _count(self, table: frozenset[int], by: int) -> None:
        for bot in table:
            self.sat[bot] += by
            row = self.met[bot]
            for other in table:
                if other != bot:
                    row[other] += by
        copies = self.copies.get(table, 0) + by
        if copies:
            self.copies[table] = copies
        else:
            del self.copies[table]
