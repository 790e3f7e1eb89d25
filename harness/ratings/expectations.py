"""What each seat of a match could be expected to do before it began, from how its bots fared in earlier deals.

A value function that takes all bots for equal would call it luck that the better one wins. What is expected comes from
earlier deals alone, never from the deal in question: so it is fixed before the luck that it helps to judge is drawn.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

from harness.core.types import GameRecord
from harness.ratings.evidence import pairs

DOUBT = 4.0
"""A pair starts as if it had met so often already, with the result that their other matches suggest."""
PULL = 0.75
"""How far a difference of two bots against everybody carries over to the two of them."""

Sums = dict[tuple[str, str], list[float]]
"""Two bots -> how often they met, and how often the first one finished ahead."""
EVERYBODY = ""


class Expectations:
    """Feed it matches in the order of the schedule, and ask before each."""

    def __init__(self) -> None:
        self._sums: Sums = {}
        self._deals: dict[int, Sums] = {}

    def shares(self, seed: int, seats: Sequence[str]) -> list[float]:
        """For each seat the share of the others that it should finish ahead of, as far as other deals tell."""
        deal = self._deals.get(seed, {})
        levels = [self._share(deal, bot, EVERYBODY, 0.5) for bot in seats]
        totals = [0.0] * len(seats)
        for one, other in combinations(range(len(seats)), 2):
            suggested = min(1.0, max(0.0, 0.5 + PULL * (levels[one] - levels[other])))
            share = self._share(deal, seats[one], seats[other], suggested)
            totals[one] += share
            totals[other] += 1 - share
        return [total / max(1, len(seats) - 1) for total in totals]

    def _share(self, deal: Sums, one: str, other: str, suggested: float) -> float:
        if one == other:
            return 0.5
        met, ahead = self._sums.get((one, other), (0.0, 0.0))
        met_here, ahead_here = deal.get((one, other), (0.0, 0.0))
        return (ahead - ahead_here + DOUBT * suggested) / (met - met_here + DOUBT)

    def add(self, seed: int, seats: Sequence[str], ranks: tuple[int, ...]) -> None:
        """Takes in a match of this deal."""
        deal = self._deals.setdefault(seed, {})
        for left, right, share in pairs(ranks):
            one, other = seats[left], seats[right]
            if one != other:
                for key, ahead in (
                    ((one, other), share),
                    ((other, one), 1 - share),
                    ((one, EVERYBODY), share),
                    ((other, EVERYBODY), 1 - share),
                ):
                    for sums in (self._sums, deal):
                        both = sums.setdefault(key, [0.0, 0.0])
                        both[0] += 1
                        both[1] += ahead

    def before(self, record: GameRecord) -> list[float]:
        """What could be expected of the seats of this match, which is then taken in."""
        shares = self.shares(record.seed, record.seats)
        self.add(record.seed, record.seats, record.ranks)
        return shares
