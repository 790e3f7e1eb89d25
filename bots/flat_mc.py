"""Flat Monte Carlo search, for any game."""

from __future__ import annotations

from collections.abc import Sequence

from bots.search.base import OPTIONS, SearchBot
from harness import Action, View


class FlatMc(SearchBot):
    """Tries every action in the same imagined worlds, plays on, and takes the one that does best on average."""

    options = OPTIONS

    def choose(self, view: View, actions: Sequence[Action]) -> Action:
        """The action with the highest average reward."""
        seat = view.seat
        totals = [0.0] * len(actions)
        tries = [0] * len(actions)
        world = None
        for turn, _ in enumerate(self.within_budget()):
            at = turn % len(actions)
            if world is None or not at:
                world = self.imagine(view)
            # Luck is named, not drawn in turn: clones of one world see the same dice wherever the actions lead.
            state = world.clone()
            state.step(actions[at])
            totals[at] += self.play_out(state)[seat]
            tries[at] += 1
        tried = [at for at in range(len(actions)) if tries[at]]
        return actions[max(tried, key=lambda at: totals[at] / tries[at])]
