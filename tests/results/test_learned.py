"""The published runs of the learned bot: records that hold by the rules, and ahead of every character for sure."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from statistics import mean, stdev

import pytest

from harness.output.leaderboard import leaderboard_files
from harness.plugins.registry import load
from harness.ratings.statistics import student_quantile
from harness.runs.standings import boards_of
from harness.runs.store import RunFolder
from harness.verify.records import check_run

RUNS = sorted((Path(__file__).parents[2] / "results" / "learned").iterdir())
CHARACTERS = {"el-paso": {"diehard", "skittish"}, "gnadenlos": {"miser", "debtor"}, "x-pasch": {"founder", "raider"}}


@pytest.mark.parametrize("folder", RUNS, ids=lambda folder: folder.name)
def test_the_published_leaderboard_matches_records_that_follow_the_rules(folder):
    run = RunFolder.open(folder)
    found = check_run(run, load())
    assert found.problems == []
    assert found.missing == []
    for name, made in leaderboard_files(boards_of(run)).items():
        assert (folder / name).read_bytes() == made


@pytest.mark.parametrize("folder", RUNS, ids=lambda folder: folder.name)
def test_it_is_ahead_of_every_character(folder):
    deals = defaultdict(lambda: defaultdict(list))
    for record in RunFolder.open(folder).records():
        if "learned" not in record.seats:
            continue
        own = record.ranks[record.seats.index("learned")]
        for seat, rank in zip(record.seats, record.ranks, strict=True):
            deals[seat][record.seed].append((rank > own) + (rank == own) / 2)
    for character in CHARACTERS[record.game]:
        shares = [mean(shares) for shares in deals[character].values()]
        sure = student_quantile(0.99, len(shares) - 1)
        assert mean(shares) - sure * stdev(shares) / len(shares) ** 0.5 > 0.5, character
