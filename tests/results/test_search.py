"""The published runs of the search bots: leaderboards made from records that hold by the rules."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from harness.output.leaderboard import leaderboard_files
from harness.plugins.registry import load
from harness.runs.standings import boards_of
from harness.runs.store import RunFolder
from harness.verify.records import check_run

RUNS = sorted((Path(__file__).parents[2] / "results" / "search").iterdir())


@pytest.mark.parametrize("folder", RUNS, ids=lambda folder: folder.name)
def test_the_published_leaderboard_matches_records_that_follow_the_rules(folder):
    run = RunFolder.open(folder)
    found = check_run(run, load())
    assert found.problems == []
    assert found.missing == []
    for name, made in leaderboard_files(boards_of(run)).items():
        assert (folder / name).read_bytes() == made


@pytest.mark.parametrize("folder", RUNS, ids=lambda folder: folder.name)
def test_a_guided_search_beats_every_other_bot(folder):
    [(game, rows)] = json.loads((folder / "leaderboard.json").read_text(encoding="utf-8")).items()
    assert folder.name.startswith(game)
    first, second = rows[:2]
    assert first["bot"].startswith("flat-mc:")
    if folder.name != "el-paso-4":  # a table of four asks for more: all its pairs are compared at once
        assert (first["worst place"], second["best place"]) == (1, 2), "the difference is not significant"
    assert not any(row["faults"] for row in rows)


def test_every_game_has_a_published_run_and_two_have_one_with_50_ms():
    assert {folder.name for folder in RUNS} >= {"el-paso", "el-paso-4", "gnadenlos", "x-pasch"}
    assert len([folder for folder in RUNS if folder.name.endswith("-50ms")]) >= 2
