"""A bot for Gnadenlos! that sits on its gold."""

# mypyc compiles this module. `mypyc_attr` keeps methods overridable for plain Python subclasses. Structs and
# dataclasses are in other modules: mypyc silently loses what makes them frozen.

from __future__ import annotations

from collections.abc import Sequence

from mypy_extensions import mypyc_attr

from engines.gnadenlos import SKILL, Buy, GnadenlosView, Hire, Lay, Steal
from harness import Action, Bot


@mypyc_attr(allow_interpreted_subclasses=True)
class Miser(Bot[GnadenlosView]):
    """Bids the least it can and hoards its gold for payday; only what its debts leave over goes into fame."""

    games = ("gnadenlos",)

    def choose(self, view: GnadenlosView, actions: Sequence[Action]) -> Action:
        """Return the best card for the event, whatever costs nothing, the best digger for hire, the least of anything
        else."""
        first = actions[0]  # all that can be chosen at one time is of one kind
        if isinstance(first, Lay) and view.event:
            return _most_skilled(actions, SKILL[view.event.kind])
        if isinstance(first, Hire):
            return _best_digger(actions)
        if isinstance(first, Buy):
            return _most_fame(actions, view.my_gold if view.cause else view.my_gold - view.debt(view.seat))
        if isinstance(first, Steal):
            return _most_ious(actions)
        return first  # the lowest sum, paid with the least paper


# The first of equals, everywhere.


def _most_skilled(actions: Sequence[Action], skill: int) -> Action:
    best, most = actions[0], 0
    for action in actions:
        if isinstance(action, Lay) and action.adventurer[skill] > most:
            best, most = action, action.adventurer[skill]
    return best


def _best_digger(actions: Sequence[Action]) -> Action:
    best, most = actions[0], 0
    for action in actions:
        if isinstance(action, Hire) and action.adventurer.gold > most:
            best, most = action, action.adventurer.gold
    return best


def _most_fame(actions: Sequence[Action], spare: int) -> Action:
    best, most = actions[0], 0
    for action in actions:
        if isinstance(action, Buy) and most < action.gold <= spare:
            best, most = action, action.gold
    return best


def _most_ious(actions: Sequence[Action]) -> Action:
    best, most = actions[0], 0
    for action in actions:
        if isinstance(action, Steal) and action.ious > most:
            best, most = action, action.ious
    return best
