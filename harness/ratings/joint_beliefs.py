"""What is believed of the strengths of some bots together, from how often they finished ahead of each other.

Bradley and Terry's model with a normal prior, and the normal distribution that fits its posterior at the peak: means
and covariances. A chain of bots of whom only neighbours have met is well known link by link and badly from end to
end; beliefs about each bot alone, such as TrueSkill's, cannot say that. Duplicate sets vary more or less than matches
of their own would; how much is measured and allowed for. All of this chooses tables; claims are made elsewhere.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import exp, sqrt
from random import Random
from typing import NamedTuple

PRIOR = 1.0
"""The spread of strengths before anything is known: odds of e to one are a strength of 1."""
DISPERSION_SETS = 20
"""How many sets must be seen before the measured spread of sets counts as much as that of matches on their own."""
MOST_STEPS = 20
"""Of Newton's method, from the strengths before: one or two, as a rule."""
LONGEST_STEP, SMALL_STEP = 1.0, 0.01

Matrix = list[list[float]]


class Meetings(NamedTuple):
    """The sets in which two bots met: how many, the sum of the shares in which the one was ahead, and of squares."""

    sets: int
    ahead: float
    squares: float


class JointBeliefs:
    """Strengths of bots, by number, and how they vary together."""

    def __init__(self, bots: int) -> None:
        self.bots = bots
        self.means = [0.0] * bots
        self.information = 2.0
        """What a set says about a pair: this many times p (1 - p)."""
        self._factor: Matrix = [[(row == column) / PRIOR for column in range(bots)] for row in range(bots)]

    def learn(self, met: Mapping[tuple[int, int], Meetings], seats: int) -> None:
        """Takes in all that has been seen, at tables of so many seats."""
        self.information = 2 / self._dispersion(met, seats)
        for _ in range(MOST_STEPS):
            if self._step(met) < SMALL_STEP:
                break

    def _dispersion(self, met: Mapping[tuple[int, int], Meetings], seats: int) -> float:
        """How many times as much sets vary as if their matches had nothing in common."""
        seen = expected = DISPERSION_SETS / 4 / seats
        for pair, (sets, ahead, squares) in met.items():
            chance = self.chance(*pair)
            seen += squares - ahead * ahead / sets
            expected += (sets - 1) * chance * (1 - chance) / seats
        return seen / expected

    def chance(self, one: int, other: int) -> float:
        """The probability that one finishes ahead of the other, for the means."""
        return 1 / (1 + exp(self.means[other] - self.means[one]))

    def _step(self, met: Mapping[tuple[int, int], Meetings]) -> float:
        """Moves the means towards the peak; returns the longest step that any of them made."""
        weight = 1 / PRIOR**2
        precision = [[weight * (row == column) for column in range(self.bots)] for row in range(self.bots)]
        slope = [-weight * mean for mean in self.means]
        # All pairs of a table say as much as its bots' results do if each counts 2 / seats; a set has `seats` matches.
        for (one, other), (sets, ahead, _) in met.items():
            chance = self.chance(one, other)
            pull = self.information * (ahead - sets * chance)
            known = self.information * sets * chance * (1 - chance)
            slope[one] += pull
            slope[other] -= pull
            precision[one][one] += known
            precision[other][other] += known
            precision[max(one, other)][min(one, other)] -= known
        self._factor = _cholesky(precision)
        steps = _back(self._factor, _forward(self._factor, slope))
        for bot, step in enumerate(steps):
            self.means[bot] += max(-LONGEST_STEP, min(LONGEST_STEP, step))
        return max(map(abs, steps))

    def drawn(self, luck: Random) -> list[float]:
        """Strengths that the bots may have together."""
        gauss = luck.gauss
        away = _back(self._factor, [gauss(0.0, 1.0) for _ in range(self.bots)])
        return [mean + step for mean, step in zip(self.means, away, strict=True)]

    def order(self) -> list[int]:
        """The bots, the probably strongest first."""
        return sorted(range(self.bots), key=lambda bot: -self.means[bot])


def _dot(left: Sequence[float], right: Sequence[float]) -> float:
    """The sum of the products, as far as the shorter of the two goes."""
    return sum([one * other for one, other in zip(left, right, strict=False)])


def _cholesky(matrix: Matrix) -> Matrix:
    """The lower triangle whose product with its own mirror image is this; it takes the place of the matrix."""
    for column, row in enumerate(matrix):
        head = row[:column]
        row[column] = sqrt(row[column] - _dot(head, head))
        for below in matrix[column + 1 :]:
            below[column] = (below[column] - _dot(head, below)) / row[column]
    return matrix


def _forward(factor: Matrix, values: Sequence[float]) -> list[float]:
    solved: list[float] = []
    for row, value in zip(factor, values, strict=True):
        solved.append((value - _dot(solved, row)) / row[len(solved)])
    return solved


def _back(factor: Matrix, values: Sequence[float]) -> list[float]:
    solved = list(values)
    for at in range(len(solved) - 1, -1, -1):
        row = factor[at]
        value = solved[at] = solved[at] / row[at]
        if value:
            for before in range(at):
                solved[before] -= row[before] * value
    return solved
