"""Other ways to order bots, as a cross-check: Plackett-Luce and alpha-rank."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from math import exp, expm1, inf
from typing import NamedTuple

from harness.ratings.beat_rate import Matrix, inverted, times
from harness.ratings.evidence import Stage, Stages

# Plackett-Luce: one strength for each bot from all matches at once, whatever their order: the cross-check.
#
# A match is read as a row of stages: who is the best of the table, who is the best of the rest, and so on; a bot is
# chosen at a stage with the chance that its strength has among those left. The likelihood needs only how often each
# group of bots was a stage and how often each bot was chosen. It is concave in the logarithms, so Newton finds its
# top.
#
# Tied bots count as every order of them, with equal weights. That is exact for ties of up to MOST_SPELT bots. For
# more, the strength of those left at a stage is taken as what it is on average over the orders: exact where the tied
# bots are equally strong, and near it otherwise, in time that grows with a power of their number, not as a power.
#
# No claims are made from it: it weighs places otherwise than `ahead` does, so a bot that is first or last by turns
# differs here from one that is always in the middle, although both finish ahead of half of the table.


PRIOR = 1.0
"""Each bot wins and loses this many imaginary matches against a bot of average strength: nobody is infinitely good."""

_STEPS = 200
_LONGEST_STEP = 2.0
_CLOSE = 1e-9
_SLOW = 0.1
"""The curvature is reckoned anew when a step is not at least this much shorter than the one before."""


def fit(stages: Stages, bots: int, prior: float = PRIOR) -> list[float]:
    """The logarithms of the strengths of bots 0 .. bots - 1, centred on 0."""
    chosen = [prior + stages.chosen.get(bot, 0.0) for bot in range(bots)]
    values = [0.0] * bots
    inverse: Matrix | None = None
    before = inf
    for _ in range(_STEPS):
        if inverse is None:
            inverse = inverted(_curvature(values, stages.counts.items(), bots, prior))
        expected = _expected(values, stages.counts.items(), prior)
        step = times(inverse, [have - want for have, want in zip(chosen, expected, strict=True)])
        longest = max(map(abs, step), default=0.0)
        shorten = min(1.0, _LONGEST_STEP / longest) if longest else 1.0
        values = [value + shorten * change for value, change in zip(values, step, strict=True)]
        if longest < _CLOSE:
            break
        if longest > _SLOW * before:
            inverse = None
        before = longest
    middle = sum(values) / bots if bots else 0.0
    return [value - middle for value in values]


def _expected(values: Sequence[float], stages: Iterable[tuple[Stage, float]], prior: float) -> list[float]:
    """How often each bot should have been chosen."""
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
    """How fast that changes with the strengths."""
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


@lru_cache(maxsize=200_000)
def _members(group: int) -> tuple[int, ...]:
    return tuple(bot for bot in range(group.bit_length()) if group >> bot & 1)


# Alpha-rank: which bots hold their own where everybody loses to somebody.
#
# A population plays one bot until somebody tries another; the other takes over more often the more often it finishes
# ahead of the first. How much of the time each bot is the one that is played, in the long run, is its rank
# (Omidshafiei and others, 2019, for one population with local selection). In a circle all have their part; a bot that
# is ahead of everybody has all. It describes the table of pairs as it was measured, luck included, and is no claim.


ALPHA = 10.0
"""How much a lead counts: finishing ahead of another in 51 of 100 is hardly felt, in 55 it decides."""
POPULATION = 50


class AlphaShare(NamedTuple):
    """How much of the time a bot is the one that is played."""

    bot: str
    share: float


def alpha_rank(payoffs: Sequence[Sequence[float]], alpha: float = ALPHA, population: int = POPULATION) -> list[float]:
    """The share of time of each bot, from what each row's bot gets against each column's."""
    size = len(payoffs)
    if size == 1:
        return [1.0]
    moves = [
        [_takes_over(alpha * (payoffs[new][old] - payoffs[old][new]), population) / (size - 1) for new in range(size)]
        for old in range(size)
    ]
    return _in_the_long_run(moves)


def _takes_over(lead: float, population: int) -> float:
    """The chance that a single newcomer with this lead ends up as everybody."""
    if abs(lead) < 1e-14:
        return 1 / population
    if lead > 0:
        return expm1(-lead) / expm1(-population * lead)
    # The same with both parts multiplied by exp(population * lead), which does not overflow.
    return max(exp((population - 1) * lead) * expm1(lead) / expm1(population * lead), 1e-300)


def _in_the_long_run(moves: Matrix) -> list[float]:
    """The stationary shares of a chain, by the method of Grassmann, Taksar and Heyman: nothing is subtracted."""
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
