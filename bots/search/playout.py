"""Plays a game on from a state by quick choices: a playout."""

from __future__ import annotations

from typing import Any

from bots.search.rewards import Rewards
from harness import Action, State, mypyc_attr

Made = list[tuple[int, Action]]
"""Decisions as they were made: seat and action."""


@mypyc_attr(allow_interpreted_subclasses=True)
class Playout:
    """A way to play imagined games on."""

    __slots__ = ()

    def pick(self, state: State[Any], legal: tuple[Action, ...]) -> Action:
        """A choice for the seat whose turn it is, among at least two."""
        raise NotImplementedError

    def play(self, state: State[Any], depth: int) -> Made:
        """Plays until the game is over or `depth` decisions were made (0 is no limit); the decisions made."""
        self.begin()
        pick, step = self.pick, state.step
        made: Made = []
        while legal := state.legal:
            if len(legal) == 1:
                step(legal[0])
                continue
            if depth and len(made) == depth:
                break
            action = pick(state, legal)
            made.append((state.seat, action))
            step(action)
        return made

    def begin(self) -> None:
        """Another playout begins."""

    def learn(self, made: Made, rewards: Rewards) -> None:
        """Take in how a playout ended."""

    def fade(self) -> None:
        """A new decision begins: what was learned is no longer quite to the point."""
