"""Student's t distribution, and intervals for means over deals."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from math import exp, fsum, inf, lgamma, log, sqrt
from typing import NamedTuple

LEVEL = 0.95
"""How sure every published interval and every claim of a better bot is."""


class Interval(NamedTuple):
    """An estimate with the limits between which the truth lies, at LEVEL."""

    value: float
    low: float
    high: float

    @property
    def reach(self) -> float:
        """How far the truth may be from the estimate."""
        return max(self.high - self.value, self.value - self.low)


def cdf(t: float, freedom: float) -> float:
    """The chance that a t variable of so many degrees of freedom is below t."""
    tail = 0.5 * _beta(freedom / 2, 0.5, freedom / (freedom + t * t))
    return 1 - tail if t > 0 else tail


@lru_cache(maxsize=4096)
def quantile(chance: float, freedom: float) -> float:
    """The t below which a t variable lies with this chance (above one half)."""
    low, high = 0.0, 2.0
    while cdf(high, freedom) < chance:
        high *= 2
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if cdf(middle, freedom) < chance else (low, middle)
    return (low + high) / 2


def mean(sums: Iterable[tuple[float, float]], doubt: float = 0.0) -> Interval | None:
    """The interval of a mean from (count, sum) of each deal; None without a count, boundless from one deal alone.

    Deals are independent of each other, matches of one deal are not: so the spread is taken between the deals,
    which is what a block bootstrap over deals comes to, with Student's quantile for the small number of them.
    `doubt` is added to the sum of squares.
    """
    deals = [(count, total) for count, total in sums if count]
    matches = sum(count for count, _ in deals)
    if not matches:
        return None
    value = fsum(total for _, total in deals) / matches  # the same whatever Python adds up
    if len(deals) < 2:
        return Interval(value, -inf, inf)
    squares = fsum((total - value * count) ** 2 for count, total in deals) * len(deals) / (len(deals) - 1)
    reach = quantile((1 + LEVEL) / 2, len(deals) - 1) * sqrt(squares + doubt) / matches
    return Interval(value, value - reach, value + reach)


def share(sums: Iterable[tuple[float, float]]) -> Interval | None:
    """The same for a mean of values from 0 to 1.

    One imaginary match won and one lost widen it by a hair: a bot that won every match so far may lose the next.
    """
    deals = list(sums)
    plain = mean(deals)
    if plain is None or plain.high == inf:
        return plain
    value = plain.value
    _, low, high = mean(deals, value**2 + (1 - value) ** 2) or plain
    return Interval(value, max(0.0, low), min(1.0, high))


def _beta(a: float, b: float, x: float) -> float:
    """The regularised incomplete beta function, by its continued fraction."""
    if x <= 0 or x >= 1:
        return float(x >= 1)
    if x > (a + 1) / (a + b + 2):  # the fraction converges fast on the other side only
        return 1 - _beta(b, a, 1 - x)
    front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log(1 - x)) / a
    tiny = 1e-300
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
