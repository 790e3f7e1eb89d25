"""The published analyses are of the games as they are, and say of them what is known."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.analysis.run import analyse, read_analysis
from harness.plugins.registry import load

FOLDER = Path(__file__).parents[2] / "results" / "analysis"
GAMES = ("el-paso", "gnadenlos", "x-pasch")


@pytest.mark.parametrize("name", GAMES)
def test_a_published_analysis_is_of_the_installed_rules(name):
    found, game = read_analysis(FOLDER / f"{name}.json"), load().game(name).configure()
    assert (found.game, found.rules, found.options) == (name, game.version, dict(game.settings))
    assert [rule.rule for rule in found.profile.rules] == list(game.rule_events)
    shares = found.shares
    assert sum(one.value for one in (shares.bots, shares.deals, shares.seats, shares.rest)) == pytest.approx(1)


@pytest.mark.parametrize("name", GAMES)
def test_random_play_is_last_and_an_expert_is_first(name):
    found = read_analysis(FOLDER / f"{name}.json")
    assert found.spread[-1].bot == "random"
    assert found.spread[0].bot in ("outlaw", "broker", "tycoon")


@pytest.mark.slow
@pytest.mark.parametrize("name", GAMES)
def test_the_command_says_the_same_again(name):
    published = read_analysis(FOLDER / f"{name}.json")
    again = analyse(name, seed=published.seed, quiet=True)
    assert again.to_dict() == published.to_dict()
