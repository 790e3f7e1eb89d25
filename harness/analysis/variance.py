"""Where results come from: the shares of their variance that bots, deals, seats and the rest explain.

The design: each deal is played by a few tables of bots, and each table plays several deals. A play is a deal at a
table, in all rotations of the seats. Tables are all that the field allows, or drawn from it at random.

The result of a seat is the share of the others that it finished ahead of, minus one half. Its mean is exactly 0, and so
is its sum over a match. Deals and tables are drawn independently of each other, so the product of two results that
have only some of the factors in common has the variance of just these as its expectation. Means of such products are
unbiased for any distribution; nothing is assumed to be normal or additive. docs/analyse.md has the definitions.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from itertools import repeat
from math import fsum, sqrt
from operator import add
from statistics import pvariance
from typing import NamedTuple

from harness.ratings.statistics import LEVEL, Interval, mean_interval, student_quantile

MIN_DEALS = 6
"""In a design. Fewer say nothing about the differences between deals."""
MIN_GROUPS = 3
MAX_GROUPS = 40
"""The jackknife leaves out deals one by one, or in this many groups if there are more deals."""

Vector = Sequence[float]


class Play(NamedTuple):
    """A deal at a table, in all rotations of the seats."""

    deal: int
    table: int
    results: list[list[float]]
    """Member of the table -> seat -> result."""


class VarianceShares(NamedTuple):
    """The variance of results, and the share of it that each source explains. The four shares add up to 1."""

    variance: float
    bots: Interval
    deals: Interval
    seats: Interval
    rest: Interval
    members_and_seats: Interval
    """The part of `rest` that comes from bots which do better in some seats than others do."""


def variance_shares(plays: Iterable[Play], drawn: bool) -> VarianceShares:
    """Return the shares of the variance of results, with intervals.

    `drawn` tables are a sample of the tables of the field; otherwise they are all tables.
    """
    sums = [_sums(play) for play in plays]
    whole = _estimate(sums, drawn)
    if not whole.variance:  # all matches were ties
        return VarianceShares(0.0, *[Interval(0.0, 0.0, 0.0)] * 5)
    deals = [play.deal for play in sums]
    tables = [play.table for play in sums] if drawn else None
    errors, freedom = _jackknife(lambda kept: _estimate([sums[at] for at in kept], drawn).shares, deals, tables)
    found = [mean_interval(value, error, freedom) for value, error in zip(whole.shares, errors, strict=True)]
    for place, plain in ((0, whole.plain_bots), (2, whole.plain_seats)):
        found[place] = _square_interval(whole.shares[place], errors[place], freedom, plain)
    return VarianceShares(whole.variance, *found)


def mean_over_deals(values: Sequence[float], deals: Sequence[int], tables: Sequence[int] | None = None) -> Interval:
    """Return the mean of values, each with its deal and, if tables are a sample, its table, with an interval; infinite
    if there are too few deals or tables."""

    def mean(kept: Sequence[int]) -> Vector:
        return [fsum([values[at] for at in kept]) / max(1, len(kept))]

    [variance], freedom = _jackknife(mean, deals, tables)
    return mean_interval(mean(range(len(values)))[0], variance, freedom)


# Estimates.


class _Sums(NamedTuple):
    """A play. Each vector has a 1 in front: added up, the plays are counted."""

    deal: int
    table: int
    cells: Vector
    by_member: Vector
    """Mean over seats."""
    by_seat: Vector
    """Mean over members."""
    squares: float


class _Estimate(NamedTuple):
    variance: float
    shares: Vector
    """Of bots, deals, seats, the rest, and members in seats."""
    plain_bots: float
    plain_seats: float
    """The shares of bots and of seats if the square of an estimated mean is taken for the square of the mean."""


class _Pairs(NamedTuple):
    """The sum of the products of pairs of vectors, and the number of pairs."""

    products: float
    number: float

    def without(self, others: _Pairs) -> _Pairs:
        return _Pairs(self.products - others.products, self.number - others.number)

    def mean(self, scale: float) -> float:
        return self.products / self.number / scale if self.number else 0.0


def _sums(play: Play) -> _Sums:
    size = len(play.results)
    cells = [value for member in play.results for value in member]
    members = [fsum(member) / size for member in play.results]
    seats = [fsum(seat) / size for seat in zip(*play.results, strict=True)]
    squares = fsum([value**2 for value in cells])
    return _Sums(play.deal, play.table, (1.0, *cells), (1.0, *members), (1.0, *seats), squares)


def _estimate(plays: Sequence[_Sums], drawn: bool) -> _Estimate:
    deals, tables = [play.deal for play in plays], [play.table for play in plays]
    both = list(zip(deals, tables, strict=True))
    members, seats = [play.by_member for play in plays], [play.by_seat for play in plays]
    cells = [play.cells for play in plays]
    size = len(seats[0]) - 1
    total = fsum([play.squares for play in plays]) / len(plays) / size**2
    # The same member in two deals: what these results have in common is the bot, in its company.
    of_bots = _pairs(members, tables)
    bots = of_bots.without(_pairs(members, both)).mean(size)
    # The same seat in two deals, and at two tables if these are a sample.
    of_seats, in_deals = _pairs(seats, repeat(0)), _pairs(seats, deals)
    apart = of_seats.without(in_deals)
    if drawn:
        apart = apart.without(_pairs(seats, tables).without(_pairs(seats, both)))
    seat = apart.mean(size)
    # The same seat in two plays of a deal: other bots have the same cards.
    deal = in_deals.without(_pairs(seats, range(len(plays)))).mean(size) - seat
    # The same member in the same seat of two deals.
    member_and_seat = _pairs(cells, tables).without(_pairs(cells, both)).mean(size**2) - bots - seat
    scale = total or 1.0
    found = [bots / scale, deal / scale, seat / scale]
    shares = (*found, 1 - fsum(found), member_and_seat / scale)
    return _Estimate(total, shares, of_bots.mean(size) / scale, of_seats.mean(size) / scale)


def _pairs(vectors: Iterable[Vector], keys: Iterable[Hashable]) -> _Pairs:
    """Return all ordered pairs of vectors with equal keys, each with itself among them."""
    sums: dict[Hashable, Vector] = {}
    for vector, key in zip(vectors, keys, strict=False):
        known = sums.get(key)
        sums[key] = vector if known is None else list(map(add, known, vector))
    squares = [fsum([value**2 for value in column]) for column in zip(*sums.values(), strict=True)]
    return _Pairs(fsum(squares[1:]), squares[0])


# Intervals.


def _jackknife(
    estimate: Callable[[Sequence[int]], Vector], deals: Sequence[int], tables: Sequence[int] | None
) -> tuple[list[float], float]:
    """Return the variances of the values that `estimate` returns for the numbers of some plays, and their degrees of
    freedom: 0 if there are too few deals or tables.

    `deals` and `tables` are those of each play; no tables if these are not a sample. What differs from play to play is
    in the variance over deals and in that over tables, so it is subtracted once (Cameron, Gelbach and Miller, Robust
    inference with multiway clustering, 2011).
    """
    over_deals, freedom = _left_out(estimate, deals)
    if tables is None:
        return over_deals, freedom
    over_tables, more = _left_out(estimate, tables)
    over_plays, _ = _left_out(estimate, list(zip(deals, tables, strict=True)))
    all_three = zip(over_deals, over_tables, over_plays, strict=True)
    return [max(deal, table, deal + table - play) for deal, table, play in all_three], min(freedom, more)


def _left_out(estimate: Callable[[Sequence[int]], Vector], keys: Sequence[Hashable]) -> tuple[list[float], float]:
    """Return the jackknife's variances over groups of keys, and their degrees of freedom."""
    numbers = {key: number for number, key in enumerate(dict.fromkeys(keys))}
    groups = min(MAX_GROUPS, len(numbers))
    of_play = [numbers[key] % groups for key in keys]
    values = [estimate([at for at, group in enumerate(of_play) if group != out]) for out in range(groups)]
    variances = [(groups - 1) * pvariance(column) for column in zip(*values, strict=True)]
    return variances, groups - 1 if groups >= MIN_GROUPS else 0


def _square_interval(value: float, variance: float, freedom: float, plain: float) -> Interval:
    """Return the interval of the square of a mean (of several, the mean square). `value` is the unbiased estimate, and
    `plain` the square of the estimated mean.

    The estimate varies the more, the larger the true square is: about as 2 * square + bias. The jackknife's variance
    belongs to the estimated square, so an interval of equal reach ends too low where the estimate is too low. This
    interval has every square from which the estimate differs no more than its error there allows.
    """
    if not freedom or plain <= 0:
        return mean_interval(value, variance, freedom)
    bias = plain - value
    centre = max(value, -bias / 2)
    # Where the estimated mean is nearly 0, so is `plain`, and the quotient is noise; the bias bounds it there.
    quotient = min(variance / plain, max(4 * bias, variance / (plain + bias)))
    scale = student_quantile((1 + LEVEL) / 2, freedom) ** 2 * quotient
    reach = sqrt(scale * (centre + scale / 4 + bias / 2))
    return Interval(value, centre + scale / 2 - reach, centre + scale / 2 + reach)
