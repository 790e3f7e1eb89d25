"""Student's t distribution, and intervals for means over deals."""

from __future__ import annotations

from functools import lru_cache
from math import exp, inf, lgamma, log, sqrt
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


def mean_of(value: float, variance: float, freedom: float) -> Interval:
    """The interval of a mean whose variance is known with so many degrees of freedom; boundless with none."""
    if not freedom:
        return Interval(value, -inf, inf)
    reach = quantile((1 + LEVEL) / 2, freedom) * sqrt(variance)
    return Interval(value, value - reach, value + reach)


def share_of(value: float, variance: float, freedom: float, matches: float) -> Interval:
    """The same for a share: a mean, over so many matches, of values from 0 to 1.

    Near 0 and 1 a share's spread depends on the share itself, and few deals show too little of it. So the variance is
    turned into a number of independent matches that would have it, and the interval is Wilson's for so many: all shares
    that are not ruled out by the spread that they would have themselves. One imaginary match won and one lost are
    added to the variance: a bot that won every match so far may lose the next.
    """
    value = min(1.0, max(0.0, value))
    if not freedom:
        return Interval(value, -inf, inf)
    doubt = (value**2 + (1 - value) ** 2) / matches**2
    likely = (matches * value + 1) / (matches + 2)
    squared = quantile((1 + LEVEL) / 2, freedom) ** 2 * (variance + doubt) / (likely * (1 - likely))
    middle = (value + squared / 2) / (1 + squared)
    reach = sqrt(squared * value * (1 - value) + squared**2 / 4) / (1 + squared)
    return Interval(value, min(value, max(0.0, middle - reach)), max(value, min(1.0, middle + reach)))


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
