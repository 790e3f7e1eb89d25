"""Betting martingales: is a mean above m? A test that may be read after every observation.

A gambler who believes that the mean of values in [0, 1] is above m bets a fraction of the wealth on each next value,
at odds that are fair if the mean is m. If the mean is m or less, wealth is a nonnegative supermartingale, and the
probability that it ever reaches k times its initial value is at most 1/k, for any number of looks and any
distribution of the values (Ville's inequality). So wealth of 40 is evidence at 2.5%. No variance, no model of ties
and no number of looks has to be fixed in advance. Such a wealth is an e-process.

The best fraction depends on the unknown mean, so the wealth is divided among ten fractions (a mixture of martingales
is a martingale). No fraction exceeds 0.98: a bet of everything would be ruined by a single loss, and never recover.

Waudby-Smith and Ramdas: Estimating means of bounded random variables by betting (JRSS B, 2024).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import repeat
from math import exp, log
from operator import mul

BET_FRACTIONS = tuple(map(mul, repeat(0.98), map(pow, repeat(1.5), range(0, -10, -1))))
"""Fractions of the wealth that are bet, from large ones for clear cases to small ones for differences of 1%."""
MIXTURE_WEIGHTS = (0.11, 0.06, 0.06, 0.06, 0.06, 0.11, 0.19, 0.19, 0.11, 0.05)
"""Initial wealth of each fraction. Small fractions have more, because clear cases end soon anyway, and small
differences take long."""
WIDE_MIXTURE_WEIGHTS = (0.19, 0.06, 0.06, 0.11, 0.19, 0.19, 0.11, 0.05, 0.02, 0.02)
"""The same for luck-adjusted values, whose range is wider: scaled to 0 to 1 they are closer to one half, so the same
differences need larger fractions."""

_BISECTION_STEPS = 40


@lru_cache(maxsize=16384)  # there are few distinct values, and each is tested against few means
def _log_growths(value: float, mean: float = 0.5) -> tuple[float, ...]:
    """Return the logarithm of the factor by which a value multiplies the wealth of each fraction."""
    return tuple([log(1 + fraction * (value / mean - 1)) for fraction in BET_FRACTIONS])


def _log_mixture(log_growths: Sequence[float], weights: Iterable[float]) -> float:
    """Return the logarithm of the wealth that is divided among fractions with these weights."""
    best = max(log_growths)  # the log of a sum of exponentials, without overflow
    return best + log(sum([weight * exp(growth - best) for weight, growth in zip(weights, log_growths, strict=False)]))


def log_threshold(level: float) -> float:
    """Return the log-wealth that refutes, for an interval or a two-sided test: each side has half of the error."""
    return log(2 / (1 - level))


def one_sided_log_threshold(level: float) -> float:
    """Return the log-wealth that refutes in a one-sided test."""
    return log(1 / (1 - level))


class ConfidenceSequence:
    """Tests of every mean at once, and an interval that covers the true mean at all times together.

    Values must be from 0 to 1 and independent of each other. They are kept as counts, so that any mean can be tested
    later; this is fast if there are few distinct values.
    """

    def __init__(self, weights: tuple[float, ...] = MIXTURE_WEIGHTS) -> None:
        self.weights = weights
        self.counts: dict[float, int] = {}

    def add_value(self, value: float) -> None:
        """Add one value."""
        self.counts[value] = self.counts.get(value, 0) + 1

    def with_more(self, value: float, count: int) -> ConfidenceSequence:
        """Return a copy with `count` more of this value."""
        more = ConfidenceSequence(self.weights)
        more.counts = {**self.counts, value: self.counts.get(value, 0) + count}
        return more

    def log_wealth_above(self, mean: float) -> float:
        """Return the log-wealth of a bet that the true mean is above this one."""
        return self._log_wealth(self.counts, mean)

    def log_wealth_below(self, mean: float) -> float:
        """Return the log-wealth of a bet that the true mean is below this one."""
        return self._log_wealth({1 - value: count for value, count in self.counts.items()}, 1 - mean)

    def interval(self, level: float) -> tuple[float, float]:
        """Return the means that are not refuted; with probability `level` the true mean is always among them."""
        mirrored = {1 - value: count for value, count in self.counts.items()}
        threshold = log_threshold(level)
        return self._lower_bound(self.counts, threshold), 1 - self._lower_bound(mirrored, threshold)

    def _log_wealth(self, counts: Mapping[float, int], mean: float) -> float:
        by_value = [(count, _log_growths(value, mean)) for value, count in counts.items()]
        growths = [sum([count * growth[each] for count, growth in by_value]) for each in range(len(BET_FRACTIONS))]
        return _log_mixture(growths, self.weights)

    def _lower_bound(self, counts: Mapping[float, int], threshold: float) -> float:
        """Return the lowest mean that is not refuted; wealth falls as the mean rises, so bisection finds it."""
        low, high = 0.0, 1.0
        for _ in range(_BISECTION_STEPS):
            middle = (low + high) / 2
            low, high = (middle, high) if self._log_wealth(counts, middle) >= threshold else (low, middle)
        return low


class EProcess:
    """A running test that a mean is above one half: one wealth for each fraction and each kind of values.

    Unlike a `ConfidenceSequence` it tests one mean only and keeps the largest wealth that it ever had. A ladder has two
    for each pair of bots, so it has to be small and fast.
    """

    __slots__ = ("log_growths", "max_log_wealth")

    def __init__(self, kinds: int = 1) -> None:
        self.log_growths = [(0.0,) * len(BET_FRACTIONS)] * kinds
        self.max_log_wealth = 0.0

    def add_value(self, value: float, kind: int = 0) -> None:
        """Add a value from 0 to 1."""
        grown = tuple([had + more for had, more in zip(self.log_growths[kind], _log_growths(value), strict=True)])
        self.log_growths[kind] = grown
        if max(grown) > self.max_log_wealth:  # the mean over fractions never exceeds the largest
            self.max_log_wealth = max(self.max_log_wealth, self.log_wealth)

    @property
    def log_wealth(self) -> float:
        """The logarithm of the present wealth, the mean over all fractions and kinds."""
        every = [growth for kind in self.log_growths for growth in kind]
        return _log_mixture(every, repeat(1.0)) - log(len(every))
