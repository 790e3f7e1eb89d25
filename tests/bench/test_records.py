"""Runs and leagues that are made to be measured are such as Arena reads."""

from __future__ import annotations

from harness.bench.records import make_league, make_run
from harness.plugins.registry import load
from tests.support.cli import arena


def test_a_made_run_fits_its_schedule(tmp_path):
    run = make_run(tmp_path / "run", 60, load())
    arena("verify", run.folder, "--sample", 5)


def test_a_made_league_has_a_table_and_continues(tmp_path):
    league = tmp_path / "league"
    make_league(league, 9, 60, load())
    assert "b0009" in arena("league", "show", "--league", league).stdout
    arena("league", "run", "-q", "--workers", "0", "--matches", "8", "--league", league)
