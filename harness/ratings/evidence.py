"""What ratings keep of their matches: sums for each deal, so that intervals respect that a deal is one piece of luck.

Memory hardly grows with the run (a number for each deal): past MOST_DEALS the sums of neighbouring deals are put
together. A block of two deals is as independent of the next block as one deal is of another, only fewer of them
are left - still hundreds.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import combinations
from typing import TypeVar

from harness.ratings.skill_update import order

MOST_DEALS = 512
K = TypeVar("K")

MATCHES, SCORE, AHEAD, CHOSEN = range(4)
"""Where a bot's sums of a deal stand: matches, scores, shares of the table finished ahead of, stages won."""


class Deal:
    """The sums of one deal, or of neighbouring deals put together."""

    __slots__ = ("bots", "seats", "stages")

    def __init__(self) -> None:
        self.bots: dict[int, list[float]] = {}
        self.seats: dict[tuple[int, int], list[float]] = {}
        """(players, seat) -> matches, scores, shares ahead, wins"""
        self.stages: dict[int, float] = {}
        """A stage is "who is the best of these?"; the key has a bit for each bot that was left. See strength.py."""

    def absorb(self, other: Deal) -> None:
        """Takes in the sums of another deal."""
        _absorb(self.bots, other.bots)
        _absorb(self.seats, other.seats)
        for key, count in other.stages.items():
            self.stages[key] = self.stages.get(key, 0.0) + count


def _absorb(mine: dict[K, list[float]], theirs: dict[K, list[float]]) -> None:
    for key, sums in theirs.items():
        mine[key] = [a + b for a, b in zip(mine[key], sums, strict=True)] if key in mine else sums


class Evidence:
    """The sums of all deals, and how often each bot finished ahead of each other."""

    __slots__ = ("_numbers", "_shift", "ahead", "deals", "met")

    def __init__(self) -> None:
        self.deals: list[Deal] = []
        self.ahead: dict[tuple[int, int], float] = {}
        self.met: dict[tuple[int, int], int] = {}
        self._numbers: dict[int, int] = {}
        self._shift = 0

    def deal(self, seed: int) -> Deal:
        """The sums of the deal with this seed."""
        number = self._numbers.setdefault(seed, len(self._numbers))
        if number >> self._shift >= len(self.deals):
            if len(self.deals) == MOST_DEALS:
                self._halve()
            if number >> self._shift == len(self.deals):
                self.deals.append(Deal())
        return self.deals[number >> self._shift]

    def _halve(self) -> None:
        for left, right in zip(self.deals[::2], self.deals[1::2], strict=True):
            left.absorb(right)
        self.deals = self.deals[::2]
        self._shift += 1

    def add(self, seed: int, bots: Sequence[int], ranks: tuple[int, ...], scores: Sequence[int]) -> None:
        """Takes in a match of different bots, given by number."""
        deal, players = self.deal(seed), len(bots)
        shares, winners = shares_ahead(ranks), ranks.count(1)
        for seat, bot in enumerate(bots):
            sums = deal.bots.get(bot)
            if sums is None:
                sums = deal.bots[bot] = [0.0] * 4
            sums[MATCHES] += 1
            sums[SCORE] += scores[seat]
            sums[AHEAD] += shares[seat]
            place = deal.seats.get((players, seat))
            if place is None:
                place = deal.seats[players, seat] = [0.0] * 4
            place[0] += 1
            place[1] += scores[seat]
            place[2] += shares[seat]
            if ranks[seat] == 1:
                place[3] += 1 / winners
        self._add_stages(deal, bots, ranks)
        ahead, met = self.ahead, self.met
        for left, right, share in pairs(ranks):
            key = bots[left], bots[right]
            met[key] = met.get(key, 0) + 1
            ahead[key] = ahead.get(key, 0.0) + share

    def have_met(self, one: int, other: int) -> bool:
        """Whether these two have ever sat at one table."""
        return (one, other) in self.met or (other, one) in self.met

    def _add_stages(self, deal: Deal, bots: Sequence[int], ranks: tuple[int, ...]) -> None:
        """Best of all, best of the rest, ...; tied bots count as every order of them, with equal weights."""
        stages, sums = deal.stages, deal.bots
        seats, ties = order(ranks)
        left = 0
        for bot in bots:
            left |= 1 << bot
        if not any(ties):
            for seat in seats[:-1]:
                stages[left] = stages.get(left, 0.0) + 1
                sums[bots[seat]][CHOSEN] += 1
                left ^= 1 << bots[seat]
            return
        for rank in sorted(set(ranks)):
            tied = [bot for bot, its in zip(bots, ranks, strict=True) if its == rank]
            for gone in range(len(tied)):
                ways = list(combinations(tied, gone))
                for way in ways:
                    rest = left
                    for bot in way:
                        rest ^= 1 << bot
                    if rest & (rest - 1):  # the last bot alone is no choice
                        stages[rest] = stages.get(rest, 0.0) + 1 / len(ways)
                        for bot in set(tied) - set(way):
                            sums[bot][CHOSEN] += 1 / len(ways) / (len(tied) - gone)
            for bot in tied:
                left ^= 1 << bot

    def finished_ahead(self, one: int, other: int) -> tuple[float, int]:
        """How often one bot finished ahead of another (a tie is half of one), and how often they met."""
        met = self.met.get((one, other), 0) + self.met.get((other, one), 0)
        return self.ahead.get((one, other), 0.0) + self.met.get((other, one), 0) - self.ahead.get(
            (other, one), 0.0
        ), met


@lru_cache(maxsize=100_000)
def shares_ahead(ranks: tuple[int, ...]) -> tuple[float, ...]:
    """For each seat the share of the other seats that it finished ahead of; a tie is half of one."""
    others = max(1, len(ranks) - 1)
    return tuple((sum(rank > mine for rank in ranks) + 0.5 * (ranks.count(mine) - 1)) / others for mine in ranks)


@lru_cache(maxsize=100_000)
def pairs(ranks: tuple[int, ...]) -> tuple[tuple[int, int, float], ...]:
    """Each pair of seats, with 1 if the first of them finished ahead, 0 if behind, 1/2 for a tie."""
    return tuple(
        (one, other, 0.5 + 0.5 * ((ranks[one] < ranks[other]) - (ranks[one] > ranks[other])))
        for one, other in combinations(range(len(ranks)), 2)
    )
