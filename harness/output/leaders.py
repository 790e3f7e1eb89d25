"""Who leads while a run goes on: in the order of the table to come, worked out as matches end."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from harness.ratings.evidence import shares_ahead

if TYPE_CHECKING:
    from harness.core.types import GameRecord

SWEEPS = 30
CLOSE = 1e-4
MOST_WAITING = 1000


class Leaders:
    """The bots of one game by the share of opponents that they finish ahead of, corrected for whom they met.

    A result at a table is expected to be one half plus the difference of two worths; the worths are fitted by least
    squares, as in the leaderboard. Each look goes on from the last one, so it costs little.
    """

    def __init__(self) -> None:
        self._results: Counter[tuple[tuple[str, ...], tuple[int, ...]]] = Counter()
        """Seats and ranks of matches that are still to be counted: most come up again and again."""
        self._margins: dict[str, float] = {}
        self._met: dict[str, dict[str, float]] = {}
        self._worth: dict[str, float] = {}

    def add(self, record: GameRecord) -> None:
        """Takes in a match; one in which a bot meets itself says nothing."""
        self._results[record.seats, record.ranks] += 1
        if len(self._results) > MOST_WAITING:
            self._count()

    def _count(self) -> None:
        for (seats, ranks), times in self._results.items():
            if not 1 < len(seats) == len(set(seats)):
                continue
            weight = times / (len(seats) - 1)
            for bot, share in zip(seats, shares_ahead(ranks), strict=True):
                self._margins[bot] = self._margins.get(bot, 0.0) + times * (share - 0.5)
                met = self._met.setdefault(bot, {})
                for other in seats:
                    if other != bot:
                        met[other] = met.get(other, 0.0) + weight
        self._results.clear()

    def ahead(self) -> list[tuple[str, float]]:
        """Each bot with its share, best first."""
        self._count()
        worth = self._worth
        totals = {bot: sum(met.values()) for bot, met in self._met.items()}
        for _ in range(SWEEPS):
            moved = 0.0
            for bot, met in self._met.items():
                pull = sum([weight * worth.get(other, 0.0) for other, weight in met.items()])
                new = (self._margins[bot] + pull) / totals[bot]
                moved = max(moved, abs(new - worth.get(bot, 0.0)))
                worth[bot] = new
            if moved < CLOSE:
                break
        bots = len(worth)
        if bots < 2:
            return []
        middle = sum(worth.values()) / bots
        shares = {bot: 0.5 + (value - middle) * bots / (bots - 1) for bot, value in worth.items()}
        return sorted(shares.items(), key=lambda one: (-round(one[1], 9), one[0]))
