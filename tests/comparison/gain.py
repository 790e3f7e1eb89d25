"""What sharing deals is worth: the variance of duplicate sets beside that of matches with separate deals."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import mean, variance
from typing import NamedTuple


class SharedDealGain(NamedTuple):
    """The variance of a set's mean, as observed and as it would be if each match had a separate deal."""

    shared: float
    unshared: float

    @property
    def saved(self) -> float:
        """The share of the matches that shared deals save; negative if they cost some."""
        return 1 - self.shared / self.unshared


def shared_deal_gain(sets: Sequence[Sequence[float]]) -> SharedDealGain:
    """Return the gain for sets of results, one result for each match.

    Matches with separate deals would be independent: the variance of their mean is the mean of the variances of the
    positions in a set, divided by their number. What differs from that is the covariance that the deal causes.
    """
    positions = [variance(results) for results in zip(*sets, strict=True)]
    return SharedDealGain(variance(map(mean, sets)), sum(positions) / len(positions) ** 2)
