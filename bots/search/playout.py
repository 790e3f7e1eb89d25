"""Playouts: play a game on from a state by quick choices."""

# mypyc compiles this module. `mypyc_attr` keeps methods overridable for plain Python subclasses. Structs and
# dataclasses are in other modules: mypyc silently loses what makes them frozen.

from __future__ import annotations

from typing import Any

from mypy_extensions import mypyc_attr

from bots.search.rewards import Rewards
from harness import Action, State

Made = list[tuple[int, Action]]
"""Decisions as they were made: seat and action."""


@mypyc_attr(allow_interpreted_subclasses=True)
class Playout:
    """A way to play imagined games on."""

    __slots__ = ()

    def pick(self, state: State[Any], legal: tuple[Action, ...]) -> Action:
        """Return a choice for the seat whose turn it is, among at least two."""
        raise NotImplementedError

    def play(self, state: State[Any], depth: int) -> Made:
        """Play until the game is over or `depth` decisions were made (0 is no limit); return the decisions."""
        self.begin()
        made: Made = []
        while legal := state.legal:
            if len(legal) == 1:
                state.step(legal[0])
                continue
            if depth and len(made) == depth:
                break
            action = self.pick(state, legal)
            made.append((state.seat, action))
            state.step(action)
        return made

    def begin(self) -> None:
        """Called before each playout."""

    def learn(self, made: Made, rewards: Rewards) -> None:
        """Learn from how a playout ended."""

    def fade(self) -> None:
        """Called at a new decision: what was learned at the last one fits it less."""
