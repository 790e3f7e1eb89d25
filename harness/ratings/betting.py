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
from functools import lru_cache
from itertools import repeat
from math import exp, log
from operator import mul

FRACTIONS = tuple(map(mul, repeat(0.98), map(pow, repeat(1.5), range(0, -10, -1))))
"""Of the wealth, each for one gambler. From bold, for clear cases, to careful, for a percent or two."""
EVEN_PURSES = (0.1,) * len(FRACTIONS)
"""What each gambler begins with, of all wealth: the same for all."""
CAREFUL_PURSES = (0.11, 0.06, 0.06, 0.06, 0.06, 0.11, 0.19, 0.19, 0.11, 0.05)
"""More for those who live on a few percent: clear cases are short anyway, and small edges are what takes long."""
WIDE_PURSES = (0.19, 0.06, 0.06, 0.11, 0.19, 0.19, 0.11, 0.05, 0.02, 0.02)
"""The same stakes, two places bolder, on values that keep nearer to one half since they could have gone farther."""

_BISECTIONS = 40


class Bets:
    """Values from 0 to 1 as they come in. They must be independent of each other and few different ones."""

    def __init__(self, purses: tuple[float, ...] = CAREFUL_PURSES) -> None:
        self.purses = purses
        self.counts: dict[float, int] = {}

    def add(self, value: float) -> None:
        """One more value."""
        self.counts[value] = self.counts.get(value, 0) + 1

    def followed_by(self, value: float, count: int) -> Bets:
        """These values, and so many more of this one."""
        more = Bets(self.purses)
        more.counts = {**self.counts, value: self.counts.get(value, 0) + count}
        return more

    def above(self, mean: float) -> float:
        """The logarithm of the wealth of those who bet that the mean is above this."""
        return self._wealth(self.counts, mean)

    def below(self, mean: float) -> float:
        """The logarithm of the wealth of those who bet that the mean is below this."""
        return self._wealth({1 - value: count for value, count in self.counts.items()}, 1 - mean)

    def interval(self, level: float) -> tuple[float, float]:
        """The means that are not refuted; the truth is among them at all times together with this chance."""
        mirrored = {1 - value: count for value, count in self.counts.items()}
        needed = enough(level)
        return self._lowest(self.counts, needed), 1 - self._lowest(mirrored, needed)

    def _wealth(self, counts: Mapping[float, int], mean: float) -> float:
        by_value = [(count, _growths(value, mean)) for value, count in counts.items()]
        growths = [sum([count * growth[each] for count, growth in by_value]) for each in range(len(FRACTIONS))]
        best = max(growths)
        parts = zip(self.purses, growths, strict=True)
        return best + log(sum([purse * exp(growth - best) for purse, growth in parts]))

    def _lowest(self, counts: Mapping[float, int], needed: float) -> float:
        """The lowest mean that is not refuted from below; wealth falls as the mean rises, so bisection finds it."""
        low, high = 0.0, 1.0
        for _ in range(_BISECTIONS):
            middle = (low + high) / 2
            low, high = (middle, high) if self._wealth(counts, middle) >= needed else (low, middle)
        return low


@lru_cache(maxsize=8192)  # there are few values, and few means are asked about after each of them
def _growths(value: float, mean: float) -> tuple[float, ...]:
    """The logarithm of what each gambler's wealth is multiplied by, if the next value is this."""
    return tuple([log(1 + fraction * (value / mean - 1)) for fraction in FRACTIONS])


def enough(level: float) -> float:
    """The logarithm of the wealth that refutes, for an interval or a two-sided test at this level: each has half."""
    return log(2 / (1 - level))


def enough_on_one_side(level: float) -> float:
    """The logarithm of the wealth that refutes on one side only, at this level."""
    return log(1 / (1 - level))
