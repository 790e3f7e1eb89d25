"""Play matches in worker processes, and size the batches that are queued at each of them."""

from __future__ import annotations

import os
import selectors
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import partial
from itertools import islice
from time import monotonic, perf_counter, sleep
from typing import Self

import msgspec
import multiprocess

from harness.core.records import GameRecord, MatchSpec
from harness.executors import forkserver
from harness.executors.base import Executor, ExecutorSettings, Job, Keep, Played, Roster, WorkerLoss, discard
from harness.executors.retry import CrashTracker
from harness.executors.worker import (
    NEARLY_FULL,
    NOTES,
    OUT_OF_MEMORY,
    STOP,
    RosterPayload,
    WorkerStatus,
    limit_output,
    main,
    map_status,
    new_status,
    output_file,
    pack_roster,
    take_output,
)
from harness.isolation.accounting import children_of, processor_time
from harness.match.faults import Limits
from harness.match.referee import MIN_CPU_SHARE
from harness.match.stdio import SHOWN, UNKNOWN, BotLogs, TaggedLines

# Batching: how many matches are queued at a worker, and how long finished lines may accumulate.


WORK_AHEAD_S = 0.1
"""Work queued at each worker: long compared with the pause between two batches."""
MAX_AHEAD_MATCHES = 500
MAX_COALESCE_S = 0.02
"""Longest wait for more matches to finish, and ..."""
COALESCE_MATCHES = 20
"""... the number to wait for: waking up for each quick match costs the parent more than the match itself."""
MAX_YIELD_DELAY_S = 0.1
"""Longest time before finished matches are yielded, many at once: code that runs after a sleep has cold caches. Short
runs and rounds wait less (see `yield_delay`)."""
MATCH_OVERHEAD_S, DECISION_OVERHEAD_S = 1e-4, 1e-5
"""Approximate time of engine and referee, for a match and for a decision; records hold the bots' time only."""
MIN_WEIGHT = 0.05
"""Smallest weight of the latest match in the running mean: the schedule changes bots, so old matches must fade."""


class BatchSizer:
    """Estimates how long a match takes, and from it how many to queue at each worker."""

    def __init__(
        self, workers: int, work_ahead: float = WORK_AHEAD_S, max_ahead: int = MAX_AHEAD_MATCHES, growth: int = 1
    ) -> None:
        """Each worker gets `work_ahead` seconds of work and `max_ahead` matches at most; `growth` limits the first
        batches to this multiple of the matches played so far."""
        self.workers, self.work_ahead, self.max_ahead, self.growth = workers, work_ahead, max_ahead, growth
        self.match_seconds, self.matches_played = WORK_AHEAD_S, 0

    def add_match(self, record: GameRecord) -> None:
        """Add a finished match to the estimate."""
        spent = sum(record.time) + MATCH_OVERHEAD_S + DECISION_OVERHEAD_S * len(record.actions)
        self.matches_played += 1
        self.match_seconds += max(MIN_WEIGHT, 1 / self.matches_played) * (spent - self.match_seconds)

    @property
    def matches_ahead(self) -> int:
        """Matches to queue at a worker. Few at first: early matches are a poor estimate, and a short run should use all
        workers."""
        tried = self.growth * self.matches_played // (2 * self.workers)
        return max(1, min(self.max_ahead, tried, int(self.work_ahead / self.match_seconds)))

    @property
    def yield_delay(self) -> float:
        """Seconds to wait before finished matches are yielded; longer as more were played."""
        return min(MAX_YIELD_DELAY_S, MAX_YIELD_DELAY_S * self.matches_played / MAX_AHEAD_MATCHES)

    def coalesce_delay(self, fewest_pending: int) -> float:
        """Return the seconds to wait for several matches to finish.

        0 if matches are slow, or if the worker with the fewest pending matches might run out of work meanwhile.
        """
        if self.match_seconds > MAX_COALESCE_S or fewest_pending * self.match_seconds < 2 * MAX_COALESCE_S:
            return 0.0
        return min(MAX_COALESCE_S, COALESCE_MATCHES * self.match_seconds / self.workers)


# The pool. Workers can die or hang at any moment; no match is lost, and the right bot is blamed.
#
# Each worker has a pipe for jobs, a pipe for finished lines and a status in shared memory. The parent waits on all line
# pipes at once. When a worker dies its pipe ends, after everything that it had finished has been read.


POLL_INTERVAL_S = 0.1
"""Time between two checks of what the workers are doing."""
KILL_AFTER_S = 1.0
"""Time past its deadline after which a worker is killed: the worker itself notices a late answer that does return."""
PIPE_BYTES = 1 << 16
"""Capacity of a pipe."""

_decode = msgspec.json.Decoder(GameRecord).decode
encode_jobs = msgspec.msgpack.Encoder().encode


RETIRE_MESSAGES = {OUT_OF_MEMORY, NEARLY_FULL}
RECORD_PREFIX = b'{"id":"'
"""Start of a record's line; its id follows."""


class WorkerHandle:
    """The parent's side of one worker."""

    def __init__(self, stopped: bool, logs: BotLogs, *args: RosterPayload | Limits | int) -> None:
        """Start a worker; `args` are those of its `main`."""
        jobs, self.jobs = multiprocess.Pipe(duplex=False)
        self.lines, lines = multiprocess.Pipe(duplex=False)
        memory = new_status()
        self.status = map_status(memory)
        self.status[STOP] = stopped
        self.logs = logs
        self.output = output_file()
        """File for what is written to descriptors 1 and 2 of the worker."""
        fds = [jobs.fileno(), lines.fileno(), memory, self.output]
        self.process = forkserver.start_process(main, fds, logs, *args)
        # The worker has copies of its ends. If the parent kept them open, the pipes would not end when the worker dies.
        os.close(memory)
        jobs.close()
        lines.close()
        self.pid: int = self.process.pid
        self.fd: int = self.lines.fileno()
        os.set_blocking(self.fd, False)
        self.pending: deque[Job] = deque()
        self.partial_line = b""
        self.notes = b""
        """Notes of the match whose record comes next."""
        self.suspect: WorkerStatus | None = None
        self.overdue = self.idle = False
        """Whether the parent killed it because a bot did not return, and whether it had used hardly any processor
        time."""
        self.first_seen: tuple[WorkerStatus, float, float] | None = None
        """Its status, when that was first seen, and the processor time used by then."""

    def send(self, jobs: list[Job]) -> None:
        """Send jobs. If the worker has died they stay pending, and its death is noticed soon."""
        self.pending.extend(jobs)
        with suppress(BrokenPipeError, ConnectionResetError):
            self.jobs.send_bytes(encode_jobs(jobs))

    def read(self) -> tuple[list[bytes], bool]:
        """Return the complete lines that have arrived, and whether the pipe has ended."""
        data, size = [self.partial_line], PIPE_BYTES
        with suppress(BlockingIOError):
            while size == PIPE_BYTES:  # a short read has emptied the pipe
                data.append(os.read(self.fd, PIPE_BYTES))
                size = len(data[-1])
        *lines, self.partial_line = b"".join(data).split(b"\n")
        return lines, not size

    def terminate(self) -> None:
        """Kill the worker and what its bots started, and release its resources."""
        forkserver.kill_group(self.pid)
        self.process.wait()
        self.jobs.close()
        self.lines.close()
        os.close(self.output)


class LocalPool(Executor):
    """Plays in persistent workers on this machine. Records are the same as in `SerialExecutor`, whatever the number of
    workers."""

    def __init__(
        self,
        roster: Roster,
        limits: Limits,
        workers: int,
        memory: int = 0,
        threads: int = 1,
        sweep: bool = False,
        should_stop: Callable[[], bool] = lambda: False,
        logs: BotLogs = SHOWN,
    ) -> None:
        """`memory` is megabytes a worker, `threads` the size of native thread pools; `sweep` kills processes that bots
        leave behind; `should_stop` is polled; `logs` says where output of bots goes."""
        super().__init__(roster, should_stop)
        self.size, self.sweep = workers, sweep
        self.limits, self.memory, self.threads, self.logs = limits, memory, threads, logs
        self._payload: RosterPayload | None = None
        self._workers: dict[int, WorkerHandle] = {}
        self._selector = selectors.DefaultSelector()
        self._crashes = CrashTracker()
        self._requeued: deque[Job] = deque()
        self._sizer = BatchSizer(workers)
        self._finished: list[tuple[bytes, bytes]] = []
        """Lines and notes of finished matches that were not kept yet."""
        self._next_check = 0.0
        self._stopped = False
        self._other_children: set[int] = set()

    @classmethod
    def open(cls, roster: Roster, settings: ExecutorSettings, should_stop: Callable[[], bool]) -> Self:
        """Return the pool for a run; it kills what bots fork and leave behind."""
        times, memory, threads = settings.times, settings.limits.memory, settings.limits.threads
        logs = BotLogs(settings.logs, settings.show_output)
        return cls(roster, times, settings.workers, memory, threads, sweep=True, should_stop=should_stop, logs=logs)

    def __enter__(self) -> Self:
        self._payload = pack_roster(self.roster)
        if self.sweep:
            forkserver.set_subreaper(True)
            # Children from before the pool are the caller's, and are never killed as orphans.
            self._other_children = set(children_of(os.getpid()))
        for _ in range(self.size):
            self._start_worker()
        return self

    def __exit__(self, *_error: object) -> None:
        for worker in list(self._workers.values()):
            self._stop_worker(worker)
        self._selector.close()
        super().__exit__()
        if self.sweep:
            forkserver.set_subreaper(False)

    def run(self, jobs: Iterable[Job], keep: Keep = discard) -> Iterator[Played]:
        """Play these matches; lines are kept as they arrive, records are yielded many at a time."""
        waiting, kept, due = iter(jobs), list[Played](), 0.0
        self._send_first_jobs(waiting)
        while any(pending := [len(worker.pending) for worker in self._workers.values()]):
            sleep(self._sizer.coalesce_delay(min(pending)))
            timeout = max(0.0, min(POLL_INTERVAL_S, due - monotonic())) if kept else POLL_INTERVAL_S
            for key, _ in self._selector.select(timeout):
                # A worker that was replaced while this list was handled has no entry any more: its event is stale.
                if key.fd in self._workers:
                    self._read_worker(self._workers[key.fd], waiting)
            if monotonic() >= self._next_check:
                self._next_check = monotonic() + POLL_INTERVAL_S
                self._check_workers(waiting)
                for worker in list(self._workers.values()):
                    if not worker.pending:  # the iterator may have new jobs since the worker ran out of them
                        self._refill(worker, waiting)
                if not self._stopped and self.should_stop():
                    self._stop()
            if self._finished:
                kept += self._keep_finished(keep)
            if kept and monotonic() >= due:
                yield from kept
                kept, due = [], monotonic() + self._sizer.yield_delay
        yield from kept

    def _keep_finished(self, keep: Keep) -> list[Played]:
        """Decode finished lines, then keep them: only valid records are written.

        This is the only time that the parent decodes a record; `keep` and the caller get what was decoded.
        """
        played: list[Played] = []
        try:
            for line, notes in self._finished:
                record = _decode(line)
                self._sizer.add_match(record)
                played.append(Played(record, line, notes))
        finally:  # an invalid line must not lose the valid records before it
            keep(played)
            self._finished.clear()
        return played

    def _stop(self) -> None:
        """Have workers exit after the match that they are playing."""
        self._stopped = True
        # The status stops a worker within its batch, the closed pipe one that waits for the next batch.
        for worker in self._workers.values():
            worker.status[STOP] = 1
            worker.jobs.close()

    def _start_worker(self) -> WorkerHandle:
        assert self._payload is not None, "a pool is used as a context manager"
        worker = WorkerHandle(self._stopped, self.logs, self._payload, self.limits, self.memory, self.threads)
        self._workers[worker.fd] = worker
        self._selector.register(worker.fd, selectors.EVENT_READ)
        return worker

    def _stop_worker(self, worker: WorkerHandle) -> None:
        self._selector.unregister(worker.fd)
        del self._workers[worker.fd]
        worker.terminate()
        if self.sweep:
            forkserver.kill_orphans(self._other_children)

    def _send_first_jobs(self, waiting: Iterator[Job]) -> None:
        """Send each worker the same number of first jobs, so that a short round uses all of them."""
        if self._stopped:
            return
        workers = list(self._workers.values())
        first = list(islice(waiting, self._sizer.matches_ahead * len(workers)))
        each = -(-len(first) // len(workers))
        for number, worker in enumerate(workers):
            part = first[number * each : (number + 1) * each]
            if part:
                worker.send(part)

    def _refill(self, worker: WorkerHandle, waiting: Iterator[Job]) -> None:
        """Fill up a worker's queue once half of it is done."""
        ahead = self._sizer.matches_ahead
        if self._stopped or len(worker.pending) > ahead // 2:
            return
        wanted = ahead - len(worker.pending)
        # Lost matches first: the caller may be waiting for the end of their round.
        jobs = [self._requeued.popleft() for _ in range(min(wanted, len(self._requeued)))]
        jobs += islice(waiting, wanted - len(jobs))
        if jobs:
            worker.send(jobs)

    def _read_worker(self, worker: WorkerHandle, waiting: Iterator[Job]) -> None:
        """Read what a worker has finished; if its pipe has ended, handle its death."""
        lines, ended = worker.read()
        for line in lines:
            if line.startswith(RECORD_PREFIX):
                # A worker plays its jobs in order, so a line belongs to the first pending job.
                spec = worker.pending.popleft().spec
                assert _is_record_of(spec, line), f"a worker sent {line!r} where {spec.id} was due"
                self._crashes.forget_match(spec.id)
                self._finished.append((line, worker.notes))
                worker.notes = b""
            elif line in RETIRE_MESSAGES:
                if line == OUT_OF_MEMORY and worker.pending:
                    worker.pending[0] = msgspec.structs.replace(worker.pending[0], again=True)
                self._replace_worker(worker, waiting)
                return
            else:
                assert line.startswith(NOTES), f"a worker sent {line!r}"
                worker.notes = line.removeprefix(NOTES)
        if ended:
            self._worker_died(worker, waiting)
        else:
            self._refill(worker, waiting)

    def _worker_died(self, worker: WorkerHandle, waiting: Iterator[Job]) -> None:
        """Decide what becomes of the match that a dead worker was playing, and replace the worker."""
        if worker.pending and not self._stopped:
            asking = WorkerStatus.read(worker.status)
            job = worker.pending.popleft()
            # The status may still name a seat of an earlier match: between two matches no bot is being asked.
            seat = asking.seat if asking.match == job.spec.index else None
            if text := take_output(worker.output):  # such as the last words of a library that crashed
                bot = UNKNOWN if seat is None else job.spec.seats[seat]
                TaggedLines(partial(self.logs.append, bot)).add(f"[{job.spec.id}] ".encode(), text + b"\n")
            forkserver.kill_group(worker.pid)
            code = worker.process.wait()
            again, what = self._crashes.record_crash(job, seat, asking.decision, worker.overdue, code, worker.idle)
            self.losses.append(WorkerLoss(job.spec.id, seat, what))
            if again is None:
                self.given_up.append(job.spec.id)
            else:
                worker.pending.appendleft(again)
        self._replace_worker(worker, waiting)

    def _replace_worker(self, worker: WorkerHandle, waiting: Iterator[Job]) -> None:
        self._requeued.extendleft(reversed(worker.pending))  # extendleft reverses once more: the order is kept
        self._stop_worker(worker)
        if not self._stopped:
            self._refill(self._start_worker(), waiting)

    def _check_workers(self, waiting: Iterator[Job]) -> None:
        """Find dead workers whose pipe is kept open by a child, and kill workers past their deadline."""
        now = perf_counter()
        for worker in list(self._workers.values()):
            limit_output(worker.output)
            asking = WorkerStatus.read(worker.status)
            if worker.first_seen is None or worker.first_seen[0] != asking:
                worker.first_seen = asking, now, processor_time(worker.pid)
            # The exit and the last lines can arrive together: read the pipe first, so that a finished match is not
            # played again. Reading may already handle the death and replace the worker.
            if worker.process.exitcode is not None:
                self._read_worker(worker, waiting)
                if worker.fd in self._workers and self._workers[worker.fd] is worker:
                    self._worker_died(worker, waiting)
            elif asking.seat is None or now < asking.deadline + KILL_AFTER_S:
                worker.suspect = None
            # One late reading may be torn (see `worker`), or the bot may be about to return. Only the same status in
            # two checks proves that the worker hangs.
            elif worker.suspect != asking:
                worker.suspect = asking
            else:
                worker.overdue = True
                # If the worker used hardly any processor time, the machine may be to blame: CrashTracker gives the bot
                # another try.
                _, since, used = worker.first_seen
                spent = processor_time(worker.pid) - used
                worker.idle = self.limits.clock == "fair" and spent < MIN_CPU_SHARE * (now - since)
                forkserver.kill_group(worker.pid)


def _is_record_of(spec: MatchSpec, line: bytes) -> bool:
    """Return whether a line is the record of this match, without decoding it: that happens later, in bulk."""
    plainly = line.startswith(b'%b","index":%d,' % (spec.id.encode(), spec.index), len(RECORD_PREFIX))
    return line.endswith(b"}") and (plainly or _decode(line).id == spec.id)  # JSON may write an id in other letters
