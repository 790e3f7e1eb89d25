"""Round-robin: every table of K out of N bots plays every deal; a balanced sample of tables when there are too many."""

from __future__ import annotations

from harness.core.chance import Chance
from harness.core.format import DuplicateSet, Format, GamePlan, Outcome, Plan, Rounds
from harness.schedule.table_selection import TABLES, check_bots, seated, tables_by_deal, tables_per_deal


def rounds(game: GamePlan, plan: Plan, luck: Chance) -> Rounds:
    """A deal at a time; results are not looked at."""
    choice = tables_by_deal(
        game.entrants, game.players, plan.whole("tables"), plan.deals, luck.rng("tables", game.name)
    )
    for deal, tables in enumerate(choice, 1):
        yield [
            DuplicateSet(deal, number, (deal, number), seated(table, luck, game, deal, number))
            for number, table in enumerate(tables, 1)
        ]
    return Outcome()


def count(game: GamePlan, plan: Plan) -> int:
    """Every table plays each deal in all rotations."""
    return (
        plan.deals * tables_per_deal(len(game.entrants), game.players, plan.whole("tables"), plan.deals) * game.players
    )


def check(game: GamePlan, _plan: Plan) -> None:
    """Refuses a field that is too large to balance."""
    check_bots(len(game.entrants), game.players)


ROUND_ROBIN = Format(
    "round-robin",
    "every table of bots plays every deal, or a balanced sample of tables does",
    rounds,
    count,
    adaptive=False,
    check=check,
    options=(TABLES,),
)
