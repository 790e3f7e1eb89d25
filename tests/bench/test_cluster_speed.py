"""A real scheduler and fifty stub nodes: what the driver of a run takes of its core."""

from __future__ import annotations

from time import process_time

import pytest

pytest.importorskip("distributed", reason="a cluster needs Dask: pip install 'arena-harness[cluster]'")

from harness.bench.engine import UNIFORM
from harness.bench.executors import FAKE_NODE_CORES, FAKE_NODES, FAKE_THINK_S, QUICK_NODES, bench_jobs
from harness.executors.base import ClusterChoice, Roster, choose_executor
from harness.runs.request import RunRequest
from harness.runs.setup import installed

MATCHES = 2_000


def test_one_driver_keeps_a_hundred_cores_busy_with_one_millisecond_decisions():
    game = installed().game("el-paso").configure()
    roster, kept, seen = Roster({game.name: game}, {"uniform": UNIFORM}), [], []
    jobs = (job for job, _ in zip(bench_jobs(game, 4), range(MATCHES), strict=False))
    limits = RunRequest(move_time=0).limits
    with choose_executor(roster, limits, None, cluster=ClusterChoice(QUICK_NODES)) as executor:
        used = process_time()
        seen = [record for record, *_ in executor.run(jobs, kept.extend)]
        used = process_time() - used
        assert len(executor._nodes.playing()) == FAKE_NODES
    assert sorted(record.index for record in seen) == list(range(1, MATCHES + 1))
    assert len(kept) == MATCHES
    of_a_core = FAKE_THINK_S * sum(len(record.actions) for record in seen)
    assert (
        of_a_core / used >= FAKE_NODES * FAKE_NODE_CORES
    )  # seconds of bots' thinking for each second of the driver's processor time
