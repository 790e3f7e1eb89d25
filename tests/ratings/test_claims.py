"""What mutants lived on: figures of the leaderboard and of a comparison, each by its definition."""

from __future__ import annotations

from itertools import pairwise
from math import log
from random import Random

import pytest

from harness.ratings import leaderboard, rate_records
from harness.ratings.leaderboard import ELO
from harness.ratings.plackett_luce import fit
from harness.ratings.question import Question
from harness.ratings.significance import confidence
from harness.ratings.units import matches_of
from tests.ratings.simulate import World, record, tournament


@pytest.fixture(scope="module")
def ratings():
    return rate_records(tournament(World((0.0, 0.3, 0.6, 1.0), 3), 12, Random(3)))["sim"]


def test_sure_is_about_the_next_line(ratings):
    strengths = fit(ratings.evidence.deals, len(ratings.lines))
    standings = leaderboard(ratings).standings
    for above, below in pairwise(standings):
        assert above.sure == confidence(strengths, above.line.number, below.line.number)
    assert standings[-1].sure is None


def test_a_bot_ten_times_as_strong_is_400_points_better(ratings):
    assert pytest.approx(400) == ELO * log(10)
    strengths = fit(ratings.evidence.deals, len(ratings.lines))
    for standing in leaderboard(ratings).standings:
        assert standing.strength == pytest.approx(ELO * strengths.values[standing.line.number])


def test_a_bot_alone_needs_no_note():
    assert leaderboard(rate_records([record("a", (1,)), record("a", (2,), index=1)])["sim"]).notes == []


def test_two_deals_are_the_fewest_that_say_something():
    one, two = (rate_records(tournament(World((0.0, 1.0), 2), deals, Random(1)))["sim"] for deals in (1, 2))
    assert leaderboard(one).standings[0].sure is None
    assert leaderboard(two).standings[0].sure is not None


def test_matches_of_a_set_are_counted_from_one():
    first = next(matches_of(Question(one="a", other="b", game="sim", settings={}), "pair", 1, 0))
    assert (first.id, first.set, first.index) == ("sim-1.1", "sim-1", 0)


def test_the_note_on_a_single_deal_is_for_a_single_deal(ratings):
    assert not any("one deal" in note for note in leaderboard(ratings).notes)
    one = rate_records(tournament(World((0.0, 1.0), 2), 1, Random(1)))["sim"]
    assert "one deal" in leaderboard(one).notes[0]
