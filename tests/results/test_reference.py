"""The published leaderboard is what the tool prints from its records, and the records are what the rules say."""

from __future__ import annotations

import json
from itertools import pairwise
from math import comb
from pathlib import Path

import pytest

from harness.output.leaderboard import leaderboard_files
from harness.plugins.registry import load
from harness.runs.standings import boards_of
from harness.runs.store import RunFolder
from harness.verify.records import check_run
from tests.support.cli import arena

CHARACTERS = {"diehard", "skittish", "miser", "debtor", "founder", "raider"}
FOLDER = Path(__file__).parents[2] / "results" / "reference"


@pytest.fixture(scope="module")
def run():
    return RunFolder.open(FOLDER)


def matches(run, deals):
    """How many matches so many deals are: every table in every rotation."""
    return deals * sum(comb(len(game.entrants), game.players) * game.players for game in run.info.plan.games)


def test_the_published_leaderboards_match_the_records(run):
    for name, made in leaderboard_files(boards_of(run)).items():
        assert (FOLDER / name).read_bytes() == made
    assert run.warnings == []


def test_the_published_records_are_complete_and_follow_the_rules(run):
    found = check_run(run, load())
    assert found.problems == []
    assert found.missing == []
    assert found.records == found.replayed == matches(run, run.info.plan.deals)
    assert "arena tournament --seed 2026" in run.info.command


def test_random_simple_and_strong_bots_are_separated(run):
    tables = json.loads((FOLDER / "leaderboard.json").read_text(encoding="utf-8"))
    for game in ("el-paso", "gnadenlos", "x-pasch"):
        rows = tables[game]
        levels = [0 if row["bot"] == "random" else 1 if row["bot"] in CHARACTERS else 2 for row in rows]
        assert levels == sorted(levels, reverse=True)
        assert set(levels) == {0, 1, 2}
        steps = [row for row, (above, below) in zip(rows, pairwise(levels), strict=False) if above > below]
        assert all(row["worst place"] == row["place"] for row in steps)  # significantly better than the level below


def test_the_bots_still_play_the_first_published_deals_identically(run, tmp_path):
    """The first deals again, with the bots as they are now."""
    arena("tournament", "--seed", 2026, "--deals", 2, "--name", "again", "--results", tmp_path)
    old = {record.id: record.without_timing() for record in RunFolder.open(FOLDER).records()}
    new = list(RunFolder.open(tmp_path / "again").records())
    assert len(new) == matches(run, 2)
    for record in new:
        assert record.actions == old[record.id].actions, f"{record.id} is played otherwise now: make the reference anew"
