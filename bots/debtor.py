"""A bot for Gnadenlos! that lives on credit."""

from __future__ import annotations

from collections.abc import Sequence

from engines.gnadenlos import SKILL, Bid, Buy, GnadenlosView, Hire, Lay, Steal
from harness import Action, Bot


class Debtor(Bot[GnadenlosView]):
    """Outbids everybody and spends as if there were no tomorrow, until two vultures say there might be none."""

    games = ("gnadenlos",)

    def choose(self, view: GnadenlosView, actions: Sequence[Action]) -> Action:
        """Lay the best card for the event, steal all IOUs within reach, outbid every rival, spend all gold on fame."""
        scared = view.vultures[self.seat] > 1 and not view.cause
        highest = max(total or 0 for total in view.totals)

        def urge(action: Action) -> int:
            if isinstance(action, Lay) and view.event:
                return action.adventurer[SKILL[view.event.kind]]
            if isinstance(action, Steal):
                return action.ious
            if isinstance(action, Hire):
                return sum(action.adventurer)
            if isinstance(action, Bid):
                return action.total > highest + 2 and not scared
            return action.gold if isinstance(action, Buy) and not scared else 0

        return max(actions, key=urge)  # the first of equals: the lowest such sum, paid with the least paper
