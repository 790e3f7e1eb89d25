"""Plackett-Luce: one strength for each bot from all matches at once, whatever their order, with honest errors.

A match is read as a row of stages: who is the best of the table, who is the best of the rest, and so on; a bot is
chosen at a stage with the chance that its strength has among those left. The likelihood needs only how often each
group of bots was a stage and how often each bot was chosen. It is concave in the logarithms, so Newton finds its top.

Tied bots count as every order of them, with equal weights. That is exact for ties of up to MOST_SPELT bots. For more,
the strength of those left at a stage is taken as what it is on average over the orders: exact where the tied bots are
equally strong, and near it otherwise, in time that grows with a power of their number, not as a power.

The errors do not trust the model: they come from how much the deals disagree about the strengths (the "sandwich",
the linear form of a block bootstrap over deals), so bots that a deal favours in all its matches are not
counted as that many proofs.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import exp, sqrt

from harness.ratings.ratings import CHOSEN, DealSums, Stage

PRIOR = 1.0
"""Each bot wins and loses this many imaginary matches against a bot of average strength: nobody is infinitely good."""

_STEPS = 100
_LONGEST_STEP = 2.0
_CLOSE = 1e-10
Matrix = list[list[float]]


@dataclass(frozen=True, slots=True)
class Strengths:
    """What the fit found: logarithms of strengths, their covariance, and in how many deals each bot played."""

    values: list[float]
    covariance: Matrix
    deals: list[int]

    def difference(self, one: int, other: int) -> tuple[float, float]:
        """How much stronger one bot is than another, and the standard error of that."""
        cov = self.covariance
        variance = cov[one][one] + cov[other][other] - 2 * cov[one][other]
        return self.values[one] - self.values[other], sqrt(max(variance, 0.0))


def fit(deals: Sequence[DealSums], bots: int, prior: float = PRIOR) -> Strengths:
    """The strengths of bots 0 .. bots - 1, centred on 0."""
    stages: dict[Stage, float] = {}
    chosen = [prior] * bots
    for deal in deals:
        for group, count in deal.stages.items():
            stages[group] = stages.get(group, 0.0) + count
        for bot, sums in deal.bots.items():
            chosen[bot] += sums[CHOSEN]
    values = [0.0] * bots
    for _ in range(_STEPS):
        expected, curvature = _expected(values, stages.items(), bots, prior)
        inverse = _inverted(curvature)
        step = _times(inverse, [have - want for have, want in zip(chosen, expected, strict=True)])
        longest = max(map(abs, step), default=0.0)
        shorten = min(1.0, _LONGEST_STEP / longest) if longest else 1.0
        values = [value + shorten * change for value, change in zip(values, step, strict=True)]
        if longest < _CLOSE:
            break
    middle = sum(values) / bots if bots else 0.0
    covariance = _sandwich(values, inverse, deals, prior) if bots else []
    played = [sum(bot in deal.bots for deal in deals) for bot in range(bots)]
    return Strengths([value - middle for value in values], covariance, played)


def _expected(
    values: Sequence[float], stages: Iterable[tuple[Stage, float]], bots: int, prior: float
) -> tuple[list[float], Matrix]:
    """How often each bot should have been chosen, and how fast that changes with the strengths."""
    weights = [exp(value) for value in values]
    chances = [weight / (weight + 1) for weight in weights]
    expected = [2 * prior * chance for chance in chances]
    curvature = [[0.0] * bots for _ in range(bots)]
    for bot, chance in enumerate(chances):
        curvature[bot][bot] = 2 * prior * chance * (1 - chance)
    for group, count in stages:
        shares = _shares(group, weights)
        for bot, share in shares:
            often = count * share
            expected[bot] += often
            row = curvature[bot]
            row[bot] += often
            for other, its in shares:
                row[other] -= often * its
    return expected, curvature


def _shares(stage: Stage, weights: Sequence[float]) -> list[tuple[int, float]]:
    """Each bot of a stage with its chance to be chosen there."""
    if isinstance(stage, int):
        members = _members(stage)
        total = sum([weights[bot] for bot in members])
        return [(bot, weights[bot] / total) for bot in members]
    # Whoever is left meets the others and, on average, this share of the strength of the rest of those tied.
    tied, others = _members(stage.tied), _members(stage.others)
    worse, level = sum([weights[bot] for bot in others]), sum([weights[bot] for bot in tied])
    left = stage.left / len(tied)
    met = (stage.left - 1) / (len(tied) - 1)
    present = [(bot, weights[bot] / (worse + left * level)) for bot in others]
    present += [(bot, left * weights[bot] / (worse + weights[bot] + met * (level - weights[bot]))) for bot in tied]
    total = sum([share for _, share in present])
    return [(bot, share / total) for bot, share in present]


def _sandwich(values: Sequence[float], inverse: Matrix, deals: Sequence[DealSums], prior: float) -> Matrix:
    """The covariance of the strengths from how far each deal, alone, would move them."""
    bots = len(values)
    weights = [exp(value) for value in values]
    meat = [[0.0] * bots for _ in range(bots)]
    factor = len(deals) / (len(deals) - 1) if len(deals) > 1 else 1.0
    for deal in deals:
        pull = {bot: sums[CHOSEN] for bot, sums in deal.bots.items()}
        for group, count in deal.stages.items():
            for bot, share in _shares(group, weights):
                pull[bot] -= count * share
        for bot, one in pull.items():
            row = meat[bot]
            for other, another in pull.items():
                row[other] += factor * one * another
    for bot, weight in enumerate(weights):  # the imaginary matches: one deal lost, one won
        chance = weight / (weight + 1)
        meat[bot][bot] += prior * prior * (chance**2 + (1 - chance) ** 2)
    half = [_times(meat, row) for row in inverse]  # both matrices are symmetric
    return [_times(inverse, row) for row in half]


@lru_cache(maxsize=200_000)
def _members(group: int) -> tuple[int, ...]:
    return tuple(bot for bot in range(group.bit_length()) if group >> bot & 1)


def _times(matrix: Matrix, vector: Sequence[float]) -> list[float]:
    return [sum([a * b for a, b in zip(row, vector, strict=True)]) for row in matrix]


def _inverted(matrix: Matrix) -> Matrix:
    """The inverse of a symmetric positive definite matrix; the prior makes ours one."""
    size = len(matrix)
    rows = [[*row, *(float(i == j) for j in range(size))] for i, row in enumerate(matrix)]
    for i, row in enumerate(rows):
        scale = 1 / row[i]
        row[:] = [value * scale for value in row]
        for other in rows:
            if other is not row and (times := other[i]):
                other[:] = [a - times * b for a, b in zip(other, row, strict=True)]
    return [row[size:] for row in rows]
