"""Alpha-rank: which bots hold their own where everybody loses to somebody.

A population plays one bot until somebody tries another; the other takes over more often the more often it finishes
ahead of the first. How much of the time each bot is the one that is played, in the long run, is its rank (Omidshafiei
and others, 2019, for one population with local selection). In a circle all have their part; a bot that is ahead of
everybody has all. It describes the table of pairs as it was measured, luck included, and is no claim.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import exp, expm1
from typing import NamedTuple

from harness.ratings.matrices import Matrix

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
