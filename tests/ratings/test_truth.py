"""Simulated tournaments with a known truth: the claims of a leaderboard are wrong as seldom as they say.

The short forms run everywhere, with tolerances of three standard errors for their number; `--slow` runs 500 each.
"""

from __future__ import annotations

from math import sqrt
from random import Random

import pytest

from harness.ratings import leaderboard, rate_records
from tests.ratings.simulate import World, tournament

PLAYERS = range(2, 7)
BOTS = 6
SHORT = pytest.param(20, id="short")
FULL = pytest.param(500, id="full", marks=pytest.mark.slow)


def world_of(gap, players):
    middle = gap * (BOTS - 1) / 2
    return World([gap * bot - middle for bot in range(BOTS)], players)


def boards(world, tournaments, deals=12):
    for number in range(tournaments):
        yield leaderboard(
            rate_records(tournament(world, deals, Random(1000 * number + world.players)))["sim"]
        ).standings


def number_of(standing):
    return int(standing.line.bot.removeprefix("bot"))


def wrong_claims(world, standings):
    """Pairs in different bands whose order is not the truth's."""
    skills = [(one.rank, world.skills[number_of(one)]) for one in standings]
    return sum(a < b and above <= below for a, above in skills for b, below in skills)


def three_errors(chance, tournaments):
    return 3 * sqrt(chance * (1 - chance) / tournaments) if tournaments < 500 else 0.0


@pytest.mark.parametrize("tournaments", [SHORT, FULL])
@pytest.mark.parametrize("players", PLAYERS)
def test_intervals_cover_the_truth(players, tournaments):
    world = world_of(0.3, players)
    scores = shares = lines = 0
    for standings in boards(world, tournaments):
        for one in standings:
            bot = number_of(one)
            scores += one.score.low <= world.mean_score(bot) <= one.score.high
            shares += one.ahead.low <= world.share_ahead(bot) <= one.ahead.high
            lines += 1
    slack = three_errors(0.95, tournaments)
    assert 0.92 - slack <= scores / lines <= 0.98 + slack
    assert 0.92 - slack <= shares / lines <= 0.98 + slack


@pytest.mark.parametrize("tournaments", [SHORT, FULL])
@pytest.mark.parametrize("players", PLAYERS)
def test_bands_and_ranges_contain_the_true_order(players, tournaments):
    world = world_of(0.3, players)
    wrong = 0
    for standings in boards(world, tournaments):
        # bot5 is the best: its true rank is 1.
        ruled_out = any(not one.best <= BOTS - number_of(one) <= one.worst for one in standings)
        wrong += ruled_out or wrong_claims(world, standings) > 0
    assert wrong / tournaments <= 0.05 + three_errors(0.05, tournaments)


@pytest.mark.parametrize("tournaments", [SHORT, FULL])
@pytest.mark.parametrize("players", PLAYERS)
def test_equal_bots_are_not_told_apart(players, tournaments):
    world = world_of(0.0, players)
    wrong = sum(any(one.worst < BOTS for one in standings) for standings in boards(world, tournaments))
    assert wrong / tournaments <= 0.05 + three_errors(0.05, tournaments)


def test_intervals_cover_the_truth_with_a_deal_for_every_table():
    world, inside, lines = world_of(0.3, 3), 0, 0
    for number in range(40):
        board = leaderboard(rate_records(tournament(world, 2, Random(number), shared=False))["sim"])
        for one in board.standings:
            inside += one.ahead.low <= world.share_ahead(number_of(one)) <= one.ahead.high
            lines += 1
    assert 0.92 - three_errors(0.95, 40) <= inside / lines <= 0.98 + three_errors(0.95, 40)


def test_unequal_bots_are_told_apart_once_there_are_deals_enough():
    # Without this, never claiming anything would pass all of the above.
    world = world_of(0.8, 3)
    (standings,) = boards(world, 1, deals=60)
    assert [number_of(one) for one in standings] == [5, 4, 3, 2, 1, 0]
    assert [one.rank for one in standings] == [1, 2, 3, 4, 5, 6]
    assert all(one.sure is None or one.sure > 0.99 for one in standings)


def test_trueskill_s_sigma_alone_would_promise_too_much():
    """Why the intervals come from the deals: sigma takes the matches of a deal for independent."""
    world, inside, lines = world_of(0.0, 4), 0, 0
    for standings in boards(world, 30):
        middle = sum(one.line.mu for one in standings) / BOTS
        inside += sum(abs(one.line.mu - middle) < 1.96 * one.line.sigma for one in standings)
        lines += BOTS
    assert inside / lines < 0.85
