from __future__ import annotations

from math import log, sqrt
from random import Random

import pytest

from harness.ratings import rate_records
from harness.ratings.plackett_luce import fit
from tests.ratings.simulate import World, record, tournament

NO_PRIOR = 1e-9


def book_of(records):
    return rate_records(records)["sim"]


def strengths(ratings, prior=NO_PRIOR):
    found = fit(ratings.evidence.deals, len(ratings.lines), prior)
    return {name: found.values[line.number] for name, line in ratings.lines.items()}


def test_it_finds_what_choix_finds():
    world = World([0.0, 0.3, 0.5, 0.9, 1.4], 3)
    records = [one for one in tournament(world, 12, Random(5)) if len(set(one.ranks)) == 3]
    # choix 0.4.1: opt_rankings and ilsr_rankings give these for the same rankings, centred.
    by_choix = [-0.424372, -0.188917, -0.302537, 0.190939, 0.724886]
    found = strengths(book_of(records))
    assert [found[name] for name in world.bots] == pytest.approx(by_choix, abs=2e-6)


def test_two_bots_have_the_logarithm_of_the_odds():
    won = [record("ab", (2, 1) if turn % 4 else (1, 2), index=turn, seed=turn) for turn in range(40)]
    found = strengths(book_of(won))
    assert found["a"] - found["b"] == pytest.approx(log(3), abs=1e-6)


def test_a_tie_is_half_a_win_for_each():
    halves = [record("ab", (1, 1), index=turn, seed=turn) for turn in range(20)]
    halves += [record("ab", (2, 1), index=20 + turn, seed=20 + turn) for turn in range(20)]
    assert strengths(book_of(halves))["a"] == pytest.approx(log(3) / 2, abs=1e-6)


def test_tied_bots_count_as_every_order_of_them():
    tied = [record("abcd", (9, 5, 5, 1), index=turn, seed=turn) for turn in range(30)]
    tied += [record("abcd", (1, 5, 5, 9), index=30 + turn, seed=30 + turn) for turn in range(10)]
    orders = [((9, 5, 4, 1), 15), ((9, 4, 5, 1), 15), ((1, 5, 4, 9), 5), ((1, 4, 5, 9), 5)]
    spelt = [scores for scores, count in orders for _ in range(count)]
    untied = [record("abcd", scores, index=turn, seed=turn) for turn, scores in enumerate(spelt)]
    assert strengths(book_of(tied)) == pytest.approx(strengths(book_of(untied)), abs=1e-9)


def test_the_order_of_the_matches_does_not_matter():
    records = list(tournament(World([0.0, 0.1, 0.2, 0.3], 3), 6, Random(1)))
    shuffled = Random(2).sample(records, len(records))
    again = [record(one.seats, one.scores, index=place, seed=one.seed) for place, one in enumerate(shuffled)]
    assert strengths(book_of(again)) == pytest.approx(strengths(book_of(records)), abs=1e-9)


def test_a_bot_that_never_lost_is_strong_but_not_infinitely():
    always = [record("abc", (9, 5, 1), index=turn, seed=turn) for turn in range(50)]
    found = fit(book_of(always).evidence.deals, 3)
    assert 3 < found.values[0] - found.values[1] < 8
    assert found.difference(0, 1)[1] > 0.3


def test_the_errors_are_those_of_a_block_bootstrap():
    ratings = book_of(tournament(World([0.0, 0.2, 0.4, 0.7], 3), 60, Random(8)))
    deals, rng = ratings.evidence.deals, Random(9)
    drawn = [fit(rng.choices(deals, k=len(deals)), 4) for _ in range(300)]
    found = fit(deals, 4)
    for one, other in ((0, 1), (0, 3), (2, 3)):
        differences = [again.values[one] - again.values[other] for again in drawn]
        middle = sum(differences) / 300
        spread = sqrt(sum((each - middle) ** 2 for each in differences) / 299)
        assert found.difference(one, other)[1] == pytest.approx(spread, rel=0.15)


def test_matches_that_repeat_each_other_are_one_proof():
    once = [record("ab", (2, 1) if turn % 3 else (1, 2), index=turn, seed=turn) for turn in range(30)]
    often = [record("ab", one.scores, index=10 * one.index + copy, seed=one.seed) for one in once for copy in range(10)]
    alone, repeated = (fit(book_of(which).evidence.deals, 2, NO_PRIOR).difference(0, 1)[1] for which in (once, often))
    assert repeated == pytest.approx(alone, rel=1e-4)
