"""Figures of the leaderboard and of a comparison, each by its definition."""

from __future__ import annotations

from itertools import pairwise
from math import inf, log
from random import Random

import pytest

from harness.comparison.sampling_units import ComparisonSpec, unit_matches
from harness.ratings.beat_rate import prob_better
from harness.ratings.leaderboard import ELO, leaderboard, rate_records
from harness.ratings.plackett_luce import fit
from tests.ratings.simulate import World, record, tournament


@pytest.fixture(scope="module")
def ratings():
    return rate_records(tournament(World((0.0, 0.3, 0.6, 1.0), 3), 12, Random(3)))["sim"]


def test_sure_is_the_probability_of_being_better_than_the_next_bot(ratings):
    board = leaderboard(ratings)
    better = prob_better(board.fit)
    for above, below in pairwise(board.standings):
        assert above.sure == better(board.fit.difference(above.line.number, below.line.number))
    assert board.standings[-1].sure is None


def test_a_bot_ten_times_as_strong_is_400_points_better(ratings):
    assert pytest.approx(400) == ELO * log(10)
    strengths = fit(ratings.evidence.stages, len(ratings.lines))
    for standing in leaderboard(ratings).standings:
        assert standing.strength == pytest.approx(ELO * strengths[standing.line.number])


def test_a_single_bot_has_no_notes():
    assert leaderboard(rate_records([record("a", (1,)), record("a", (2,), index=1)])["sim"]).notes == []


def test_sure_needs_at_least_two_deals():
    one, two = (rate_records(tournament(World((0.0, 1.0), 2), deals, Random(1)))["sim"] for deals in (1, 2))
    assert leaderboard(one).standings[0].sure is None
    assert leaderboard(two).standings[0].sure is not None


def test_matches_of_a_set_are_counted_from_one():
    first = next(unit_matches(ComparisonSpec(one="a", other="b", game="sim", settings={}), "pair", 1, 0))
    assert (first.id, first.set, first.index) == ("sim-1.1", "sim-1", 0)


def test_the_single_deal_note_appears_only_for_one_deal(ratings):
    assert not any("one deal" in note for note in leaderboard(ratings).notes)
    one = rate_records(tournament(World((0.0, 1.0), 2), 1, Random(1)))["sim"]
    assert "one deal" in leaderboard(one).notes[0]


def test_places_follow_the_ahead_column(ratings):
    board = leaderboard(ratings)
    assert [one.place for one in board.standings] == [1, 2, 3, 4]
    shares = [one.ahead.value for one in board.standings]
    assert shares == sorted(shares, reverse=True)


def test_groups_that_never_met_are_named_and_no_claim_links_them():
    played = [record(pair, (1, 0), index=turn, seed=turn) for turn, pair in enumerate(["ab", "cd"] * 20)]
    board = leaderboard(rate_records(played)["sim"])
    assert board.significant_pairs == {("a", "b"), ("c", "d")}
    (note,) = (note for note in board.notes if "never met" in note)
    assert "a, b; c, d" in note
    assert {one.line.bot for one in board.standings[:2]} == {"a", "c"}
    assert board.standings[0].sure is None


def test_bots_that_met_only_through_others_are_not_separated():
    played = [record(pair, (1, 0), index=turn, seed=turn) for turn, pair in enumerate(["ab", "bc"] * 40)]
    board = leaderboard(rate_records(played)["sim"])
    assert board.significant_pairs == {("a", "b"), ("b", "c")}
    assert [(one.best, one.worst) for one in board.standings] == [(1, 2), (2, 2), (2, 3)]


def test_if_results_decide_when_to_stop_only_anytime_claims_are_made(ratings):
    plain, board = leaderboard(ratings), leaderboard(ratings, anytime={("bot3", "bot0")})
    assert board.significant_pairs == {("bot3", "bot0")}
    assert {(one.line.bot, one.best, one.worst) for one in board.standings} == {
        ("bot3", 1, 3), ("bot2", 1, 4), ("bot1", 1, 4), ("bot0", 2, 4),
    }  # fmt: skip
    for one, other in zip(plain.standings, board.standings, strict=True):
        assert other.sure is None
        assert other.ahead == (one.ahead.value, -inf, inf)
        assert other.score == (one.score.value, -inf, inf)
    assert any("when to stop" in note for note in board.notes)
