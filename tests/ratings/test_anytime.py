"""Claims that hold whoever meets whom and whenever one stops."""

from __future__ import annotations

from itertools import pairwise
from math import log
from random import Random

import pytest

from harness.core.plan import GamePlan, Plan
from harness.ratings.anytime import GOAL_SHARE, AnytimeClaims, PairSums, RandomRoundClaims
from harness.ratings.betting import BET_FRACTIONS, EProcess

NAMES = ("a", "b", "c", "d")


def play(claims: AnytimeClaims, winner: str, loser: str, sets: int, first: int = 1, round_: int | None = None) -> None:
    """So many sets of two, all won by the same bot."""
    for deal in range(first, first + sets):
        for seats in ((winner, loser), (loser, winner)):
            ranks = (1, 2) if seats[0] == winner else (2, 1)
            claims.add_match(seats, ranks, f"g-{round_}.{deal}", deal, deal if round_ is None else round_)


def test_wealth_is_the_mean_over_bet_fractions_and_its_maximum_is_kept() -> None:
    rng, process, most = Random(1), EProcess(), 0.0
    each = [1.0] * len(BET_FRACTIONS)
    for _ in range(200):
        value = rng.choice((0.0, 0.5, 0.5, 1.0, 1.0))
        process.add_value(value)
        each = [had * (1 + fraction * (2 * value - 1)) for had, fraction in zip(each, BET_FRACTIONS, strict=True)]
        most = max(most, log(sum(each) / len(each)))
        assert process.log_wealth == pytest.approx(log(sum(each) / len(each)))
    assert process.max_log_wealth == pytest.approx(most)


def test_a_pair_is_claimed_when_its_wealth_reaches_the_bonferroni_threshold() -> None:
    claims = AnytimeClaims(NAMES)
    needed = log(2 * 6 / 0.05)
    process, sets = EProcess(), 0
    while process.max_log_wealth < needed:
        assert not claims.claims()
        process.add_value(1.0)
        sets += 1
        play(claims, "b", "a", 1, sets)
    assert claims.claims() == {("b", "a")}


def test_a_claim_is_never_withdrawn() -> None:
    claims = AnytimeClaims(("a", "b"))
    play(claims, "a", "b", 20)
    assert claims.claims() == {("a", "b")}
    play(claims, "b", "a", 15, 100)
    assert claims.claims() == {("a", "b")}


def test_each_claim_lowers_the_threshold_of_the_next() -> None:
    alone, second = AnytimeClaims(NAMES), AnytimeClaims(NAMES)
    process, sets = EProcess(), 0
    while process.max_log_wealth < log((2 * 6 - 5) / 0.05):
        process.add_value(1.0)
        sets += 1
    assert process.max_log_wealth < log(2 * 6 / 0.05)
    play(alone, "d", "c", sets)
    assert not alone.claims()
    for number, (better, worse) in enumerate((("a", "b"), ("a", "c"), ("a", "d"), ("b", "c"), ("b", "d"))):
        play(second, better, worse, 40, 1000 * (number + 1))
    play(second, "d", "c", sets)
    assert ("d", "c") in second.claims()


def test_nothing_is_claimed_about_bots_that_never_met() -> None:
    for claims in (AnytimeClaims(NAMES), AnytimeClaims(NAMES, best=True)):
        for number, (better, worse) in enumerate(pairwise(NAMES)):
            play(claims, better, worse, 60, 1000 * number + 1)
        assert claims.claims() == set(pairwise(NAMES))
    assert claims.contenders() == ["a"]
    assert claims.best_bot() is None


def test_the_best_bot_has_met_all_others_and_is_behind_none() -> None:
    claims = AnytimeClaims(NAMES, best=True)
    for number, (better, worse) in enumerate(pairwise(NAMES)):
        play(claims, better, worse, 30, 1000 * number + 1)
    play(claims, "a", "c", 1, 5001)
    assert claims.best_bot() is None
    play(claims, "a", "d", 1, 6001)
    assert claims.best_bot() == "a"
    assert {("a", "b"), ("a", "c"), ("a", "d")} <= claims.claims()


def test_excluding_a_contender_takes_no_more_sets_in_a_large_field() -> None:
    taken = []
    for size in (3, 30):
        names = [f"bot{number:02}" for number in range(size)]
        claims, sets = AnytimeClaims(names, best=True), 0
        while "bot01" in claims.contenders():
            sets += 1
            play(claims, "bot00", "bot01", 1, sets)
        taken.append(sets)
    assert taken[0] == taken[1]


def test_no_bot_is_the_best_in_a_rock_paper_scissors_cycle() -> None:
    claims = AnytimeClaims(("p", "r", "s"), best=True)
    for deal in range(1, 100, 3):
        for number, (better, worse) in enumerate((("p", "r"), ("r", "s"), ("s", "p"))):
            play(claims, better, worse, 1, deal + number)
            assert claims.best_bot() is None
    assert claims.contenders() == []
    assert claims.claims() == {("p", "r"), ("r", "s"), ("s", "p")}


def test_most_of_the_error_budget_goes_to_the_goal_pairs() -> None:
    pair = frozenset(("a", "b"))
    one, all_ = AnytimeClaims(NAMES, [pair]), AnytimeClaims(NAMES)
    assert one.open_pairs() == [("a", "b")]
    process, sets = EProcess(), 0
    while process.max_log_wealth < log(2 / GOAL_SHARE / 0.05):
        process.add_value(1.0)
        sets += 1
    play(one, "a", "b", sets)
    play(all_, "a", "b", sets)
    assert one.claims() == {("a", "b")}
    assert one.open_pairs() == []
    assert not all_.claims()


def test_a_run_for_a_newcomer_is_about_the_pairs_of_its_candidates() -> None:
    game = GamePlan("g", "1", {}, 2, NAMES)
    plan = Plan(games=(game,), deals=1, seed=1, format="ladder", settings={"goal": "newcomer"}, candidates=("c",))
    expected = {frozenset(("c", other)) for other in "abd"}
    assert AnytimeClaims.for_plan(game, plan).goal_pairs == expected


def test_the_results_of_two_bots_are_summed_from_their_first_set_on() -> None:
    claims = AnytimeClaims(("a", "b"))
    play(claims, "b", "a", 3)
    claims.claims()  # settles the last deal
    assert claims.meetings == {("a", "b"): PairSums(3, 0.0, 0.0)}


def test_all_matches_of_a_deal_count_as_one_observation() -> None:
    once, often = AnytimeClaims(("a", "b")), AnytimeClaims(("a", "b"))
    play(once, "a", "b", 1)
    for table in range(50):
        for seats in (("a", "b"), ("b", "a")):
            often.add_match(seats, (1, 2) if seats[0] == "a" else (2, 1), f"g-1.{table}", 7, 1)
    assert once.claims() == often.claims() == set()
    assert often.sets_met("b", "a") == 1


def test_incomplete_sets_are_ignored() -> None:
    claims = AnytimeClaims(("a", "b"))
    for deal in range(100):
        claims.add_match(("a", "b"), (1, 2), f"g-{deal}.1", deal, deal)  # the first seat always wins
    assert not claims.claims()
    assert claims.sets_met("a", "b") == 0


def test_computing_claims_during_a_deal_does_not_count_it_twice() -> None:
    claims = AnytimeClaims(("a", "b"))
    for _ in range(100):
        for seats in (("a", "b"), ("b", "a")):
            claims.add_match(seats, (1, 2) if seats[0] == "a" else (2, 1), "g-1.1", 7, 1)
        claims.claims()
    assert claims.sets_met("a", "b") == 1


def test_random_rounds_also_use_results_against_other_bots() -> None:
    claims, direct, rng, deal = RandomRoundClaims(NAMES, 2), AnytimeClaims(NAMES), Random(1), 0
    for round_ in range(20):
        mixed = rng.sample(NAMES, 4)
        for table in (mixed[:2], mixed[2:]):
            deal += 1
            for each in (claims, direct):
                play(each, min(table), max(table), 1, deal, round_)
    assert claims.claims() > direct.claims()
    assert ("a", "d") in claims.claims()


def test_random_rounds_claim_nothing_about_bots_that_never_met() -> None:
    claims = RandomRoundClaims(NAMES, 2)
    for round_ in range(60):
        play(claims, "a", "b", 1, 2 * round_ + 1, round_)
        play(claims, "c", "d", 1, 2 * round_ + 2, round_)
    assert claims.claims() == {("a", "b"), ("c", "d")}


def test_separated_groups_play_among_themselves() -> None:
    claims, rng, deal = RandomRoundClaims(NAMES, 2), Random(2), 0
    assert claims.groups == [list(NAMES)]
    for round_ in range(60):
        mixed = rng.sample(NAMES, 4)
        for table in (mixed[:2], mixed[2:]):
            deal += 1
            ranks = rng.choice(((1, 2), (2, 1)))
            one, other = table
            if {one, other} not in ({"a", "b"}, {"c", "d"}):
                ranks = (1, 2) if one < other else (2, 1)
            claims.add_match((one, other), ranks, f"g-{round_}.{deal}", deal, round_)
            claims.add_match((other, one), ranks[::-1], f"g-{round_}.{deal}", deal, round_)
    assert {("a", "c"), ("b", "d")} <= claims.claims()
    assert sorted(map(sorted, claims.groups)) == [["a", "b"], ["c", "d"]]


def test_a_group_too_small_for_a_table_is_merged_with_its_neighbours() -> None:
    claims, deal = RandomRoundClaims(NAMES, 3), 0
    for round_ in range(60):  # a and b always before c and d, and level with each other
        for seats in (
            ("a", "b", "c"),
            ("b", "c", "a"),
            ("c", "a", "b"),
            ("a", "b", "d"),
            ("b", "d", "a"),
            ("d", "a", "b"),
        ):
            ranks = tuple({"a": 1, "b": 1}.get(name, 3) for name in seats)
            claims.add_match(seats, ranks, f"g-{round_}.{deal // 3}", deal // 3, round_)
            deal += 1
    claims.claims()
    assert all(len(group) >= 3 for group in claims.groups)
