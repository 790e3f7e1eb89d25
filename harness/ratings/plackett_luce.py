"""Other ways to order bots, as a cross-check: Plackett-Luce and alpha-rank."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from math import exp, expm1, inf
from typing import NamedTuple

from harness.ratings.beat_rate import Matrix, inverse_of, matvec
from harness.ratings.evidence import Stage, Stages

# Plackett-Luce: one strength for each bot from all matches at once, whatever their order. A cross-check.
#
# A match is read as a sequence of stages: which bot is the best of the table, which is the best of the rest, and so on.
# At each stage a bot is chosen with a probability proportional to its strength. The likelihood depends only on how
# often each group of bots was a stage and how often each bot was chosen. It is concave in the logarithms of the
# strengths, so Newton's method finds the maximum.
#
# Tied bots count as all orders of them, with equal weights. This is exact for ties of up to MAX_ENUMERATED_TIES bots.
# For more, the total strength of the bots left at a stage is replaced by its mean over the orders. That is exact if the
# tied bots are equally strong and close to it otherwise, and takes polynomial instead of exponential time.
#
# No claims are made from it, because it weighs places differently from `ahead`: a bot that is first and last by turns
# differs here from one that is always in the middle, although both finish ahead of half of the table.


PRIOR_MATCHES = 1.0
"""Imaginary matches that each bot wins and loses against a bot of average strength, so that strengths are finite."""

_MAX_NEWTON_STEPS = 200
_MAX_STEP = 2.0
_CONVERGED_STEP = 1e-9
_REUSE_RATIO = 0.1
"""The inverse Hessian is kept as long as each step is at most this part of the one before."""


def fit(stages: Stages, bots: int, prior: float = PRIOR_MATCHES) -> list[float]:
    """Return the logarithms of the strengths of bots 0 .. bots - 1, centred on 0."""
    chosen = [prior + stages.chosen.get(bot, 0.0) for bot in range(bots)]
    values = [0.0] * bots
    inverse: Matrix | None = None
    before = inf
    for _ in range(_MAX_NEWTON_STEPS):
        if inverse is None:
            inverse = inverse_of(_curvature(values, stages.counts.items(), bots, prior))
        expected = _expected(values, stages.counts.items(), prior)
        step = matvec(inverse, [have - want for have, want in zip(chosen, expected, strict=True)])
        longest = max(map(abs, step), default=0.0)
        shorten = min(1.0, _MAX_STEP / longest) if longest else 1.0
        values = [value + shorten * change for value, change in zip(values, step, strict=True)]
        if longest < _CONVERGED_STEP:
            break
        if longest > _REUSE_RATIO * before:
            inverse = None
        before = longest
    middle = sum(values) / bots if bots else 0.0
    return [value - middle for value in values]


def _expected(values: Sequence[float], stages: Iterable[tuple[Stage, float]], prior: float) -> list[float]:
    """Return how often each bot is expected to be chosen."""
    weights = [exp(value) for value in values]
    expected = [2 * prior * weight / (weight + 1) for weight in weights]
    for group, count in stages:
        if isinstance(group, int):
            members = _members(group)
            often = count / sum([weights[bot] for bot in members])
            for bot in members:
                expected[bot] += often * weights[bot]
        else:
            for bot, share in _shares(group, weights):
                expected[bot] += count * share
    return expected


def _curvature(values: Sequence[float], stages: Iterable[tuple[Stage, float]], bots: int, prior: float) -> Matrix:
    """Return the negative Hessian of the log-likelihood."""
    weights = [exp(value) for value in values]
    curvature = [[0.0] * bots for _ in range(bots)]
    for bot, weight in enumerate(weights):
        curvature[bot][bot] = 2 * prior * weight / (weight + 1) ** 2
    for group, count in stages:
        shares = _shares(group, weights)
        for bot, share in shares:
            often = count * share
            row = curvature[bot]
            row[bot] += often
            for other, its in shares:
                row[other] -= often * its
    return curvature


def _shares(stage: Stage, weights: Sequence[float]) -> list[tuple[int, float]]:
    """Return each bot of a stage with its probability of being chosen."""
    if isinstance(stage, int):
        members = _members(stage)
        total = sum([weights[bot] for bot in members])
        return [(bot, weights[bot] / total) for bot in members]
    # A tied bot that is left meets the others and, on average, this share of the strength of the other tied bots.
    tied, others = _members(stage.tied), _members(stage.others)
    worse, level = sum([weights[bot] for bot in others]), sum([weights[bot] for bot in tied])
    left = stage.left / len(tied)
    met = (stage.left - 1) / (len(tied) - 1)
    present = [(bot, weights[bot] / (worse + left * level)) for bot in others]
    present += [(bot, left * weights[bot] / (worse + weights[bot] + met * (level - weights[bot]))) for bot in tied]
    total = sum([share for _, share in present])
    return [(bot, share / total) for bot, share in present]


@lru_cache(maxsize=200_000)
def _members(group: int) -> tuple[int, ...]:
    return tuple(bot for bot in range(group.bit_length()) if group >> bot & 1)


# Alpha-rank: a ranking for fields in which every bot loses to some other bot.
#
# All members of a population play the same bot until one tries another, which takes over more often the more often it
# finishes ahead of the first. The rank of a bot is the share of time for which it is played in the long run
# (Omidshafiei and others, 2019, for one population with local selection). In a cycle all bots have a share; a bot that
# is ahead of all others has all of it. It describes the pairs as measured, including luck, and is no claim.


ALPHA = 10.0
"""Selection strength: finishing ahead in 51 of 100 matters little, in 55 of 100 it decides."""
POPULATION = 50


class AlphaShare(NamedTuple):
    """The share of time for which a bot is played."""

    bot: str
    share: float


def alpha_rank(payoffs: Sequence[Sequence[float]], alpha: float = ALPHA, population: int = POPULATION) -> list[float]:
    """Return the share of time of each bot; `payoffs[i][j]` is what bot i gets against bot j."""
    size = len(payoffs)
    if size == 1:
        return [1.0]
    moves = [
        [
            _fixation_probability(alpha * (payoffs[new][old] - payoffs[old][new]), population) / (size - 1)
            for new in range(size)
        ]
        for old in range(size)
    ]
    return _stationary_distribution(moves)


def _fixation_probability(lead: float, population: int) -> float:
    """Return the probability that a single newcomer with this lead takes over the population."""
    if abs(lead) < 1e-14:
        return 1 / population
    if lead > 0:
        return expm1(-lead) / expm1(-population * lead)
    # Numerator and denominator multiplied by exp(population * lead), which does not overflow.
    return max(exp((population - 1) * lead) * expm1(lead) / expm1(population * lead), 1e-300)


def _stationary_distribution(moves: Matrix) -> list[float]:
    """Return the stationary distribution of a Markov chain (Grassmann, Taksar, Heyman: without subtractions)."""
    size = len(moves)
    chain = [list(row) for row in moves]
    out = [0.0] * size
    for last in range(size - 1, 0, -1):
        out[last] = sum(chain[last][:last])
        for row in range(last):
            chain[row][last] /= out[last]
            for column in range(last):
                if column != row:
                    chain[row][column] += chain[row][last] * chain[last][column]
    shares = [1.0]
    for last in range(1, size):
        shares.append(sum(shares[row] * chain[row][last] for row in range(last)))
    total = sum(shares)
    return [share / total for share in shares]
