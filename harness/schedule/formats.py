"""The formats there are, and what every plan must fulfil."""

from __future__ import annotations

from collections.abc import Mapping

from harness.core.errors import UnknownName, UsageError
from harness.schedule.format import Format
from harness.schedule.gauntlet import GAUNTLET
from harness.schedule.knockout import KNOCKOUT
from harness.schedule.ladder import LADDER
from harness.schedule.plan import GamePlan, Plan
from harness.schedule.round_robin import ROUND_ROBIN
from harness.schedule.swiss import SWISS

FORMATS: Mapping[str, Format] = {each.name: each for each in (ROUND_ROBIN, GAUNTLET, SWISS, KNOCKOUT, LADDER)}

SETTINGS = ("tables", "candidates", "rounds", "until_separated", "max_matches")
"""Fields of Plan that belong to some formats only."""
MOST_TABLES_ASKED = 100_000
"""The tables of a deal or a round are held in memory."""
MOST_SEED = 2**128 - 1
"""Luck is keyed with sixteen bytes."""


def format_of(plan: Plan) -> Format:
    """The format that a plan names."""
    if plan.format not in FORMATS:
        raise UnknownName("format", plan.format, FORMATS)
    return FORMATS[plan.format]


def check(plan: Plan) -> None:
    """Refuses a plan that cannot be played, in a sentence that says why."""
    chosen = format_of(plan)
    _check_numbers(plan)
    for setting in SETTINGS:
        if getattr(plan, setting) and setting not in chosen.settings:
            users = " and ".join(name for name, each in FORMATS.items() if setting in each.settings)
            raise UsageError(f"{_words(setting)} is for {users}; a {plan.format} has no use for it.")
    if not plan.games:
        raise UsageError("There is no game to play.")
    names = [game.name for game in plan.games]
    if len(set(names)) < len(names):
        raise UsageError(f"A run plays each game once; this one has {', '.join(names)}.")
    for game in plan.games:
        _check_field(game)
    entered = {name for game in plan.games for name in game.entrants}
    for candidate in plan.candidates:
        if candidate not in entered:
            raise UnknownName("candidate", candidate, entered)
    for game in plan.games:
        chosen.check(game, plan)


def _check_numbers(plan: Plan) -> None:
    if plan.deals < 1:
        raise UsageError(f"There must be at least one deal, not {plan.deals}.")
    if not 0 <= plan.seed <= MOST_SEED:
        raise UsageError(f"The seed is a number from 0 to 2**128 - 1, not {plan.seed}.")
    for setting in ("tables", "rounds", "until_separated", "max_matches"):
        value = getattr(plan, setting)
        if not value >= 0:  # NaN too
            raise UsageError(f"{_words(setting)} cannot be {value}; leave it out, or give a number above 0.")
    if plan.tables > MOST_TABLES_ASKED:
        raise UsageError(f"--tables can be {MOST_TABLES_ASKED:,} at most, not {plan.tables:,}; ask for more deals.")


def _check_field(game: GamePlan) -> None:
    if game.players < 2:
        raise UsageError(f"A table of {game.name} needs at least 2 bots, not {game.players}.")
    if not game.entrants:
        raise UsageError(f"No bots are entered for {game.name}.")
    if len(set(game.entrants)) < len(game.entrants):
        twice = next(name for name in game.entrants if game.entrants.count(name) > 1)
        raise UsageError(f"{twice} is entered twice for {game.name}; give the second one other options.")
    if len(game.entrants) < game.players:
        raise UsageError(
            f"{game.name} at tables of {game.players} needs at least {game.players} bots; "
            f"{len(game.entrants)} entered ({', '.join(game.entrants)})."
        )


def _words(setting: str) -> str:
    """How a setting is called on the command line."""
    return "--" + setting.replace("_", "-").removesuffix("s" if setting == "candidates" else "")
