"""How much a decision seems to have cost: random play from worlds that the seat could not tell from its own.

A rough measure, from the game's own means alone: it knows nothing of good play after the decision. It is the same for
every action of one decision, in the same worlds with the same luck, and so it finds the blunders.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from random import Random
from typing import Any

from harness.core.action import Action
from harness.core.chance import Chance
from harness.core.game import Game, State
from harness.core.types import GameRecord
from harness.match.positions import Position

FIRST_LOOK = 8
SECOND_LOOK = 64
"""Imagined worlds for each action: at every decision, and at those that looked worst."""
LOOKED_AT_TWICE = 8
LONGEST = 2_000
"""Decisions after which an imagined game is cut off, and its scores are taken as they stand."""


@dataclass(frozen=True, slots=True)
class Cost:
    """What a decision seems to have cost the seat, against the best action there was."""

    decision: int
    best: Action
    """The action with the best prospects."""
    points: float
    """How far its prospects were above those of what was chosen: points ahead of the average of the others."""
    error: float
    """The standard error of these points."""
    worlds: int
    """In how many imagined worlds each action was tried."""

    @property
    def at_least(self) -> float:
        """What it seems to have cost after allowing for chance; decisions are ordered by it."""
        return self.points - self.error


def worst_decision(game: Game[Any], record: GameRecord, choices: Sequence[Position]) -> Cost | None:
    """The one of these decisions that seems to have cost most; None if there are none. The same each time."""
    first = [cost_of(game, record, choice, FIRST_LOOK) for choice in choices]
    first.sort(key=lambda cost: (-cost.at_least, cost.decision))
    again = {cost.decision for cost in first[:LOOKED_AT_TWICE]}
    second = [cost_of(game, record, choice, SECOND_LOOK) for choice in choices if choice.decision in again]
    return min(second, key=lambda cost: (-cost.at_least, cost.decision), default=None)


def cost_of(game: Game[Any], record: GameRecord, choice: Position, worlds: int) -> Cost:
    """What this decision seems to have cost."""
    rng = Chance(record.seed).rng("prospects", record.id, choice.decision)
    outcomes: dict[Action, list[float]] = {action: [] for action in choice.legal}
    for _ in range(worlds):
        world, luck = game.imagine(choice.view, rng), rng.random()
        for action, rewards in outcomes.items():
            state = world.clone()
            state.step(action)
            rewards.append(_play_on(state, choice.seat, Random(luck)))
    best = max(outcomes, key=lambda action: sum(outcomes[action]))
    gaps = [ours - chosen for ours, chosen in zip(outcomes[best], outcomes[choice.chosen], strict=True)]
    mean = sum(gaps) / worlds
    spread = sum((gap - mean) ** 2 for gap in gaps) / max(1, worlds - 1)
    return Cost(choice.decision, best, mean, sqrt(spread / worlds), worlds)


def _play_on(state: State[Any], seat: int, rng: Random) -> float:
    """Plays on at random; how far the seat ends ahead of the average of the others."""
    step = state.step
    for _ in range(LONGEST):
        legal = state.legal
        if not legal:
            break
        step(legal[int(rng.random() * len(legal))])
    scores = state.scores()
    return scores[seat] - (sum(scores) - scores[seat]) / max(1, len(scores) - 1)
