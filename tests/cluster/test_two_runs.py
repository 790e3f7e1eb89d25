"""One cluster, several runs at once: each has its own agents, records and bots."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import harness
from tests.support.waiting import wait_for


def test_two_runs_at_once_on_one_cluster_do_not_affect_each_other(cluster):
    asked = {"bots": ["random", "skittish", "diehard"], "seed": 5, "quiet": True, "move_time": 60}
    with ThreadPoolExecutor(2) as threads:
        there = [
            threads.submit(harness.tournament, "el-paso", cluster=cluster.address, name=name, deals=deals, **asked)
            for name, deals in (("short", 20), ("long", 100))
        ]
        here = harness.tournament("el-paso", workers=0, name="here", deals=100, **asked)
        short, long = (run.result() for run in there)
        wait_for(lambda: not cluster.agents(), "no agent is left")
    records = {record.id: record.without_timing() for record in here}
    assert {record.id: record.without_timing() for record in long} == records
    assert {record.id for record in short} <= records.keys()
    assert all(record.without_timing() == records[record.id] for record in short)
    assert short.complete
    assert long.table() == here.table()
