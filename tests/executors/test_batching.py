"""How much work waits at a worker, and how matches that have ended are taken in: at once, or by the handful."""

from __future__ import annotations

import pytest

from harness.core.records import GameRecord
from harness.executors.base import Job, discard
from harness.executors.pool import (
    COALESCE_MATCHES,
    MAX_AHEAD_MATCHES,
    MAX_COALESCE_S,
    MAX_YIELD_DELAY_S,
    WORK_AHEAD_S,
    BatchSizer,
    LocalPool,
)
from harness.executors.serial import SerialExecutor
from harness.match.faults import NO_LIMITS
from tests.executors.test_pool import jobs, plain, table

RECORD = GameRecord("m", 0, "s", "el-paso", "1", {}, 1, ("a", "b"), (1, 0), (1, 2), "", (), (0, 0))


def lasting(seconds):
    return GameRecord(*(getattr(RECORD, name) for name in RECORD.__struct_fields__[:13]), time=(seconds, 0.0))


def sizer_after(workers, matches, seconds):
    sizer = BatchSizer(workers)
    for _ in range(matches):
        sizer.add_match(lasting(seconds))
    return sizer


def test_a_worker_has_one_match_queued_until_some_were_played():
    assert [sizer_after(2, matches, 1e-3).matches_ahead for matches in (0, 1, 3, 8, 40)] == [1, 1, 1, 2, 10]


@pytest.mark.parametrize("seconds", [1e-3, 1e-2, 0.03])
def test_the_queue_of_a_worker_grows_to_a_tenth_of_a_second_of_work(seconds):
    assert sizer_after(2, 10_000, seconds).matches_ahead == pytest.approx(WORK_AHEAD_S / seconds, rel=0.15)


def test_the_queue_of_a_worker_has_a_maximum_length():
    assert sizer_after(1, 100_000, 0.0).matches_ahead == MAX_AHEAD_MATCHES


def test_one_slow_early_match_does_not_keep_the_queue_short():
    sizer = sizer_after(2, 1, 5.0)
    assert sizer.matches_ahead == 1
    for _ in range(200):
        sizer.add_match(lasting(1e-3))
    assert sizer.matches_ahead > 20


def test_results_of_quick_matches_are_batched_and_of_slow_ones_are_not():
    quick, slow = sizer_after(2, 1000, 1e-3), sizer_after(2, 1000, 0.2)
    assert 0 < quick.coalesce_delay(quick.matches_ahead // 2) <= MAX_COALESCE_S
    assert slow.coalesce_delay(slow.matches_ahead) == 0
    assert sizer_after(64, 10_000, 1e-3).coalesce_delay(50) < COALESCE_MATCHES * 1.2e-3 / 64


def test_results_are_not_batched_while_a_worker_may_run_out_of_work():
    assert sizer_after(2, 1000, 1e-3).coalesce_delay(1) == 0


def test_results_of_the_first_matches_are_yielded_soon():
    assert sizer_after(2, 5, 1e-3).yield_delay <= MAX_YIELD_DELAY_S / 50
    assert sizer_after(2, 10_000, 1e-3).yield_delay == MAX_YIELD_DELAY_S


@pytest.mark.parametrize("workers", [0, 2])
def test_every_result_is_stored_before_it_is_yielded(workers):
    kept, given = [], []
    executor = LocalPool(table(), NO_LIMITS, workers) if workers else SerialExecutor(table())
    with executor:
        for played in executor.run(jobs(80), kept.extend):
            assert played in kept
            given.append(played.record)
    assert len(kept) == len(given) == 80
    assert {record.id: record.without_timing() for record in given} == plain(SerialExecutor(table()).run(jobs(80)))


def test_a_record_of_an_unexpected_match_is_an_error():
    [job] = jobs(1)
    with LocalPool(table(), NO_LIMITS, 1) as pool:
        [worker] = pool._workers.values()
        running = pool.run([job], discard)
        worker.pending = type("Swapping", (type(worker.pending),), {"popleft": lambda _self: Job(RECORD.spec)})()
        with pytest.raises(AssertionError, match="where m was due"):
            list(running)
