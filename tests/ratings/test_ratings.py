from __future__ import annotations

import tracemalloc
from random import Random

import pytest

from harness.core.errors import StoreError
from harness.core.records import Fault, in_schedule_order
from harness.ratings.evidence import Evidence
from harness.ratings.leaderboard import RatingSet, in_order, leaderboard, rate_records
from harness.ratings.trueskill import Ratings
from tests.ratings.simulate import World, record, tournament


def small(deals=6, game="sim", seed=1, first=0):
    world = World([0.0, 0.2, 0.5, 0.9], 3)
    for one in tournament(world, deals, Random(seed)):
        yield record(one.seats, one.scores, index=first + one.index, seed=one.seed, game=game)


def facts(ratings):
    """Everything that a book holds, to the last bit."""
    return (
        in_order(ratings),
        ratings.draw_probability,
        [(kind, list(values)) for _, kind, values in ratings.evidence.deals()],
        ratings.evidence.meetings,
        ratings.evidence.stages.counts,
        leaderboard(ratings),
    )


def test_shuffling_the_records_changes_nothing():
    records = list(small())
    shuffled = Random(7).sample(records, len(records))
    assert facts(rate_records(shuffled)["sim"]) == facts(rate_records(records)["sim"])


def test_incremental_ratings_equal_rebuilt_ratings():
    records = [*small(), *small(game="other", seed=2, first=72)]
    rating_set = RatingSet()
    for one in records:
        rating_set.add(one)
    rebuilt = rate_records(reversed(records))
    assert list(rating_set.rated()) == ["other", "sim"] == list(rebuilt)
    assert all(facts(rating_set.rated()[name]) == facts(ratings) for name, ratings in rebuilt.items())


def test_removing_a_bot_s_matches_equals_a_run_that_never_rated_them():
    records = list(small())
    fewer = [one for one in records if "bot3" not in one.seats]
    plain = Ratings()
    for one in records:
        if "bot3" not in one.seats:
            plain.add(one)
    assert 0 < len(fewer) < len(records)
    assert facts(rate_records(fewer)["sim"]) == facts(plain)


def test_records_are_yielded_in_schedule_order_without_waiting_for_all():
    records = list(small(1))
    got = in_schedule_order(iter([records[1], records[0], records[3], records[2]]))
    assert [next(got).index for _ in range(4)] == [0, 1, 2, 3]
    gaps = [records[5], records[2], records[0]]
    assert [one.index for one in in_schedule_order(gaps)] == [0, 2, 5]


@pytest.mark.parametrize("places", [(0, 0), (1, 1), (0, 1, 0)])
def test_a_match_is_rated_once(places):
    with pytest.raises(StoreError, match="'arena verify' says which"):
        rate_records(record("ab", (1, 2), index=place) for place in places)


def test_the_draw_probability_is_estimated_from_the_records():
    drawn, decided = Ratings(), Ratings()
    for turn in range(1000):
        drawn.add(record("ab", (1, 1), index=turn))
        decided.add(record("ab", (turn % 2, (turn + 1) % 2), index=turn))
    assert drawn.draw_probability == pytest.approx(0.991, abs=0.001)
    assert decided.draw_probability == pytest.approx(0.001, abs=0.001)


def test_wins_ranks_scores_times_and_faults_are_summed():
    ratings = Ratings()
    ratings.add(record("abc", (5, 5, 1), time=(1.0, 2.0, 3.0), faults=(Fault(2, "illegal", 0), Fault(2, "timeout", 1))))
    ratings.add(record("bca", (3, 2, 1), index=1))
    a, b, c = (ratings.lines[name] for name in "abc")
    assert (a.wins, b.wins, c.wins) == (0.5, 1.5, 0)
    assert (a.rank_sum, b.rank_sum, c.rank_sum) == (4, 2, 5)
    assert (a.score_sum, a.time, c.time, c.faults, c.matches) == (6, 1.0, 3.0, 1, 2)
    assert ratings.evidence.finished_ahead(a.number, b.number) == (0.5, 2)
    assert ratings.evidence.finished_ahead(b.number, a.number) == (1.5, 2)
    assert ratings.evidence.finished_ahead(b.number, c.number) == (2, 2)


def test_a_bot_that_plays_itself_or_alone_is_counted_but_not_rated():
    ratings = Ratings()
    ratings.add(record("aab", (3, 2, 1)))
    ratings.add(record("a", (3,), index=1))
    assert (ratings.lines["a"].matches, ratings.lines["b"].matches) == (3, 1)
    assert ratings.lines["a"].mu == ratings.lines["b"].mu
    assert ratings.evidence.deal_count() == 0
    assert [one.ahead for one in leaderboard(ratings).standings] == [None, None]


@pytest.mark.parametrize("broken", [{"scores": (1,)}, {"ranks": (1,)}, {"ranks": (1, 2, 3)}])
def test_a_record_that_contradicts_itself_is_named(broken):
    given = {"scores": (2, 1), "ranks": (1, 2), **broken}
    with pytest.raises(StoreError, match=r"The record sim-1\.1\.0 does not have"):
        Ratings().add(record("ab", **given))


def test_matches_of_a_deal_are_grouped_even_if_they_are_not_consecutive():
    plain, mixed = Ratings(), Ratings()
    matches = [record("ab", (turn % 3, 1), index=turn, seed=turn // 2) for turn in range(40)]
    for one in matches:
        plain.add(one)
    for one in Random(3).sample(matches, 40):
        mixed.add(one)
    assert mixed.evidence.deal_count() == plain.evidence.deal_count() == 20
    assert leaderboard(mixed).standings[0].ahead == leaderboard(plain).standings[0].ahead


def test_a_million_matches_take_some_tens_of_megabytes():
    """Counted in a hundredth of them, at tables that never come again, which is the worst case."""
    rng, evidence = Random(1), Evidence()
    results = [tuple(rng.sample((1, 2, 3, 4), 4)) for _ in range(24)]

    def play(deals):
        for deal in deals:
            table = rng.sample(range(100), 4)
            for turn in range(4):
                evidence.add_match(deal, table[turn:] + table[:turn], results[rng.randrange(24)], (1, 2, 3, 4))

    play(range(5_000))  # what does not grow with the run: pairs, and as many stages as are kept
    tracemalloc.start()
    play(range(5_000, 7_500))
    held, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert evidence.deal_count() == 7_500
    assert 100 * held < 150e6


def test_a_note_reports_if_the_two_methods_have_different_leaders():
    # "star" is first in 76 of 100 matches and last in the others, "steady" next to it or first.
    names = ("steady", "star", "c", "d")
    played = [
        record(names, (3, 4, 2, 1) if turn % 50 < 38 else (4, 1, 3, 2), index=turn, seed=turn) for turn in range(100)
    ]
    board = leaderboard(rate_records(played)["sim"])
    assert board.standings[0].line.bot == "star"
    assert any("puts steady first" in note for note in board.notes)
