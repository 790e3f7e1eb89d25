"""Is a mean above one half? A test that may look after every observation, and an interval that holds at every look.

It is a game of bets. Somebody who believes that the mean of values in [0, 1] is above m stakes a fraction of the
wealth on each next value, at odds that are fair if the mean is m. If it is m or less, wealth does not grow on average,
and the chance that it is ever k times what it was is at most 1/k, whenever one looks and whatever the values look
like (Ville's inequality). So wealth of 40 is evidence at 2.5%: no variance to know, no model of draws, no number of
looks to fix. The wealth is split over ten fractions here, since the best one depends on what is not known yet.

The same with the roles changed tests "below m", and all m that neither gambler can refute are a confidence sequence.
Method: Waudby-Smith and Ramdas, Estimating means of bounded random variables by betting (2024).
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import repeat
from math import exp, log
from operator import mul

FRACTIONS = tuple(map(mul, repeat(0.98), map(pow, repeat(1.5), range(0, -10, -1))))
"""Of the wealth, each for one gambler. From bold, for clear cases, to careful, for a percent or two."""

_BISECTIONS = 40


class Bets:
    """Values from 0 to 1 as they come in. They must be independent of each other and few different ones."""

    def __init__(self) -> None:
        self.counts: dict[float, int] = {}

    def add(self, value: float) -> None:
        """One more value."""
        self.counts[value] = self.counts.get(value, 0) + 1

    def followed_by(self, value: float, count: int) -> Bets:
        """These values, and so many more of this one."""
        more = Bets()
        more.counts = {**self.counts, value: self.counts.get(value, 0) + count}
        return more

    def above(self, mean: float) -> float:
        """The logarithm of the wealth of those who bet that the mean is above this."""
        return _wealth(self.counts, mean)

    def below(self, mean: float) -> float:
        """The logarithm of the wealth of those who bet that the mean is below this."""
        return _wealth({1 - value: count for value, count in self.counts.items()}, 1 - mean)

    def interval(self, level: float) -> tuple[float, float]:
        """The means that are not refuted; the truth is among them at all times together with this chance."""
        mirrored = {1 - value: count for value, count in self.counts.items()}
        return _lowest(self.counts, enough(level)), 1 - _lowest(mirrored, enough(level))


def enough(level: float) -> float:
    """The logarithm of the wealth that refutes, for an interval or a two-sided test at this level."""
    return log(2 / (1 - level))


def _wealth(counts: Mapping[float, int], mean: float) -> float:
    growths = [
        sum([count * log(1 + fraction * (value / mean - 1)) for value, count in counts.items()])
        for fraction in FRACTIONS
    ]
    best = max(growths)
    return best + log(sum([exp(growth - best) for growth in growths]) / len(FRACTIONS))


def _lowest(counts: Mapping[float, int], needed: float) -> float:
    """The lowest mean that is not refuted from below; wealth falls as the mean rises, so bisection finds it."""
    low, high = 0.0, 1.0
    for _ in range(_BISECTIONS):
        middle = (low + high) / 2
        low, high = (middle, high) if _wealth(counts, middle) >= needed else (low, middle)
    return low
