from __future__ import annotations

import pytest

from harness.ratings.beat_rate import Difference, compact_letters, group_letter, place_ranges, significant_pairs


def known(values, error, freedom=29):
    """The differences between all pairs of these values."""
    return {
        (one, other): Difference(values[one] - values[other], error, freedom)
        for one in range(len(values))
        for other in range(one + 1, len(values))
    }


def test_the_probability_of_a_difference_is_one_sided_and_symmetric():
    assert 0.97 < Difference(1.0, 0.5, 29).cdf < 0.98  # t = 2 with 29 degrees of freedom
    assert Difference(1.0, 0.5, 29).cdf + Difference(-1.0, 0.5, 29).cdf == pytest.approx(1)
    assert Difference(0.0, 0.0, 29).cdf == 0.5


def test_more_bots_need_stronger_evidence():
    assert significant_pairs(known([1.1, 0.0], error=0.5)) == {(0, 1)}
    assert (0, 1) not in significant_pairs(known([1.1, 0.0, 0.5, 0.55, 0.6], error=0.5))


def test_the_holm_procedure_tests_claims_from_the_most_significant():
    # Twice the one-sided doubt of t = 2.3 is 0.029: too much for three pairs, enough for the last of them.
    assert significant_pairs(known([10.0, 1.15, 0.0], error=0.5)) == {(0, 1), (0, 2), (1, 2)}
    assert (1, 2) not in significant_pairs(known([1.15, 1.15, 0.0], error=0.5))


def test_a_missing_pair_is_not_claimed():
    assert significant_pairs({}) == set()
    assert significant_pairs({(0, 1): Difference(-9.0, 0.1, 29)}) == {(1, 0)}


def test_place_ranges_count_the_bots_that_are_significantly_better_and_worse():
    better = {(0, 2), (1, 2), (0, 3)}
    assert place_ranges(4, better) == [(1, 2), (1, 3), (3, 4), (2, 4)]


@pytest.mark.parametrize("bots", [4, 24, 100])
@pytest.mark.parametrize("near", [0, 1, 5, 200])
def test_two_bots_share_a_letter_exactly_if_they_are_not_separated(bots, near):
    """Each is told apart from all that are more than `near` places away."""
    better = {(one, other) for one in range(bots) for other in range(bots) if other - one > near}
    letters = compact_letters(range(bots), better)
    for one in range(bots):
        for other in range(bots):
            if one != other:
                apart = (one, other) in better or (other, one) in better
                assert apart == (not set(letters[one]) & set(letters[other]))
    assert all(letters.values())
    assert letters[0][0] == "a"
    if near == 200:
        assert set(letters.values()) == {("a",)}


def test_groups_are_lettered_like_spreadsheet_columns():
    assert [group_letter(number) for number in (0, 25, 26, 27, 701, 702)] == ["a", "z", "aa", "ab", "zz", "aaa"]
