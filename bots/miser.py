"""A bot for Gnadenlos! that sits on its gold."""

from __future__ import annotations

from collections.abc import Sequence

from engines.gnadenlos import SKILL, Buy, GnadenlosView, Hire, Lay, Steal
from harness import Action, Bot


class Miser(Bot[GnadenlosView]):
    """Bids the least it can and hoards its gold for payday; only what its debts leave over goes into fame."""

    games = ("gnadenlos",)

    def choose(self, view: GnadenlosView, actions: Sequence[Action]) -> Action:
        """The best card for the event, whatever costs nothing, the best digger for hire, the least of anything else."""
        spare = view.my_gold if view.cause else view.my_gold - view.debt(self.seat)

        def urge(action: Action) -> int:
            if isinstance(action, Lay) and view.event:
                return action.adventurer[SKILL[view.event.kind]]
            if isinstance(action, Steal):
                return action.ious
            if isinstance(action, Hire):
                return action.adventurer.gold
            return action.gold if isinstance(action, Buy) and action.gold <= spare else 0

        return max(actions, key=urge)  # the first of equals: the lowest sum, paid with the least paper
