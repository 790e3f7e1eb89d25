"""Candidates that took the same places at the same tables with the same deals: differences, deal by deal.

A candidate's value is what it came to in one duplicate set: one deal at one table, in every seat. Sets have deals of
their own, so they are independent; the tables of the field are the same for all candidates and come again in every
deal, so what a table is worth is no luck: spreads are taken within tables, where a table was played more than once.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import fsum, inf, sqrt
from typing import NamedTuple

from harness.core.types import GameRecord
from harness.ratings.intervals import LEVEL, Interval, cdf, quantile


class PairedSpread(NamedTuple):
    """A sum of values from independent sets, and how far it may be from what is expected."""

    sets: int
    total: float
    variance: float
    """Of the total."""
    freedom: float
    """Degrees of freedom of the variance; 0 if nothing is known of it."""

    def interval(self, matches: int, doubt: float = 0.0) -> Interval | None:
        """The mean over so many matches of each set; `doubt` is added to the variance of the total."""
        if not self.sets:
            return None
        value = self.total / (self.sets * matches)
        if not self.freedom:
            return Interval(value, -inf, inf)
        reach = quantile((1 + LEVEL) / 2, self.freedom) * sqrt(self.variance + doubt) / (self.sets * matches)
        return Interval(value, value - reach, value + reach)


def spread_within(values: Sequence[float], tables: Sequence[int]) -> PairedSpread:
    """The sum of the values of all sets, with its spread within tables.

    Tables that were played once are put together, which can only widen it: it then holds the differences between them.
    """
    groups: dict[int, list[float]] = {}
    for table, value in zip(tables, values, strict=True):
        groups.setdefault(table, []).append(value)
    single = [group[0] for group in groups.values() if len(group) == 1]
    strata = [group for group in groups.values() if len(group) > 1]
    if len(single) > 1 or not strata:
        strata.append(single)
    elif single:
        min(strata, key=len).extend(single)
    parts = [(_variance_of_sum(group), len(group) - 1) for group in strata if len(group) > 1]
    variance, freedoms = fsum(part for part, _ in parts), sum(freedom for _, freedom in parts)
    # Satterthwaite's degrees of freedom, with his squares made unbiased: that matters where a table has two deals.
    squares = fsum(part * part / (freedom + 2) for part, freedom in parts)
    freedom = min(freedoms, max(1.0, variance * variance / squares - 2)) if squares else float(freedoms)
    return PairedSpread(len(values), fsum(values), variance, freedom)


def _variance_of_sum(group: Sequence[float]) -> float:
    middle = fsum(group) / len(group)
    return fsum((value - middle) ** 2 for value in group) * len(group) / (len(group) - 1)


@dataclass(frozen=True, slots=True)
class CandidateLine:
    """One candidate against the whole field, or against one opponent."""

    bot: str
    matches: int
    ahead: Interval | None
    score: Interval | None


@dataclass(frozen=True, slots=True)
class PairedDifference:
    """How much better one candidate was than another, deal by deal."""

    better: str
    worse: str
    ahead: Interval | None
    score: Interval | None
    told_apart: bool
    """All pairs of candidates together are told apart wrongly in at most 5 of 100 runs."""
    worth: float | None
    """How many times as many matches two candidates with deals of their own would have needed."""


class PairedResults:
    """Takes in the records of candidates against one field, and compares the candidates."""

    def __init__(self, candidates: Sequence[str], seats: int) -> None:
        self.candidates, self.seats = list(candidates), seats
        self._pending: dict[int, dict[str, _SetSums]] = {}
        self._numbers: dict[frozenset[str], int] = {}
        self._tables = array("l")
        """For each deal at a table that all candidates have played: which table."""
        self._ahead = {name: array("d") for name in candidates}
        self._scores = {name: array("d") for name in candidates}
        self._against: dict[tuple[str, str], tuple[array[int], array[float], array[float]]] = {}

    @property
    def sets(self) -> int:
        """How many deals at a table all candidates have played."""
        return len(self._tables)

    def add(self, record: GameRecord) -> None:
        """Takes in a match of one candidate; a deal counts when all of them have played it in every seat."""
        seats = [seat for seat, name in enumerate(record.seats) if name in self._ahead]
        if len(seats) != 1:
            return  # no match of a gauntlet
        deal = self._pending.setdefault(record.seed, {})
        sums = deal.setdefault(record.seats[seats[0]], _SetSums())
        sums.add(record, seats[0])
        if len(deal) == len(self.candidates) and all(one.matches == self.seats for one in deal.values()):
            self._take(self._pending.pop(record.seed))

    def _take(self, deal: dict[str, _SetSums]) -> None:
        table = self._numbers.setdefault(frozenset(next(iter(deal.values())).against), len(self._numbers))
        self._tables.append(table)
        for name, sums in deal.items():
            self._ahead[name].append(sums.ahead / (self.seats - 1))
            self._scores[name].append(sums.score)
            for other, (ahead, score) in sums.against.items():
                key = name, other
                if key not in self._against:
                    self._against[key] = array("l"), array("d"), array("d")
                tables, aheads, scores = self._against[key]
                tables.append(table)
                aheads.append(ahead)
                scores.append(score)

    def lines(self) -> list[CandidateLine]:
        """Each candidate against the field, best first."""
        lines = [
            self._line(name, self._tables, self._ahead[name], self._scores[name]) for name in self.candidates
        ]  # fmt: skip
        return sorted(lines, key=lambda line: -line.ahead.value if line.ahead else 0.0)

    def against(self, candidate: str) -> list[CandidateLine]:
        """A candidate against each opponent, the hardest first; `score` is how much more it scored than that one."""
        lines = [self._line(other, *sums) for (name, other), sums in self._against.items() if name == candidate]
        return sorted(lines, key=lambda line: (line.ahead.value if line.ahead else 0.0, line.bot))

    def _line(self, bot: str, tables: Sequence[int], ahead: Sequence[float], score: Sequence[float]) -> CandidateLine:
        return CandidateLine(
            bot,
            len(tables) * self.seats,
            self._share(spread_within(ahead, tables)),
            spread_within(score, tables).interval(self.seats),
        )

    def _share(self, spread: PairedSpread) -> Interval | None:
        if not spread.sets:
            return None
        value = spread.total / (spread.sets * self.seats)
        # One imaginary match won and one lost: a bot that won every match so far may lose the next.
        found = spread.interval(self.seats, value**2 + (1 - value) ** 2)
        if found is None or found.high == inf:
            return found
        return Interval(value, max(0.0, found.low), min(1.0, found.high))

    def differences(self) -> list[PairedDifference]:
        """All pairs of candidates, the better one of each first, in the order of `lines`."""
        order = [line.bot for line in self.lines()]
        pairs = list(combinations(order, 2))
        spreads = [
            spread_within(_less(self._ahead[one], self._ahead[other]), self._tables) for one, other in pairs
        ]  # fmt: skip
        apart = _holm([self._doubt(spread) for spread in spreads])
        return [
            PairedDifference(
                one,
                other,
                spread.interval(self.seats, self._widened(spread)),
                spread_within(_less(self._scores[one], self._scores[other]), self._tables).interval(self.seats),
                told,
                self._worth(one, other, spread),
            )
            for (one, other), spread, told in zip(pairs, spreads, apart, strict=True)
        ]

    def _widened(self, spread: PairedSpread) -> float:
        """What one imaginary match in which one candidate is half a table better, and one in which the other is, add:
        candidates between whom every deal made the same difference so far may differ otherwise in the next."""
        value = spread.total / (spread.sets * self.seats) if spread.sets else 0.0
        return (0.5 - value) ** 2 + (0.5 + value) ** 2

    def _doubt(self, spread: PairedSpread) -> float:
        """How often a difference as large as this comes by luck alone."""
        if not spread.freedom:
            return 1.0
        return 2 * cdf(-abs(spread.total) / sqrt(spread.variance + self._widened(spread)), spread.freedom)

    def _worth(self, one: str, other: str, spread: PairedSpread) -> float | None:
        if not spread.variance:
            return None
        alone = [spread_within(self._ahead[name], self._tables).variance for name in (one, other)]
        return sum(alone) / spread.variance


class _SetSums:
    """What one candidate came to in a duplicate set."""

    __slots__ = ("against", "ahead", "matches", "score")

    def __init__(self) -> None:
        self.matches, self.ahead, self.score = 0, 0.0, 0.0
        self.against: dict[str, tuple[float, float]] = {}

    def add(self, record: GameRecord, seat: int) -> None:
        rank, score = record.ranks[seat], record.scores[seat]
        self.matches += 1
        self.score += score
        for place, name in enumerate(record.seats):
            if place == seat:
                continue
            won = 0.5 + 0.5 * ((rank < record.ranks[place]) - (rank > record.ranks[place]))
            self.ahead += won
            ahead, more = self.against.get(name, (0.0, 0.0))
            self.against[name] = ahead + won, more + score - record.scores[place]


def _less(one: Iterable[float], other: Iterable[float]) -> list[float]:
    return [mine - theirs for mine, theirs in zip(one, other, strict=True)]


def _holm(doubts: Sequence[float]) -> list[bool]:
    """Which differences may all be claimed at once: the surest is tested against all, the next against those left."""
    claimed = [False] * len(doubts)
    for place, number in enumerate(sorted(range(len(doubts)), key=lambda number: doubts[number])):
        if doubts[number] > (1 - LEVEL) / (len(doubts) - place):
            break
        claimed[number] = True
    return claimed
