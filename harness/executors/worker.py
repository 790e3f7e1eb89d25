"""A worker process: plays the matches that come in by one pipe, writes their lines to another."""

from __future__ import annotations

import gc
import os
import signal
import sys
from collections.abc import Sequence
from time import perf_counter
from typing import Any

import msgspec
from multiprocess.connection import Connection

from harness.core.notes import DecisionNotes, encode_notes
from harness.core.types import MatchSpec
from harness.executors import system
from harness.executors.fairness import play_fairly
from harness.executors.jobs import ExecutorSettings, Job, Roster, encode
from harness.executors.parcels import RosterParcel, unpack
from harness.executors.threads import thread_variables
from harness.executors.worker_status import STOP, slots
from harness.match.bot_prints import MatchStdout
from harness.match.breakpoints import refuse_breakpoints
from harness.match.referee import ASKING, DEADLINE, IDLE, MATCH
from harness.match.time_limits import Limits

SHORT, FULL = b"short of memory", b"memory nearly full"
"""What a worker writes, in place of a record or after one, when it should be replaced by a fresh one."""
LOAD_TIME = 120.0
"""Seconds for the import of a bot: long, since networks are large and disks are slow, but not for ever."""
NOTES = b"notes "
"""What stands before a line of notes; the record of the same match comes next."""
FULL_AT = 0.7
"""Share of its memory at which a worker gives way between two matches."""


def main(handles: Sequence[int], parcel: RosterParcel, settings: ExecutorSettings) -> None:
    """Plays until there are no more jobs. Runs in a process and a session of its own.

    The handles are those of a pipe for jobs, a pipe for finished lines, and the worker's status.
    """
    me = os.getpid()
    try:
        jobs, lines, status = Connection(handles[0], writable=False), handles[1], slots(handles[2])
        _settle(settings.memory, keep=set(handles[:2]))
        refuse_breakpoints()
        os.environ.update(thread_variables(settings.threads))
        roster = unpack(parcel)
        _MatchLoop(jobs, lines, status, roster, settings.limits, settings.memory).work()
        roster.close()
    except BaseException:
        if os.getpid() == me:  # else it is a child that a bot has forked: it has no business here
            sys.excepthook(*sys.exc_info())
    finally:
        os._exit(0)  # at once: no waiting for threads that bots have left running


class _MatchLoop:
    def __init__(
        self, jobs: Any, out: int, notice: memoryview[float], roster: Roster, limits: Limits, memory: int
    ) -> None:
        self.jobs, self.out, self.notice = jobs, out, notice
        self.roster, self.limits, self.memory = roster, limits, memory
        os.register_at_fork(after_in_child=self._disown)

    def _disown(self) -> None:
        """In a child that a bot forks: it must not play on in our name. The referee fails at its next note."""
        self.notice.release()
        os.close(self.out)

    def work(self) -> None:
        """Plays batch after batch."""
        decode = msgspec.msgpack.Decoder(list[Job]).decode
        while True:
            try:
                batch = decode(self.jobs.recv_bytes())
            except EOFError:
                return
            for job in batch:
                if self.notice[STOP] or not self._play(job):
                    return

    def _play(self, job: Job) -> bool:
        """Plays one match; whether this worker is fit for another."""
        spec = job.spec
        self.notice[MATCH] = spec.index
        printed = sys.stdout = sys.stderr = MatchStdout(spec, self.notice)
        audit = self._audit if job.again else None
        self._load(spec)
        notes: list[DecisionNotes] = []
        record = play_fairly(job, self.roster, self.limits, self.notice, audit, notes)
        printed.end()
        seats = [self.roster.entrants[name] for name in spec.seats]
        short = any(fault.kind == "memory" and not seats[fault.seat].isolated for fault in record.faults)
        if short and not job.again:
            # Somebody else may have filled the memory: the match is played again in a fresh worker.
            self._write(SHORT)
            return False
        if notes:
            self._write(NOTES + encode_notes(spec.id, notes))
        self._write(encode(record))
        if short or (self.memory and system.memory_used() > FULL_AT * self.memory):
            self._write(FULL)
            return False
        return True

    def _load(self, spec: MatchSpec) -> None:
        """Loads the bots of a match that this worker has not seen yet, before any clock runs. Whose import does not
        return, or ends the process, is noted as if it were asked to play."""
        loaded = self.roster.loaded
        for seat, name in enumerate(spec.seats):
            if name not in loaded:
                self.notice[DEADLINE] = perf_counter() + LOAD_TIME
                self.notice[ASKING] = seat
                self.roster.entrants[name]
                self.notice[ASKING] = IDLE
                gc.freeze()  # what is loaded stays: the collector need not look at it again and again

    def _audit(self) -> None:
        """In a match that has cost a worker before: stop at once where a bot has closed our pipes, so that it shows."""
        try:
            os.fstat(self.out)
            os.fstat(self.jobs.fileno())
        except OSError:
            os._exit(1)

    def _write(self, line: bytes) -> None:
        data = line + b"\n"
        while data:
            data = data[os.write(self.out, data) :]


def _settle(memory: int, keep: set[int]) -> None:
    system.die_with_parent()
    os.setsid()  # what bots fork is killed with the group; Ctrl-C at the terminal is the parent's business
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)
    os.dup2(2, 1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    system.close_others({0, 1, 2, *keep})
    system.limit_memory(memory)
