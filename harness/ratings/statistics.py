"""Intervals over deals, tests of several hypotheses, and the linear algebra that fits need."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import exp, inf, lgamma, log, sqrt
from operator import mul
from typing import NamedTuple

LEVEL = 0.95
"""Confidence level of every published interval and every claim."""


class Interval(NamedTuple):
    """An estimate with its confidence limits at LEVEL."""

    value: float
    low: float
    high: float

    @property
    def reach(self) -> float:
        """The larger distance from the estimate to a limit."""
        return max(self.high - self.value, self.value - self.low)


def mean_interval(value: float, variance: float, freedom: float) -> Interval:
    """Return Student's interval of a mean; infinite if the variance has no degrees of freedom."""
    if not freedom:
        return Interval(value, -inf, inf)
    reach = student_quantile((1 + LEVEL) / 2, freedom) * sqrt(variance)
    return Interval(value, value - reach, value + reach)


def share_interval(value: float, variance: float, freedom: float) -> Interval:
    """Return Student's interval of a share, which is from 0 to 1."""
    found = mean_interval(value, variance, freedom)
    return Interval(value, max(0.0, found.low), min(1.0, found.high)) if freedom else found


def student_cdf(t: float, freedom: float) -> float:
    """Return the probability that a Student variable with `freedom` degrees of freedom is below t."""
    tail = 0.5 * _incomplete_beta(freedom / 2, 0.5, freedom / (freedom + t * t))
    return 1 - tail if t > 0 else tail


@lru_cache(maxsize=4096)
def student_quantile(probability: float, freedom: float) -> float:
    """Return the quantile of Student's distribution for a probability above one half."""
    # Bisection: some 60 evaluations, but the cache answers nearly every call, and no library is needed.
    low, high = 0.0, 2.0
    while student_cdf(high, freedom) < probability:
        high *= 2
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if student_cdf(middle, freedom) < probability else (low, middle)
    return (low + high) / 2


def _incomplete_beta(a: float, b: float, x: float) -> float:
    """Return the regularised incomplete beta function, by its continued fraction (modified Lentz's method)."""
    if x <= 0 or x >= 1:
        return float(x >= 1)
    if x > (a + 1) / (a + b + 2):  # the fraction converges fast on the other side only
        return 1 - _incomplete_beta(b, a, 1 - x)
    front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log(1 - x)) / a
    tiny = 1e-300  # replaces a denominator of 0, as the method demands
    d = 1 / ((1 - (a + b) * x / (a + 1)) or tiny)
    c, fraction = 1.0, d
    for m in range(1, 300):
        for numerator in (
            m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            d = 1 / ((1 + numerator * d) or tiny)
            c = (1 + numerator / c) or tiny
            step = d * c
            fraction *= step
        if abs(step - 1) < 1e-13:
            break
    return front * fraction


@dataclass(slots=True)
class PooledVariance:
    """A sum of estimated variances, with its approximate degrees of freedom (Satterthwaite)."""

    variance: float = 0.0
    max_freedom: float = 0.0
    """The degrees of freedom of all parts together; the sum cannot have more."""
    _squares: float = 0.0

    def add(self, variance: float, freedom: float, parts: float = 0.0) -> None:
        """Add a variance with its degrees of freedom; `parts`, if given, is what it adds to the maximum."""
        self.variance += variance
        self.max_freedom += parts or freedom
        # With + 2 here and - 2 below, because the square of an estimated variance is too large on average: for a
        # normal sample its expectation is (1 + 2 / freedom) times the square of the true variance.
        self._squares += variance**2 / (freedom + 2)

    @property
    def freedom(self) -> float:
        """The degrees of freedom of the sum; 0 if there are too few deals."""
        if self.max_freedom < 1 - 1e-9:
            return 0.0
        if not self._squares:
            return self.max_freedom
        return max(1.0, min(self.max_freedom, self.variance**2 / self._squares - 2))


# Claims about all pairs of a table together.


Pair = tuple[int, int]


def holm(p_values: Sequence[float], level: float = LEVEL) -> list[bool]:
    """Return which of several hypotheses may be rejected together, by Holm's procedure.

    The smallest p-value is tested against all hypotheses, the next against those left, until one fails. The probability
    of any false rejection is then at most 1 - level, whatever the dependence between tests. There is dependence here:
    pairs of bots share bots and deals.
    """
    rejected = [False] * len(p_values)
    for place, number in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        if p_values[number] > (1 - level) / (len(p_values) - place):
            break
        rejected[number] = True
    return rejected


MAX_EXACT_DEALS = 30
"""Up to this many deals all signs are counted; with more, Student's test of the mean is as good."""


def sign_flip_p_value(values: Sequence[int]) -> float:
    """Return how likely a sum at least this far from 0 is if every value could as well have had the other sign.

    An exact test for few deals: without a difference between two bots, a deal is as likely to favour either.
    """
    decisive = [abs(value) for value in values if value]
    total, n = abs(sum(values)), len(decisive)
    if n <= MAX_EXACT_DEALS:
        # Probabilities of all sums, value by value: 2^n signs, but few different sums, because wins are small integers.
        ways = {0: 1.0}
        for value in decisive:
            more: dict[int, float] = {}
            for at, weight in ways.items():
                for moved in (at + value, at - value):
                    more[moved] = more.get(moved, 0.0) + weight / 2
            ways = more
        return min(1.0, sum(weight for at, weight in ways.items() if abs(at) >= total))
    # With more deals the sum is nearly normal, and the table of sums would grow with every deal.
    squares = sum([value * value for value in decisive])
    error = sqrt((squares - total**2 / n) * n / (n - 1))
    return 2 * student_cdf(-total / error, n - 1) if error else 2.0 ** (1 - n)


def place_ranges(bots: int, better: set[Pair]) -> list[tuple[int, int]]:
    """Return the best and the worst place that each bot may have in truth, given the significant differences."""
    # A bot is placed behind every bot that is significantly better, and before every bot that is worse; no other
    # order of the rest is excluded.
    above, below = [0] * bots, [0] * bots
    for best, worst in better:
        above[worst] += 1
        below[best] += 1
    return [(1 + above[bot], bots - below[bot]) for bot in range(bots)]


# Symmetric positive definite matrices of up to some hundred rows.


Matrix = list[list[float]]


def cholesky(matrix: Matrix) -> Matrix:
    """Return the rows of the lower Cholesky factor; the lower triangle of the matrix is enough."""
    factor: Matrix = []
    for i, given in enumerate(matrix):
        row: list[float] = []
        for j, other in enumerate(factor):
            row.append((given[j] - sum(map(mul, row, other))) / other[j])
        row.append(sqrt(given[i] - sum(map(mul, row, row))))
        factor.append(row)
    return factor


def inverse_of(matrix: Matrix) -> Matrix:
    """Return the inverse of a symmetric positive definite matrix, by its Cholesky factor."""
    size, factor = len(matrix), cholesky(matrix)
    # The columns of the factor's inverse, each from its diagonal down.
    columns: Matrix = []
    for j in range(size):
        column = [1 / factor[j][j]]
        for i in range(j + 1, size):
            row = factor[i]
            column.append(-sum(map(mul, row[j:i], column)) / row[i])
        columns.append(column)
    inverse = [[0.0] * size for _ in range(size)]
    for i in range(size):
        for j in range(i, size):
            inverse[i][j] = inverse[j][i] = sum(map(mul, columns[i][j - i :], columns[j]))
    return inverse


def transformed(by: Matrix, covariance: Matrix) -> Matrix:
    """Return the covariance of values after a linear map, given that before: by * covariance * transposed by."""
    half = [[sum(map(mul, row, column)) for column in covariance] for row in by]
    return [[sum(map(mul, row, column)) for column in by] for row in half]
