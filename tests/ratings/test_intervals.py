from __future__ import annotations

from math import atan, inf, pi, sqrt
from random import Random

import pytest

from harness.ratings.evidence import SeatSums, mean_interval, student_cdf, student_quantile, wilson_interval


def sums_of(deals):
    found = SeatSums()
    for count, total in deals:
        found.add_deal(count, total, 0.0, 0.0)
    return found


@pytest.mark.parametrize(
    ("freedom", "printed"),  # the 97.5% column of the tables in every textbook
    [(1, 12.706), (2, 4.303), (5, 2.571), (9, 2.262), (30, 2.042), (120, 1.980), (100_000, 1.960)],
)
def test_quantiles_match_published_tables(freedom, printed):
    assert student_quantile(0.975, freedom) == pytest.approx(printed, abs=6e-4)


def test_one_and_two_degrees_of_freedom_have_closed_forms():
    for t in (-3.0, -0.4, 0.0, 0.7, 12.0):
        assert student_cdf(t, 1) == pytest.approx(0.5 + atan(t) / pi, abs=1e-12)
        assert student_cdf(t, 2) == pytest.approx(0.5 + t / (2 * sqrt(2 + t * t)), abs=1e-12)


def test_a_mean_over_single_matches_has_the_classical_interval():
    values = [3.0, 5.0, 4.0, 8.0, 6.0]
    got = sums_of((1, value) for value in values).mean_score
    deviation = sqrt(sum((value - 5.2) ** 2 for value in values) / 4)
    assert got.value == pytest.approx(5.2)
    assert got.reach == pytest.approx(student_quantile(0.975, 4) * deviation / sqrt(5))


def test_identical_matches_of_a_deal_count_once():
    once = sums_of((1, value) for value in (3.0, 5.0, 4.0)).mean_score
    often = sums_of((10, 10 * value) for value in (3.0, 5.0, 4.0)).mean_score
    assert often == pytest.approx(once)


def test_it_agrees_with_a_block_bootstrap_where_there_are_many_deals():
    rng = Random(3)
    deals = [(count, rng.gauss(2, 1) * count) for count in (rng.randrange(2, 9) for _ in range(200))]
    means = []
    for _ in range(2000):
        drawn = rng.choices(deals, k=len(deals))
        means.append(sum(total for _, total in drawn) / sum(count for count, _ in drawn))
    means.sort()
    got = sums_of(deals).mean_score
    assert got.low == pytest.approx(means[50], abs=0.04 * got.reach + 0.01)
    assert got.high == pytest.approx(means[1949], abs=0.04 * got.reach + 0.01)


def test_one_deal_has_no_interval():
    assert sums_of([(4, 10.0)]).mean_score == (2.5, -inf, inf)
    assert wilson_interval(0.7, 0.0, 0, 4) == (0.7, -inf, inf)


def test_the_interval_of_a_share_stays_between_0_and_1_and_never_has_zero_width():
    always = wilson_interval(1.0, 0.0, 9, 40)
    assert always.value == always.high == 1
    assert 0.85 < always.low < 0.95
    assert wilson_interval(1.03, 0.0, 9, 40) == always, "what the fit finds may lie outside"
    low, high = wilson_interval(0.1, 0.01, 9, 40)[1:]
    assert 0 < low < 0.1
    assert high - 0.1 > 0.1 - low, "it reaches farther towards the middle"


def test_near_one_half_the_interval_of_a_share_equals_student_s():
    plain, share = mean_interval(0.5, 0.0001, 200), wilson_interval(0.5, 0.0001, 200, 1000)
    assert share.low == pytest.approx(plain.low, abs=0.001)
    assert share.high == pytest.approx(plain.high, abs=0.001)


def test_wilson_intervals_match_a_textbook_example():
    # 81 of 263: 25.5% to 36.6% (Newcombe 1998, method 3); the imaginary matches widen it by a hair.
    share = 81 / 263
    found = wilson_interval(share, share * (1 - share) / 263, 1e6, 263)
    assert (found.low, found.high) == (pytest.approx(0.2553, abs=0.002), pytest.approx(0.3662, abs=0.002))
