"""The reward of each seat for a finished (or cut off) game: every seat wants its own reward as high as it can get."""

# mypyc compiles this module: plain classes with typed attributes, because it silently loses what makes structs and
# dataclasses frozen, and reads typed attributes like fields of a C struct.

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import sqrt

Rewards = list[float]


def by_score(scores: Sequence[int]) -> Rewards:
    """Return how far each seat is ahead of the average of the others, in points of the game."""
    total, others = sum(scores), len(scores) - 1
    return [score - (total - score) / others for score in scores]


def by_rank(scores: Sequence[int]) -> Rewards:
    """Return the share of the others that each seat is ahead of, ties counting half: 1 for the winner, 0 for the
    last."""
    order, others = sorted(scores), len(scores) - 1
    # Twice the number of seats behind plus the number of equals, itself left out.
    doubled = {score: 2 * order.index(score) + order.count(score) - 1 for score in order}
    return [doubled[score] / (2 * others) for score in scores]


REWARDS: dict[str, Callable[[Sequence[int]], Rewards]] = {"score": by_score, "rank": by_rank}
"""The rewards that a search bot can play for."""


class Spread:
    """How widely the rewards of a search scatter: their standard deviation, the unit in which exploration is counted.

    It makes one exploration constant fit games that count in tens and games that count in thousands, and, unlike
    the range from worst to best, it is not blown up by a rare disaster.
    """

    __slots__ = ("_count", "_mean", "_squares")

    def __init__(self) -> None:
        self._count, self._mean, self._squares = 0, 0.0, 0.0

    def include(self, rewards: Sequence[float]) -> None:
        """Add the rewards of one more game."""
        for reward in rewards:
            self._count += 1
            off = reward - self._mean
            self._mean += off / self._count
            self._squares += off * (reward - self._mean)

    @property
    def deviation(self) -> float:
        """The standard deviation so far."""
        return sqrt(self._squares / self._count) if self._count else 0.0
