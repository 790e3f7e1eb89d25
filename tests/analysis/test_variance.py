"""The shares of variance are those of simulated results whose shares are known, and the intervals hold them."""

from __future__ import annotations

from math import sqrt
from random import Random
from statistics import fmean, stdev

import pytest

from harness.analysis.variance import mean_of_cells, variance_shares

DESIGNS = 100
"""Simulated designs of each kind."""


def centred(draw, size):
    values = [draw() for _ in range(size)]
    mean = fmean(values)
    return [value - mean for value in values]


def simulated(rng, spreads, seats=3, rounds=6, tables=1, deals=8, two_valued=False):
    """Results of a design, with effects of these spreads; the sum over the seats of a match is always 0."""
    draw = (lambda: rng.choice((-1.0, 1.0))) if two_valued else (lambda: rng.gauss(0, 1))
    scale = sqrt(seats / (seats - 1))  # a draw that was centred among the seats has less variance
    bots, deal, _, rest = (spread * scale for spread in spreads)
    of_seat = [[-1.0, 0.0, 1.0][at] * sqrt(1.5) * spreads[2] for at in range(seats)]
    of_deal = [centred(draw, seats) for _ in range(deals)]
    results = []
    for _ in range(rounds):
        members = []
        for _ in range(tables):
            skill = centred(draw, seats)
            cells = [[[0.0] * seats for _ in range(deals)] for _ in range(seats)]
            for at in range(deals):
                for turn in range(seats):
                    noise = centred(draw, seats)
                    for member in range(seats):
                        place = (member + turn) % seats
                        cells[member][at][place] = (
                            bots * skill[member] + deal * of_deal[at][place] + of_seat[place] + rest * noise[member]
                        )
            members += cells
        results.append(members)
    return results


@pytest.mark.parametrize(
    ("spreads", "two_valued"),
    [
        ((1.0, 0.0, 0.0, 1.0), False),
        ((0.5, 0.7, 0.3, 0.4), False),
        ((0.5, 0.7, 0.3, 0.4), True),
        ((0.0, 0.0, 0.0, 1.0), False),
    ],
)
def test_shares_of_simulated_results_are_unbiased_and_their_intervals_hold_them(spreads, two_valued):
    rng = Random(f"{spreads} {two_valued}")
    total = sum(spread**2 for spread in spreads)
    found = [variance_shares(simulated(rng, spreads, two_valued=two_valued)) for _ in range(DESIGNS)]
    # The estimated variances are unbiased. Shares are ratios, so they are compared with a wider margin.
    assert abs(fmean(one.variance for one in found) - total) < 4 * stdev(one.variance for one in found) / DESIGNS**0.5
    for place, (name, spread) in enumerate(zip(("bots", "deals", "seats", "rest"), spreads, strict=True)):
        variances = [getattr(one, name).value * one.variance for one in found]
        error = stdev(variances) / sqrt(DESIGNS)
        assert abs(fmean(variances) - spread**2) < 4 * error + 1e-9, name
        truth = spreads[place] ** 2 / total
        held = sum(getattr(one, name).low - 1e-9 <= truth <= getattr(one, name).high + 1e-9 for one in found)
        assert held >= 0.85 * DESIGNS, name


def test_the_four_shares_add_up_to_one():
    found = variance_shares(simulated(Random(1), (0.5, 0.7, 0.3, 0.4)))
    assert sum(one.value for one in (found.bots, found.deals, found.seats, found.rest)) == pytest.approx(1)


def test_results_that_are_all_ties_have_no_variance():
    assert variance_shares(simulated(Random(1), (0.0, 0.0, 0.0, 0.0))).bots.value == 0


def test_the_interval_of_a_mean_counts_deals_not_matches():
    """A hundred plays of one deal say no more about deals than one play."""
    rng = Random(1)
    deals = [rng.gauss(0, 1) for _ in range(10)]
    once = mean_of_cells([(0, at, value) for at, value in enumerate(deals)], 1, 10)
    often = mean_of_cells([(turn % 2, at, value) for at, value in enumerate(deals) for turn in range(100)], 2, 10)
    assert often.value == pytest.approx(once.value)
    assert often.high - often.low == pytest.approx(once.high - once.low)
    assert once.high - once.low == pytest.approx(2 * 2.262 * stdev(deals) / sqrt(10), rel=1e-3)
