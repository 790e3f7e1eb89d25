"""Who sits with whom: where most is learned, nobody starves, and what is claimed of such a league holds."""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from random import Random
from statistics import mean, median

import msgspec
import pytest

from harness.league.matchmaking import RunningRatings, SettledRule, is_settled, seat_tables
from harness.ratings.skill import MU, SIGMA
from tests.league.claims import ROWS, SELF_MADE, Row, held
from tests.league.newcomers import arrival, cost_of_tables, settled
from tests.league.worlds import Bots, League, random_tables


def named(count: int, what: str = "bot") -> list[str]:
    return [f"{what}{number}" for number in range(count)]


def world(names: list[str], spread: float = 0.8, seed: int = 1) -> Bots:
    rng = Random(seed)
    return Bots({name: rng.gauss(0, spread) for name in names})


def test_running_ratings_start_at_the_trueskill_prior_and_follow_results():
    ratings = RunningRatings()
    assert (ratings.mean("a"), ratings.spread("a"), ratings.matches("a")) == (MU, SIGMA, 0)
    ratings.add_match(("a", "b", "c"), (1, 2, 3))
    assert ratings.mean("a") > ratings.mean("b") > ratings.mean("c")
    assert ratings.spread("a") < SIGMA
    assert [ratings.matches(name) for name in "abcd"] == [1, 1, 1, 0]
    ratings.add_match(("b", "c"), (1, 1))
    assert [ratings.waited(name) for name in "abcd"] == [1, 0, 0, 2]


def test_a_match_of_a_bot_against_itself_does_not_reduce_its_uncertainty():
    ratings = RunningRatings()
    ratings.add_match(("a", "a"), (1, 2))
    assert ratings.spread("a") == SIGMA


def test_restored_ratings_seat_the_same_tables_as_the_saved_ones():
    names = named(9)
    league = League(world(names), 3, 5)
    league.play(60, names)
    again = RunningRatings()
    again.restore(msgspec.msgpack.decode(msgspec.msgpack.encode(league.ratings.state())))
    assert again.state() == league.ratings.state()
    assert seat_tables(again, names, [], 3, 9, Random(3)) == seat_tables(league.ratings, names, [], 3, 9, Random(3))


def test_the_order_in_which_bots_are_given_does_not_change_the_tables():
    names, old = named(30), named(20, "old")
    league = League(world([*names, *old]), 4, 2)
    league.play(200, names, old)
    first = seat_tables(league.ratings, names, old, 4, 12, Random(8))
    assert seat_tables(league.ratings, names[::-1], old[::-1], 4, 12, Random(8)) == first
    assert seat_tables(league.ratings, names, old, 4, 12, Random(9)) != first


@pytest.mark.parametrize("seats", [2, 3, 4, 6])
def test_tables_are_full_and_no_bot_sits_twice(seats):
    names, old = named(7), named(5, "old")
    for tables in (
        seat_tables(RunningRatings(), names, old, seats, 11, Random(1)),
        seat_tables(RunningRatings(), names, [], seats, 11, Random(1)),
        seat_tables(RunningRatings(), names[:1], old, seats, 11, Random(1)),
        seat_tables(RunningRatings(), names[:seats], [], seats, 11, Random(1)),
    ):
        assert len(tables) == 11
        for table in tables:
            assert len(set(table)) == len(table) == seats
            assert set(table) & set(names), "somebody who wants to be known sits at every table"


def test_there_are_no_tables_without_bots():
    assert seat_tables(RunningRatings(), [], named(5), 2, 4, Random(1)) == []
    assert seat_tables(RunningRatings(), named(2), named(1, "old"), 4, 4, Random(1)) == []


def test_two_bots_get_random_seats():
    tables = Counter(seat_tables(RunningRatings(), ["a", "b"], [], 2, 200, Random(1)))
    assert set(tables) == {("a", "b"), ("b", "a")}
    assert min(tables.values()) > 60


@pytest.mark.parametrize("seats", [2, 3, 4])
def test_in_a_new_league_every_bot_plays_and_the_graph_of_opponents_is_connected(seats):
    names = named(40)
    league = League(world(names), seats, 3)
    league.play(4 * 40 // seats, names)
    found = league.counts.fit()
    counts = [found[name].matches for name in names]
    assert min(counts) >= 1
    assert max(counts) <= 12
    part = {name: name for name in names}
    numbered = list(league.counts.numbers)
    for _, first, second, *_ in league.counts.pairs:
        one, other = numbered[first], numbered[second]
        low, high = sorted((part[one], part[other]))
        part = {name: low if its == high else its for name, its in part.items()}
    assert len(set(part.values())) == 1


def gaps(league: League, rounds: int, playing: list[str], old: list[str]) -> int:
    """The most rounds that anybody who plays has waited for a seat."""
    last, longest = dict.fromkeys(playing, 0), 0
    for number, tables in enumerate(league.rounds(playing, old), 1):
        for table in tables:
            for name in table:
                if name in last:
                    longest = max(longest, number - last[name])
                    last[name] = number
        if number == rounds:
            return max(longest, *[number - seen for seen in last.values()])
    raise AssertionError("rounds do not end")


@pytest.mark.parametrize(
    ("bots", "seats", "late", "old", "rounds"),
    [(20, 4, 0, 0, 200), (20, 2, 4, 0, 200), (30, 3, 10, 100, 100), (100, 4, 20, 0, 100), (6, 2, 1, 300, 100)],
)
def test_every_bot_gets_a_seat_within_ten_rounds_even_the_best_and_the_worst(bots, seats, late, old, rounds):
    """Where everybody could sit in every round, nobody waits for more than ten; newcomers come in the middle."""
    names, kept = named(bots), named(old, "old")
    made = world([*names, *kept])
    made.skills |= {"bot0": 9.0, "bot1": -9.0}
    league = League(made, seats, 4)
    assert gaps(league, rounds, names[: bots - late], kept) <= 10
    assert gaps(league, rounds, names, kept) <= 10


@pytest.mark.slow
def test_every_bot_of_a_thousand_gets_a_seat_within_twenty_rounds():
    names = named(1000)
    league = League(world(names), 4, 4)
    # A round has seats for a quarter of them.
    assert gaps(league, 60, names[:800], []) <= 20
    assert gaps(league, 60, names, []) <= 20


def test_a_new_bot_sits_at_many_tables_at_first_and_at_fewer_later():
    names = named(40)
    league = settled(41, 4, 3)
    share = []
    for number, tables in enumerate(league.rounds([*names, "new"])):
        share.append(sum("new" in table for table in tables) / len(tables))
        if number == 60:
            break
    assert mean(share[4:12]) > 0.3
    assert mean(share[-10:]) < 0.2


def test_a_new_bot_meets_varied_opponents_of_similar_strength():
    names = named(60)
    made = Bots({**{name: (number - 30) / 10 for number, name in enumerate(names)}, "new": 2.0})
    league = League(made, 3, 2)
    league.play(1500, names)
    met: list[str] = []
    for number, tables in enumerate(league.rounds([*names, "new"])):
        met += [name for table in tables if "new" in table for name in table if name != "new"]
        if number == 12:
            break
    later = met[len(met) // 3 :]
    assert (
        median(abs(made.skills[name] - 2.0) for name in later)
        < 1.0
        < median(abs(one - 2) for one in made.skills.values())
    )
    assert len(set(later)) > 12
    assert max(Counter(later).values()) < len(later) / 6


def test_a_league_is_settled_when_every_rating_is_certain_enough():
    names = named(8)
    league = League(world(names), 4, 1)
    assert not is_settled(league.ratings, names)
    for number, _ in enumerate(league.rounds(names)):
        if is_settled(league.ratings, names):
            break
        assert number < 400
    assert all(league.ratings.spread(name) <= SettledRule().spread for name in names)
    assert not is_settled(league.ratings, [*names, "new"])
    assert not is_settled(RunningRatings(), ["alone"])


def test_an_unbeatable_bot_does_not_prevent_a_league_from_settling():
    names = named(8)
    made = world(names)
    made.skills["bot3"] = 30.0
    league = League(made, 2, 1)
    for number, _ in enumerate(league.rounds(names)):
        if is_settled(league.ratings, names):
            break
        assert number < 2000
    assert league.ratings.matches("bot3") <= 600


def test_the_spread_at_which_a_league_is_settled_can_be_configured():
    names, ratings = named(4), RunningRatings(SettledRule(spread=3.0))
    rng, made = Random(1), world(named(4))
    while not is_settled(ratings, names):
        ratings.add_match(names, made.play(names, rng))
    assert 3 < ratings.matches("bot0") < 40


def test_a_new_bot_needs_fewer_matches_than_with_random_tables():
    ours, lots = ([arrival(settled(20, 4, seed), 20, how) for seed in range(4)] for how in (seat_tables, random_tables))
    assert mean(one.own for one in ours) < 1.3 * mean(one.veterans for one in ours)
    assert mean(one.all for one in ours) < 0.5 * mean(one.all for one in lots)


@pytest.mark.slow
@pytest.mark.parametrize("entrants", [100, 1000])
def test_in_large_leagues_a_new_bot_needs_a_quarter_of_the_matches_of_random_tables(entrants):
    league = settled(entrants, 4, 1)
    ours, lots = (arrival(league, entrants, how) for how in (seat_tables, random_tables))
    assert ours.own < 1.5 * ours.veterans
    assert ours.all < 0.25 * lots.all


@pytest.mark.parametrize("entrants", [20, 1000])
def test_a_table_is_seated_in_less_than_a_millisecond(entrants):
    count = max(4, min(64, entrants // 4))
    assert min(cost_of_tables(entrants, 4, count, 0.05) for _ in range(3)) < 1


def check(row: Row, runs: int) -> None:
    found = held(row, runs)
    # Lines of one league are not independent, and there are few of newcomers.
    slack = 3 * (0.05 * 0.95 / (runs * row.bots / 4)) ** 0.5
    assert found.share >= 0.95 - slack
    if not row.wide:
        assert found.share <= 0.98 + slack
    for some in filter(None, (found.late, found.odd)):
        assert sum(some) / len(some) >= 0.95 - 4 * (0.05 * 0.95 / len(some)) ** 0.5


@pytest.mark.parametrize("row", [pytest.param(row, id=row.name) for row in ROWS if row.runs >= 40])
def test_confidence_intervals_have_their_coverage_in_a_short_simulation(row):
    check(row, 3)


def test_intervals_would_be_wrong_if_only_bots_of_similar_rating_met():
    """Why every other table is one by lot."""
    found = held(SELF_MADE[0], 6)
    assert found.share < 0.85


@pytest.mark.slow
@pytest.mark.parametrize("row", [pytest.param(row, id=row.name) for row in ROWS])
def test_confidence_intervals_have_their_coverage_in_a_full_simulation(row):
    check(row, row.runs)


def test_all_pairs_of_a_small_league_meet():
    names = named(6)
    league = League(world(names), 2, 1)
    league.play(120, names)
    assert len(list(league.counts.pairs)) == len(list(combinations(names, 2)))
