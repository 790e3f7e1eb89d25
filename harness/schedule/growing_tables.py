"""The tables of a run that was extended: more deals, and bots that came late.

Nothing that was to be played before changes. Who comes late sits at tables with those who were there, in each of the
deals before, as often as the others do; these tables come after all others of their deals. Then the new deals follow,
with everybody. Where a deal has a sample of tables only, each extension is balanced in itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import repeat
from math import comb

from msgspec.structs import replace

from harness.core.chance import Chance
from harness.core.errors import UsageError
from harness.core.format import GamePlan, Plan, SmallerPlan
from harness.schedule.round_robin import tables_by_deal, tables_per_deal

TableList = list[list[str]]
FieldOf = Callable[[GamePlan, Plan], Sequence[str]]
"""Who of a game sits at the tables that are chosen: everybody, or all but the candidates."""


class GrowingTables:
    """The tables of one game, of `seats` out of its field, in a plan that was extended."""

    def __init__(self, game: GamePlan, plan: Plan, seats: int, field: FieldOf) -> None:
        self._name, self._plan, self._seats, self._asked = game.name, plan, seats, plan.whole("tables")
        self._bots = field(game, plan)
        self._before: GrowingTables | None = None
        self.newcomers: Sequence[str] = ()
        """Those of the field who came with the last extension."""
        if plan.before:
            was = plan.stages()[-2]
            self._before = GrowingTables(next(one for one in was.games if one.name == game.name), was, seats, field)
            self.newcomers = self._bots[len(self._before._bots) :]

    def late(self, luck: Chance) -> Iterator[tuple[TableList, TableList]]:
        """For each deal before the last extension the tables that it had, and those that it gets."""
        if self._before is None:
            return
        deals, stage = self._plan.deals_before, len(self._plan.before)
        ways: list[tuple[str, Iterator[TableList]]] = []
        for bot, many in zip(self.newcomers, self._late_tables(), strict=True):
            others = self._bots[: len(self._before._bots) + len(ways)]
            rng = luck.rng("late", self._name, stage, bot)
            # At tables of one nobody sits with who comes late.
            company = tables_by_deal(others, self._seats - 1, many, deals, rng) if self._seats > 1 else repeat([[]])
            ways.append((bot, iter(company)))
        for old in self._before._all(luck):
            yield old, [[*table, bot] for bot, company in ways for table in next(company)]

    def _all(self, luck: Chance) -> Iterator[TableList]:
        """All tables of each deal, by their numbers."""
        for old, new in self.late(luck):
            yield old + new
        stage = [len(self._plan.before)] if self._plan.before else []
        rng = luck.rng("tables", self._name, *stage)
        yield from tables_by_deal(self._bots, self._seats, self._asked, self._new_deals, rng)

    def count(self) -> int:
        """The tables of all deals together."""
        before = self._before.count() if self._before else 0
        return before + self._new_deals * self._per_deal + self._plan.deals_before * sum(self._late_tables())

    @property
    def is_sampled(self) -> bool:
        """Whether the deals since the last extension have not all tables."""
        return self._per_deal < comb(len(self._bots), self._seats)

    @property
    def _new_deals(self) -> int:
        return self._plan.deals - self._plan.deals_before

    @property
    def _per_deal(self) -> int:
        return tables_per_deal(len(self._bots), self._seats, self._asked, max(1, self._new_deals))

    def _late_tables(self) -> list[int]:
        """Tables of each newcomer in each deal: all there are, or as many as the others have."""
        found = []
        first = len(self._bots) - len(self.newcomers)
        for others in range(first, first + len(self.newcomers)):
            tables = tables_per_deal(others + 1, self._seats, self._asked, max(1, self._plan.deals_before))
            with_it = comb(others, self._seats - 1)
            is_whole = tables == comb(others + 1, self._seats)
            found.append(with_it if is_whole else min(with_it, max(1, round(tables * self._seats / (others + 1)))))
        return found


def grown(plan: Plan, asked: Plan, field: FieldOf, beside: int) -> Plan:
    """The plan by which a run with this plan goes on to become what is asked for; so many seats of each table are not
    the field's (`beside`)."""
    if asked.settings != plan.settings:
        raise UsageError(
            f"The options of a {plan.format} decide who met whom from the first deal on: they stay as they are."
        )
    sampled = any(GrowingTables(game, plan, game.players - beside, field).is_sampled for game in plan.games)
    if asked.games == plan.games and not sampled:
        return replace(asked, before=plan.before)  # as if it had been asked for at once
    return replace(asked, before=(*plan.before, smaller(plan)))


def smaller(plan: Plan) -> SmallerPlan:
    """How large a plan is."""
    return SmallerPlan(plan.deals, {game.name: len(game.entrants) for game in plan.games}, len(plan.candidates))
