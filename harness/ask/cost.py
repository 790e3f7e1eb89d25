"""Cost of a decision, by random play from imagined worlds.

A rough measure: it knows nothing of good play after the decision. But all actions of a decision are tried in the same
worlds with the same luck, so it finds blunders.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from random import Random
from typing import Any

from harness.core.action import Action
from harness.core.game import Game, State
from harness.core.records import GameRecord
from harness.core.rng import Chance
from harness.match.replay import Position

FIRST_PASS_WORLDS = 8
SECOND_PASS_WORLDS = 64
"""Imagined worlds for each action: at every decision, and at the worst ones of the first pass."""
SECOND_PASS_DECISIONS = 8
MAX_ROLLOUT_STEPS = 2_000
"""An imagined game is cut off after this, and its scores count as they are."""


@dataclass(frozen=True, slots=True)
class DecisionCost:
    """Estimated cost of a decision against the best action."""

    decision: int
    best: Action
    """The action with the best expected result."""
    points: float
    """Difference in points ahead of the average of the others."""
    error: float
    """Standard error of `points`."""
    worlds: int
    """Number of imagined worlds for each action."""

    @property
    def lower_bound(self) -> float:
        """Cost minus its standard error; decisions are ordered by it."""
        return self.points - self.error


def worst_decision(game: Game[Any], record: GameRecord, choices: Sequence[Position]) -> DecisionCost | None:
    """Return the decision with the highest cost; None if there are none. Deterministic."""
    first = [rollout_cost(game, record, choice, FIRST_PASS_WORLDS) for choice in choices]
    first.sort(key=lambda cost: (-cost.lower_bound, cost.decision))
    again = {cost.decision for cost in first[:SECOND_PASS_DECISIONS]}
    # Estimates of the first pass are noisy, and the worst of many is biased: measure the candidates again.
    second = [rollout_cost(game, record, choice, SECOND_PASS_WORLDS) for choice in choices if choice.decision in again]
    return min(second, key=lambda cost: (-cost.lower_bound, cost.decision), default=None)


def rollout_cost(game: Game[Any], record: GameRecord, choice: Position, worlds: int) -> DecisionCost:
    """Estimate the cost of this decision."""
    rng = Chance(record.seed).rng("prospects", record.id, choice.decision)
    outcomes: dict[Action, list[float]] = {action: [] for action in choice.legal}
    for _ in range(worlds):
        # Common random numbers: every action gets the same world and the same luck, which cancels most noise.
        world, luck = game.imagine(choice.view, rng), rng.random()
        for action, rewards in outcomes.items():
            state = world.clone()
            state.step(action)
            rewards.append(_random_rollout(state, choice.seat, Random(luck)))
    best = max(outcomes, key=lambda action: sum(outcomes[action]))
    gaps = [ours - chosen for ours, chosen in zip(outcomes[best], outcomes[choice.chosen], strict=True)]
    mean = sum(gaps) / worlds
    spread = sum((gap - mean) ** 2 for gap in gaps) / max(1, worlds - 1)
    return DecisionCost(choice.decision, best, mean, sqrt(spread / worlds), worlds)


def _random_rollout(state: State[Any], seat: int, rng: Random) -> float:
    """Play at random to the end; return how far the seat is ahead of the average of the others."""
    step = state.step
    for _ in range(MAX_ROLLOUT_STEPS):
        legal = state.legal
        if not legal:
            break
        step(legal[int(rng.random() * len(legal))])
    scores = state.scores()
    return scores[seat] - (sum(scores) - scores[seat]) / max(1, len(scores) - 1)
