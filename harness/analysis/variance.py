"""Where results come from: the shares of their variance that bots, deals and seats explain, from a balanced design.

The design: in each round, tables of bots are drawn at random from the field, or a round has all tables that the field
allows. Every table plays every deal in all rotations of its seats. So each bot of a table (a member) sits once in each
seat of each deal.

The result of a seat is the share of the others that it finished ahead of, minus one half. Its mean is exactly 0, and so
is its sum over a match. Rounds and deals are drawn independently of each other, so the product of two results that
have only some of the factors in common has the variance of just these as its expectation. Means of such products,
computed from sums and sums of squares, are unbiased for any distribution; nothing is assumed to be normal or additive.
docs/analyse.md has the definitions.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import fsum
from typing import NamedTuple

from harness.ratings.statistics import Interval, PooledVariance, mean_interval, share_interval

MIN_ROUNDS = MIN_DEALS = 3
"""With fewer, nothing can be left out: the jackknife needs two rounds and two deals that remain."""

Cell = Sequence[float]
"""The results of one member in one deal, seat by seat."""
Results = Sequence[Sequence[Sequence[Cell]]]
"""Round -> member -> deal -> seat."""
Numbers = Sequence[int]


class VarianceShares(NamedTuple):
    """The variance of results, and the share of it that each source explains. The four shares add up to 1."""

    variance: float
    bots: Interval
    deals: Interval
    seats: Interval
    rest: Interval
    members_and_seats: Interval
    """The part of `rest` that comes from bots which do better in some seats than others do."""


class _Components(NamedTuple):
    """Estimated variances."""

    total: float
    bots: float
    deals: float
    seats: float
    members_and_seats: float

    def shares(self) -> tuple[float, ...]:
        """Return the shares of bots, deals, seats, the rest, and members in seats."""
        total = self.total or 1.0
        found = [self.bots / total, self.deals / total, self.seats / total]
        return (*found, 1 - fsum(found), self.members_and_seats / total)


def variance_shares(results: Results) -> VarianceShares:
    """Return the shares of the variance of results in a balanced design, with intervals."""
    sums = _Sums(results)
    whole = sums.components(range(sums.rounds), range(sums.deals))
    if not whole.total:  # all matches were ties
        nothing = Interval(0.0, 0.0, 0.0)
        return VarianceShares(0.0, *[nothing] * 5)
    variances = two_way_variances(
        lambda rounds, deals: sums.components(rounds, deals).shares(), sums.rounds, sums.deals
    )
    intervals = [
        share_interval(value, pooled.variance, pooled.freedom)
        for value, pooled in zip(whole.shares(), variances, strict=True)
    ]
    return VarianceShares(whole.total, *intervals)


def mean_of_cells(cells: Sequence[tuple[int, int, float]], rounds: int, deals: int) -> Interval:
    """Return the mean of values, each with its round and deal, with an interval; infinite if all are of one deal."""
    by_round = [[0.0, 0.0] for _ in range(rounds)]
    by_deal = [[0.0, 0.0] for _ in range(deals)]
    for at, deal, value in cells:
        for each in (by_round[at], by_deal[deal]):
            each[0] += value
            each[1] += 1
    total, count = fsum([value for _, _, value in cells]), len(cells)
    pooled = PooledVariance()
    for groups in (by_round, by_deal):
        there = [group for group in groups if group[1]]
        left_out = [(total - sum_) / (count - number) for sum_, number in there if number < count]
        if len(left_out) >= MIN_DEALS:
            pooled.add(_jackknife_variance(left_out), len(left_out) - 1)
    return mean_interval(total / count, pooled.variance, pooled.freedom)


def two_way_variances(
    estimate: Callable[[Numbers, Numbers], Sequence[float]], rounds: int, deals: int
) -> list[PooledVariance]:
    """Return the variance of each value that `estimate` returns for these rounds and deals.

    It is the jackknife's over rounds plus that over deals: what comes from single matches is in both, so the sum is too
    large rather than too small (Owen, The pigeonhole bootstrap, 2007). Two rounds are those with all tables: what they
    differ by differs between deals, too.
    """
    all_rounds, all_deals = range(rounds), range(deals)
    fewer_rounds = [
        estimate([at for at in all_rounds if at != out], all_deals) for out in all_rounds if rounds >= MIN_ROUNDS
    ]
    fewer_deals = [
        estimate(all_rounds, [at for at in all_deals if at != out]) for out in all_deals if deals >= MIN_DEALS
    ]
    found = [PooledVariance() for _ in (fewer_rounds or fewer_deals or [()])[0]]
    for left_out in (fewer_rounds, fewer_deals):
        for pooled, values in zip(found, zip(*left_out, strict=True), strict=False):
            pooled.add(_jackknife_variance(values), len(values) - 1)
    return found


def _jackknife_variance(values: Sequence[float]) -> float:
    mean = fsum(values) / len(values)
    return (len(values) - 1) / len(values) * fsum([(value - mean) ** 2 for value in values])


class _Sums:
    """Sums over the cells of a design, from which the components for any of its rounds and deals follow."""

    def __init__(self, results: Results) -> None:
        self.rounds, self.members, self.deals = len(results), len(results[0]), len(results[0][0])
        self.seats = len(results[0][0][0])
        self.results = results
        self.squares = [
            [fsum([value**2 for member in each for value in member[deal]]) for deal in range(self.deals)]
            for each in results
        ]
        self.by_seat = [
            [
                [fsum([member[deal][seat] for member in each]) / self.members for seat in range(self.seats)]
                for deal in range(self.deals)
            ]
            for each in results
        ]
        """Round -> deal -> seat -> the mean over members."""
        self.by_member = [[[fsum(cell) / self.seats for cell in member] for member in each] for each in results]
        """Round -> member -> deal -> the mean over seats."""

    def components(self, rounds: Numbers, deals: Numbers) -> _Components:
        """Return the estimated variances from these rounds and deals."""
        cells = len(rounds) * self.members * len(deals) * self.seats
        total = fsum([self.squares[at][deal] for at in rounds for deal in deals]) / cells
        members = [self.by_member[at][member] for at in rounds for member in range(self.members)]
        # The same member in two deals: what these results have in common is the bot, in its company.
        bots = fsum([_different_pairs([member[deal] for deal in deals]) for member in members]) / len(members)
        seats = in_deals = 0.0
        for seat in range(self.seats):
            grid = [[self.by_seat[at][deal][seat] for deal in deals] for at in rounds]
            # The same seat in two rounds and two deals, and in two rounds of one deal: other bots have the same cards.
            seats += _different_rows_and_columns(grid) / self.seats
            in_deals += fsum(map(_different_pairs, zip(*grid, strict=True))) / len(deals) / self.seats
        # The same member in the same seat of two deals.
        in_seats = [
            _different_pairs([self.results[at][member][deal][seat] for deal in deals])
            for at in rounds
            for member in range(self.members)
            for seat in range(self.seats)
        ]
        both = fsum(in_seats) / len(in_seats)
        return _Components(total, bots, in_deals - seats, seats, both - bots - seats)


def _different_pairs(values: Sequence[float]) -> float:
    """Return the mean product of two different ones of these values."""
    return (fsum(values) ** 2 - fsum([value**2 for value in values])) / (len(values) * (len(values) - 1))


def _different_rows_and_columns(grid: Sequence[Sequence[float]]) -> float:
    """Return the mean product of two values in different rows and different columns."""
    rows, columns = len(grid), len(grid[0])
    by_row = fsum([fsum(row) ** 2 for row in grid])
    by_column = fsum([fsum(column) ** 2 for column in zip(*grid, strict=True)])
    squares = fsum([value**2 for row in grid for value in row])
    total = fsum([value for row in grid for value in row]) ** 2
    return (total - by_row - by_column + squares) / (rows * (rows - 1) * columns * (columns - 1))
