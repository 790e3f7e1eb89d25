"""What sharing deals is worth: the spread of a difference over duplicate sets, against as many unrelated matches."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct


class Gain(Struct, frozen=True):
    """The variance of a duplicate set's mean, as it was and as it would be if each match had a deal of its own."""

    shared: float
    unshared: float

    @property
    def saved(self) -> float | None:
        """The share of the matches that shared deals save; below 0 they cost some. None where nothing varies."""
        return 1 - self.shared / self.unshared if self.unshared else None


class SetSpread:
    """Takes in one value for each match of a set, in the order in which sets seat the bots."""

    def __init__(self, matches: int) -> None:
        self.sets = 0
        self._means = [0.0, 0.0]
        self._turns = [[0.0, 0.0] for _ in range(matches)]

    def add(self, values: Sequence[float]) -> None:
        """The values of one set."""
        self.sets += 1
        for sums, value in zip(self._turns, values, strict=True):
            _note(sums, value)
        _note(self._means, sum(values) / len(values))

    @property
    def mean(self) -> float:
        """The mean over all sets."""
        return self._means[0] / self.sets

    @property
    def variance(self) -> float:
        """The variance of a set's mean."""
        return _variance(self._means, self.sets)

    def gain(self) -> Gain:
        """What sharing deals changed.

        Matches with deals of their own would be independent: the variance of their mean is the mean of the variances
        of each seating, divided by their number. What the set's variance differs from that is the deal's doing.
        """
        unshared = sum(_variance(sums, self.sets) for sums in self._turns) / len(self._turns) ** 2
        return Gain(self.variance, unshared)


def _note(sums: list[float], value: float) -> None:
    sums[0] += value
    sums[1] += value * value


def _variance(sums: Sequence[float], count: int) -> float:
    if count < 2:
        return 0.0
    return max(0.0, sums[1] - sums[0] ** 2 / count) / (count - 1)
