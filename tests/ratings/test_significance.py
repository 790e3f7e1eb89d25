from __future__ import annotations

from harness.ratings.plackett_luce import Strengths
from harness.ratings.significance import bands, confidence, reach, told_apart


def known(values, error, deals=30):
    size = len(values)
    covariance = [[error**2 / 2 if i == j else 0.0 for j in range(size)] for i in range(size)]
    return Strengths(list(values), covariance, [deals] * size)


def test_sureness_is_one_sided_and_symmetric():
    strengths = known([1.0, 0.0], error=0.5)
    sure = confidence(strengths, 0, 1)
    assert 0.97 < sure < 0.98  # t = 2 with 29 degrees of freedom
    assert abs(confidence(strengths, 1, 0) + sure - 1) < 1e-12


def test_one_deal_says_nothing():
    assert confidence(known([5.0, 0.0], error=0.1, deals=1), 0, 1) is None
    assert told_apart(known([5.0, 0.0], error=0.1, deals=1)) == set()


def test_more_bots_need_more_proof():
    assert told_apart(known([1.1, 0.0], error=0.5)) == {(0, 1)}
    assert (0, 1) not in told_apart(known([1.1, 0.0, 0.5, 0.55, 0.6], error=0.5))


def test_holm_goes_on_from_the_surest_claim_to_the_next():
    # Twice the one-sided doubt of t = 2.3 is 0.029: too much for three pairs, enough for the last of them.
    strengths = known([10.0, 1.15, 0.0], error=0.5)
    assert told_apart(strengths) == {(0, 1), (0, 2), (1, 2)}
    assert (1, 2) not in told_apart(known([1.15, 1.15, 0.0], error=0.5))


def test_a_band_ends_only_where_all_above_are_better_than_all_below():
    assert bands([0, 1, 2], set()) == [1, 1, 1]
    assert bands([0, 1, 2], {(0, 2)}) == [1, 1, 1]
    assert bands([0, 1, 2], {(0, 2), (1, 2)}) == [1, 1, 3]
    assert bands([2, 0, 1], {(2, 0), (2, 1), (0, 1)}) == [1, 2, 3]
    assert bands([1, 0], {(0, 1)}) == [1, 1], "a claim against the table's order makes no band"
    assert bands([], set()) == []


def test_reach_counts_those_that_are_surely_better_and_worse():
    better = {(0, 2), (1, 2), (0, 3)}
    assert [reach(bot, 4, better) for bot in range(4)] == [(1, 2), (1, 3), (3, 4), (2, 4)]
