"""Gauntlet: each candidate in turn takes the same place at the same tables of the field, with the same deals."""

from __future__ import annotations

from collections.abc import Sequence

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
    """A deal at a time; results are not looked at. Of a plan that was extended, the deals since."""
    field, candidates = sides(game, plan)
    first, rng = plan.deals_before, luck.rng("tables", game.name, *([len(plan.before)] if plan.before else []))
    choice = tables_by_deal(field, game.players - 1, plan.whole("tables"), plan.deals - first, rng)
    for deal, tables in enumerate(choice, first + 1):
        played: list[DuplicateSet] = []
        for number, table in enumerate(tables, 1):
            _seat(played, game, luck, (deal, number), table, candidates)
        yield played
    return Outcome()


def _seat(
    played: list[DuplicateSet],
    game: GamePlan,
    luck: Chance,
    place: tuple[int, int],
    table: Sequence[str],
    candidates: Sequence[str],
    before: int = 0,
) -> None:
    """Adds the sets of these candidates at one table, its place being its deal and its number there."""
    seating = game.seating([PLACE, *table], luck, *place)
    for candidate in candidates:
        bots = tuple(candidate if name == PLACE else name for name in seating)
        played.append(DuplicateSet(place[0], before + len(played) + 1, place, bots))


def late(game: GamePlan, plan: Plan, luck: Chance) -> Rounds:
    """Late candidates at the tables of each of the deals before, and all candidates at those of late bots."""
    from harness.schedule.growing_tables import GrowingTables  # few runs are extended

    tables, candidates = GrowingTables(game, plan, game.players - 1, _field), sides(game, plan)[1]
    came = [name for name in candidates if name in plan.candidates[plan.before[-1].candidates :]]
    if tables.newcomers or came:
        there = len(candidates) - len(came)
        for deal, (old, new) in enumerate(tables.late(luck), 1):
            played: list[DuplicateSet] = []
            for number, table in enumerate([*old, *new], 1):
                who = came if number <= len(old) else candidates
                _seat(played, game, luck, (deal, number), table, who, len(old) * there)
            yield played
    return Outcome()


class GauntletTracker:
    """Compares the candidates deal by deal, as far as all of them have played the same deals."""

    def __init__(self, game: GamePlan, plan: Plan) -> None:
        self._results = PairedResults(sides(game, plan)[1], game.players)
        self._sets = _tables(game, plan)

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
    return len(sides(game, plan)[1]) * _tables(game, plan) * game.players


def _tables(game: GamePlan, plan: Plan) -> int:
    """The tables of all deals together."""
    if plan.before:
        from harness.schedule.growing_tables import GrowingTables

        return GrowingTables(game, plan, game.players - 1, _field).count()
    bots = len(_field(game, plan))
    return plan.deals * tables_per_deal(bots, game.players - 1, plan.whole("tables"), plan.deals)


def extend(plan: Plan, asked: Plan) -> Plan:
    """More deals, late bots of the field, and late candidates."""
    from harness.schedule.growing_tables import grown

    return grown(plan, asked, _field, 1)


def _field(game: GamePlan, plan: Plan) -> list[str]:
    return sides(game, plan)[0]


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
    extend=extend,
    late=late,
)
