"""Information-set Monte Carlo tree search, for any game."""

# mypyc compiles this module. `mypyc_attr` keeps methods overridable for plain Python subclasses. Structs and
# dataclasses are in other modules: mypyc silently loses what makes them frozen.

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mypy_extensions import mypyc_attr

from bots.search.base import OPTIONS, SearchBot
from bots.search.knowledge import public_part
from bots.search.rewards import Rewards
from bots.search.tree import Step, Tree
from harness import Action, Option, State, View


@mypyc_attr(allow_interpreted_subclasses=True)
class Ismcts(SearchBot):
    """Grows a tree over imagined worlds in which every seat plays for itself, knowing what it would know."""

    options = (
        *OPTIONS,
        Option("exploration", 150, "how much to try what looks worse, in percent of the spread", kind="int", minimum=0),
    )

    def choose(self, view: View, actions: Sequence[Action]) -> Action:
        """Return what the search of this view is for."""
        if self.doubt:
            self.below = self.tree(view)
            return self.race(view, actions, self.doubt)
        return self.search(view, actions).best(view, actions)

    def search(self, view: View, actions: Sequence[Action]) -> Tree:
        """Return the tree that the budget allows, with this view at its root."""
        tree = self.tree(view)
        worlds: list[State[Any]] = []
        for _ in self.within_budget():
            step, known = tree.choose(view, actions)
            # Every action is tried in the same worlds, so that their difference depends less on luck.
            nth = tree.node(view).arms[step.action].pulls
            if nth == len(worlds):
                worlds.append(self.imagine(view))
            state = worlds[nth].clone()
            state.step(step.action)
            path = [step]
            if known:
                self.walk(state, tree, path)
            tree.learn(path, self.play_out(state))
        return tree

    def try_out(self, state: State[Any], nth: int) -> Rewards:
        """Return the rewards of a world in which an action was tried in a race; the tree below it grows as usual."""
        path: list[Step] = []
        if nth:
            self.walk(state, self.below, path)
        rewards = self.play_out(state)
        self.below.learn(path, rewards)
        return rewards

    def tree(self, view: View) -> Tree:
        """Return a tree in which nothing has been tried yet."""
        exploration = int(self.settings["exploration"]) / 100
        advise = self.guide.advise if self.guide else None
        return Tree(view.seat, public_part(self.game, self.players), exploration, self.rng.random, advise)

    def walk(self, state: State[Any], tree: Tree, path: list[Step]) -> None:
        """Go down the tree to the first situation that it does not know, and add that."""
        known = True
        while known and (legal := state.legal):
            if len(legal) == 1:
                state.step(legal[0])
                continue
            step, known = tree.choose(state.view(state.seat), legal)
            path.append(step)
            state.step(step.action)
