"""Intervals over deals, tests of several hypotheses, and linear algebra."""

from __future__ import annotations

from itertools import product
from math import atan, inf, pi, sqrt
from random import Random

import numpy as np
import pytest

from harness.ratings import statistics
from harness.ratings.counts import SeatSums
from harness.ratings.skill import Difference
from harness.ratings.statistics import (
    MAX_EXACT_DEALS,
    PooledVariance,
    holm,
    inverse_of,
    mean_interval,
    place_ranges,
    share_interval,
    sign_flip_p_value,
    student_cdf,
    student_quantile,
    transformed,
)


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
    assert share_interval(0.7, 0.0, 0) == mean_interval(0.7, 0.0, 0) == (0.7, -inf, inf)


def test_the_interval_of_a_share_is_student_s_cut_off_at_0_and_1():
    assert share_interval(0.5, 0.0001, 200) == mean_interval(0.5, 0.0001, 200)
    assert share_interval(0.95, 0.01, 9) == (0.95, pytest.approx(0.95 - 0.2262, abs=1e-3), 1.0)
    assert share_interval(0.05, 0.01, 9).low == 0


def test_degrees_of_freedom_follow_satterthwaite():
    alone = PooledVariance()
    alone.add(4.0, 7)
    assert alone.freedom == pytest.approx(7)
    even = PooledVariance()
    for _ in range(10):
        even.add(1.0, 5)
    assert 50 * 0.9 < even.freedom <= 50
    uneven = PooledVariance()
    uneven.add(100.0, 3)
    uneven.add(0.01, 1000)
    assert uneven.freedom == pytest.approx(3, abs=0.01)
    assert PooledVariance().freedom == 0


# Claims.


def test_the_p_value_of_a_difference_is_two_sided_and_symmetric():
    assert 0.04 < Difference(1.0, 0.5, 29, 30).p_value < 0.06  # t = 2 with 29 degrees of freedom
    assert Difference(1.0, 0.5, 29, 30).p_value == Difference(-1.0, 0.5, 29, 30).p_value
    assert Difference(0.0, 0.0, 29, 30).p_value == 1
    assert Difference(9.0, 0.1, 29, 5).p_value == 2.0**-4, "five deals cannot show more"


def test_more_hypotheses_need_stronger_evidence():
    assert holm([0.04]) == [True]
    assert holm([0.04, 0.5, 0.6]) == [False, False, False]
    assert holm([0.04], level=0.96) == [True]
    assert holm([0.041], level=0.96) == [False]


def test_the_holm_procedure_tests_hypotheses_from_the_most_significant():
    assert holm([0.03, 0.001, 0.02]) == [True, True, True]
    assert holm([0.03, 0.03, 0.001]) == [False, False, True]
    assert holm([]) == []


def test_a_false_rejection_is_as_rare_as_the_level_says_for_dependent_tests():
    rng, wrong = Random(1), 0
    for _ in range(4000):
        common = rng.random()
        wrong += any(holm([common, 1 - common, rng.random()]))
    assert wrong / 4000 <= 0.05 + 0.01


def by_enumeration(values):
    """The share of all choices of signs with a sum at least as far from 0."""
    total = abs(sum(values))
    sums = [abs(sum(sign * value for sign, value in zip(signs, values, strict=True)))
            for signs in product((1, -1), repeat=len(values))]  # fmt: skip
    return sum(each >= total for each in sums) / len(sums)


@pytest.mark.parametrize(
    "values", [[], [0], [2], [2, 2, 2, 2, 2], [2, -2], [3, 1, -2, 0, 2, 2], [1, 2, 3, 4, -1, 5, 1, 0, 2, -3], [0, 0, 0]]
)
def test_the_sign_flip_test_counts_all_signs(values):
    assert sign_flip_p_value(values) == pytest.approx(by_enumeration(values))


def test_the_sign_flip_test_of_random_deals_equals_enumeration():
    rng = Random(2)
    for _ in range(50):
        values = [rng.randrange(-4, 6) for _ in range(rng.randrange(1, 11))]
        assert sign_flip_p_value(values) == pytest.approx(by_enumeration(values))


def test_many_deals_are_tested_by_student_s_test_which_is_close_to_the_exact_one(monkeypatch):
    rng = Random(3)
    many = [[rng.choice((-2, -1, 1, 2, 2)) for _ in range(MAX_EXACT_DEALS + 1)] for _ in range(30)]
    quick = [sign_flip_p_value(values) for values in many]
    monkeypatch.setattr(statistics, "MAX_EXACT_DEALS", 100)
    for values, p_value in zip(many, quick, strict=True):
        exact = sign_flip_p_value(values)
        assert p_value != exact
        assert p_value == pytest.approx(exact, rel=0.3, abs=0.05)
        assert sign_flip_p_value([*values, 0, 0]) == exact, "ties say nothing about a difference"
    assert sign_flip_p_value([2] * 40) == 2.0**-39


def test_student_s_test_of_equal_deals_has_the_exact_p_value():
    assert sign_flip_p_value([2] * 40) == 2.0**-39


def test_the_sign_flip_test_of_equal_bots_is_as_often_significant_as_it_says():
    for deals in (6, 8, 31):
        rng = Random(deals)
        significant = sum(
            sign_flip_p_value([rng.choice((-2, 0, 2)) for _ in range(deals)]) <= 0.05 for _ in range(2000)
        )
        assert significant / 2000 <= 0.05 + 0.015


def test_place_ranges_count_the_bots_that_are_significantly_better_and_worse():
    better = {(0, 2), (1, 2), (0, 3)}
    assert place_ranges(4, better) == [(1, 2), (1, 3), (3, 4), (2, 4)]
    assert place_ranges(3, set()) == [(1, 3)] * 3


# Linear algebra.


def test_matrices_are_inverted_and_multiplied():
    rng = np.random.default_rng(1)
    for size in (1, 2, 7, 30):
        root = rng.normal(size=(size, size))
        matrix, other = root @ root.T + np.eye(size), root + root.T
        assert np.allclose(inverse_of(matrix.tolist()), np.linalg.inv(matrix))
        assert np.allclose(transformed(matrix.tolist(), other.tolist()), matrix @ other @ matrix)
        assert np.allclose(transformed(root.tolist(), matrix.tolist()), root @ matrix @ root.T)
    assert inverse_of([]) == []
