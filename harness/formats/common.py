"""Code shared by formats: rounds, tables of extended runs, and checks of plans that extend a run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice, repeat, zip_longest
from math import comb

from msgspec.structs import replace

from harness.core.errors import StoreError, UsageError
from harness.core.plan import DuplicateSet, GamePlan, OpenRound, Plan, PlanBefore
from harness.core.records import GameRecord
from harness.core.rng import Chance
from harness.formats.round_robin import tables_by_deal, tables_per_deal

# Points, seatings, and playing all deals of a round.


BATCH_MATCHES = 1000
"""Approximate number of matches in a batch of an adaptive format: enough to keep workers busy, few enough to hold in
memory."""


@dataclass(slots=True)
class Tally:
    """The results of one bot in some matches. Depends on seats, ranks, scores and faults only."""

    points: float = 0.0
    """One point for each opponent beaten, half a point for each tie."""
    most: int = 0
    """Maximum of points."""
    score: int = 0
    faults: int = 0
    opponents: list[str] = field(default_factory=list)

    @property
    def rate(self) -> float:
        """The share of the points won; 0.5 before the first match."""
        return self.points / self.most if self.most else 0.5


def tally(records: Iterable[GameRecord], into: dict[str, Tally]) -> None:
    """Add the results to the bots' tallies; each bot of a record must have one."""
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
    """Play all deals of a round at these tables, in batches, and return the tally of each bot."""
    tallies = {name: Tally(opponents=[other for other in table if other != name]) for table in tables for name in table}
    yield _RoundInBatches(_sets(number, tables, game, plan, luck), _sets_per_batch(game), tallies)
    return tallies


class _RoundInBatches(OpenRound):
    """All deals of a round, in batches that do not depend on each other."""

    def __init__(self, sets: Iterator[DuplicateSet], size: int, tallies: dict[str, Tally]) -> None:
        self._sets, self._size, self._tallies = sets, size, tallies

    def next_matches(self) -> list[DuplicateSet]:
        return list(islice(self._sets, self._size))

    def add_result(self, record: GameRecord) -> None:
        tally([record], self._tallies)


def batch_sizes(tables: int, game: GamePlan, plan: Plan) -> Iterator[int]:
    """Return the number of matches in each batch of a round with this many tables."""
    sets, piece = tables * plan.deals, _sets_per_batch(game)
    return (min(piece, sets - first) * game.players for first in range(0, sets, piece))


def _sets_per_batch(game: GamePlan) -> int:
    return max(1, BATCH_MATCHES // game.players)


def _sets(
    number: int, tables: Sequence[Sequence[str]], game: GamePlan, plan: Plan, luck: Chance
) -> Iterator[DuplicateSet]:
    count = 0
    # Deals are numbered over all rounds, so that no deal is played in two of them.
    for deal in range((number - 1) * plan.deals + 1, number * plan.deals + 1):
        for place, table in enumerate(tables, 1):
            count += 1
            yield DuplicateSet(number, count, (deal, place), game.seating(table, luck, number, count))


class RoundRecords:
    """The results of one game: the tally of each bot in each round."""

    def __init__(self) -> None:
        self.matches: Counter[int] = Counter()
        """Round -> number of its matches added so far."""
        self.tallies: dict[int, dict[str, Tally]] = {}

    def add(self, record: GameRecord) -> None:
        """Add a record to its round."""
        number = record.round
        self.matches[number] += 1
        played = self.tallies.setdefault(number, {})
        for name in record.seats:
            if name not in played:
                played[name] = Tally(opponents=[other for other in record.seats if other != name])
        tally([record], played)

    def of(self, number: int, game: str, bots: Collection[str], every: bool = False) -> dict[str, Tally]:
        """Return the tallies of a round in which these bots play.

        Raise StoreError if other bots have records there, or if `every` is set and a bot has none.
        """
        played = self.tallies.get(number, {})
        if not played.keys() <= set(bots) or (every and len(played) < len(bots)):
            raise StoreError(
                f"Round {number} of {game} has records of others than those who should play there: 'arena verify' says "
                "which records are not the run's."
            )
        return played


def amount(points: float) -> str:
    """Return points as text: `12` or `12.5`."""
    return f"{points:g}" if points < 100_000 else f"{points:.1f}".removesuffix(".0")


def still_to_play(number: int, rounds: int, played: int, matches: int) -> str:
    """Return a text about the rounds left, when `played` of the `matches` of round `number` are known."""
    left = rounds - number + 1
    text = f"{left} of {rounds} rounds {'is' if left == 1 else 'are'} still to be finished"
    if played:
        return f"{text}; {played:,} of {matches:,} matches of round {number} have been played and do not count yet."
    return f"{text}."


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
        self._name, self._plan, self._seats, self._asked = game.name, plan, seats, plan.whole("tables")
        self._bots = field(game, plan)
        self._before: GrowingTables | None = None
        self.newcomers: Sequence[str] = ()
        """Bots of the field that joined with the last extension."""
        if plan.before:
            was = plan.stages()[-2]
            self._before = GrowingTables(next(one for one in was.games if one.name == game.name), was, seats, field)
            self.newcomers = self._bots[len(self._before._bots) :]

    def late(self, luck: Chance) -> Iterator[tuple[TableList, TableList]]:
        """Yield the old and the new tables of each deal from before the last extension."""
        if self._before is None:
            return
        deals, stage = self._plan.deals_before, len(self._plan.before)
        ways: list[tuple[str, Iterator[TableList]]] = []
        for bot, many in zip(self.newcomers, self._late_tables(), strict=True):
            # Newcomers join one after the other: each may sit with those before it, so no table is drawn twice.
            others = self._bots[: len(self._before._bots) + len(ways)]
            rng = luck.rng("late", self._name, stage, bot)
            # With one seat per table the late bot plays alone.
            company = tables_by_deal(others, self._seats - 1, many, deals, rng) if self._seats > 1 else repeat([[]])
            ways.append((bot, iter(company)))
        for old in self._before._all(luck):
            yield old, [[*table, bot] for bot, company in ways for table in next(company)]

    def _all(self, luck: Chance) -> Iterator[TableList]:
        """Yield all tables of each deal, in the order of their numbers."""
        for old, new in self.late(luck):
            yield old + new
        stage = [len(self._plan.before)] if self._plan.before else []
        rng = luck.rng("tables", self._name, *stage)
        yield from tables_by_deal(self._bots, self._seats, self._asked, self._new_deals, rng)

    def count(self) -> int:
        """Return the number of tables of all deals together."""
        before = self._before.count() if self._before else 0
        return before + self._new_deals * self._per_deal + self._plan.deals_before * sum(self._late_tables())

    @property
    def is_sampled(self) -> bool:
        """Whether the deals since the last extension have a sample of all possible tables."""
        return self._per_deal < comb(len(self._bots), self._seats)

    @property
    def _new_deals(self) -> int:
        return self._plan.deals - self._plan.deals_before

    @property
    def _per_deal(self) -> int:
        return tables_per_deal(len(self._bots), self._seats, self._asked, max(1, self._new_deals))

    def _late_tables(self) -> list[int]:
        """Return the tables of each newcomer in each earlier deal: all possible ones, or as many as other bots have."""
        found = []
        first = len(self._bots) - len(self.newcomers)
        for others in range(first, first + len(self.newcomers)):
            tables = tables_per_deal(others + 1, self._seats, self._asked, max(1, self._plan.deals_before))
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
    return replace(asked, before=(*plan.before, smaller(plan)))


def smaller(plan: Plan) -> PlanBefore:
    """Return the size of a plan: its deals, bots and candidates."""
    return PlanBefore(plan.deals, {game.name: len(game.entrants) for game in plan.games}, len(plan.candidates))


# Extensions of adaptive formats: allowed if all matches keep their places in the schedule.


SizesOf = Callable[[GamePlan, Plan], Iterator[int] | None]


def longer_swiss(plan: Plan, asked: Plan, sizes: SizesOf) -> Plan:
    """Return the plan of a swiss with more rounds; raise UsageError for any other change."""
    _same_field(plan, asked, "its rounds were seated without the late bots")
    if asked.deals != plan.deals:
        raise UsageError(
            f"The deals of a swiss are those of every round, and each round was seated by all deals of those before: "
            f"they stay {plan.deals}. It can have more rounds.",
            fix="more-rounds",
        )
    _same_settings(plan, asked, "rounds")
    return _same_places(plan, asked, sizes, "rounds")


def longer_ladder(plan: Plan, asked: Plan, sizes: SizesOf) -> Plan:
    """Return the plan of a ladder with more deals, one round each; raise UsageError for any other change."""
    why = "what it claims, it tests from the first match on, for all pairs of its bots"
    _same_field(plan, asked, why, " A ladder with the goal newcomer places new bots among old ones.")
    _same_settings(plan, asked)
    if plan.number("until-separated"):
        raise UsageError("This ladder ends when its goal is reached, or at max-matches: no number of deals ends it.")
    return _same_places(plan, asked, sizes, "deals")


def longer_comparison(plan: Plan, asked: Plan) -> Plan:
    """Return the plan of a comparison with more matches; raise UsageError for a change of its bots or options.

    More matches are always allowed: the result is valid whenever the comparison stops.
    """
    _same_field(plan, asked, "it is about two bots")
    _same_settings(plan, asked, "thorough")
    return asked


def no_longer_knockout(_plan: Plan, _asked: Plan) -> Plan:
    """Raise UsageError: a knockout cannot be extended."""
    raise UsageError(
        "A knockout cannot be extended: with more deals other bots might have advanced, a late bot has missed the "
        "round that it would have come into, and after the final there is none. Play another one."
    )


def _same_field(plan: Plan, asked: Plan, why: str, instead: str = "") -> None:
    if asked.games != plan.games or asked.candidates != plan.candidates:
        raise UsageError(
            f"No bot can join a {plan.format} late: {why}. Play a gauntlet with it as the candidate, or another run "
            f"with all bots; several runs can be rated together.{instead}"
        )


def _same_settings(plan: Plan, asked: Plan, *but: str) -> None:
    changed = [name for name, value in asked.settings.items() if value != plan.settings.get(name) and name not in but]
    if changed:
        allowed = f"; it can have more {', '.join(but)}" if but else ""
        raise UsageError(f"A {plan.format} that has begun keeps its {', '.join(changed)}{allowed}.")


def _same_places(plan: Plan, asked: Plan, sizes: SizesOf, what: str) -> Plan:
    """Return the requested plan if its schedule starts with that of the old plan; raise UsageError otherwise."""
    # Records refer to places in the schedule, and games take turns: a step with another size would move later matches.
    old, new = _steps(plan, sizes), _steps(asked, sizes)
    if any(step != next(new, None) for step in old):
        so_that = "all its games end at the same time" if len(plan.games) > 1 else "it ends with a whole round"
        raise UsageError(
            f"This {plan.format} cannot get other {what}: matches that it was to play would lose their places. That "
            f"is possible with more {what}, not with fewer, and where {so_that}."
        )
    if next(new, None) is None:
        raise UsageError(f"This {plan.format} gets not one match more by that.")
    return asked


def _steps(plan: Plan, sizes: SizesOf) -> Iterator[tuple[int, ...]]:
    """Yield the number of matches of each game in each step of a run."""
    return zip_longest(*(sizes(game, plan) or () for game in plan.games), fillvalue=0)
