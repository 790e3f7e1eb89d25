"""What each deal says about the bots, gathered match by match, and intervals over deals."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import combinations
from math import exp, inf, lgamma, log, sqrt
from typing import NamedTuple

from harness.core.records import order, shares_ahead

# Student's t distribution, and intervals for means over deals.


LEVEL = 0.95
"""How sure every published interval and every claim of a better bot is."""


class Interval(NamedTuple):
    """An estimate with the limits between which the truth lies, at LEVEL."""

    value: float
    low: float
    high: float

    @property
    def reach(self) -> float:
        """How far the truth may be from the estimate."""
        return max(self.high - self.value, self.value - self.low)


def cdf(t: float, freedom: float) -> float:
    """The chance that a t variable of so many degrees of freedom is below t."""
    tail = 0.5 * _beta(freedom / 2, 0.5, freedom / (freedom + t * t))
    return 1 - tail if t > 0 else tail


@lru_cache(maxsize=4096)
def quantile(chance: float, freedom: float) -> float:
    """The t below which a t variable lies with this chance (above one half)."""
    low, high = 0.0, 2.0
    while cdf(high, freedom) < chance:
        high *= 2
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if cdf(middle, freedom) < chance else (low, middle)
    return (low + high) / 2


def mean_of(value: float, variance: float, freedom: float) -> Interval:
    """The interval of a mean whose variance is known with so many degrees of freedom; boundless with none."""
    if not freedom:
        return Interval(value, -inf, inf)
    reach = quantile((1 + LEVEL) / 2, freedom) * sqrt(variance)
    return Interval(value, value - reach, value + reach)


def share_of(value: float, variance: float, freedom: float, matches: float) -> Interval:
    """The same for a share: a mean, over so many matches, of values from 0 to 1.

    Near 0 and 1 a share's spread depends on the share itself, and few deals show too little of it. So the variance is
    turned into a number of independent matches that would have it, and the interval is Wilson's for so many: all shares
    that are not ruled out by the spread that they would have themselves. One imaginary match won and one lost are
    added to the variance: a bot that won every match so far may lose the next.
    """
    value = min(1.0, max(0.0, value))
    if not freedom:
        return Interval(value, -inf, inf)
    doubt = (value**2 + (1 - value) ** 2) / matches**2
    likely = (matches * value + 1) / (matches + 2)
    squared = quantile((1 + LEVEL) / 2, freedom) ** 2 * (variance + doubt) / (likely * (1 - likely))
    middle = (value + squared / 2) / (1 + squared)
    reach = sqrt(squared * value * (1 - value) + squared**2 / 4) / (1 + squared)
    return Interval(value, min(value, max(0.0, middle - reach)), max(value, min(1.0, middle + reach)))


def _beta(a: float, b: float, x: float) -> float:
    """The regularised incomplete beta function, by its continued fraction."""
    if x <= 0 or x >= 1:
        return float(x >= 1)
    if x > (a + 1) / (a + b + 2):  # the fraction converges fast on the other side only
        return 1 - _beta(b, a, 1 - x)
    front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log(1 - x)) / a
    tiny = 1e-300
    d = 1 / ((1 - (a + b) * x / (a + 1)) or tiny)
    c, fraction = 1.0, d
    for m in range(1, 300):
        for numerator in (
            m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            d = 1 / ((1 + numerator * d) or tiny)
            c = (1 + numerator / c) or tiny
            step = d * c
            fraction *= step
        if abs(step - 1) < 1e-13:
            break
    return front * fraction


# Matches as Plackett and Luce read them: who is the best of the table, who is the best of the rest, and so on.


MOST_SPELT = 8
"""Up to so many tied bots every order of them is spelt out: no bundled game seats more. Their number doubles with each
bot; beyond it a stage among tied bots is a `WideStage`."""

MOST_STAGES = 20_000
"""Different stages that are kept. A large field at sampled tables has more; the matches after that are left out."""


class WideStage(NamedTuple):
    """ "Who is the best?" among `others` and any `left` of those `tied`: bits for bots, as in the key of a stage."""

    others: int
    tied: int
    left: int


Stage = int | WideStage
"""A stage is "who is the best of these?"; a number has a bit for each bot left."""


class Stages:
    """How often each group of bots was a stage, and how often each bot was chosen at one."""

    __slots__ = ("chosen", "counts")

    def __init__(self) -> None:
        self.counts: dict[Stage, float] = {}
        self.chosen: dict[int, float] = {}

    def add(self, bots: Sequence[int], ranks: tuple[int, ...]) -> None:
        """Best of all, best of the rest, ...; tied bots count as every order of them, with equal weights."""
        counts, chosen = self.counts, self.chosen
        if len(counts) >= MOST_STAGES:
            return
        seats, ties = order(ranks)
        left = 0
        for bot in bots:
            left |= 1 << bot
        if not any(ties):
            for seat in seats[:-1]:
                bot = bots[seat]
                counts[left] = counts.get(left, 0.0) + 1
                chosen[bot] = chosen.get(bot, 0.0) + 1
                left ^= 1 << bot
            return
        for rank in sorted(set(ranks)):
            tied = [bot for bot, its in zip(bots, ranks, strict=True) if its == rank]
            if len(tied) > MOST_SPELT:
                left = self._add_wide(left, tied)
                continue
            for gone in range(len(tied)):
                ways = list(combinations(tied, gone))
                for way in ways:
                    self._add_way(left ^ _bits(way), set(tied) - set(way), 1 / len(ways))
            left ^= _bits(tied)

    def _add_way(self, stage: int, tied: set[int], weight: float) -> None:
        """A stage at which each of those tied is as likely as another to be chosen."""
        if stage & (stage - 1):  # the last bot alone is no choice
            self.counts[stage] = self.counts.get(stage, 0.0) + weight
            for bot in tied:
                self.chosen[bot] = self.chosen.get(bot, 0.0) + weight / len(tied)

    def _add_wide(self, left: int, tied: Sequence[int]) -> int:
        """The stages of many tied bots: each of them is as likely as another to be chosen; returns who is left."""
        bits = _bits(tied)
        others = left ^ bits
        for remaining in range(len(tied), 0 if others else 1, -1):
            stage = left if remaining == len(tied) else WideStage(others, bits, remaining)
            self.counts[stage] = self.counts.get(stage, 0.0) + 1
            for bot in tied:
                self.chosen[bot] = self.chosen.get(bot, 0.0) + 1 / len(tied)
        return others


def _bits(bots: Sequence[int]) -> int:
    return sum(1 << bot for bot in bots)


# What the matches of a game say, deal by deal: kept so that any claim can be made from it.
#
# A deal is one piece of luck, so claims compare deals with deals. Deals of which the same tables played the same
# number of matches are alike: their spread is luck and nothing else. What a deal said is a few numbers for each of
# its bots, in arrays: a run of a million matches takes some tens of megabytes.


OPEN_DEALS = 64
"""Deals that may still get matches. In schedule order a deal is complete when the next begins; matches that are rated
as they end come a little out of order."""


class DealKind(NamedTuple):
    """Which tables played how many matches of a deal."""

    bots: tuple[int, ...]
    tables: tuple[tuple[tuple[int, ...], int], ...]

    @property
    def packed(self) -> bytes:
        """The same in few bytes: there may be as many kinds as deals."""
        return array("I", [part for table, count in self.tables for part in (len(table), count, *table)]).tobytes()


@lru_cache(maxsize=10_000)
def unpacked(packed: bytes) -> DealKind:
    """The kind of deal that was packed into these bytes."""
    numbers = array("I")
    numbers.frombytes(packed)
    tables, at = [], 0
    while at < len(numbers):
        end = at + 2 + numbers[at]
        tables.append((tuple(numbers[at + 2 : end]), numbers[at + 1]))
        at = end
    bots = tables[0][0] if len(tables) == 1 else tuple(sorted({bot for table, _ in tables for bot in table}))
    return DealKind(bots, tuple(tables))


class SeatSums:
    """What one seat at tables of one size did, over deals."""

    __slots__ = ("ahead", "counts", "deals", "matches", "score", "wins")

    def __init__(self) -> None:
        self.deals = 0
        self.matches = self.wins = self.counts = 0.0
        """`counts` is the sum of the squares of the matches of each deal."""
        self.score = [0.0, 0.0, 0.0]
        """The sum, its products with the matches of each deal, and its squares."""
        self.ahead = [0.0, 0.0, 0.0]

    def add(self, matches: float, score: float, ahead: float, wins: float) -> None:
        """Takes in what the seat did in one deal."""
        self.deals += 1
        self.matches += matches
        self.wins += wins
        self.counts += matches * matches
        for sums, total in ((self.score, score), (self.ahead, ahead)):
            sums[:] = sums[0] + total, sums[1] + total * matches, sums[2] + total * total

    @property
    def mean_score(self) -> Interval:
        """Its mean score; the deals are what differs by luck."""
        return mean_of(self.score[0] / self.matches, self._variance(self.score), self.deals - 1)

    @property
    def share_ahead(self) -> Interval:
        """The share of the table that it finishes ahead of."""
        return share_of(self.ahead[0] / self.matches, self._variance(self.ahead), self.deals - 1, self.matches)

    def _variance(self, sums: Sequence[float]) -> float:
        if self.deals < 2:
            return 0.0
        value = sums[0] / self.matches
        squares = max(0.0, sums[2] - 2 * value * sums[1] + value**2 * self.counts)
        return squares * self.deals / (self.deals - 1) / self.matches**2


class OpenDeal:
    """A deal that may still get matches."""

    __slots__ = ("bots", "seats", "tables")

    def __init__(self) -> None:
        self.bots: dict[int, list[float]] = {}
        """Bot -> scores, and by how much its shares ahead are above one half."""
        self.seats: dict[int, list[list[float]]] = {}
        """Players -> for each seat matches, scores, shares ahead, wins."""
        self.tables: dict[tuple[int, ...], int] = {}

    @property
    def kind(self) -> DealKind:
        """Which tables have played it."""
        if len(self.tables) == 1:
            ((table, count),) = self.tables.items()
            return DealKind(table, ((table, count),))
        return DealKind(tuple(sorted(self.bots)), tuple(sorted(self.tables.items())))

    def values(self, bots: Iterable[int]) -> list[float]:
        """Scores and margins of these bots, one after the other."""
        return [value for bot in bots for value in self.bots[bot]]


class Evidence:
    """What all deals say, how often each bot finished ahead of each other, and who was best of whom."""

    __slots__ = ("_kinds", "_names", "_open", "_seats", "_values", "_which", "meetings", "stages")

    def __init__(self) -> None:
        self.meetings: dict[tuple[int, int], list[float]] = {}
        """(one, other) -> matches, in how many of them the one finished ahead, and their weight: at a table of K each
        of a bot's opponents has a weight of 1 / (K - 1)."""
        self.stages = Stages()
        self._open: dict[int, OpenDeal] = {}
        self._kinds: list[bytes] = []
        self._names: dict[bytes, int] = {}
        self._which = array("l")
        self._values = array("d")
        self._seats: dict[tuple[int, int], SeatSums] = {}

    def add(
        self,
        seed: int,
        bots: Sequence[int],
        ranks: tuple[int, ...],
        scores: Sequence[int],
        shares: Sequence[float] | None = None,
    ) -> None:
        """Takes in a match of different bots, given by number; `shares` stand in for the shares ahead of the ranks."""
        deal = self._open.get(seed)
        if deal is None:
            if len(self._open) >= OPEN_DEALS:
                self._close(self._open.pop(next(iter(self._open))))
            deal = self._open[seed] = OpenDeal()
        players = len(bots)
        its, places = deal.bots, deal.seats.get(players)
        if places is None:
            places = deal.seats[players] = [[0.0] * 4 for _ in bots]
        results = seat_results(ranks) if shares is None else _adjusted(seat_results(ranks), shares)
        for bot, place, score, (margin, ahead, win) in zip(bots, places, scores, results, strict=True):
            sums = its.get(bot)
            if sums is None:
                its[bot] = [score, margin]
            else:
                sums[0] += score
                sums[1] += margin
            place[0] += 1
            place[1] += score
            place[2] += ahead
            if win:
                place[3] += win
        table = tuple(sorted(bots))
        deal.tables[table] = deal.tables.get(table, 0) + 1
        self.stages.add(bots, ranks)
        meetings, weight = self.meetings, 1 / (players - 1)
        for left, right, share in pairs(ranks):
            key = bots[left], bots[right]
            met = meetings.get(key)
            if met is None:
                meetings[key] = [1, share, weight]
            else:
                met[0] += 1
                met[1] += share
                met[2] += weight

    def _close(self, deal: OpenDeal) -> None:
        kind = deal.kind
        self._which.append(self._number(kind))
        self._values.extend(deal.values(kind.bots))
        _add_seats(self._seats, deal)

    def _number(self, kind: DealKind) -> int:
        packed = kind.packed
        number = self._names.get(packed)
        if number is None:
            number = self._names[packed] = len(self._kinds)
            self._kinds.append(packed)
        return number

    def deals(self) -> Iterator[tuple[int, DealKind, Sequence[float]]]:
        """Each deal: the number of its kind, the kind, and for each of its bots the sum of the scores and that of the
        shares above one half."""
        at, values, kinds = 0, self._values, self._kinds
        for number in self._which:
            kind = unpacked(kinds[number])
            end = at + 2 * len(kind.bots)
            yield number, kind, values[at:end]
            at = end
        for deal in self._open.values():
            kind = deal.kind
            yield self._number(kind), kind, deal.values(kind.bots)

    def kinds(self) -> Counter[int]:
        """How many deals there are of each kind, by its number."""
        found = Counter(self._which)
        found.update(self._number(deal.kind) for deal in self._open.values())
        return found

    def deal_count(self) -> int:
        """How many deals there are."""
        return len(self._which) + len(self._open)

    def seats(self) -> dict[tuple[int, int], SeatSums]:
        """What each seat did: (players, seat) -> its sums."""
        found: dict[tuple[int, int], SeatSums] = {}
        for key, sums in self._seats.items():
            found[key] = copy = SeatSums()
            for name in SeatSums.__slots__:
                value = getattr(sums, name)
                setattr(copy, name, list(value) if isinstance(value, list) else value)
        for deal in self._open.values():
            _add_seats(found, deal)
        return dict(sorted(found.items()))

    def have_met(self, one: int, other: int) -> bool:
        """Whether these two have ever sat at one table."""
        return (one, other) in self.meetings or (other, one) in self.meetings

    def finished_ahead(self, one: int, other: int) -> tuple[float, int]:
        """How often one bot finished ahead of another (a tie is half of one), and how often they met."""
        met, ahead, _ = self.meetings.get((one, other), (0, 0.0, 0.0))
        against, behind, _ = self.meetings.get((other, one), (0, 0.0, 0.0))
        return ahead + against - behind, int(met + against)


def _add_seats(into: dict[tuple[int, int], SeatSums], deal: OpenDeal) -> None:
    for players, places in deal.seats.items():
        for seat, (matches, score, ahead, wins) in enumerate(places):
            sums = into.get((players, seat))
            if sums is None:
                sums = into[players, seat] = SeatSums()
            sums.add(matches, score, ahead, wins)


SeatResult = tuple[float, float, float]
"""Of a seat in a match: its share ahead above one half, that share itself, and its part of the win."""


@lru_cache(maxsize=100_000)
def seat_results(ranks: tuple[int, ...]) -> tuple[SeatResult, ...]:
    """What each seat got."""
    win = 1 / max(1, ranks.count(1))
    return tuple(
        (share - 0.5, share, win if rank == 1 else 0.0) for share, rank in zip(shares_ahead(ranks), ranks, strict=True)
    )


def _adjusted(results: Iterable[SeatResult], shares: Sequence[float]) -> list[SeatResult]:
    """The same with other shares for what is said about `ahead`."""
    return [(share - 0.5, ahead, win) for (_, ahead, win), share in zip(results, shares, strict=True)]


@lru_cache(maxsize=100_000)
def pairs(ranks: tuple[int, ...]) -> tuple[tuple[int, int, float], ...]:
    """Each pair of seats, with 1 if the first of them finished ahead, 0 if behind, 1/2 for a tie."""
    return tuple(
        (one, other, 0.5 + 0.5 * ((ranks[one] < ranks[other]) - (ranks[one] > ranks[other])))
        for one, other in combinations(range(len(ranks)), 2)
    )
