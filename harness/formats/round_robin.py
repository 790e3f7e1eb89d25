"""Round-robin: all tables, or a balanced sample of them, play every deal."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Sequence
from itertools import combinations, repeat
from math import comb, exp, inf
from random import Random

from msgspec.structs import replace

from harness.core.errors import UsageError
from harness.core.plan import DuplicateSet, Format, GamePlan, Outcome, Plan, PlanBefore, Rounds
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


# The tables of each deal: all tables of K out of N bots, or a balanced sample if there are too many.


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


# Tables of an extended run: more deals, and bots that joined late.
#
# Matches planned before an extension never change, because their records may exist already. In each of the earlier
# deals, a late bot sits with the earlier bots as often as these sit themselves; its tables come after all other tables
# of the deal. The new deals follow, with all bots. If deals have a sample of tables, each extension is balanced
# separately.


TableList = list[list[str]]
FieldOf = Callable[[GamePlan, Plan], Sequence[str]]
"""Function that returns the bots of a game that are combined into tables: all, or all but the candidates."""


class GrowingTables:
    """The tables of one game in an extended plan, each with `seats` bots of the field."""

    def __init__(self, game: GamePlan, plan: Plan, seats: int, field: FieldOf) -> None:
        self._name, self._plan, self._seats = game.name, plan, seats
        self._bots, self._asked = field(game, plan), plan.whole("tables")
        self._before: GrowingTables | None = None
        self.newcomers: Sequence[str] = ()
        """Bots of the field that joined with the last extension."""
        self._deals_before = 0
        if plan.before:
            self._deals_before, was = plan.deals_before, plan.stages()[-2]
            self._before = GrowingTables(next(one for one in was.games if one.name == game.name), was, seats, field)
            self.newcomers = self._bots[len(self._before._bots) :]
        self._new_deals = plan.deals - self._deals_before

    def late(self, luck: Chance) -> Iterator[tuple[TableList, TableList]]:
        """Yield the old and the new tables of each deal from before the last extension."""
        if self._before is None:
            return
        deals, stage = self._deals_before, len(self._plan.before)
        ways: list[tuple[str, Iterator[TableList]]] = []
        for bot, many in zip(self.newcomers, self._late_tables(), strict=True):
            # Newcomers join one after the other: each may sit with those before it, so no table is drawn twice.
            others = self._bots[: len(self._before._bots) + len(ways)]
            rng = luck.rng("late", self._name, stage, bot)
            # With one seat per table the late bot plays alone.
            company = tables_by_deal(others, self._seats - 1, many, deals, rng) if self._seats > 1 else repeat([[]])
            ways.append((bot, iter(company)))
        for old in self._before._every_deal(luck):
            yield old, [[*table, bot] for bot, company in ways for table in next(company)]

    def _every_deal(self, luck: Chance) -> Iterator[TableList]:
        """Yield all tables of each deal, in the order of their numbers."""
        for old, new in self.late(luck):
            yield old + new
        for _, tables in self.new(luck):
            yield tables

    def new(self, luck: Chance) -> Iterator[tuple[int, TableList]]:
        """Yield the number and the tables of each deal since the last extension; of each deal if there was none."""
        stage = [len(self._plan.before)] if self._plan.before else []
        rng = luck.rng("tables", self._name, *stage)
        choice = tables_by_deal(self._bots, self._seats, self._asked, self._new_deals, rng)
        return enumerate(choice, self._deals_before + 1)

    def count(self) -> int:
        """Return the number of tables of all deals together."""
        before = self._before.count() if self._before else 0
        return before + self._new_deals * self._per_deal + self._deals_before * sum(self._late_tables())

    @property
    def is_sampled(self) -> bool:
        """Whether the deals since the last extension have a sample of all possible tables."""
        return self._per_deal < comb(len(self._bots), self._seats)

    @property
    def _per_deal(self) -> int:
        return tables_per_deal(len(self._bots), self._seats, self._asked, max(1, self._new_deals))

    def _late_tables(self) -> list[int]:
        """Return the tables of each newcomer in each earlier deal: all possible ones, or as many as other bots have."""
        found = []
        first = len(self._bots) - len(self.newcomers)
        for others in range(first, first + len(self.newcomers)):
            tables = tables_per_deal(others + 1, self._seats, self._asked, max(1, self._deals_before))
            with_it = comb(others, self._seats - 1)
            is_whole = tables == comb(others + 1, self._seats)
            found.append(with_it if is_whole else min(with_it, max(1, round(tables * self._seats / (others + 1)))))
        return found


def grown(plan: Plan, asked: Plan, field: FieldOf, beside: int) -> Plan:
    """Return the plan that extends a run from `plan` to `asked`; raise UsageError if the options differ.

    `beside` is the number of seats at each table that are not taken by bots of the field.
    """
    if asked.settings != plan.settings:
        raise UsageError(
            f"The options of a {plan.format} decide who met whom from the first deal on: they stay as they are."
        )
    sampled = any(GrowingTables(game, plan, game.players - beside, field).is_sampled for game in plan.games)
    if asked.games == plan.games and not sampled:
        # More deals with all tables and the same bots: the same schedule as if they had been requested at first.
        return replace(asked, before=plan.before)
    size = PlanBefore(plan.deals, {game.name: len(game.entrants) for game in plan.games}, len(plan.candidates))
    return replace(asked, before=(*plan.before, size))


# The schedule: the tables of each deal, every table in all rotations.


def rounds(game: GamePlan, plan: Plan, luck: Chance) -> Rounds:
    """Play one deal at a time, without using results; for an extended plan, only the deals added last."""
    for deal, tables in _tables(game, plan).new(luck):
        yield _sets_of_deal(game, luck, deal, tables)
    return Outcome()


def late(game: GamePlan, plan: Plan, luck: Chance) -> Rounds:
    """Play the tables of late bots in each of the earlier deals."""
    tables = _tables(game, plan)
    if tables.newcomers:
        for deal, (old, new) in enumerate(tables.late(luck), 1):
            yield _sets_of_deal(game, luck, deal, new, len(old))
    return Outcome()


def _tables(game: GamePlan, plan: Plan) -> GrowingTables:
    return GrowingTables(game, plan, game.players, _field)


def _field(game: GamePlan, _plan: Plan) -> Sequence[str]:
    return game.entrants


def _sets_of_deal(
    game: GamePlan, luck: Chance, deal: int, tables: Sequence[Sequence[str]], before: int = 0
) -> list[DuplicateSet]:
    """Return a set for each of these tables; `before` is the number of tables the deal already has."""
    return [
        DuplicateSet(deal, number, (deal, number), game.seating(table, luck, deal, number))
        for number, table in enumerate(tables, before + 1)
    ]


def count(game: GamePlan, plan: Plan) -> int:
    """Return the number of matches: every table plays each deal in all rotations."""
    return _tables(game, plan).count() * game.players


def check(game: GamePlan, _plan: Plan) -> None:
    """Raise UsageError if there are too many bots to balance."""
    check_bots(len(game.entrants), game.players)


ROUND_ROBIN = Format(
    "round-robin",
    "every table of bots plays every deal, or a balanced sample of tables does",
    rounds,
    count,
    adaptive=False,
    check=check,
    options=(TABLES,),
    extend=lambda plan, asked: grown(plan, asked, _field, 0),
    late=late,
)
