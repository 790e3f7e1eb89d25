from __future__ import annotations

from itertools import permutations
from math import factorial, log
from random import Random

import pytest

from harness.ratings.leaderboard import leaderboard, rate_records
from harness.ratings.plackett_luce import fit
from tests.ratings.simulate import World, record, tournament

NO_PRIOR = 1e-9


def book_of(records):
    return rate_records(records)["sim"]


def strengths(ratings, prior=NO_PRIOR):
    found = fit(ratings.evidence.stages, len(ratings.lines), prior)
    return {name: found[line.number] for name, line in ratings.lines.items()}


def test_strengths_equal_those_of_choix():
    world = World([0.0, 0.3, 0.5, 0.9, 1.4], 3)
    records = [one for one in tournament(world, 12, Random(5)) if len(set(one.ranks)) == 3]
    # choix 0.4.1: opt_rankings and ilsr_rankings give these for the same rankings, centred.
    by_choix = [-0.424372, -0.188917, -0.302537, 0.190939, 0.724886]
    found = strengths(book_of(records))
    assert [found[name] for name in world.bots] == pytest.approx(by_choix, abs=2e-6)


def test_the_strength_difference_of_two_bots_is_their_log_odds():
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


DECISIVE = [(6, 5, 4, 3, 2, 1, 0), (0, 6, 5, 1, 2, 3, 4), (3, 1, 6, 2, 0, 5, 4), (5, 4, 3, 6, 2, 0, 1)]


def with_ties(tied, apart):
    """Seven bots: the matches of DECISIVE, and ones in which the first `tied` tie or, `apart`, stand in any order."""
    names = "abcdefg"
    worse = tuple(-place for place in range(1, len(names) - tied + 1))
    orders = list(permutations(range(tied))) if apart else [(0,) * tied] * factorial(tied)
    scores = [*((*order, *worse) for order in orders), *(one for one in DECISIVE for _ in range(20))]
    return [record(names, one, index=turn, seed=turn) for turn, one in enumerate(scores)]


@pytest.mark.parametrize("tied", [2, 3, 4, 5, 6])
def test_ties_equal_the_average_over_all_orders(tied):
    exact = strengths(book_of(with_ties(tied, apart=True)))
    assert strengths(book_of(with_ties(tied, apart=False))) == pytest.approx(exact, abs=1e-7)


@pytest.mark.parametrize("tied", [3, 4, 5, 6])
def test_large_ties_are_approximated_closely(tied, monkeypatch):
    exact = strengths(book_of(with_ties(tied, apart=False)))
    monkeypatch.setattr("harness.ratings.evidence.MAX_ENUMERATED_TIES", 1)
    near = strengths(book_of(with_ties(tied, apart=False)))
    assert near != exact
    assert near == pytest.approx(exact, abs=0.01)


@pytest.mark.parametrize("seats", [20, 60])
@pytest.mark.parametrize("tied", ["all", "halves"])
def test_a_deal_with_many_tied_seats_is_rated_quickly(seats, tied):
    """Every order of 20 bots has a million stages; this would not end."""
    names = [f"bot{number}" for number in range(seats)]
    scores = [0 if tied == "all" else 2 * number // seats for number in range(seats)]
    turns = range(4)
    matches = [record(names[t:] + names[:t], scores[t:] + scores[:t], index=t, seed=1) for t in turns]
    ratings = book_of(matches)
    stages = ratings.evidence.stages
    assert len(stages.counts) == seats - 1
    assert sum(stages.counts.values()) == pytest.approx(len(turns) * (seats - 1))
    assert sum(stages.chosen.values()) == pytest.approx(len(turns) * (seats - 1))
    standings = leaderboard(ratings).standings
    groups = {round(one.strength, 6) for one in standings}
    assert len(groups) == (1 if tied == "all" else 2)
    assert {one.line.bot for one in standings if one.strength > 1e-6} <= set(names[seats // 2 :])


def test_the_order_of_the_matches_does_not_matter():
    records = list(tournament(World([0.0, 0.1, 0.2, 0.3], 3), 6, Random(1)))
    shuffled = Random(2).sample(records, len(records))
    again = [record(one.seats, one.scores, index=place, seed=one.seed) for place, one in enumerate(shuffled)]
    assert strengths(book_of(again)) == pytest.approx(strengths(book_of(records)), abs=1e-9)


def test_a_bot_that_never_lost_is_strong_but_not_infinitely():
    always = [record("abc", (9, 5, 1), index=turn, seed=turn) for turn in range(50)]
    found = fit(book_of(always).evidence.stages, 3)
    assert 3 < found[0] - found[1] < 8


def test_the_number_of_stages_kept_for_a_large_field_is_limited(monkeypatch):
    records = list(tournament(World([0.1 * bot for bot in range(8)], 3), 3, Random(1)))
    whole = book_of(records).evidence.stages
    monkeypatch.setattr("harness.ratings.evidence.MAX_STAGES", 20)
    part = book_of(records).evidence.stages
    assert 20 <= len(part.counts) < 23 < len(whole.counts)
    assert sum(part.chosen.values()) == pytest.approx(sum(part.counts.values())), "no match is read by half"
