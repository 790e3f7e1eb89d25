"""Every command that may take long shows how far it is, of how much, on stderr."""

from __future__ import annotations

import shutil
from statistics import median

import pytest

from harness.league import matchmaking
from harness.league.matchmaking import SettledRule
from tests.support.cli import arena

MATCHES = 12


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A run and a league with twelve matches each."""
    place = tmp_path_factory.mktemp("made")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(place)
        options = ("--game", "el-paso", "--players", 2)
        arena("tournament", *options, "--bot", "outlaw", "--bot", "random", "--deals", 6, "--workers", 0, "--name", "a")
        arena("league", "init", "autumn", *options)
        arena("league", "add", "outlaw", "random", "-L", "autumn")
        arena("league", "run", "--matches", MATCHES, "--workers", 0, "-L", "autumn")
    return place


@pytest.fixture(autouse=True)
def here(made, tmp_path, monkeypatch):
    shutil.copytree(made, tmp_path / "here")
    monkeypatch.chdir(tmp_path / "here")


LONG = {
    ("verify", "a"): "records: 0 of 12 (0%)",
    ("leaderboard", "a"): "records: 0 of 12 (0%)",
    ("report", "a"): "charts of games: 0 of 1 (0%)",
    ("publish", "a", "--to", "site"): "runs: 0 of 1 (0%), records: 0 of 12",
    ("league", "show", "-L", "autumn"): "records: 0 of 12 (0%)",
    ("league", "history", "outlaw", "-L", "autumn"): "records: 0 of 12 (0%)",
    ("league", "verify", "-L", "autumn"): "rounds: 0 of 3 (0%)",
    ("league", "publish", "--to", "site", "-L", "autumn"): "runs: 0 of 1 (0%), records: 0 of 12",
    ("learn-values", "el-paso", "--matches", 100, "--players", 2): "matches: 0 of 100 (0%)",
}


@pytest.mark.parametrize(("command", "shown"), LONG.items(), ids=lambda value: value[0] if len(value) < 9 else None)
def test_a_long_command_shows_progress_with_a_total(command, shown, monkeypatch):
    monkeypatch.setattr("harness.output.progress.PLAIN_INTERVAL_S", 0.0)
    monkeypatch.setattr("harness.luck.run.TREES", 3)
    done = arena(*command)
    assert shown in done.stderr
    assert "(0%)" not in done.stdout


def test_a_quick_command_shows_none():
    assert arena("leaderboard", "a").stderr == ""


def test_a_league_estimates_how_many_matches_it_needs_until_all_bots_are_settled(monkeypatch):
    monkeypatch.setattr("harness.output.progress.PLAIN_INTERVAL_S", 0.0)
    monkeypatch.setattr(matchmaking, "SettledRule", lambda: SettledRule(spread=2.5))
    halfway, at_the_end = [], []
    for seed in range(5):
        league = f"league-{seed}"
        arena("league", "init", league, "--game", "el-paso", "--players", 2, "--seed", seed)
        arena("league", "add", "outlaw", "random", "-L", league)
        lines = arena("league", "run", "--until-settled", "--workers", 0, "-L", league).stderr.splitlines()
        totals = [int(line.partition(" of about ")[2].partition(" ")[0]) for line in lines if " of about " in line]
        played = int(next(line for line in lines if "matches were played" in line).split()[0])
        halfway.append(totals[len(totals) // 2] / played)
        at_the_end.append(totals[-1] / played)
    # When a league settles depends on luck: single estimates may be further off.
    assert median(halfway) == pytest.approx(1, rel=0.5)
    assert median(at_the_end) == pytest.approx(1, rel=0.1)
