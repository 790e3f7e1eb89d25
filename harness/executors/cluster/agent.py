"""The process that plays on a node, beside its Dask worker: arena's local pool, fed through a pipe.

A bot that hangs, crashes, forks or eats memory is killed, blamed and replayed here exactly as on one machine: this is
the same pool. The agent ends when the other end of its pipe does, whatever became of the Dask worker that held it.
"""

from __future__ import annotations

import socket
from collections import deque
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic

import msgspec
from msgspec.structs import replace
from multiprocess.connection import Connection

from harness.core.compiled import form
from harness.core.errors import ArenaError
from harness.executors import nursery
from harness.executors.cluster.node_facts import facts_of, python_here
from harness.executors.cluster.node_messages import (
    PROTOCOL,
    Alive,
    Batch,
    BatchDone,
    NodeFacts,
    NodeSetup,
    decode_order,
    decode_setup,
    encode_message,
)
from harness.executors.cluster.travel import arrive
from harness.executors.confinement import not_enforced
from harness.executors.jobs import Executor, Job, Lines, choose_executor
from harness.plugins.wheel_unpacking import import_first
from harness.sandbox.scratch import new_folder, remove_folder

SIGN_OF_LIFE = 2.0
"""Seconds after which an agent that has nothing to report says that it is there."""
IDLE = 60.0
"""Seconds without anything to do after which it leaves: its run may be over without anybody having said so. The Dask
worker begins another one if there is more to do."""
MOST_LOGGED = 1 << 20
"""Bytes of a bot's log that go with one batch; the rest with the next one."""


class DriverGone(Exception):
    """The other end of the pipe has ended."""


class _Named(msgspec.Struct):
    id: str


_name_in = msgspec.json.Decoder(_Named).decode


@dataclass(slots=True)
class _OpenBatch:
    """A batch that is being played."""

    number: int
    waiting: set[str]
    lines: list[tuple[bytes, bytes]] = field(default_factory=list)
    given_up: list[str] = field(default_factory=list)


class OrderedJobs:
    """The jobs that have come in, for a pool; there may be more later. Also what became of each batch."""

    def __init__(self, door: Connection, logs: Path) -> None:
        self.door, self.logs = door, logs
        self.stopped = False
        self.pool: Executor | None = None
        self._queue: deque[Job] = deque()
        self._open: dict[int, _OpenBatch] = {}
        self._waiting: dict[str, list[_OpenBatch]] = {}
        """The batches that wait for each match. One that comes again, since its node was silent, is played once."""
        self._losses_told = self._given_up_told = 0
        self._logged: dict[str, int] = {}
        self._said = monotonic()

    def __iter__(self) -> Iterator[Job]:
        return self

    def __next__(self) -> Job:
        self.take_in()
        if not self._queue or self.stopped:
            raise StopIteration
        return self._queue.popleft()

    def take_in(self) -> None:
        """Reads what has been ordered."""
        try:
            while self.door.poll():
                order = decode_order(self.door.recv_bytes())
                if isinstance(order, Batch):
                    self._begin(order)
                else:
                    self.stopped = True
        except (EOFError, OSError) as error:
            raise DriverGone from error

    def _begin(self, order: Batch) -> None:
        batch = _OpenBatch(order.number, {job.spec.id for job in order.jobs})
        self._open[order.number] = batch
        for job in order.jobs:
            others = self._waiting.setdefault(job.spec.id, [])
            if not others:
                self._queue.append(job)
            others.append(batch)

    def wait(self) -> bool:
        """Waits for something to do; whether there is."""
        self.take_in()
        until = monotonic() + IDLE
        while not self._queue and not self.stopped:
            if monotonic() > until:
                return False
            self.door.poll(SIGN_OF_LIFE)
            self.take_in()
            self._live()
        return not self.stopped

    def should_stop(self) -> bool:
        """Whether the run is to end; a pool asks every so often, and what is finished is sent then."""
        self.take_in()
        self.send_finished()
        self._live()
        return self.stopped

    def keep(self, lines: Lines) -> None:
        """Takes the lines of matches that have ended to their batches."""
        for line, notes in lines:
            for batch in self._ended(_name_in(line).id):
                batch.lines.append((line, notes))
        self.send_finished()

    def send_finished(self, all_of_them: bool = False) -> None:
        """Sends the batches that are finished, or what there is of every one."""
        self._note_given_up()
        for batch in [one for one in self._open.values() if all_of_them or not one.waiting]:
            del self._open[batch.number]
            self._send(batch)

    def _note_given_up(self) -> None:
        assert self.pool is not None
        for name in self.pool.given_up[self._given_up_told :]:
            for batch in self._ended(name):
                batch.given_up.append(name)
        self._given_up_told = len(self.pool.given_up)

    def _ended(self, name: str) -> list[_OpenBatch]:
        """Those who have waited for this match, and do no more."""
        batches = self._waiting.pop(name)
        for batch in batches:
            batch.waiting.discard(name)
        return batches

    def _send(self, batch: _OpenBatch) -> None:
        assert self.pool is not None
        losses = self.pool.losses[self._losses_told :]
        self._losses_told += len(losses)
        self._say(
            BatchDone(
                number=batch.number, lines=batch.lines, given_up=batch.given_up, losses=losses, logs=self._new_logs()
            )
        )

    def _new_logs(self) -> dict[str, bytes]:
        """What has been logged since the last time."""
        found: dict[str, bytes] = {}
        for path in self.logs.glob("*.log"):
            with suppress(OSError), path.open("rb") as file:
                file.seek(self._logged.get(path.name, 0))
                if text := file.read(MOST_LOGGED):
                    found[path.name] = text
                    self._logged[path.name] = file.tell()
        return found

    def _live(self) -> None:
        if monotonic() - self._said > SIGN_OF_LIFE:
            self._say(Alive())

    def _say(self, message: BatchDone | Alive) -> None:
        try:
            self.door.send_bytes(encode_message(message))
        except OSError as error:
            raise DriverGone from error
        self._said = monotonic()


def main(descriptor: int, threads: int, shipped: str = "") -> None:
    """Serves the Dask worker at the other end of this descriptor, which has so many threads; `shipped` is the folder
    with packages that were sent along."""
    if shipped:
        import_first(Path(shipped))
    nursery.make_ready(clean=True)  # before any bot is loaded
    home = new_folder()
    try:
        door = Connection(descriptor)
        setup = decode_setup(door.recv_bytes())
        setup = setup if setup.workers else replace(setup, workers=threads)
        jobs = OrderedJobs(door, Path(home, "run", "logs"))
        facts, pool = _settle(setup, home, jobs)
        door.send_bytes(encode_message(facts))
        if pool is not None:
            _serve(jobs, pool)
    except (DriverGone, EOFError, OSError):
        pass  # there is nobody to tell
    finally:
        remove_folder(home)


def _settle(setup: NodeSetup, home: str, jobs: OrderedJobs) -> tuple[NodeFacts, Executor | None]:
    """What this node is, and the pool that plays on it, if it can."""
    about = NodeFacts(same={"python": python_here()}, host=socket.gethostname(), workers=setup.workers, form=form())
    if setup.protocol != PROTOCOL:
        return replace(about, problem=f"its arena speaks protocol {PROTOCOL}, not {setup.protocol}"), None
    if setup.python != python_here():
        return about, None  # what another Python has packed is not opened
    roster, missing = arrive(setup.roster, home)
    about = replace(about, same=facts_of(roster, missing))
    if missing:
        return about, None
    jobs.logs.mkdir(parents=True)
    try:
        lacking = not_enforced(roster.entrants.values(), setup.limits["isolate"])
        pool = choose_executor(roster, setup.limits, setup.workers, jobs.should_stop, jobs.logs)
    except ArenaError as error:
        return replace(about, problem=str(error)), None
    return replace(about, lacking=tuple(lacking)), pool


def _serve(jobs: OrderedJobs, pool: Executor) -> None:
    """Plays until there is nothing more to do; workers begin with the first batch."""
    if not jobs.wait():
        return
    jobs.pool = pool
    with pool:
        while True:
            for _ in pool.run(jobs, jobs.keep):
                pass
            jobs.send_finished(all_of_them=jobs.stopped)
            if not jobs.wait():
                return
