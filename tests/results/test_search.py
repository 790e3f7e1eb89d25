"""The published runs of the search bots: leaderboards made from records that hold by the rules."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from harness.output.tables import leaderboard_files
from harness.plugins.registry import load
from harness.runs.boards import boards_of
from harness.runs.store import RunFolder
from harness.runs.verify import check_run

RUNS = sorted((Path(__file__).parents[2] / "results" / "search").iterdir())

SURE = {"el-paso": 0.9, "gnadenlos": 0.97, "x-pasch": 0.99}
"""How surely the search is told apart from the next bot, at least."""


@pytest.mark.parametrize("folder", RUNS, ids=lambda folder: folder.name)
def test_the_leaderboard_is_made_from_records_that_hold_by_the_rules(folder):
    run = RunFolder.open(folder)
    found = check_run(run, load())
    assert found.problems == []
    assert found.missing == []
    for name, made in leaderboard_files(boards_of(run)).items():
        assert (folder / name).read_bytes() == made


@pytest.mark.parametrize("folder", RUNS, ids=lambda folder: folder.name)
def test_a_guided_search_beats_every_other_bot(folder):
    [(game, rows)] = json.loads((folder / "leaderboard.json").read_text(encoding="utf-8")).items()
    assert game == folder.name
    assert rows[0]["bot"].startswith("ismcts:iterations=1000,")
    assert rows[0]["sure"] > SURE[game]
    assert not any(row["faults"] for row in rows)
