"""Playouts that learn which actions tend to go well: the move-average sampling technique (MAST)."""

# mypyc compiles this module. `mypyc_attr` keeps methods overridable for plain Python subclasses. Structs and
# dataclasses are in other modules: mypyc silently loses what makes them frozen.

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mypy_extensions import mypyc_attr

from bots.search.playout import Made, Playout
from bots.search.rewards import Rewards
from harness import Action, State

FAINT = 0.1
"""Weight of an outcome at the next decision."""


@mypyc_attr(allow_interpreted_subclasses=True)
class Mast(Playout):
    """How each action has turned out for each seat so far, wherever in the game it was chosen.

    Purely random playouts are poor judges: they run from every risk and use nothing they have kept. Seats that
    mostly do what has gone well for them are better ones, in any game, at the cost of one look-up for each action.
    """

    __slots__ = ("_outcomes", "_random", "_strength")

    def __init__(self, players: int, strength: float, random: Callable[[], float]) -> None:
        self._outcomes: list[dict[Action, list[float]]] = [{} for _ in range(players)]
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
                self._outcomes[seat][action] = [rewards[seat], 1.0]
            else:
                outcome[0] += rewards[seat]
                outcome[1] += 1.0

    def fade(self) -> None:
        """Keep what was learned as a faint first guess for the next decision; what was not used again is forgotten."""
        self._outcomes = [
            {action: [total * FAINT, weight * FAINT] for action, (total, weight) in outcomes.items() if weight > FAINT}
            for outcomes in self._outcomes
        ]


def _best(legal: tuple[Action, ...], outcomes: dict[Action, list[float]]) -> Action:
    """Return the action with the best average; one that was never tried comes first."""
    best, most = legal[0], float("-inf")
    for action in legal:
        outcome = outcomes.get(action)
        if outcome is None:
            return action
        mean = outcome[0] / outcome[1]
        if mean > most:
            best, most = action, mean
    return best
