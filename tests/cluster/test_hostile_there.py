"""Bots that kill, hang or starve their process, on a node: the same blame as on one machine, and no node is lost."""

from __future__ import annotations

import pytest

from harness.core.records import MatchSpec
from harness.executors.base import HERE, ClusterChoice, Job, choose_executor
from harness.runs.request import RunRequest
from tests.cluster.conftest import NODES
from tests.executors.test_pool import GAMES, MEMORY, table
from tests.support import wild, zoo

KINDS = {**wild.BLAMED, **{bot: kind for bot, kind in zoo.FAULTS.items() if kind != "memory"}}
HANGING = [bot for bot, kind in KINDS.items() if kind == "timeout"]
OTHERS = [bot for bot in KINDS if bot not in HANGING] + list(wild.HARMLESS)


def jobs(strange):
    settings = dict(GAMES["el-paso"].settings)
    for number, bot in enumerate(strange):
        seats = ("random", bot.name, "diehard")
        yield Job(MatchSpec(f"m{number}", number, f"s{number}", "el-paso", settings, 500 + number, seats))


def blamed(strange, move_time, cluster=HERE):
    """Who was found at fault in each match, for what, and when; and whom the rest of the table finished behind."""
    limits = RunRequest(move_time=move_time, memory=MEMORY, isolate="off").limits
    with choose_executor(table(*strange), limits, None if cluster.address else 2, cluster=cluster) as executor:
        played = {record.seats[1]: record for record, *_ in executor.run(jobs(strange))}
    assert not executor.given_up
    return {
        name: ({(fault.seat, fault.kind, fault.decision) for fault in record.faults}, record.ranks, record.scores)
        for name, record in played.items()
    }


@pytest.mark.parametrize(("strange", "move_time"), [(HANGING, 1), (OTHERS, 60)], ids=["hanging", "others"])
def test_a_cluster_blames_the_same_bots_as_one_machine(cluster, strange, move_time):
    there = blamed(strange, move_time, ClusterChoice(cluster.address))
    assert there.keys() == {bot.name for bot in strange}
    if strange is OTHERS:  # to hang takes its time, and who does on one machine is tested with its pool
        assert there == blamed(strange, move_time)
    for bot in strange:
        assert {seat for seat, _, _ in there[bot.name][0]} <= {1}
        assert {kind for _, kind, _ in there[bot.name][0]} == ({KINDS[bot]} if bot in KINDS else set()), bot.name
    assert len(cluster.processes(lambda command: "dask_worker" in command)) == NODES
