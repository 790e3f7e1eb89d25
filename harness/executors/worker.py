"""A worker process, and the shared memory in which it notes which seat it is asking."""

from __future__ import annotations

import gc
import mmap
import os
import signal
import sys
import tempfile
from array import array
from collections.abc import Sequence
from time import perf_counter
from typing import Any

import msgspec
from multiprocess.connection import Connection

from harness.core.bot import DecisionNotes, encode_notes
from harness.core.records import MatchSpec
from harness.executors import forkserver
from harness.executors.base import ExecutorSettings, Job, Roster, encode
from harness.executors.payload import RosterPayload, unpack_roster
from harness.executors.retry import play_with_retry
from harness.isolation.launch import thread_variables
from harness.match.faults import Limits
from harness.match.referee import ASKING, DEADLINE, IDLE, MATCH, MAX_SEATS, SLOTS
from harness.match.stdio import MatchStdout, refuse_breakpoints

# Status in shared memory: the match, the seat being asked and its deadline.
#
# It is written at every decision, so it is a few numbers without a lock. A read can therefore mix two decisions: the
# parent acts only on a status that it has read twice.


STOP = SLOTS
"""The parent sets this slot to ask the worker to start no further match."""
_INITIAL_STATUS = array("d", [IDLE if slot == ASKING else 0.0 for slot in range(SLOTS + 1)]).tobytes()


def new_status() -> int:
    """Return a file descriptor of new shared memory for one worker."""
    # A file without a name disappears with its last descriptor, also after a crash.
    with tempfile.TemporaryFile() as file:
        file.write(_INITIAL_STATUS)
        file.flush()
        return os.dup(file.fileno())


def map_status(descriptor: int) -> memoryview[float]:
    """Return the shared memory as a view of floats, the form that is fastest to write."""
    return memoryview(mmap.mmap(descriptor, len(_INITIAL_STATUS))).cast("d")


class WorkerStatus:
    """A worker's status at one moment."""

    __slots__ = ("deadline", "decision", "match", "seat")

    def __init__(self, status: Any) -> None:
        code = int(status[ASKING])
        self.match = int(status[MATCH])
        self.deadline = float(status[DEADLINE])
        self.decision, seat = divmod(code, MAX_SEATS)
        self.seat: int | None = None if code == IDLE else seat

    def __eq__(self, other: object) -> bool:
        return isinstance(other, WorkerStatus) and self.key == other.key and self.deadline == other.deadline

    __hash__ = None  # type: ignore[assignment]  # a reading is compared, never kept in a set

    @property
    def key(self) -> tuple[int, int | None, int]:
        """Match, seat (None: no bot is being asked) and decision."""
        return self.match, self.seat, self.decision


# The worker process: reads jobs from one pipe, writes the lines of finished matches to another.


OUT_OF_MEMORY, NEARLY_FULL = b"short of memory", b"memory nearly full"
"""Lines that ask the parent to replace this worker, instead of a record or after one."""
LOAD_TIMEOUT_S = 120.0
"""Time limit for importing a bot: networks are large and disks are slow."""
NOTES = b"notes "
"""Prefix of a line with notes; the record of the same match follows."""
RETIRE_AT_MEMORY_SHARE = 0.7
"""Share of the memory limit above which a worker asks to be replaced between two matches."""


def main(fds: Sequence[int], payload: RosterPayload, settings: ExecutorSettings) -> None:
    """Play until there are no more jobs, in a process and session started for this worker.

    The descriptors are the pipe for jobs, the pipe for finished lines, and the shared status.
    """
    me = os.getpid()
    try:
        jobs, lines, status = Connection(fds[0], writable=False), fds[1], map_status(fds[2])
        # The descriptor of the status is closed here: the mapping does not need it.
        _set_up_process(settings.memory, keep=set(fds[:2]))
        refuse_breakpoints()
        os.environ.update(thread_variables(settings.threads))
        roster = unpack_roster(payload)
        _MatchLoop(jobs, lines, status, roster, settings.limits, settings.memory).run()
        roster.close()
    except BaseException:
        if os.getpid() == me:  # otherwise a bot forked this process, and it must not print in the worker's name
            sys.excepthook(*sys.exc_info())
    finally:
        os._exit(0)  # do not wait for threads that bots left running


class _MatchLoop:
    def __init__(
        self, jobs: Any, out: int, status: memoryview[float], roster: Roster, limits: Limits, memory: int
    ) -> None:
        self.jobs, self.out, self.status = jobs, out, status
        self.roster, self.limits, self.memory = roster, limits, memory
        os.register_at_fork(after_in_child=self._detach_forked_child)

    def _detach_forked_child(self) -> None:
        """Close the parent's pipe and status in a child that a bot forks, so that it cannot play on in the worker's
        name."""
        self.status.release()
        # The referee raises at its next write to the released status, which ends the forked copy of the match.
        os.close(self.out)

    def run(self) -> None:
        """Play batches until the pipe with jobs is closed."""
        decode = msgspec.msgpack.Decoder(list[Job]).decode
        while True:
            try:
                batch = decode(self.jobs.recv_bytes())
            except EOFError:
                return
            for job in batch:
                if self.status[STOP] or not self._play(job):
                    return

    def _play(self, job: Job) -> bool:
        """Play one match and return whether this worker can play another."""
        spec = job.spec
        self.status[MATCH] = spec.index
        printed = sys.stdout = sys.stderr = MatchStdout(spec, self.status)
        audit = self._check_pipes if job.again else None
        self._load_bots(spec)
        notes: list[DecisionNotes] = []
        record = play_with_retry(job, self.roster, self.limits, self.status, audit, notes)
        printed.end()
        seats = [self.roster.entrants[name] for name in spec.seats]
        short = any(fault.kind == "memory" and not seats[fault.seat].isolated for fault in record.faults)
        if short and not job.again:
            # An earlier match may have filled the memory, so running out is not blamed yet: the match is played again
            # in a fresh worker, where `job.again` is set.
            self._write_line(OUT_OF_MEMORY)
            return False
        if notes:
            self._write_line(NOTES + encode_notes(spec.id, notes))
        self._write_line(encode(record))
        if short or (self.memory and forkserver.memory_used_mb() > RETIRE_AT_MEMORY_SHARE * self.memory):
            self._write_line(NEARLY_FULL)
            return False
        return True

    def _load_bots(self, spec: MatchSpec) -> None:
        """Load the bots of a match that this worker has not seen, before any clock runs.

        The status names the seat as if its bot were asked, so that an import that hangs or ends the process is blamed
        on it.
        """
        loaded = self.roster.loaded
        for seat, name in enumerate(spec.seats):
            if name not in loaded:
                self.status[DEADLINE] = perf_counter() + LOAD_TIMEOUT_S
                self.status[ASKING] = seat
                self.roster.entrants[name]
                self.status[ASKING] = IDLE
                gc.freeze()  # the collector need not scan loaded modules again

    def _check_pipes(self) -> None:
        """Exit at once if a bot has closed the worker's pipes, so that the crash happens at the decision of that bot.

        Only in a replay after a lost worker: the check costs two system calls a decision.
        """
        try:
            os.fstat(self.out)
            os.fstat(self.jobs.fileno())
        except OSError:
            os._exit(1)

    def _write_line(self, line: bytes) -> None:
        data = line + b"\n"
        while data:
            data = data[os.write(self.out, data) :]


def _set_up_process(memory: int, keep: set[int]) -> None:
    forkserver.die_with_parent()
    # The parent kills the whole group, and with it what bots forked. Ctrl-C at the terminal reaches the parent only.
    os.setsid()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)
    # Bots may print to descriptor 1 or read descriptor 0; neither belongs to them.
    os.dup2(2, 1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    forkserver.close_other_fds({0, 1, 2, *keep})
    forkserver.limit_memory(memory)
