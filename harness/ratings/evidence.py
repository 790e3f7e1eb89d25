"""Sufficient statistics of the deals of a game, added match by match, and confidence intervals over deals."""

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
"""Confidence level of every published interval and every claim."""


class Interval(NamedTuple):
    """An estimate with its confidence limits at LEVEL."""

    value: float
    low: float
    high: float

    @property
    def reach(self) -> float:
        """The larger distance from the estimate to a limit."""
        return max(self.high - self.value, self.value - self.low)


def student_cdf(t: float, freedom: float) -> float:
    """Return the probability that a Student variable with `freedom` degrees of freedom is below t."""
    tail = 0.5 * _incomplete_beta(freedom / 2, 0.5, freedom / (freedom + t * t))
    return 1 - tail if t > 0 else tail


@lru_cache(maxsize=4096)
def student_quantile(probability: float, freedom: float) -> float:
    """Return the quantile of Student's distribution for a probability above one half."""
    low, high = 0.0, 2.0
    while student_cdf(high, freedom) < probability:
        high *= 2
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if student_cdf(middle, freedom) < probability else (low, middle)
    return (low + high) / 2


def mean_interval(value: float, variance: float, freedom: float) -> Interval:
    """Return Student's interval of a mean; infinite if the variance has no degrees of freedom."""
    if not freedom:
        return Interval(value, -inf, inf)
    reach = student_quantile((1 + LEVEL) / 2, freedom) * sqrt(variance)
    return Interval(value, value - reach, value + reach)


def wilson_interval(value: float, variance: float, freedom: float, matches: float) -> Interval:
    """Return Wilson's interval of a share: a mean of values from 0 to 1 over `matches` matches.

    Near 0 and 1 the variance of a share depends on the share itself, and few deals show too little of it. So the
    variance is converted to an effective number of independent matches, and the interval contains all shares that the
    estimate does not rule out, given the variance that they would have themselves (Wilson, 1927). One imaginary match
    won and one lost are added to the variance, because a bot that has won every match so far may lose the next.
    """
    value = min(1.0, max(0.0, value))
    if not freedom:
        return Interval(value, -inf, inf)
    imaginary = (value**2 + (1 - value) ** 2) / matches**2
    smoothed = (matches * value + 1) / (matches + 2)
    # Student's quantile squared, divided by the effective number of matches.
    squared = student_quantile((1 + LEVEL) / 2, freedom) ** 2 * (variance + imaginary) / (smoothed * (1 - smoothed))
    middle = (value + squared / 2) / (1 + squared)
    reach = sqrt(squared * value * (1 - value) + squared**2 / 4) / (1 + squared)
    return Interval(value, min(value, max(0.0, middle - reach)), max(value, min(1.0, middle + reach)))


def _incomplete_beta(a: float, b: float, x: float) -> float:
    """Return the regularised incomplete beta function, by its continued fraction (modified Lentz's method)."""
    if x <= 0 or x >= 1:
        return float(x >= 1)
    if x > (a + 1) / (a + b + 2):  # the fraction converges fast on the other side only
        return 1 - _incomplete_beta(b, a, 1 - x)
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


def holm(p_values: Sequence[float]) -> list[bool]:
    """Return which of several hypotheses may be rejected together, by Holm's procedure.

    The smallest p-value is tested against all hypotheses, the next against those left, until one fails. The probability
    of any false rejection is then at most 1 - LEVEL, whatever the dependence between tests. There is dependence here:
    pairs of bots share bots and deals.
    """
    rejected = [False] * len(p_values)
    for place, number in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        if p_values[number] > (1 - LEVEL) / (len(p_values) - place):
            break
        rejected[number] = True
    return rejected


# Rankings as stages of the Plackett-Luce model: which bot is the best of the table, which is the best of the rest, ...


MAX_ENUMERATED_TIES = 8
"""Up to this many tied bots, all orders of them are counted. The number of stages doubles with each bot, and no bundled
game seats more; beyond it a stage among tied bots is a `WideStage`."""

MAX_STAGES = 20_000
"""Distinct stages that are kept. A large field at sampled tables has more; later matches are left out."""


class WideStage(NamedTuple):
    """A choice among `others` and any `left` of the `tied` bots; both are bit sets of bots."""

    others: int
    tied: int
    left: int


Stage = int | WideStage
"""A choice of the best among some bots, as a bit set of these bots."""


class Stages:
    """How often each group of bots was a stage, and how often each bot was chosen at a stage."""

    __slots__ = ("chosen", "counts")

    def __init__(self) -> None:
        self.counts: dict[Stage, float] = {}
        self.chosen: dict[int, float] = {}

    def add_match(self, bots: Sequence[int], ranks: tuple[int, ...]) -> None:
        """Add the stages of a match; tied bots count as all orders of them, with equal weights."""
        counts, chosen = self.counts, self.chosen
        if len(counts) >= MAX_STAGES:
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
            if len(tied) > MAX_ENUMERATED_TIES:
                left = self._add_wide(left, tied)
                continue
            for gone in range(len(tied)):
                ways = list(combinations(tied, gone))
                for way in ways:
                    self._add_way(left ^ _bits(way), set(tied) - set(way), 1 / len(ways))
            left ^= _bits(tied)

    def _add_way(self, stage: int, tied: set[int], weight: float) -> None:
        """Add a stage at which each of the tied bots is equally likely to be chosen."""
        if stage & (stage - 1):  # a single bot is no choice
            self.counts[stage] = self.counts.get(stage, 0.0) + weight
            for bot in tied:
                self.chosen[bot] = self.chosen.get(bot, 0.0) + weight / len(tied)

    def _add_wide(self, left: int, tied: Sequence[int]) -> int:
        """Add the stages of many tied bots, each equally likely to be chosen; return the bots that are left."""
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


# The results of a game, deal by deal.
#
# The deal is the sampling unit, not the match: the matches of a deal share its cards, so a deal that suits a bot suits
# it in every seating, and errors computed from single matches would be too small. Deals played by the same tables with
# the same number of matches form a stratum: they differ by luck only, so their variance about their mean is the
# variance of luck. A deal is a few numbers for each of its bots, kept in arrays, so that a run of a million matches
# takes some tens of megabytes.


MAX_OPEN_DEALS = 64
"""Deals that may still get matches. In schedule order a deal is complete when the next one begins; matches that are
rated as they end are slightly out of order."""


class DealKind(NamedTuple):
    """The stratum of a deal: which tables played how many matches of it."""

    bots: tuple[int, ...]
    tables: tuple[tuple[tuple[int, ...], int], ...]

    @property
    def packed(self) -> bytes:
        """The kind as bytes, because there may be as many kinds as deals."""
        return array("I", [part for table, count in self.tables for part in (len(table), count, *table)]).tobytes()


@lru_cache(maxsize=10_000)
def unpack_kind(packed: bytes) -> DealKind:
    """Return the kind of deal that was packed into these bytes."""
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
    """The results of one seat at tables of one size, over deals."""

    __slots__ = ("ahead", "counts", "deals", "matches", "score", "wins")

    def __init__(self) -> None:
        self.deals = 0
        self.matches = self.wins = self.counts = 0.0
        """`counts` is the sum over deals of the squared number of matches."""
        self.score = [0.0, 0.0, 0.0]
        """Sums over deals: of the total, of the total times the number of matches, and of the squared total."""
        self.ahead = [0.0, 0.0, 0.0]

    def add_deal(self, matches: float, score: float, ahead: float, wins: float) -> None:
        """Add the totals of the seat in one deal."""
        self.deals += 1
        self.matches += matches
        self.wins += wins
        self.counts += matches * matches
        for sums, total in ((self.score, score), (self.ahead, ahead)):
            sums[:] = sums[0] + total, sums[1] + total * matches, sums[2] + total * total

    @property
    def mean_score(self) -> Interval:
        """The mean score, with its interval over deals."""
        return mean_interval(self.score[0] / self.matches, self._variance(self.score), self.deals - 1)

    @property
    def share_ahead(self) -> Interval:
        """The share of the table that the seat finishes ahead of, with its interval over deals."""
        return wilson_interval(self.ahead[0] / self.matches, self._variance(self.ahead), self.deals - 1, self.matches)

    def _variance(self, sums: Sequence[float]) -> float:
        """Return the variance of a ratio estimate (total divided by matches), with deals as clusters."""
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
        """Bot -> sum of its scores, and of its margins (share of the table finished ahead of, minus one half)."""
        self.seats: dict[int, list[list[float]]] = {}
        """Number of players -> for each seat the sums of matches, scores, shares ahead and wins."""
        self.tables: dict[tuple[int, ...], int] = {}

    @property
    def kind(self) -> DealKind:
        """Which tables have played it so far."""
        if len(self.tables) == 1:
            ((table, count),) = self.tables.items()
            return DealKind(table, ((table, count),))
        return DealKind(tuple(sorted(self.bots)), tuple(sorted(self.tables.items())))

    def values(self, bots: Iterable[int]) -> list[float]:
        """Return score and margin of each of these bots, in one list."""
        return [value for bot in bots for value in self.bots[bot]]


class Evidence:
    """The results of all deals, of all pairs of bots, and of all stages of the Plackett-Luce model."""

    __slots__ = ("_kinds", "_names", "_open", "_seats", "_values", "_which", "meetings", "stages")

    def __init__(self) -> None:
        self.meetings: dict[tuple[int, int], list[float]] = {}
        """Pair -> number of matches, in how many of them the first finished ahead, and their weight: at a table of K
        each opponent of a bot has a weight of 1 / (K - 1)."""
        self.stages = Stages()
        self._open: dict[int, OpenDeal] = {}
        self._kinds: list[bytes] = []
        self._names: dict[bytes, int] = {}
        self._which = array("l")
        self._values = array("d")
        self._seats: dict[tuple[int, int], SeatSums] = {}

    def add_match(
        self,
        seed: int,
        bots: Sequence[int],
        ranks: tuple[int, ...],
        scores: Sequence[int],
        shares: Sequence[float] | None = None,
    ) -> None:
        """Add a match of distinct bots, given by number; `shares` replace the shares of the table that ranks imply."""
        deal = self._open.get(seed)
        if deal is None:
            if len(self._open) >= MAX_OPEN_DEALS:
                self._close(self._open.pop(next(iter(self._open))))
            deal = self._open[seed] = OpenDeal()
        players = len(bots)
        its, places = deal.bots, deal.seats.get(players)
        if places is None:
            places = deal.seats[players] = [[0.0] * 4 for _ in bots]
        results: Iterable[SeatResult] = seat_results(ranks)
        if shares is not None:
            results = [(share - 0.5, ahead, win) for (_, ahead, win), share in zip(results, shares, strict=True)]
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
        self.stages.add_match(bots, ranks)
        meetings, weight = self.meetings, 1 / (players - 1)
        for left, right, share in pair_outcomes(ranks):
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
        """Return for each deal the number of its kind, the kind, and score and margin of each of its bots."""
        at, values, kinds = 0, self._values, self._kinds
        for number in self._which:
            kind = unpack_kind(kinds[number])
            end = at + 2 * len(kind.bots)
            yield number, kind, values[at:end]
            at = end
        for deal in self._open.values():
            kind = deal.kind
            yield self._number(kind), kind, deal.values(kind.bots)

    def kind_counts(self) -> Counter[int]:
        """Return the number of deals of each kind, by the number of the kind."""
        found = Counter(self._which)
        found.update(self._number(deal.kind) for deal in self._open.values())
        return found

    def deal_count(self) -> int:
        """Return the number of deals."""
        return len(self._which) + len(self._open)

    def seat_sums(self) -> dict[tuple[int, int], SeatSums]:
        """Return the results of each seat, by number of players and seat."""
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
        """Return whether two bots have sat at one table."""
        return (one, other) in self.meetings or (other, one) in self.meetings

    def finished_ahead(self, one: int, other: int) -> tuple[float, int]:
        """Return how often one bot finished ahead of another (a tie is one half), and how often they met."""
        met, ahead, _ = self.meetings.get((one, other), (0, 0.0, 0.0))
        against, behind, _ = self.meetings.get((other, one), (0, 0.0, 0.0))
        return ahead + against - behind, int(met + against)


def _add_seats(into: dict[tuple[int, int], SeatSums], deal: OpenDeal) -> None:
    for players, places in deal.seats.items():
        for seat, (matches, score, ahead, wins) in enumerate(places):
            sums = into.get((players, seat))
            if sums is None:
                sums = into[players, seat] = SeatSums()
            sums.add_deal(matches, score, ahead, wins)


SeatResult = tuple[float, float, float]
"""Of a seat in a match: its margin, its share of the table finished ahead of, and its part of the win."""


@lru_cache(maxsize=100_000)
def seat_results(ranks: tuple[int, ...]) -> tuple[SeatResult, ...]:
    """Return the result of each seat."""
    win = 1 / max(1, ranks.count(1))
    return tuple(
        (share - 0.5, share, win if rank == 1 else 0.0) for share, rank in zip(shares_ahead(ranks), ranks, strict=True)
    )


@lru_cache(maxsize=100_000)
def pair_outcomes(ranks: tuple[int, ...]) -> tuple[tuple[int, int, float], ...]:
    """Return each pair of seats with 1 if the first finished ahead, 0 if behind, 1/2 for a tie."""
    return tuple(
        (one, other, 0.5 + 0.5 * ((ranks[one] < ranks[other]) - (ranks[one] > ranks[other])))
        for one, other in combinations(range(len(ranks)), 2)
    )
