"""Flat Monte Carlo search, for any game."""

from __future__ import annotations

from collections.abc import Sequence

from bots.search.base import OPTIONS, SearchBot
from bots.search.caution import unless_refuted
from bots.search.rewards import Spread
from harness import Action, View


class FlatMc(SearchBot):
    """Tries every action in the same imagined worlds, plays on, and takes the one that does best on average."""

    options = OPTIONS

    def choose(self, view: View, actions: Sequence[Action]) -> Action:
        """The action with the highest average reward; with a guide, its advice unless it is refuted."""
        advice = self.guide.advise(view, actions) if self.guide else None
        totals, tries = dict.fromkeys(actions, 0.0), dict.fromkeys(actions, 0)
        spread, world = Spread(), None
        for turn, _ in enumerate(self.within_budget()):
            action = actions[turn % len(actions)]
            if world is None or action is actions[0]:
                world = self.imagine(view)
            # Luck is named, not drawn in turn: clones of one world see the same dice wherever the actions lead.
            state = world.clone()
            state.step(action)
            rewards = self.play_out(state)
            spread.include(rewards)
            totals[action] += rewards[view.seat]
            tries[action] += 1
        if advice:
            outcomes = {action: (totals[action], tries[action]) for action in actions}
            return unless_refuted(advice, outcomes, spread.deviation)
        tried = [action for action in actions if tries[action]]
        return max(tried, key=lambda action: totals[action] / tries[action])
