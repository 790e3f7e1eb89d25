"""What the pages keep of a run of any length: curves, spreads and recent results of bounded size."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from itertools import accumulate

from harness.ratings import Ratings

MOST_POINTS = 128
MOST_STEPS = 512


class Curve:
    """Ratings after every nth match; n doubles whenever there are too many points."""

    __slots__ = ("every", "points")

    def __init__(self) -> None:
        self.every = 1
        self.points: list[tuple[int, dict[str, float]]] = []

    def add(self, ratings: Ratings) -> None:
        """Notes ratings that have just taken in a match."""
        if ratings.matches % self.every:
            return
        self.points.append(_point(ratings))
        if len(self.points) == MOST_POINTS:
            self.points = self.points[1::2]
            self.every *= 2

    def to(self, ratings: Ratings) -> list[tuple[int, dict[str, float]]]:
        """All points, the last of them the ratings as they are now."""
        last = _point(ratings)
        return self.points if self.points and self.points[-1][0] == last[0] else [*self.points, last]


def _point(ratings: Ratings) -> tuple[int, dict[str, float]]:
    return ratings.matches, {line.bot: line.rating for line in ratings.lines.values()}


class Histogram:
    """How often whole numbers came, in steps of equal width; the width doubles whenever there are too many steps."""

    __slots__ = ("counts", "width")

    def __init__(self) -> None:
        self.width = 1
        self.counts: dict[int, int] = {}

    def add(self, value: int) -> None:
        """Counts one value."""
        step = value // self.width
        self.counts[step] = self.counts.get(step, 0) + 1
        while len(self.counts) > MOST_STEPS:
            self._widen()

    def _widen(self) -> None:
        self.width *= 2
        counts: dict[int, int] = {}
        for step, count in self.counts.items():
            counts[step // 2] = counts.get(step // 2, 0) + count
        self.counts = counts

    def quantiles(self, shares: Sequence[float]) -> list[float]:
        """The values below which these shares of all values lie (the middle of their steps)."""
        steps = sorted(self.counts)
        sums = list(accumulate(self.counts[step] for step in steps))
        middle = (self.width - 1) / 2
        return [steps[bisect_left(sums, max(1, share * sums[-1]))] * self.width + middle for share in shares]
