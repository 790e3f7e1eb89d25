"""Gauntlet: each candidate in turn takes the same place at the same tables of the field, with the same deals."""

from __future__ import annotations

from harness.core.chance import Chance
from harness.core.errors import UsageError
from harness.core.format import DuplicateSet, Format, GamePlan, Outcome, Plan, Rounds
from harness.core.types import GameRecord
from harness.ratings.paired import PairedResults
from harness.schedule import gauntlet_results
from harness.schedule.round_robin import TABLES, check_bots, tables_by_deal, tables_per_deal

PLACE = "\0"
"""Stands for the candidate while a table's seating is drawn; no bot has this name."""


def rounds(game: GamePlan, plan: Plan, luck: Chance) -> Rounds:
    """A deal at a time; results are not looked at."""
    field, candidates = sides(game, plan)
    choice = tables_by_deal(field, game.players - 1, plan.whole("tables"), plan.deals, luck.rng("tables", game.name))
    for deal, tables in enumerate(choice, 1):
        played: list[DuplicateSet] = []
        for number, table in enumerate(tables, 1):
            seating = game.seating([PLACE, *table], luck, deal, number)
            for candidate in candidates:
                bots = tuple(candidate if name == PLACE else name for name in seating)
                played.append(DuplicateSet(deal, len(played) + 1, (deal, number), bots))
        yield played
    return Outcome()


class GauntletTracker:
    """Compares the candidates deal by deal, as far as all of them have played the same deals."""

    def __init__(self, game: GamePlan, plan: Plan) -> None:
        field, candidates = sides(game, plan)
        self._results = PairedResults(candidates, game.players)
        self._sets = plan.deals * tables_per_deal(len(field), game.players - 1, plan.whole("tables"), plan.deals)

    def add(self, record: GameRecord) -> None:
        """Takes in a match."""
        self._results.add(record)

    def outcome(self) -> Outcome:
        """Each candidate against the field, and the differences between them."""
        return gauntlet_results.outcome(self._results, self._sets)


def sides(game: GamePlan, plan: Plan) -> tuple[list[str], list[str]]:
    """The field and the candidates of one game, in the order they were entered."""
    field = [name for name in game.entrants if name not in plan.candidates]
    return field, [name for name in game.entrants if name in plan.candidates]


def count(game: GamePlan, plan: Plan) -> int:
    """Every candidate plays each deal at every table of the field in all rotations."""
    field, candidates = sides(game, plan)
    tables = tables_per_deal(len(field), game.players - 1, plan.whole("tables"), plan.deals)
    return plan.deals * len(candidates) * tables * game.players


def check(game: GamePlan, plan: Plan) -> None:
    """Refuses a gauntlet without a candidate, or with too small a field."""
    field, candidates = sides(game, plan)
    if not plan.candidates:
        raise UsageError("A gauntlet is about one or more candidates; name them with --candidate.")
    if not candidates:
        raise UsageError(f"None of the candidates ({', '.join(plan.candidates)}) plays {game.name}.")
    if len(field) < game.players - 1:
        raise UsageError(
            f"A gauntlet of {game.name} at tables of {game.players} needs {game.players - 1} other bots beside the "
            f"candidates; there are {len(field)}. Enter more bots, or play it with fewer at a table."
        )
    check_bots(len(field), game.players - 1)


GAUNTLET = Format(
    "gauntlet",
    "each candidate plays the same tables of the field, in the same places with the same deals",
    rounds,
    count,
    adaptive=False,
    check=check,
    options=(TABLES,),
    candidates=True,
    track=GauntletTracker,
)
