"""Plays a game on from a state by quick choices, and learns which of them tend to go well."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from bots.search.rewards import Rewards
from harness import Action, State

Made = list[tuple[int, Action]]
"""Decisions as they were made: seat and action."""

FAINT = 0.1
"""What an outcome weighs at the next decision, when it is no longer quite to the point."""


class Habits:
    """How each action has turned out for each seat so far, wherever in the game it was chosen.

    Purely random playouts are poor judges: they run from every risk and use nothing they have kept. Seats that
    mostly do what has gone well for them are better ones, in any game, at the cost of a look-up an action.
    """

    __slots__ = ("_outcomes", "_random", "_strength")

    def __init__(self, players: int, strength: float, random: Callable[[], float]) -> None:
        self._outcomes: list[dict[Action, list[float]]] = [{} for _ in range(players)]
        self._strength = strength
        self._random = random

    def play(self, state: State[Any], depth: int) -> Made:
        """Plays until the game is over or `depth` decisions were made (0 is no limit); the decisions made."""
        random, strength, outcomes = self._random, self._strength, self._outcomes
        made: Made = []
        while legal := state.legal:
            if len(legal) == 1:
                state.step(legal[0])
                continue
            if depth and len(made) == depth:
                break
            seat = state.seat
            by_habit = random() < strength
            action = _best(legal, outcomes[seat]) if by_habit else legal[int(random() * len(legal))]
            made.append((seat, action))
            state.step(action)
        return made

    def learn(self, made: Made, rewards: Rewards) -> None:
        """Take in how a playout ended."""
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
    """The action with the best average; one that was never tried comes first."""
    best, most = legal[0], float("-inf")
    for action in legal:
        outcome = outcomes.get(action)
        if outcome is None:
            return action
        mean = outcome[0] / outcome[1]
        if mean > most:
            best, most = action, mean
    return best
