"""Round-robin: all tables, or a balanced sample of them, play every deal."""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from itertools import combinations
from math import comb, exp, inf
from random import Random

from harness.core.errors import UsageError
from harness.core.plan import DuplicateSet, Format, GamePlan, Outcome, Plan, Rounds
from harness.core.records import Option
from harness.core.rng import Chance

# Balanced samples of tables: all bots sit equally often and meet each other equally often, as far as possible.
#
# The numbers of tables per bot always differ by at most one. The meetings are a combinatorial design: tables are first
# chosen greedily, then improved by simulated annealing. A difference of at most one is easy to reach if the mean number
# of meetings lies between two integers; at an integer it would need a perfect design, which may not exist.


HOT, COLD = 0.4, 0.25
"""First and last temperature of the annealing, in units of its cost: at first it leaves local minima, at last it only
improves."""
SAT, TAKEN = 2**64, 2**32
"""Cost of having sat once more, and of a table that exists already; one more meeting costs 1."""


class Sampler:
    """Draws tables of `seats` bots, numbered from 0 to `bots` - 1, balanced over all draws so far."""

    def __init__(self, bots: int, seats: int, rng: Random) -> None:
        self.bots, self.seats, self.rng = bots, seats, rng
        self.sat = [0] * bots
        self.met = [[0] * bots for _ in range(bots)]

    def draw(self, tables: int, effort: int) -> list[tuple[int, ...]]:
        """Return different tables, sorted; `effort` is the maximum of exchanges that are tried to balance meetings.

        `tables` must be at most half of all possible tables.
        """
        drawn = _Draw(self)
        for _ in range(tables):
            drawn.add(self._next(drawn.copies))
        drawn.part()
        drawn.repair(effort)
        return sorted(tuple(sorted(table)) for table in drawn.tables)

    def _next(self, taken: Container[frozenset[int]]) -> frozenset[int]:
        """Return a table of the bots that have sat least; among those, a new table of bots that have met least."""
        order = self.rng.sample(range(self.bots), self.bots)  # a random order breaks ties
        # One integer per bot instead of a tuple, for speed: the more important criterion is in the higher bits.
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
    """The tables of one draw, with exchanges that keep the numbers of tables per bot within one of each other."""

    def __init__(self, sampler: Sampler) -> None:
        self.rng, self.sat, self.met, self.seats = sampler.rng, sampler.sat, sampler.met, sampler.seats
        self.tables: list[frozenset[int]] = []
        self.copies: dict[frozenset[int], int] = {}

    def add(self, table: frozenset[int]) -> None:
        """Add a table."""
        self.tables.append(table)
        self._count(table, 1)

    def part(self) -> None:
        """Break up tables that were drawn twice: exchange bots with other tables, at any cost in meetings."""
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
        """Exchange bots until the meetings are balanced, or `effort` exchanges were tried."""
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
        """Return the sum of squared meetings minus its minimum: 0 if the meetings differ by at most one."""
        meetings = [count for bot, row in enumerate(self.met) for count in row[:bot]]
        each, more = divmod(sum(meetings), len(meetings))
        least = (len(meetings) - more) * each**2 + more * (each + 1) ** 2
        return sum(count**2 for count in meetings) - least

    def _any(self) -> tuple[int, int]:
        """Return the number of a random table and one of its bots."""
        number = int(self.rng.random() * len(self.tables))
        return number, [*self.tables[number]][int(self.rng.random() * self.seats)]

    def _exchange(self, here: tuple[int, int], there: tuple[int, int], heat: float) -> int:
        """Swap two bots between tables if that is better or accepted by chance; return the change of the excess."""
        (i, goes), (j, comes) = here, there
        one, two = self.tables[i], self.tables[j]
        if goes in two or comes in one:
            return 0
        its, others = self.met[goes], self.met[comes]
        # Bots at both tables meet the two swapped bots as often as before.
        cost = sum([others[bot] - its[bot] + 1 for bot in one if bot not in two and bot != goes])
        cost += sum([its[bot] - others[bot] + 1 for bot in two if bot not in one and bot != comes])
        return self._try({i: one - {goes} | {comes}, j: two - {comes} | {goes}}, 2 * cost, heat)

    def _substitute(self, heat: float) -> int:
        """Give a seat of a bot that sits once more than another to that one; return the change of the excess."""
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


# The schedule: all tables of K out of N bots play every deal, or a balanced sample if there are too many.


MAX_TABLES = 1000
"""Maximum of tables per deal unless the user requests more; if there are more, a sample is drawn."""
MAX_BOTS = 2000
"""Maximum of bots in a sample: the meetings of all pairs are held in memory."""
MAX_TABLES_ASKED = 100_000
"""Maximum for the option: the tables of a deal or a round are held in memory."""
TABLES = Option(
    "tables", 0, "tables of each deal, a balanced sample; 0 is all of them, if there are not too many",
    kind="int", minimum=0, maximum=MAX_TABLES_ASKED,
)  # fmt: skip
EFFORT = 100_000
"""Maximum of exchanges for all deals but the last together: resuming a long run draws all its samples again."""
LAST_EFFORT = 300_000
"""Maximum of exchanges for the last deal, which decides the balance of the whole run: a second or two."""


def rounds(game: GamePlan, plan: Plan, luck: Chance) -> Rounds:
    """Play one deal at a time, without using results; for an extended plan, only the deals added last."""
    first = plan.before[-1].deals if plan.before else 0
    rng = luck.rng("tables", game.name, *([len(plan.before)] if plan.before else []))
    choice = tables_by_deal(game.entrants, game.players, plan.whole("tables"), plan.deals - first, rng)
    for deal, tables in enumerate(choice, first + 1):
        yield sets_of_deal(game, luck, deal, tables)
    return Outcome()


def sets_of_deal(
    game: GamePlan, luck: Chance, deal: int, tables: Sequence[Sequence[str]], before: int = 0
) -> list[DuplicateSet]:
    """Return a set for each of these tables; `before` is the number of tables the deal already has."""
    return [
        DuplicateSet(deal, number, (deal, number), game.seating(table, luck, deal, number))
        for number, table in enumerate(tables, before + 1)
    ]


def late(game: GamePlan, plan: Plan, luck: Chance) -> Rounds:
    """Play the tables of late bots in each of the earlier deals."""
    from harness.formats.common import GrowingTables  # here because it imports this module

    tables = GrowingTables(game, plan, game.players, _field)
    if tables.newcomers:
        for deal, (old, new) in enumerate(tables.late(luck), 1):
            yield sets_of_deal(game, luck, deal, new, len(old))
    return Outcome()


def count(game: GamePlan, plan: Plan) -> int:
    """Return the number of matches: every table plays each deal in all rotations."""
    if plan.before:
        from harness.formats.common import GrowingTables

        return GrowingTables(game, plan, game.players, _field).count() * game.players
    return (
        plan.deals * tables_per_deal(len(game.entrants), game.players, plan.whole("tables"), plan.deals) * game.players
    )


def extend(plan: Plan, asked: Plan) -> Plan:
    """Return the plan that extends a round-robin by deals or bots."""
    from harness.formats.common import grown

    return grown(plan, asked, _field, 0)


def _field(game: GamePlan, _plan: Plan) -> Sequence[str]:
    return game.entrants


def check(game: GamePlan, _plan: Plan) -> None:
    """Raise UsageError if there are too many bots to balance."""
    check_bots(len(game.entrants), game.players)


def tables_per_deal(bots: int, seats: int, asked: int, deals: int) -> int:
    """Return the number of tables per deal; `asked` is the requested number, or 0.

    0 means all tables or, if these are too many, a sample in which each pair meets about once.
    """
    all_tables = comb(bots, seats)
    if asked or all_tables <= MAX_TABLES:
        return min(asked or all_tables, all_tables)
    pairs, at_a_table = bots * (bots - 1), seats * (seats - 1)
    once = -(-pairs // at_a_table) if at_a_table else bots
    if once >= MAX_TABLES:
        return MAX_TABLES

    def evenness(tables: int) -> tuple[float, int]:
        # Balance is easiest to reach if the mean number of meetings at the end of the run is halfway between integers.
        return max(0.03, abs(deals * tables * at_a_table % pairs / pairs - 0.5)), tables

    return min(range(once, min(MAX_TABLES, once * 3 // 2) + 1), key=evenness)


def check_bots(bots: int, seats: int) -> None:
    """Raise UsageError if there are too many bots to hold the meetings of all pairs in memory."""
    if bots > MAX_BOTS and comb(bots, seats) > MAX_TABLES:
        raise UsageError(f"{bots:,} bots are too many to balance who meets whom; {MAX_BOTS:,} are the most.")


def tables_by_deal(bots: Sequence[str], seats: int, asked: int, deals: int, rng: Random) -> Iterator[list[list[str]]]:
    """Yield the tables of each deal; samples are balanced over all deals, not each on its own."""
    wanted, all_tables = tables_per_deal(len(bots), seats, asked, deals), comb(len(bots), seats)
    # If more than half of all tables are wanted, the balanced sample is drawn for those left out: there are fewer.
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
