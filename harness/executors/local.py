"""Plays matches in worker processes that may die or hang at any moment; no match is lost, and the right bot is blamed.

Each worker has a pipe for jobs, a pipe for finished lines, and its status in shared memory. The parent waits on all
line pipes at once. A dead worker's pipe ends, so its death is noticed at once, after everything it had finished has
been read.
"""

from __future__ import annotations

import os
import selectors
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from itertools import islice
from time import monotonic, perf_counter, sleep
from typing import ClassVar, Self

import msgspec
import multiprocess

from harness.core.types import GameRecord, MatchSpec
from harness.executors import nursery, system
from harness.executors.jobs import ExecutorSettings, Job, Keep, Played, Roster, WorkerLoss, let_go
from harness.executors.match_pace import MatchPace
from harness.executors.parcels import RosterParcel, pack
from harness.executors.verdicts import Verdicts
from harness.executors.worker import FULL, NOTES, SHORT, main
from harness.executors.worker_status import STOP, WorkerStatus, new_status, slots
from harness.match.referee import LITTLE
from harness.match.time_limits import Limits
from harness.sandbox.tree import processor_time

TICK = 0.1
"""Seconds between two looks at what the workers are doing."""
KILL_AFTER = 1.0
"""Seconds past its time after which a bot that does not return is killed."""
CHUNK = 1 << 16
"""As much as a pipe holds."""

_decode = msgspec.json.Decoder(GameRecord).decode
encode_jobs = msgspec.msgpack.Encoder().encode


RETIREMENTS = {SHORT, FULL}
RECORD = b'{"id":"'
"""How the line of a record begins; its id follows."""


class WorkerHandle:
    """The parent's end of one worker."""

    def __init__(self, parcel: RosterParcel, settings: ExecutorSettings, stopped: bool) -> None:
        jobs, self.jobs = multiprocess.Pipe(duplex=False)
        self.lines, lines = multiprocess.Pipe(duplex=False)
        memory = new_status()
        self.status = slots(memory)
        self.status[STOP] = stopped
        self.process = nursery.start(main, [jobs.fileno(), lines.fileno(), memory], parcel, settings)
        os.close(memory)
        jobs.close()
        lines.close()
        self.pid: int = self.process.pid
        self.fd: int = self.lines.fileno()
        os.set_blocking(self.fd, False)
        self.pending: deque[Job] = deque()
        self.half = b""
        self.notes = b""
        """Notes of the match whose record comes next."""
        self.suspect: WorkerStatus | None = None
        self.overdue = self.idle = False
        """Whether we killed it because a bot did not return, and whether it had hardly done anything meanwhile."""
        self.first_seen: tuple[WorkerStatus, float, float] | None = None
        """What it is doing, since when, and the processor time that it had used by then."""

    def send(self, jobs: list[Job]) -> None:
        """Gives it more to do. If it has died the jobs stay pending, and its death is noticed soon."""
        self.pending.extend(jobs)
        with suppress(BrokenPipeError, ConnectionResetError):
            self.jobs.send_bytes(encode_jobs(jobs))

    def read(self) -> tuple[list[bytes], bool]:
        """Complete lines that have come in, and whether the pipe has ended."""
        data, size = [self.half], CHUNK
        with suppress(BlockingIOError):
            while size == CHUNK:  # less is all that was there
                data.append(os.read(self.fd, CHUNK))
                size = len(data[-1])
        *lines, self.half = b"".join(data).split(b"\n")
        return lines, not size

    def terminate(self) -> None:
        """Kills it, with whatever its bots have started, and lets go of all that belongs to it."""
        system.kill_group(self.pid)
        self.process.join()
        self.jobs.close()
        self.lines.close()


class LocalPool:
    """Persistent workers on this machine. Records are the same as in `Serial`, whatever the number of workers."""

    elsewhere: ClassVar[bool] = False

    def __init__(
        self,
        roster: Roster,
        limits: Limits,
        workers: int,
        memory: int = 0,
        threads: int = 1,
        sweep: bool = False,
        should_stop: Callable[[], bool] = lambda: False,
    ) -> None:
        """`memory` is megabytes a worker, `threads` those of a native pool in it; `sweep` kills what bots forked and
        left behind; `should_stop` is asked every so often."""
        self.size, self.sweep, self.should_stop = workers, sweep, should_stop
        self.tell: Callable[[str], None] = lambda _sentence: None
        self.losses: list[WorkerLoss] = []
        self.given_up: list[str] = []
        """Matches that no worker survived, though no bot could be blamed."""
        self._roster = roster
        self._settings = ExecutorSettings(limits=limits, workers=workers, memory=memory, threads=threads)
        self._parcel: RosterParcel | None = None
        self._workers: dict[int, WorkerHandle] = {}
        self._selector = selectors.DefaultSelector()
        self._verdicts = Verdicts()
        self._retry: deque[Job] = deque()
        self._pace = MatchPace(workers)
        self._finished: list[tuple[bytes, bytes]] = []
        """Lines and notes of matches that have ended, not kept yet."""
        self._next_look = 0.0
        self._stopped = False
        self._others: set[int] = set()

    @classmethod
    def open(cls, roster: Roster, settings: ExecutorSettings, should_stop: Callable[[], bool]) -> Self:
        """The pool that a run asks for: nothing that bots have forked outlives it."""
        limits, workers, memory, threads = settings.limits, settings.workers, settings.memory, settings.threads
        return cls(roster, limits, workers, memory, threads, sweep=True, should_stop=should_stop)

    def status(self) -> str:
        """Nothing: who plays is known."""
        return ""

    def __enter__(self) -> Self:
        self._parcel = pack(self._roster)
        if self.sweep:
            system.adopt_strays(True)
            self._others = system.children()
        for _ in range(self.size):
            self._start_worker()
        return self

    def __exit__(self, *_error: object) -> None:
        for worker in list(self._workers.values()):
            self._stop_worker(worker)
        self._selector.close()
        self._roster.close()
        if self.sweep:
            system.adopt_strays(False)

    def run(self, jobs: Iterable[Job], keep: Keep = let_go) -> Iterator[Played]:
        """Plays these matches; their lines are kept at once, or by the handful, and records come many at a time."""
        waiting, kept, due = iter(jobs), list[Played](), 0.0
        self._share_out(waiting)
        while (least := self._least_pending()) is not None:
            sleep(self._pace.gathering(least))
            for key, _ in self._selector.select(max(0.0, min(TICK, due - monotonic())) if kept else TICK):
                if key.fd in self._workers:
                    self._collect(self._workers[key.fd], waiting)
            if monotonic() >= self._next_look:
                self._next_look = monotonic() + TICK
                self._check_workers(waiting)
                self._feed_idle(waiting)
                if not self._stopped and self.should_stop():
                    self._stop()
            if self._finished:
                kept += self._take_in(keep)
            if kept and monotonic() >= due:
                yield from kept
                kept, due = [], monotonic() + self._pace.patience
        yield from kept

    def _least_pending(self) -> int | None:
        """How many matches the worker has before it that has the fewest; None if no worker has any."""
        pending = [len(worker.pending) for worker in self._workers.values()]
        return min(pending) if any(pending) else None

    def _take_in(self, keep: Keep) -> list[Played]:
        """What has ended, read and then kept: no line is written that is no record."""
        played: list[Played] = []
        try:
            for line, notes in self._finished:
                record = _decode(line)
                self._pace.add(record)
                played.append(Played(record, line, notes))
        finally:
            keep(self._finished[: len(played)])
            self._finished.clear()
        return played

    def _stop(self) -> None:
        """Workers leave when they have finished what they play."""
        self._stopped = True
        for worker in self._workers.values():
            worker.status[STOP] = 1
            worker.jobs.close()

    def _start_worker(self) -> WorkerHandle:
        assert self._parcel is not None, "a pool is used as a context manager"
        worker = WorkerHandle(self._parcel, self._settings, self._stopped)
        self._workers[worker.fd] = worker
        self._selector.register(worker.fd, selectors.EVENT_READ)
        return worker

    def _stop_worker(self, worker: WorkerHandle) -> None:
        self._selector.unregister(worker.fd)
        del self._workers[worker.fd]
        worker.terminate()
        if self.sweep:
            system.kill_strays(self._others)

    def _share_out(self, waiting: Iterator[Job]) -> None:
        """The first jobs, the same number for each worker: a short round is for all of them."""
        if self._stopped:
            return
        workers = list(self._workers.values())
        first = list(islice(waiting, self._pace.ahead * len(workers)))
        each = -(-len(first) // len(workers))
        for number, worker in enumerate(workers):
            part = first[number * each : (number + 1) * each]
            if part:
                worker.send(part)

    def _feed(self, worker: WorkerHandle, waiting: Iterator[Job]) -> None:
        """Tops up what a worker has to do, once half of it is done."""
        ahead = self._pace.ahead
        if self._stopped or len(worker.pending) > ahead // 2:
            return
        wanted = ahead - len(worker.pending)
        jobs = [self._retry.popleft() for _ in range(min(wanted, len(self._retry)))]
        jobs += islice(waiting, wanted - len(jobs))
        if jobs:
            worker.send(jobs)

    def _feed_idle(self, waiting: Iterator[Job]) -> None:
        """Those who have nothing to do: there may be jobs now that were not there when they asked."""
        for worker in list(self._workers.values()):
            if not worker.pending:
                self._feed(worker, waiting)

    def _collect(self, worker: WorkerHandle, waiting: Iterator[Job]) -> None:
        """Takes in what a worker has finished; if its pipe has ended, it has died."""
        lines, ended = worker.read()
        for line in lines:
            if line.startswith(RECORD):
                spec = worker.pending.popleft().spec
                assert _is_of(spec, line), f"a worker sent {line!r} where {spec.id} was due"
                self._verdicts.played(spec.id)
                self._finished.append((line, worker.notes))
                worker.notes = b""
            elif line in RETIREMENTS:
                if line == SHORT and worker.pending:
                    worker.pending[0] = msgspec.structs.replace(worker.pending[0], again=True)
                self._replace(worker, waiting)
                return
            else:
                assert line.startswith(NOTES), f"a worker sent {line!r}"
                worker.notes = line.removeprefix(NOTES)
        if ended:
            self._lost(worker, waiting)
        else:
            self._feed(worker, waiting)

    def _lost(self, worker: WorkerHandle, waiting: Iterator[Job]) -> None:
        """A worker has died, or was killed because a bot did not return."""
        if worker.pending and not self._stopped:
            asking = WorkerStatus(worker.status)
            job = worker.pending.popleft()
            seat = asking.seat if asking.match == job.spec.index else None
            system.kill_group(worker.pid)
            worker.process.join()
            code = worker.process.exitcode
            verdict = self._verdicts.after_death(job, seat, asking.decision, worker.overdue, code, worker.idle)
            self.losses.append(WorkerLoss(job.spec.id, seat, verdict.what))
            if verdict.job is None:
                self.given_up.append(job.spec.id)
            else:
                worker.pending.appendleft(verdict.job)
        self._replace(worker, waiting)

    def _replace(self, worker: WorkerHandle, waiting: Iterator[Job]) -> None:
        self._retry.extendleft(reversed(worker.pending))
        self._stop_worker(worker)
        if not self._stopped:
            self._feed(self._start_worker(), waiting)

    def _check_workers(self, waiting: Iterator[Job]) -> None:
        """Finds workers that died while a child of theirs holds the pipe open, and kills those past their time.

        Seen twice at the same question, a worker is not where it is by chance.
        """
        now = perf_counter()
        for worker in list(self._workers.values()):
            asking = WorkerStatus(worker.status)
            if worker.first_seen is None or worker.first_seen[0] != asking:
                worker.first_seen = asking, now, processor_time(worker.pid)
            if not worker.process.is_alive():
                self._collect(worker, waiting)
                if worker.fd in self._workers and self._workers[worker.fd] is worker:
                    self._lost(worker, waiting)
            elif asking.seat is None or now < asking.deadline + KILL_AFTER:
                worker.suspect = None
            elif worker.suspect != asking:
                worker.suspect = asking
            else:
                worker.overdue = True
                _, since, used = worker.first_seen
                spent = processor_time(worker.pid) - used
                worker.idle = self._settings.limits.clock == "fair" and spent < LITTLE * (now - since)
                system.kill_group(worker.pid)


def _is_of(spec: MatchSpec, line: bytes) -> bool:
    """Whether a line is the record of this match. It is decoded later, with many others; here it takes its place."""
    plainly = line.startswith(b'%b","index":%d,' % (spec.id.encode(), spec.index), len(RECORD))
    return line.endswith(b"}") and (plainly or _decode(line).id == spec.id)  # JSON may write an id in other letters
