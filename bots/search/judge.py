"""The worth of an imagined game to each seat when it is over or cut off."""

# mypyc compiles this module. `mypyc_attr` keeps methods overridable for plain Python subclasses. Structs and
# dataclasses are in other modules: mypyc silently loses what makes them frozen.

from __future__ import annotations

from typing import Any

from mypy_extensions import mypyc_attr

from bots.search.rewards import REWARDS, Rewards, by_rank
from harness import Game, State, valuer_of


@mypyc_attr(allow_interpreted_subclasses=True)
class Judge:
    """Looks at a state and says what each seat gets."""

    __slots__ = ()

    def rewards(self, state: State[Any]) -> Rewards:
        """Return what it is worth to each seat."""
        raise NotImplementedError


@mypyc_attr(allow_interpreted_subclasses=True)
class ScoreJudge(Judge):
    """Goes by the scores as they stand."""

    __slots__ = ("_reward",)

    def __init__(self, reward: str) -> None:
        self._reward = REWARDS[reward]

    def rewards(self, state: State[Any]) -> Rewards:
        """Return what the scores are worth."""
        return self._reward(state.scores())


@mypyc_attr(allow_interpreted_subclasses=True)
class ValueJudge(Judge):
    """Goes by what a learned value function expects: the share of the others that each seat will finish ahead of."""

    __slots__ = ("_even", "_valuer")

    def __init__(self, game: Game[Any], players: int, values: str) -> None:
        self._valuer = valuer_of(game, values)
        self._even = [0.5] * players

    def rewards(self, state: State[Any]) -> Rewards:
        """Return the shares that are expected, or those that were reached."""
        if not state.legal:
            return by_rank(state.scores())
        return list(self._valuer.shares(state, self._even))
