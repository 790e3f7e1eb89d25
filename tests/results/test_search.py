"""The published runs of the search bots: leaderboards made from records that hold by the rules."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from harness.plugins.registry import load
from harness.ratings import leaderboards, rate_records
from harness.runs.store import RunFolder
from harness.output import render
from harness.runs.verify import check_run

RUNS = sorted((Path(__file__).parents[2] / "results" / "search").iterdir())

SURE = {"el-paso": 0.98, "gnadenlos": 0.98, "x-pasch": 0.99}
"""How surely the search is told apart from the next bot, at least."""


@pytest.mark.parametrize("folder", RUNS, ids=lambda folder: folder.name)
def test_the_leaderboard_is_made_from_records_that_hold_by_the_rules(folder):
    run = RunFolder.open(folder)
    found = check_run(run, load())
    assert found.problems == []
    assert found.missing == []
    assert (folder / "leaderboard.md").read_text(encoding="utf-8") == render(leaderboards(rate_records(run.records())), "github") + "\n"


@pytest.mark.parametrize("folder", RUNS, ids=lambda folder: folder.name)
def test_a_guided_search_beats_every_other_bot(folder):
    [(game, rows)] = json.loads((folder / "leaderboard.json").read_text(encoding="utf-8")).items()
    assert game == folder.name
    assert rows[0]["bot"].startswith("ismcts:iterations=1000,")
    assert rows[0]["sure"] > SURE[game]
    assert not any(row["faults"] for row in rows)
