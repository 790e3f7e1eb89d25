"""Round-robin: every table of bots plays every deal, or a balanced sample of tables does."""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from itertools import combinations
from math import comb, exp, inf
from random import Random

from harness.core.errors import UsageError
from harness.core.plan import DuplicateSet, Format, GamePlan, Outcome, Plan, Rounds
from harness.core.records import Option
from harness.core.rng import Chance

# Balanced samples of tables: everyone sits equally often, and meets everyone equally often, as nearly as can be.
#
# Who sits how often is always within one. Who meets whom is a combinatorial design: tables are first chosen greedily,
# then repaired by exchanges with falling temperature. Within one is easy when the mean number of meetings lies
# between two whole numbers; at a whole number it would take a perfect design, which may not exist.


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
        """Return different tables, at most half of all; `effort` is the maximum of exchanges that even out meetings."""
        drawn = _Draw(self)
        for _ in range(tables):
            drawn.add(self._next(drawn.copies))
        drawn.part()
        drawn.repair(effort)
        return sorted(tuple(sorted(table)) for table in drawn.tables)

    def _next(self, taken: Container[frozenset[int]]) -> frozenset[int]:
        """Return the bots that have sat least; among them a new table, if possible, and bots that have met least."""
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
        """Add one more table."""
        self.tables.append(table)
        self._count(table, 1)

    def part(self) -> None:
        """Break up tables that were drawn twice by exchanges with others, whatever that does to meetings."""
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
        """Exchange bots until the meetings are as even as possible, or the effort is spent."""
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
        """Return the sum of squared meetings above its minimum: 0 is a spread of at most one."""
        meetings = [count for bot, row in enumerate(self.met) for count in row[:bot]]
        each, more = divmod(sum(meetings), len(meetings))
        least = (len(meetings) - more) * each**2 + more * (each + 1) ** 2
        return sum(count**2 for count in meetings) - least

    def _any(self) -> tuple[int, int]:
        """Return a random table's number and one of its bots."""
        number = int(self.rng.random() * len(self.tables))
        return number, [*self.tables[number]][int(self.rng.random() * self.seats)]

    def _exchange(self, here: tuple[int, int], there: tuple[int, int], heat: float) -> int:
        """Let two bots change tables, if that is better or passes by chance; return how the excess changed."""
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
        """Let a bot that sits once more than another give it a seat; return how the excess changed."""
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


# Round-robin: every table of K out of N bots plays every deal; a balanced sample of tables when there are too many.


MAX_TABLES = 1000
"""Tables of one deal that are played without being asked for; where there are more, a sample is taken."""
MAX_BOTS = 2000
"""Bots in a sample: who met whom is held in memory."""
MAX_TABLES_ASKED = 100_000
"""The tables of a deal or a round are held in memory."""
TABLES = Option(
    "tables", 0, "tables of each deal, a balanced sample; 0 is all of them, if there are not too many",
    kind="int", minimum=0, maximum=MAX_TABLES_ASKED,
)  # fmt: skip
EFFORT = 100_000
"""Exchanges tried to even out all deals but the last, together: resuming a long run draws its samples again."""
LAST_EFFORT = 300_000
"""Exchanges tried for the last deal, where the balance of the whole run is settled: a second or two at most."""


def rounds(game: GamePlan, plan: Plan, luck: Chance) -> Rounds:
    """Play a deal at a time, without using results; of a plan that was extended, the deals since."""
    first = plan.before[-1].deals if plan.before else 0
    rng = luck.rng("tables", game.name, *([len(plan.before)] if plan.before else []))
    choice = tables_by_deal(game.entrants, game.players, plan.whole("tables"), plan.deals - first, rng)
    for deal, tables in enumerate(choice, first + 1):
        yield sets_of_deal(game, luck, deal, tables)
    return Outcome()


def sets_of_deal(
    game: GamePlan, luck: Chance, deal: int, tables: Sequence[Sequence[str]], before: int = 0
) -> list[DuplicateSet]:
    """Return a set for each of these tables; the deal has `before` other tables before them."""
    return [
        DuplicateSet(deal, number, (deal, number), game.seating(table, luck, deal, number))
        for number, table in enumerate(tables, before + 1)
    ]


def late(game: GamePlan, plan: Plan, luck: Chance) -> Rounds:
    """Play the tables of late bots, in each of the earlier deals."""
    from harness.formats.common import GrowingTables  # which imports this module

    tables = GrowingTables(game, plan, game.players, _field)
    if tables.newcomers:
        for deal, (old, new) in enumerate(tables.late(luck), 1):
            yield sets_of_deal(game, luck, deal, new, len(old))
    return Outcome()


def count(game: GamePlan, plan: Plan) -> int:
    """Return the matches: every table plays each deal in all rotations."""
    if plan.before:
        from harness.formats.common import GrowingTables

        return GrowingTables(game, plan, game.players, _field).count() * game.players
    return (
        plan.deals * tables_per_deal(len(game.entrants), game.players, plan.whole("tables"), plan.deals) * game.players
    )


def extend(plan: Plan, asked: Plan) -> Plan:
    """Return the plan for more deals and late bots."""
    from harness.formats.common import grown

    return grown(plan, asked, _field, 0)


def _field(game: GamePlan, _plan: Plan) -> Sequence[str]:
    return game.entrants


def check(game: GamePlan, _plan: Plan) -> None:
    """Refuse a field that is too large to balance."""
    check_bots(len(game.entrants), game.players)


def tables_per_deal(bots: int, seats: int, asked: int, deals: int) -> int:
    """Return the tables of each deal; `asked` 0 means all, or a sample in which all pairs meet about once."""
    all_tables = comb(bots, seats)
    if asked or all_tables <= MAX_TABLES:
        return min(asked or all_tables, all_tables)
    pairs, at_a_table = bots * (bots - 1), seats * (seats - 1)
    once = -(-pairs // at_a_table) if at_a_table else bots
    if once >= MAX_TABLES:
        return MAX_TABLES

    def evenness(tables: int) -> tuple[float, int]:
        # Meetings come out within one most easily when their mean at the end of the run is a number and a half.
        return max(0.03, abs(deals * tables * at_a_table % pairs / pairs - 0.5)), tables

    return min(range(once, min(MAX_TABLES, once * 3 // 2) + 1), key=evenness)


def check_bots(bots: int, seats: int) -> None:
    """Refuse a field whose meetings would not fit into memory."""
    if bots > MAX_BOTS and comb(bots, seats) > MAX_TABLES:
        raise UsageError(f"{bots:,} bots are too many to balance who meets whom; {MAX_BOTS:,} are the most.")


def tables_by_deal(bots: Sequence[str], seats: int, asked: int, deals: int, rng: Random) -> Iterator[list[list[str]]]:
    """Yield the tables of each deal; samples are balanced over all deals so far."""
    wanted, all_tables = tables_per_deal(len(bots), seats, asked, deals), comb(len(bots), seats)
    # Where more than half of all tables are wanted, those left out are the balanced sample.
    leave_out = 2 * wanted > all_tables
    drawn = all_tables - wanted if leave_out else wanted
    sampler = Sampler(len(bots), seats, rng) if drawn else None
    for deal in range(1, deals + 1):
        last = deal == deals
        effort = min(2000 * drawn, LAST_EFFORT) if last else min(40 * drawn, EFFORT // deals)
        tables = sampler.draw(drawn, effort) if sampler else []
        if leave_out:
            absent = set(tables)
            tables = [table for table in combinations(range(len(bots)), seats) if table not in absent]
        yield [[bots[bot] for bot in table] for table in tables]


ROUND_ROBIN = Format(
    "round-robin",
    "every table of bots plays every deal, or a balanced sample of tables does",
    rounds,
    count,
    adaptive=False,
    check=check,
    options=(TABLES,),
    extend=extend,
    late=late,
)
