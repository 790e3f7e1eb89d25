"""Playouts that learn which actions tend to go well: the move-average sampling technique (MAST)."""

# mypyc compiles this module. `mypyc_attr` keeps methods overridable for plain Python subclasses. Structs and
# dataclasses are in other modules: mypyc silently loses what makes them frozen.

from __future__ import annotations

from collections.abc import Callable
from math import inf
from typing import Any, Final

from mypy_extensions import mypyc_attr

from bots.search.playout import Made, Playout
from bots.search.rewards import Rewards
from harness import Action, State

FAINT: Final = 0.1
"""Weight of an outcome at the next decision."""
WORST: Final = -inf


class Outcome:
    """How an action has turned out: the sum of its rewards, and of their weights."""

    __slots__ = ("total", "weight")

    def __init__(self, total: float, weight: float) -> None:
        self.total, self.weight = total, weight

    def __reduce__(self) -> tuple[type[Outcome], tuple[float, float]]:
        return Outcome, (self.total, self.weight)  # compiled, an object without its arguments cannot be made


@mypyc_attr(allow_interpreted_subclasses=True)
class Mast(Playout):
    """How each action has turned out for each seat so far, wherever in the game it was chosen.

    Purely random playouts are poor judges: they run from every risk and use nothing they have kept. Seats that
    mostly do what has gone well for them are better ones, in any game, at the cost of one look-up for each action.
    """

    __slots__ = ("_outcomes", "_random", "_strength")

    def __init__(self, players: int, strength: float, random: Callable[[], float]) -> None:
        self._outcomes: list[dict[Action, Outcome]] = [{} for _ in range(players)]
        self._strength = strength
        self._random = random

    def pick(self, state: State[Any], legal: tuple[Action, ...]) -> Action:
        """Return mostly what has gone well for this seat so far."""
        if self._random() < self._strength:
            return _best(legal, self._outcomes[state.seat])
        return legal[int(self._random() * len(legal))]

    def learn(self, made: Made, rewards: Rewards) -> None:
        """Learn from how a playout ended."""
        for seat, action in made:
            outcome = self._outcomes[seat].get(action)
            if outcome is None:
                self._outcomes[seat][action] = Outcome(rewards[seat], 1.0)
            else:
                outcome.total += rewards[seat]
                outcome.weight += 1.0

    def fade(self) -> None:
        """Keep what was learned as a faint first guess for the next decision; what was not used again is forgotten."""
        self._outcomes = [
            {
                action: Outcome(outcome.total * FAINT, outcome.weight * FAINT)
                for action, outcome in outcomes.items()
                if outcome.weight > FAINT
            }
            for outcomes in self._outcomes
        ]


def _best(legal: tuple[Action, ...], outcomes: dict[Action, Outcome]) -> Action:
    """Return the action with the best average; one that was never tried comes first."""
    best, most = legal[0], WORST
    for action in legal:
        outcome = outcomes.get(action)
        if outcome is None:
            return action
        mean = outcome.total / outcome.weight
        if mean > most:
            best, most = action, mean
    return best
