"""Who takes the luck out of a comparison: for each game the value function that its plan names, as it is installed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from harness.core.errors import StoreError, UsageError
from harness.core.format import Format, Plan
from harness.core.game import Game
from harness.ratings.duel_judge import DuelJudge
from harness.ratings.question import value_functions
from harness.ratings.value_function import value_function_of
from harness.schedule.compare import COMPARE, judged_by


def luck_setting(games: Iterable[Game[Any]]) -> str:
    """The option `luck` of the format `compare`: the value functions of these games as they are installed."""
    named = []
    for game in games:
        if not game.value_data():
            raise UsageError(
                f"{game.title} brings no value function, and without one luck cannot be told from skill: compare "
                f"without --luck-adjusted, or see docs/add-a-game.md on how a game comes by one."
            )
        named.append(f"{game.name}:{value_function_of(game, {}).digest}")
    return " ".join(named)


def judges_of(plan: Plan, games: Mapping[str, Game[Any]]) -> dict[str, DuelJudge]:
    """Game -> who takes its luck out, as the plan says; refuses other value functions than those it began with."""
    if plan.format != COMPARE.name:
        return {}
    judges = {}
    for name, digest in value_functions(plan).items():
        if name not in games:
            raise StoreError(f"Luck is to be taken out of {name}, which this comparison does not play.")
        function = value_function_of(games[name], {})
        if function.digest != digest:
            raise StoreError(
                f"This comparison takes the luck out of {name} by the value function {digest}, and the one that is "
                f"installed is {function.digest}: a comparison keeps to the one that it began with, also with --force. "
                f"Begin another."
            )
        judges[name] = DuelJudge(games[name], function)
    return judges


def judged_formats(formats: Mapping[str, Format], judges: Mapping[str, DuelJudge]) -> Mapping[str, Format]:
    """The formats, with these judges for a comparison."""
    return {**formats, COMPARE.name: judged_by(judges)} if judges else formats
