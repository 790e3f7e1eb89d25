"""A run on a cluster has the records of a run on one core, in every format, with every kind of bot."""

from __future__ import annotations

import pytest

import harness
from tests.league.support import write_bot

GAMES = ["el-paso", "gnadenlos", "x-pasch"]
FORMATS = {
    "round-robin": {"deals": 3},
    "gauntlet": {"deals": 2, "candidates": ["outlaw", "broker", "tycoon"]},
    "swiss:rounds=3": {"deals": 2},
    "knockout": {"deals": 1},
    "ladder": {"deals": 4},
}


def plain(run):
    return {record.id: record.without_timing() for record in run}


@pytest.mark.parametrize("kind", FORMATS)
def test_every_format_has_the_same_records_on_a_cluster_as_on_one_core(cluster, kind):
    asked = {"seed": 5, "format": kind, "quiet": True, "move_time": 60, **FORMATS[kind]}
    there = harness.tournament(GAMES, cluster=cluster.address, name="there", **asked)
    here = harness.tournament(GAMES, workers=0, name="here", **asked)
    assert there.complete
    assert plain(there) == plain(here)
    assert there.table() == here.table()


def test_a_league_has_the_same_records_on_a_cluster_as_on_one_core(cluster):
    def played(name, **where):
        league = harness.new_league(name, games=("el-paso", "x-pasch"), players=3, seed=5, move_time=60)
        league.add("outlaw", "diehard", "random", "tycoon", "founder")
        league.run(matches=30, quiet=True, **where)
        league.add(str(write_bot("late")))
        league.run(matches=20, quiet=True, **where)
        return plain(harness.open_run(f"{name}/eras/1"))

    there = played("there", cluster=cluster.address)
    assert len(there) == 50
    assert there == played("here", workers=0)


def test_a_comparison_has_the_same_records_on_a_cluster_as_on_one_core(cluster):
    asked = {"games": "el-paso", "seed": 5, "quiet": True, "move_time": 60, "most": 200}
    there = harness.compare("diehard", "skittish", cluster=cluster.address, **asked)
    here = harness.compare("diehard", "skittish", workers=0, **asked)
    assert plain(there.run) == plain(here.run)
    assert repr(there) == repr(here)
