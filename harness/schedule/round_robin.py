"""Round-robin: every table of K out of N bots plays every deal; a balanced sample of tables when there are too many."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from math import comb
from random import Random

from harness.core.chance import Chance
from harness.core.errors import UsageError
from harness.core.format import DuplicateSet, Format, GamePlan, Outcome, Plan, Rounds
from harness.core.types import Option
from harness.schedule.balanced_design import Sampler

MOST_TABLES = 1000
"""Tables of one deal that are played without being asked for; where there are more, a sample is taken."""
MOST_BOTS = 2000
"""Bots in a sample: who met whom is held in memory."""
MOST_TABLES_ASKED = 100_000
"""The tables of a deal or a round are held in memory."""
TABLES = Option(
    "tables", 0, "tables of each deal, a balanced sample; 0 is all of them, if there are not too many",
    kind="int", minimum=0, maximum=MOST_TABLES_ASKED,
)  # fmt: skip
EFFORT = 100_000
"""Exchanges tried to even out all deals but the last, together: resuming a long run draws its samples again."""
LAST_EFFORT = 300_000
"""Exchanges tried for the last deal, where the balance of the whole run is settled: a second or two at most."""


def rounds(game: GamePlan, plan: Plan, luck: Chance) -> Rounds:
    """A deal at a time; results are not looked at. Of a plan that was extended, the deals since."""
    first = plan.before[-1].deals if plan.before else 0
    rng = luck.rng("tables", game.name, *([len(plan.before)] if plan.before else []))
    choice = tables_by_deal(game.entrants, game.players, plan.whole("tables"), plan.deals - first, rng)
    for deal, tables in enumerate(choice, first + 1):
        yield sets_of_deal(game, luck, deal, tables)
    return Outcome()


def sets_of_deal(
    game: GamePlan, luck: Chance, deal: int, tables: Sequence[Sequence[str]], before: int = 0
) -> list[DuplicateSet]:
    """A set for each of these tables, the deal having so many `before` them."""
    return [
        DuplicateSet(deal, number, (deal, number), game.seating(table, luck, deal, number))
        for number, table in enumerate(tables, before + 1)
    ]


def late(game: GamePlan, plan: Plan, luck: Chance) -> Rounds:
    """The tables of those who came late, in each of the deals before."""
    from harness.schedule.growing_tables import GrowingTables  # few runs are extended

    tables = GrowingTables(game, plan, game.players, _field)
    if tables.newcomers:
        for deal, (old, new) in enumerate(tables.late(luck), 1):
            yield sets_of_deal(game, luck, deal, new, len(old))
    return Outcome()


def count(game: GamePlan, plan: Plan) -> int:
    """Every table plays each deal in all rotations."""
    if plan.before:
        from harness.schedule.growing_tables import GrowingTables

        return GrowingTables(game, plan, game.players, _field).count() * game.players
    return (
        plan.deals * tables_per_deal(len(game.entrants), game.players, plan.whole("tables"), plan.deals) * game.players
    )


def extend(plan: Plan, asked: Plan) -> Plan:
    """More deals, and late bots."""
    from harness.schedule.growing_tables import grown

    return grown(plan, asked, _field, 0)


def _field(game: GamePlan, _plan: Plan) -> Sequence[str]:
    return game.entrants


def check(game: GamePlan, _plan: Plan) -> None:
    """Refuses a field that is too large to balance."""
    check_bots(len(game.entrants), game.players)


def tables_per_deal(bots: int, seats: int, asked: int, deals: int) -> int:
    """How many tables each deal has; `asked` 0 means all, or a sample that meets everyone at least once or so."""
    all_tables = comb(bots, seats)
    if asked or all_tables <= MOST_TABLES:
        return min(asked or all_tables, all_tables)
    pairs, at_a_table = bots * (bots - 1), seats * (seats - 1)
    once = -(-pairs // at_a_table) if at_a_table else bots
    if once >= MOST_TABLES:
        return MOST_TABLES

    def evenness(tables: int) -> tuple[float, int]:
        # Meetings come out within one most easily when their mean at the end of the run is a number and a half.
        return max(0.03, abs(deals * tables * at_a_table % pairs / pairs - 0.5)), tables

    return min(range(once, min(MOST_TABLES, once * 3 // 2) + 1), key=evenness)


def check_bots(bots: int, seats: int) -> None:
    """Refuses a field whose meetings would not fit into memory."""
    if bots > MOST_BOTS and comb(bots, seats) > MOST_TABLES:
        raise UsageError(f"{bots:,} bots are too many to balance who meets whom; {MOST_BOTS:,} are the most.")


def tables_by_deal(bots: Sequence[str], seats: int, asked: int, deals: int, rng: Random) -> Iterator[list[list[str]]]:
    """The tables of each deal, deal by deal; samples are balanced over all deals so far."""
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
