from __future__ import annotations

from random import Random

import pytest

from harness.core.errors import StoreError
from harness.core.types import Fault
from harness.ratings import OVERALL, Ratings, RatingSet, in_schedule_order, leaderboard, rate_records
from harness.ratings.ratings import MATCHES, MOST_DEALS, SCORE
from tests.ratings.simulate import World, record, tournament


def small(deals=6, game="sim", seed=1, first=0):
    world = World([0.0, 0.2, 0.5, 0.9], 3)
    for one in tournament(world, deals, Random(seed)):
        yield record(one.seats, one.scores, index=first + one.index, seed=one.seed, game=game)


def facts(ratings):
    """Everything that a book holds, to the last bit."""
    return (
        ratings.standing(),
        ratings.draw_probability,
        [(deal.bots, deal.stages, deal.seats) for deal in ratings.evidence.deals],
        ratings.evidence.ahead,
        leaderboard(ratings),
    )


def test_shuffling_the_records_changes_nothing():
    records = list(small())
    shuffled = Random(7).sample(records, len(records))
    assert facts(rate_records(shuffled)["sim"]) == facts(rate_records(records)["sim"])


def test_a_live_book_fed_in_schedule_order_equals_the_rebuilt_one():
    records = [*small(), *small(game="other", seed=2, first=72)]
    rating_set = RatingSet()
    for one in records:
        rating_set.add(one)
    rebuilt = rate_records(reversed(records))
    assert list(rating_set.rated()) == ["other", "sim", OVERALL] == list(rebuilt)
    assert all(facts(rating_set.rated()[name]) == facts(ratings) for name, ratings in rebuilt.items())


def test_the_book_over_all_games_holds_what_came_before_the_second_game():
    records = [*small(), *small(game="other", seed=2, first=72)]
    plain = Ratings()
    for one in records:
        plain.add(one)
    assert facts(rate_records(records)[OVERALL]) == facts(plain)
    assert facts(rate_records(records)["sim"]) == facts(rate_records(small())["sim"])


def test_removing_a_bot_s_matches_equals_a_run_that_never_rated_them():
    records = list(small())
    fewer = [one for one in records if "bot3" not in one.seats]
    plain = Ratings()
    for one in records:
        if "bot3" not in one.seats:
            plain.add(one)
    assert 0 < len(fewer) < len(records)
    assert facts(rate_records(fewer)["sim"]) == facts(plain)


def test_records_come_out_in_order_as_soon_as_they_are_due():
    records = list(small(1))
    got = in_schedule_order(iter([records[1], records[0], records[3], records[2]]))
    assert [next(got).index for _ in range(4)] == [0, 1, 2, 3]
    gaps = [records[5], records[2], records[0]]
    assert [one.index for one in in_schedule_order(gaps)] == [0, 2, 5]


@pytest.mark.parametrize("places", [(0, 0), (1, 1), (0, 1, 0)])
def test_a_match_is_rated_once(places):
    with pytest.raises(StoreError, match="'arena verify' says which"):
        rate_records(record("ab", (1, 2), index=place) for place in places)


def test_draws_are_as_likely_as_the_records_say():
    drawn, decided = Ratings(), Ratings()
    for turn in range(1000):
        drawn.add(record("ab", (1, 1), index=turn))
        decided.add(record("ab", (turn % 2, (turn + 1) % 2), index=turn))
    assert drawn.draw_probability == pytest.approx(0.991, abs=0.001)
    assert decided.draw_probability == pytest.approx(0.001, abs=0.001)


def test_sums_add_up():
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


def test_a_bot_that_meets_itself_or_nobody_is_counted_but_not_rated():
    ratings = Ratings()
    ratings.add(record("aab", (3, 2, 1)))
    ratings.add(record("a", (3,), index=1))
    assert (ratings.lines["a"].matches, ratings.lines["b"].matches) == (3, 1)
    assert ratings.lines["a"].mu == ratings.lines["b"].mu
    assert ratings.evidence.deals == []


@pytest.mark.parametrize("broken", [{"scores": (1,)}, {"ranks": (1,)}, {"ranks": (1, 2, 3)}])
def test_a_record_that_contradicts_itself_is_named(broken):
    given = {"scores": (2, 1), "ranks": (1, 2), **broken}
    with pytest.raises(StoreError, match=r"The record sim-1\.1\.0 does not have"):
        Ratings().add(record("ab", **given))


def test_memory_is_bounded_and_nothing_is_lost_when_deals_are_put_together():
    ratings, rng = Ratings(), Random(4)
    for turn in range(3 * MOST_DEALS):
        ratings.add(record("ab", (rng.randrange(9), rng.randrange(9)), index=turn, seed=10_000 + turn))
    late = record("ab", (100, 0), index=9999, seed=10_000)  # a straggler of the first deal
    ratings.add(late)
    deals = ratings.evidence.deals
    assert MOST_DEALS / 2 <= len(deals) <= MOST_DEALS
    assert sum(deal.bots[0][MATCHES] for deal in deals) == 3 * MOST_DEALS + 1
    assert sum(deal.bots[0][SCORE] for deal in deals) == ratings.lines["a"].score_sum
    assert sum(sum(deal.stages.values()) for deal in deals) == 3 * MOST_DEALS + 1
    assert deals[0].bots[0][MATCHES] == deals[1].bots[0][MATCHES] + 1


def test_putting_deals_together_hardly_changes_the_intervals(monkeypatch):
    records = list(tournament(World([0.0, 0.3], 2), 480, Random(11)))
    whole = leaderboard(rate_records(records)["sim"])
    monkeypatch.setattr("harness.ratings.ratings.MOST_DEALS", 128)
    merged = rate_records(records)["sim"]
    assert len(merged.evidence.deals) == 120
    for one, other in zip(whole.standings, leaderboard(merged).standings, strict=True):
        assert other.score.value == pytest.approx(one.score.value)
        assert other.score.reach == pytest.approx(one.score.reach, rel=0.2)
        assert other.strength == pytest.approx(one.strength)


def test_a_leader_that_the_two_methods_disagree_about_is_reported():
    # Many ordinary matches make "old" certain; "new" won against it whenever they met, but seldom did.
    played = [record(("old", "weak"), (1, 0) if turn % 4 else (0, 1), index=turn, seed=turn) for turn in range(200)]
    played += [record(("new", "old"), (1, 0), index=200 + turn, seed=200 + turn) for turn in range(4)]
    board = leaderboard(rate_records(played)["sim"])
    assert board.standings[0].line.bot == "old"
    assert any("puts new first" in note for note in board.notes)
