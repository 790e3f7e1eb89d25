"""A worker process, how bots reach it, and the shared memory in which it notes which seat it is asking."""

from __future__ import annotations

import gc
import mmap
import os
import signal
import sys
import tempfile
from array import array
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from io import BytesIO
from time import perf_counter
from types import ModuleType
from typing import Any, NamedTuple, TextIO

import dill
import msgspec
from multiprocess.connection import Connection

from harness.core.bot import Bot, DecisionNotes, encode_notes
from harness.core.errors import UsageError
from harness.core.game import Game
from harness.core.records import MAX_SEATS, MatchSpec
from harness.executors import forkserver
from harness.executors.base import Job, Roster, encode
from harness.executors.retry import play_with_retry
from harness.isolation.launch import thread_variables
from harness.match.faults import BotFault, Limits, detail_of, kind_of
from harness.match.referee import ASKING, DEADLINE, IDLE, MATCH, SLOTS
from harness.match.stdio import MAX_PRINTED_BYTES, BotLogs, MatchStdout, refuse_breakpoints
from harness.plugins.bot_files import class_digest, load_file
from harness.plugins.discovery import plugin_contents
from harness.plugins.entrants import BotDescription, BotRef, Entrant
from harness.plugins.snapshots import Bundle, make_bundle

# Pickling: classes from a notebook by value, modules by name.


def _save_module(pickler: Any, module: ModuleType) -> None:
    if sys.modules.get(module.__name__) is module and module.__name__ != "__main__":
        pickler.save_reduce(import_module, (module.__name__,), obj=module)
    else:
        dill.Pickler.dispatch[ModuleType](pickler, module)


class _ByNamePickler(dill.Pickler):  # type: ignore[misc]  # dill has no types
    """Pickles modules by name. dill itself pickles the whole content of a module outside of site-packages."""

    dispatch = {**dill.Pickler.dispatch, ModuleType: _save_module}  # noqa: RUF012 - dill sets it for each class


def dumps(what: str, thing: object, to: str, fix: str = "") -> bytes:
    """Return the object as bytes for `dill.loads`.

    Raise UsageError if it cannot be pickled; `what`, `to` and `fix` complete its message.
    """
    file = BytesIO()
    try:
        _ByNamePickler(file, recurse=True).dump(thing)
    except Exception as error:
        why = f"{type(error).__name__}: {error}"
        raise UsageError(f"{what} cannot be sent to {to} ({why}): put it into a file.", fix=fix) from error
    return file.getvalue()


# Rosters: installed classes by name, files as text, classes of a notebook pickled.
#
# Each entrant is packed separately and unpacked when it first plays. A bot that cannot be loaded therefore fails in its
# own matches only, and a worker does not load bots that it never plays.


WORKERS = "worker processes"


class RosterPayload(NamedTuple):
    """A roster as bytes, to be unpacked in another process."""

    games: bytes
    entrants: dict[str, bytes]


@dataclass(frozen=True, slots=True)
class FailedEntrant(Entrant):
    """A bot that could not be loaded: seating it raises the fault, so it loses its own matches only."""

    fault: BotFault

    def seat(self, game: Game[Any], seat: int, players: int, seed: int) -> Bot:
        """Raise the fault with which loading failed."""
        raise self.fault


def pack_roster(roster: Roster) -> RosterPayload:
    """Return the roster as bytes; raise UsageError if a part of it cannot be pickled."""
    return RosterPayload(
        dumps("A game", dict(roster.games), WORKERS, fix="no-workers"),
        {
            # A worker imports consulted bots when they are asked, and reads data files where they are.
            name: dumps(name, make_bundle(replace(entrant, consulted=()), with_files=False), WORKERS, fix="no-workers")
            for name, entrant in roster.entrants.items()
        },
    )


def unpack_roster(payload: RosterPayload, output: TextIO | None = None) -> Roster:
    """Return the roster, its entrants still packed; what files print when they are loaded goes to `output`."""
    return Roster(dill.loads(payload.games), LazyEntrants(payload.entrants, output))  # noqa: S301 - packed by our own parent


class LazyEntrants(Mapping[str, Entrant]):
    """Entrants by name, each loaded on first access."""

    def __init__(self, packed: Mapping[str, bytes], output: TextIO | None) -> None:
        self._packed, self._output = packed, output
        self.loaded: dict[str, Entrant] = {}
        """The entrants that have been loaded."""

    def __getitem__(self, name: str) -> Entrant:
        if name not in self.loaded:
            self.loaded[name] = self._load(name)
        return self.loaded[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._packed)

    def __len__(self) -> int:
        return len(self._packed)

    def _load(self, name: str) -> Entrant:
        try:
            known = set(sys.modules)
            bundle: Bundle = dill.loads(self._packed[name])  # noqa: S301 - packed by our own parent
            entrant = bundle.entrant
            if entrant.sources and not entrant.isolated:
                offered = plugin_contents(load_file(entrant.source, entrant.sources, self._output), entrant.source)
                [bot] = [bot for bot in offered.bots if bot.name == entrant.bot.name]
                entrant = replace(entrant, bot=bot)
            elif not entrant.isolated:
                _check_unchanged(entrant, known)
        except BaseException as error:  # importing a bot may raise anything
            fault = BotFault(kind_of(error), f"cannot be loaded in a worker: {detail_of(error, __file__)}")
            return FailedEntrant(name, BotRef(), BotDescription(name, "", (), (), ""), {}, "", "", fault=fault)
        return entrant


def _check_unchanged(entrant: Entrant, before: set[str]) -> None:
    """Raise BotFault if an installed package was edited since the run began."""
    module = entrant.cls.__module__
    # Only a class that was imported just now, by name, can differ from what the parent digested. One that the fork
    # server preloaded, or that was pickled by value, is what the parent has.
    by_name = getattr(sys.modules.get(module), entrant.cls.__name__, None) is entrant.cls
    known = entrant.digest and by_name and module not in before
    if known and class_digest(entrant.cls) != entrant.own_digest:
        raise BotFault("exception", f"its package ({module}) has been changed since the run began")


# Status in shared memory: the match, the seat being asked and its deadline.
#
# It is written at every decision, so it is a few numbers without a lock. A read can therefore mix two decisions: the
# parent acts only on a status that it has read twice.


STOP = SLOTS
"""The parent sets this slot to ask the worker to start no further match."""
_INITIAL_STATUS = array("d", [IDLE if slot == ASKING else 0.0 for slot in range(SLOTS + 1)]).tobytes()


def new_status() -> int:
    """Return a file descriptor of new shared memory for one worker."""
    # A file without a name disappears with its last descriptor, even after a crash.
    with tempfile.TemporaryFile() as file:
        file.write(_INITIAL_STATUS)
        file.flush()
        return os.dup(file.fileno())


def map_status(descriptor: int) -> memoryview[float]:
    """Return the shared memory as a view of floats, the form that is fastest to write."""
    return memoryview(mmap.mmap(descriptor, len(_INITIAL_STATUS))).cast("d")


class WorkerStatus(NamedTuple):
    """A worker's status at one moment."""

    match: int
    seat: int | None
    """None while no bot is being asked."""
    decision: int
    deadline: float

    @classmethod
    def read(cls, status: memoryview[float]) -> WorkerStatus:
        """Return the status that is in the shared memory now."""
        code = int(status[ASKING])
        decision, seat = divmod(code, MAX_SEATS)
        return cls(int(status[MATCH]), None if code == IDLE else seat, decision, status[DEADLINE])


# The worker process: reads jobs from one pipe, writes the lines of finished matches to another.


OUT_OF_MEMORY, NEARLY_FULL = b"short of memory", b"memory nearly full"
"""Lines that ask the parent to replace this worker, instead of a record or after one."""
LOAD_TIMEOUT_S = 120.0
"""Time limit for importing a bot: networks are large and disks are slow."""
NOTES = b"notes "
"""Prefix of a line with notes; the record of the same match follows."""
RETIRE_AT_MEMORY_SHARE = 0.7
"""Share of the memory limit above which a worker asks to be replaced between two matches."""


# Output that bots and their libraries write to descriptors 1 and 2, past sys.stdout, goes to a file without a name.


MAX_OUTPUT_BYTES = 10_000_000
"""Size above which the parent empties the file in the middle of a match."""


def output_file() -> int:
    """Return a file descriptor for the output of one worker."""
    with tempfile.TemporaryFile() as file:
        return os.dup(file.fileno())


def limit_output(descriptor: int) -> None:
    """Empty the file if it is too large."""
    if os.fstat(descriptor).st_size > MAX_OUTPUT_BYTES:
        _empty(descriptor)


def take_output(descriptor: int) -> bytes:
    """Return the first bytes of what was written since the last call; more than is kept of one match."""
    if not os.fstat(descriptor).st_size:
        return b""
    text = os.pread(descriptor, MAX_PRINTED_BYTES + 1, 0)
    _empty(descriptor)
    return text


def _empty(descriptor: int) -> None:
    os.ftruncate(descriptor, 0)
    os.lseek(descriptor, 0, os.SEEK_SET)  # descriptors 1 and 2 of the worker are copies of this one and follow


def main(fds: Sequence[int], logs: BotLogs, payload: RosterPayload, limits: Limits, memory: int, threads: int) -> None:
    """Play until there are no more jobs, in a process and session started for this worker.

    The descriptors are the pipe for jobs, the pipe for finished lines, the shared status, and the file for output.
    `memory` is megabytes (0: no limit), `threads` the size of native thread pools.
    """
    me = os.getpid()
    err = sys.stderr
    try:
        jobs, lines, status = Connection(fds[0], writable=False), fds[1], map_status(fds[2])
        output = -1 if logs.show else fds[3]
        err = open(os.dup(2), "w", encoding="utf-8")  # noqa: PTH123, SIM115 - a descriptor, kept to the end
        # The descriptor of the status is closed here: the mapping does not need it.
        _set_up_process(memory, keep={*fds[:2], fds[3], err.fileno()}, output=output)
        refuse_breakpoints()
        os.environ.update(thread_variables(threads))
        roster = unpack_roster(payload)
        _MatchLoop(jobs, lines, status, roster, limits, memory, logs, output).run()
        roster.close()
    except BaseException:
        if os.getpid() == me:  # otherwise a bot forked this process, and it must not print in the worker's name
            sys.stderr = err
            sys.excepthook(*sys.exc_info())
            err.flush()
    finally:
        os._exit(0)  # do not wait for threads that bots left running


class _MatchLoop:
    def __init__(
        self,
        jobs: Any,
        out: int,
        status: memoryview[float],
        roster: Roster,
        limits: Limits,
        memory: int,
        logs: BotLogs,
        output: int,
    ) -> None:
        self.jobs, self.out, self.status = jobs, out, status
        self.roster, self.limits, self.memory = roster, limits, memory
        self.logs, self.output = logs, output
        self.printed: MatchStdout | None = None
        self.writes_past_python = False
        """Whether a bot has written to a descriptor: from then on the file is read after each answer."""
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
        self.printed = printed = sys.stdout = sys.stderr = MatchStdout(spec, self.status, logs=self.logs)
        audit = self._check_pipes if job.again else self._take_output if self.writes_past_python else None
        self._load_bots(spec)
        notes: list[DecisionNotes] = []
        record = play_with_retry(job, self.roster, self.limits, self.status, audit, notes)
        self._take_output()
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

    def _take_output(self) -> None:
        """Add what was written to descriptors to the output of the bot that is asked."""
        if self.output >= 0 and self.printed and (text := take_output(self.output)):
            self.printed.add(text)
            self.writes_past_python = True

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


def _set_up_process(memory: int, keep: set[int], output: int) -> None:
    forkserver.die_with_parent()
    # The parent kills the whole group, and with it what bots forked. Ctrl-C at the terminal reaches the parent only.
    os.setsid()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)
    # Bots may print to descriptor 1 or read descriptor 0; neither belongs to them.
    if output >= 0:
        os.dup2(output, 2)
    os.dup2(2, 1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    forkserver.close_other_fds({0, 1, 2, *keep})
    forkserver.limit_memory(memory)
