"""The fit of `ahead`: what it finds, and what it takes for an error."""

from __future__ import annotations

from math import inf, sqrt
from random import Random

import pytest

from harness.core.records import shares_ahead
from harness.ratings.beat_rate import PooledVariance, fit_beat_rates, head_to_head
from harness.ratings.evidence import DealKind, unpack_kind
from harness.ratings.leaderboard import in_order, leaderboard, rate_records
from harness.ratings.trueskill import Ratings
from tests.ratings.simulate import World, record, tournament
from tests.ratings.simulate_runs import Field, number_of, run


def board_of(records, **more):
    return leaderboard(rate_records(records)["sim"], **more)


def shares(board):
    return {one.line.bot: one.ahead.value for one in board.standings}


@pytest.mark.parametrize("players", [2, 3, 4])
def test_in_a_round_robin_the_beat_rate_is_the_counted_share(players):
    records = list(tournament(World([0.0, 0.4, 0.9, 1.5, 2.0], players), 5, Random(2)))
    counted = {}
    for one in records:
        for bot, share in zip(one.seats, shares_ahead(one.ranks), strict=True):
            counted.setdefault(bot, []).append(share)
    found = shares(board_of(records))
    assert found == {bot: pytest.approx(sum(each) / len(each)) for bot, each in counted.items()}


def test_beat_rates_correct_for_the_strength_of_opponents():
    """a and b are ahead of everybody else nine times of ten and of each other half of the time; a met only the weak."""
    met = [("a", "c", 9), ("a", "d", 9), ("b", "a", 5), ("b", "e", 9), ("c", "d", 5), ("d", "e", 5), ("c", "e", 5)]
    played = [
        record(one + other, (1, 0) if turn < wins else (0, 1), index=10 * place + turn, seed=10 * place + turn)
        for place, (one, other, wins) in enumerate(met)
        for turn in range(10)
    ]
    found = shares(board_of(played))
    assert found["a"] == pytest.approx(found["b"], abs=0.05)
    raw = {bot: sum(bot == one.seats[one.ranks.index(1)] for one in played if bot in one.seats) for bot in "ab"}
    assert raw["a"] / 30 > raw["b"] / 20


def test_luck_adjusted_shares_replace_shares_from_ranks():
    plain, adjusted = Ratings(), Ratings()
    for turn in range(20):
        one = record("ab", (turn % 2, 1 - turn % 2), index=turn, seed=turn)
        plain.add(one)
        adjusted.add(one, shares=(0.7, 0.3) if turn % 2 else (0.5, 0.5))
    assert leaderboard(plain).standings[0].ahead.value == 0.5
    best = leaderboard(adjusted).standings[0]
    assert (best.line.bot, best.ahead.value) == ("a", pytest.approx(0.6))
    assert best.ahead.reach < leaderboard(plain).standings[0].ahead.reach / 2
    assert adjusted.evidence.finished_ahead(0, 1) == plain.evidence.finished_ahead(0, 1)


def test_differences_between_tables_do_not_count_as_error():
    """Every deal ends as the last one of its table did: there is no luck, only tables."""
    same = [
        record(pair, (1, 0), index=turn, seed=turn)
        for turn, pair in enumerate(["ab", "ac", "bc", "ad", "bd", "cd"] * 10)
    ]
    found = fit_beat_rates(rate_records(same)["sim"].evidence, 4)
    assert max(max(map(abs, row)) for row in found.covariance) < 1e-12
    assert found.values == pytest.approx([1, 2 / 3, 1 / 3, 0], abs=1e-9)


def test_errors_agree_with_a_bootstrap_of_deals_within_tables():
    ratings = run(Field([0.0, 0.4, 0.8, 1.5]), 3, players=3, deals=40)
    deals, rng = {}, Random(5)
    for number, kind, values in ratings.evidence.deals():
        deals.setdefault((number, kind), []).append(list(values[1::2]))
    found = fit_beat_rates(ratings.evidence, 4)
    drawn = []
    for _ in range(400):
        margins = [0.0] * 4
        for (_, kind), each in deals.items():
            for values in rng.choices(each, k=len(each)):
                for bot, margin in zip(kind.bots, values, strict=True):
                    margins[bot] += margin
        drawn.append([0.5 + margin / found.matches[bot] for bot, margin in enumerate(margins)])
    for bot in range(4):
        middle = sum(each[bot] for each in drawn) / 400
        spread = sqrt(sum((each[bot] - middle) ** 2 for each in drawn) / 399)
        assert sqrt(found.covariance[bot][bot]) == pytest.approx(spread, rel=0.15)


def test_identical_results_separate_bots_only_after_enough_deals():
    for deals, told in ((2, False), (4, False), (5, False), (7, True), (10, True)):
        won = [record("ab", (1, 0), index=turn, seed=turn) for turn in range(deals)]
        assert bool(board_of(won).significant_pairs) is told


def test_deals_of_unique_tables_get_their_error_from_the_fit():
    world = Field([0.1 * bot for bot in range(12)])
    ratings = run(world, 4, players=3, deals=20, tables=8)
    kinds = [number for number, _, _ in ratings.evidence.deals()]
    assert len(set(kinds)) > len(kinds) / 2
    for one in leaderboard(ratings).standings:
        truth = world.true_beat_rates[number_of(one.line.bot)]
        assert one.ahead.low - 0.1 < truth < one.ahead.high + 0.1
        assert 0.03 < one.ahead.reach < 0.2


def test_a_bot_with_one_deal_has_no_interval():
    played = [record("ab", (turn % 2, 1 - turn % 2), index=turn, seed=turn) for turn in range(10)]
    board = board_of([*played, record("bc", (1, 0), index=10, seed=10)])
    last = next(one for one in board.standings if one.line.bot == "c")
    assert (last.ahead.low, last.ahead.high) == (-inf, inf)
    assert all("c" not in pair for pair in board.significant_pairs)


def test_if_results_decide_the_seating_only_common_tables_count():
    played = [record(pair, (1, 0), index=turn, seed=turn) for turn, pair in enumerate(["ab"] * 12 + ["bc"] * 12)]
    evidence = rate_records(played)["sim"].evidence
    assert set(head_to_head(evidence)) == {(0, 1), (1, 2)}
    assert board_of(played, seated=True).significant_pairs == {("a", "b"), ("b", "c")}
    plain, seated = board_of(list(tournament(World([0, 0.5, 1], 2), 9, Random(1)))), None
    seated = leaderboard(plain.ratings, seated=True)
    assert seated.standings[0].ahead.reach > plain.standings[0].ahead.reach
    assert shares(seated) == shares(plain)


def test_the_order_without_claims_equals_that_of_the_leaderboard():
    ratings = rate_records(tournament(World([0.0, 0.2, 0.1, 0.4], 3), 7, Random(1)))["sim"]
    assert in_order(ratings) == [one.line for one in leaderboard(ratings).standings]


def test_degrees_of_freedom_follow_satterthwaite():
    alone = PooledVariance()
    alone.add(4.0, 7)
    assert alone.freedom == pytest.approx(7)
    even = PooledVariance()
    for _ in range(10):
        even.add(1.0, 5)
    assert 50 * 0.9 < even.freedom <= 50
    uneven = PooledVariance()
    uneven.add(100.0, 3)
    uneven.add(0.01, 1000)
    assert uneven.freedom == pytest.approx(3, abs=0.01)
    assert PooledVariance().freedom == 0


def test_kinds_of_deals_are_packed_and_unpacked():
    kind = DealKind((1, 2, 5, 300), (((1, 2, 5), 3), ((2, 5, 300), 70_000)))
    assert unpack_kind(kind.packed) == kind
