"""Which runs of formats that follow results can be extended: those whose matches keep their places if they go on."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import zip_longest

from harness.core.errors import UsageError
from harness.core.format import GamePlan, Plan

SizesOf = Callable[[GamePlan, Plan], Iterator[int] | None]


def longer_swiss(plan: Plan, asked: Plan, sizes: SizesOf) -> Plan:
    """More rounds."""
    _same_field(plan, asked, "its rounds were seated without whoever comes late")
    if asked.deals != plan.deals:
        raise UsageError(
            f"The deals of a swiss are those of every round, and each round was seated by all deals of those before: "
            f"they stay {plan.deals}. It can have more rounds: --format swiss:rounds=N."
        )
    _same_settings(plan, asked, "rounds")
    return _same_places(plan, asked, sizes, "rounds")


def longer_ladder(plan: Plan, asked: Plan, sizes: SizesOf) -> Plan:
    """More rounds, of which it has one for each of its deals."""
    why = "what it claims, it tests from the first match on, for all pairs of its bots"
    _same_field(plan, asked, why, " A ladder with --goal newcomer places new bots among old ones.")
    _same_settings(plan, asked)
    if plan.number("until-separated"):
        raise UsageError("This ladder ends when its goal is reached, or at max-matches: no number of deals ends it.")
    return _same_places(plan, asked, sizes, "deals")


def longer_comparison(plan: Plan, asked: Plan) -> Plan:
    """More matches: its answer holds whenever one looks, and however one decides to go on."""
    _same_field(plan, asked, "it is about two bots")
    _same_settings(plan, asked, "thorough")
    return asked


def no_longer_knockout(_plan: Plan, _asked: Plan) -> Plan:
    """Nothing: who was knocked out stays out."""
    raise UsageError(
        "A knockout cannot be extended: with more deals others might have gone on, whoever is late has missed the "
        "round that it would have come into, and after the final there is none. Play another one."
    )


def _same_field(plan: Plan, asked: Plan, why: str, instead: str = "") -> None:
    if asked.games != plan.games or asked.candidates != plan.candidates:
        raise UsageError(
            f"No bot can join a {plan.format} late: {why}. Play a gauntlet with it as the --candidate, or another run "
            f"with everybody; 'arena leaderboard' rates several runs together.{instead}"
        )


def _same_settings(plan: Plan, asked: Plan, *but: str) -> None:
    changed = [name for name, value in asked.settings.items() if value != plan.settings.get(name) and name not in but]
    if changed:
        allowed = f"; it can have more {', '.join(but)}" if but else ""
        raise UsageError(f"A {plan.format} that has begun keeps its {', '.join(changed)}{allowed}.")


def _same_places(plan: Plan, asked: Plan, sizes: SizesOf, what: str) -> Plan:
    """The plan that is asked for, if all its games go on where the old one ended: later matches would else get the
    places of others."""
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
    """Matches of each step of a run, game by game."""
    return zip_longest(*(sizes(game, plan) or () for game in plan.games), fillvalue=0)
