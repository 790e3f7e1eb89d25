from __future__ import annotations

from random import Random

import pytest

from harness.errors import StoreError
from harness.ratings import OVERALL, Book, Shelf, books, certainty, in_schedule_order, leaderboard
from harness.ratings.evidence import MATCHES, MOST_DEALS, SCORE
from harness.types import Fault
from tests.ratings.simulate import World, record, tournament


def small(deals=6, game="sim", seed=1, first=0):
    world = World([0.0, 0.2, 0.5, 0.9], 3)
    for one in tournament(world, deals, Random(seed)):
        yield record(one.seats, one.scores, index=first + one.index, seed=one.seed, game=game)


def facts(book):
    """Everything that a book holds, to the last bit."""
    return (
        book.standing(),
        book.draw_probability,
        [(deal.bots, deal.stages, deal.seats) for deal in book.evidence.deals],
        book.evidence.ahead,
        leaderboard(book),
    )


def test_shuffling_the_records_changes_nothing():
    records = list(small())
    shuffled = Random(7).sample(records, len(records))
    assert facts(books(shuffled)["sim"]) == facts(books(records)["sim"])


def test_a_live_book_fed_in_schedule_order_equals_the_rebuilt_one():
    records = [*small(), *small(game="other", seed=2, first=72)]
    shelf = Shelf()
    for one in records:
        shelf.add(one)
    rebuilt = books(reversed(records))
    assert list(shelf.books()) == ["other", "sim", OVERALL] == list(rebuilt)
    assert all(facts(shelf.books()[name]) == facts(book) for name, book in rebuilt.items())


def test_the_book_over_all_games_holds_what_came_before_the_second_game():
    records = [*small(), *small(game="other", seed=2, first=72)]
    plain = Book()
    for one in records:
        plain.add(one)
    assert facts(books(records)[OVERALL]) == facts(plain)
    assert facts(books(records)["sim"]) == facts(books(small())["sim"])


def test_removing_a_bot_s_matches_equals_a_run_that_never_rated_them():
    records = list(small())
    fewer = [one for one in records if "bot3" not in one.seats]
    plain = Book()
    for one in records:
        if "bot3" not in one.seats:
            plain.add(one)
    assert 0 < len(fewer) < len(records)
    assert facts(books(fewer)["sim"]) == facts(plain)


def test_records_come_out_in_order_as_soon_as_they_are_due():
    records = list(small(1))
    got = in_schedule_order(iter([records[1], records[0], records[3], records[2]]))
    assert [next(got).index for _ in range(4)] == [0, 1, 2, 3]
    gaps = [records[5], records[2], records[0]]
    assert [one.index for one in in_schedule_order(gaps)] == [0, 2, 5]


@pytest.mark.parametrize("places", [(0, 0), (1, 1), (0, 1, 0)])
def test_a_match_is_rated_once(places):
    with pytest.raises(StoreError, match="'arena verify' says which"):
        books(record("ab", (1, 2), index=place) for place in places)


def test_draws_are_as_likely_as_the_records_say():
    drawn, decided = Book(), Book()
    for turn in range(1000):
        drawn.add(record("ab", (1, 1), index=turn))
        decided.add(record("ab", (turn % 2, (turn + 1) % 2), index=turn))
    assert drawn.draw_probability == pytest.approx(0.991, abs=0.001)
    assert decided.draw_probability == pytest.approx(0.001, abs=0.001)


def test_sums_add_up():
    book = Book()
    book.add(record("abc", (5, 5, 1), time=(1.0, 2.0, 3.0), faults=(Fault(2, "illegal", 0), Fault(2, "timeout", 1))))
    book.add(record("bca", (3, 2, 1), index=1))
    a, b, c = (book.lines[name] for name in "abc")
    assert (a.wins, b.wins, c.wins) == (0.5, 1.5, 0)
    assert (a.rank_sum, b.rank_sum, c.rank_sum) == (4, 2, 5)
    assert (a.score_sum, a.time, c.time, c.faults, c.matches) == (6, 1.0, 3.0, 1, 2)
    assert book.evidence.finished_ahead(a.number, b.number) == (0.5, 2)
    assert book.evidence.finished_ahead(b.number, a.number) == (1.5, 2)
    assert book.evidence.finished_ahead(b.number, c.number) == (2, 2)


def test_a_bot_that_meets_itself_or_nobody_is_counted_but_not_rated():
    book = Book()
    book.add(record("aab", (3, 2, 1)))
    book.add(record("a", (3,), index=1))
    assert (book.lines["a"].matches, book.lines["b"].matches) == (3, 1)
    assert book.lines["a"].mu == book.lines["b"].mu
    assert book.evidence.deals == []


@pytest.mark.parametrize("broken", [{"scores": (1,)}, {"ranks": (1,)}, {"ranks": (1, 2, 3)}])
def test_a_record_that_contradicts_itself_is_named(broken):
    given = {"scores": (2, 1), "ranks": (1, 2), **broken}
    with pytest.raises(StoreError, match=r"The record sim-1\.1\.0 does not have"):
        Book().add(record("ab", **given))


def test_memory_is_bounded_and_nothing_is_lost_when_deals_are_put_together():
    book, rng = Book(), Random(4)
    for turn in range(3 * MOST_DEALS):
        book.add(record("ab", (rng.randrange(9), rng.randrange(9)), index=turn, seed=10_000 + turn))
    late = record("ab", (100, 0), index=9999, seed=10_000)  # a straggler of the first deal
    book.add(late)
    deals = book.evidence.deals
    assert MOST_DEALS / 2 <= len(deals) <= MOST_DEALS
    assert sum(deal.bots[0][MATCHES] for deal in deals) == 3 * MOST_DEALS + 1
    assert sum(deal.bots[0][SCORE] for deal in deals) == book.lines["a"].score_sum
    assert sum(sum(deal.stages.values()) for deal in deals) == 3 * MOST_DEALS + 1
    assert deals[0].bots[0][MATCHES] == deals[1].bots[0][MATCHES] + 1


def test_putting_deals_together_hardly_changes_the_intervals(monkeypatch):
    records = list(tournament(World([0.0, 0.3], 2), 480, Random(11)))
    whole = leaderboard(books(records)["sim"])
    monkeypatch.setattr("harness.ratings.evidence.MOST_DEALS", 128)
    merged = books(records)["sim"]
    assert len(merged.evidence.deals) == 120
    for one, other in zip(whole.standings, leaderboard(merged).standings, strict=True):
        assert other.score.value == pytest.approx(one.score.value)
        assert other.score.reach == pytest.approx(one.score.reach, rel=0.2)
        assert other.strength == pytest.approx(one.strength)


def test_certainty_by_name():
    better = certainty(books(small(20))["sim"])
    assert better("bot3", "bot0") > 0.95
    assert better("bot0", "bot3") < 0.05
    assert better("bot0", "stranger") is None


def test_a_leader_that_the_two_methods_disagree_about_is_reported():
    # Many ordinary matches make "old" certain; "new" won against it whenever they met, but seldom did.
    played = [record(("old", "weak"), (1, 0) if turn % 4 else (0, 1), index=turn, seed=turn) for turn in range(200)]
    played += [record(("new", "old"), (1, 0), index=200 + turn, seed=200 + turn) for turn in range(4)]
    board = leaderboard(books(played)["sim"])
    assert board.standings[0].line.bot == "old"
    assert any("puts new first" in note for note in board.notes)
