"""The agent on a node: a process that plays batches, and the service in the Dask worker that feeds it."""

from __future__ import annotations

import asyncio
import os
import socket
import subprocess
import sys
import threading
from collections import OrderedDict, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, wait
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from multiprocessing import Pipe
from pathlib import Path
from time import monotonic
from typing import Any

from msgspec.structs import replace
from multiprocess.connection import Connection

from harness.cluster.messages import (
    PROTOCOL,
    Alive,
    Batch,
    BatchDone,
    NodeFacts,
    NodeSetup,
    StopPlaying,
    decode_facts,
    decode_order,
    decode_report,
    decode_setup,
    encode_message,
    environment_facts,
    python_here,
    unpack_for_node,
)
from harness.cluster.wheels import import_first, unpack_wheels
from harness.core.compiled import build_form
from harness.core.errors import ArenaError
from harness.executors import forkserver
from harness.executors.base import Executor, Job, Played, choose_executor
from harness.isolation.launch import new_folder, remove_folder
from harness.output.text import not_enforced

# The agent process: Arena's local pool, fed through a pipe by the Dask worker.
#
# Because it is the same pool, a bot that hangs, crashes, forks or exhausts memory is handled exactly as on one machine.
# The agent exits when its pipe closes, even if the Dask worker was killed.


HEARTBEAT_S = 2.0
"""Interval of messages from an agent that has nothing else to report."""
EXIT_WHEN_IDLE_S = 60.0
"""Idle time after which the agent exits: its run may be over without a message. The Dask worker starts another agent if
needed."""
MAX_LOG_BYTES = 1 << 20
"""Largest part of a bot's log that is sent with one batch; the rest follows with the next."""


class DriverGone(Exception):
    """The pipe to the Dask worker is closed."""


@dataclass(slots=True)
class _OpenBatch:
    """A batch with unfinished matches."""

    number: int
    waiting: set[str]
    lines: list[tuple[bytes, bytes]] = field(default_factory=list)
    given_up: list[str] = field(default_factory=list)


class BatchQueue:
    """An iterator of received jobs for the pool, which collects the results of each batch."""

    def __init__(self, pipe: Connection, logs: Path) -> None:
        self.pipe, self.logs = pipe, logs
        self.stopped = False
        self.pool: Executor | None = None
        self._queue: deque[Job] = deque()
        self._open: dict[int, _OpenBatch] = {}
        self._waiting: dict[str, list[_OpenBatch]] = {}
        """The batches that contain each unfinished match. When the driver repeats a match, because the node was silent,
        it is played once and its record goes into every batch that asked for it."""
        self._losses_sent = self._given_up_seen = 0
        self._log_offsets: dict[str, int] = {}
        self._last_message_at = monotonic()

    def __iter__(self) -> Iterator[Job]:
        return self

    def __next__(self) -> Job:
        self.read_orders()
        if not self._queue or self.stopped:
            raise StopIteration
        return self._queue.popleft()

    def read_orders(self) -> None:
        """Read the orders that have arrived; raise DriverGone if the pipe is closed."""
        try:
            while self.pipe.poll():
                order = decode_order(self.pipe.recv_bytes())
                if isinstance(order, Batch):
                    self._add_batch(order)
                else:
                    self.stopped = True
        except (EOFError, OSError) as error:
            raise DriverGone from error

    def _add_batch(self, order: Batch) -> None:
        batch = _OpenBatch(order.number, {job.spec.id for job in order.jobs})
        self._open[order.number] = batch
        for job in order.jobs:
            # A match that another open batch contains is already queued or being played: only its result is shared.
            others = self._waiting.setdefault(job.spec.id, [])
            if not others:
                self._queue.append(job)
            others.append(batch)

    def wait(self) -> bool:
        """Wait for jobs; return False if the agent should exit."""
        self.read_orders()
        until = monotonic() + EXIT_WHEN_IDLE_S
        while not self._queue and not self.stopped:
            if monotonic() > until:
                return False
            self.pipe.poll(HEARTBEAT_S)
            self.read_orders()
            self._send_heartbeat_if_due()
        return not self.stopped

    def should_stop(self) -> bool:
        """Return whether the run should stop. The pool polls this, so finished batches are sent from here too."""
        self.read_orders()
        self.send_finished()
        self._send_heartbeat_if_due()
        return self.stopped

    def add_finished(self, played: Sequence[Played]) -> None:
        """Add the lines of finished matches to their batches."""
        for record, line, notes in played:
            for batch in self._finish_match(record.id):
                batch.lines.append((line, notes))
        self.send_finished()

    def send_finished(self, include_partial: bool = False) -> None:
        """Send the finished batches, or with `include_partial` what there is of every batch."""
        assert self.pool is not None
        for name in self.pool.given_up[self._given_up_seen :]:
            for batch in self._finish_match(name):
                batch.given_up.append(name)
        self._given_up_seen = len(self.pool.given_up)
        # Batches finish out of order: the pool may still replay a match of an earlier one.
        for batch in [one for one in self._open.values() if include_partial or not one.waiting]:
            del self._open[batch.number]
            # Each loss is reported once, with whichever batch is sent next.
            losses = self.pool.losses[self._losses_sent :]
            self._losses_sent += len(losses)
            done = BatchDone(number=batch.number, lines=batch.lines, given_up=batch.given_up, losses=losses)
            self._send_message(replace(done, logs=self._new_logs()))

    def _finish_match(self, name: str) -> list[_OpenBatch]:
        """Return the batches that contain this match, and mark it as finished in them."""
        batches = self._waiting.pop(name)
        for batch in batches:
            batch.waiting.discard(name)
        return batches

    def _new_logs(self) -> dict[str, bytes]:
        """Return what bots logged since the last call, by file name."""
        found: dict[str, bytes] = {}
        for path in self.logs.glob("*.log"):
            # A log may be rotated or deleted meanwhile; its text is for people, so a gap is acceptable.
            with suppress(OSError), path.open("rb") as file:
                file.seek(self._log_offsets.get(path.name, 0))
                if text := file.read(MAX_LOG_BYTES):
                    found[path.name] = text
                    self._log_offsets[path.name] = file.tell()
        return found

    def _send_heartbeat_if_due(self) -> None:
        if monotonic() - self._last_message_at > HEARTBEAT_S:
            self._send_message(Alive())

    def _send_message(self, message: BatchDone | Alive) -> None:
        try:
            self.pipe.send_bytes(encode_message(message))
        except OSError as error:
            raise DriverGone from error
        self._last_message_at = monotonic()


def main(descriptor: int, threads: int, shipped: str = "") -> None:
    """Serve the Dask worker at the other end of this descriptor.

    `threads` is its number of threads, `shipped` the folder with packages that the driver sent.
    """
    if shipped:
        import_first(Path(shipped))
    forkserver.start_forkserver(no_bots=True)  # workers must be forked from a process without bots
    home = new_folder()
    try:
        pipe = Connection(descriptor)
        setup = decode_setup(pipe.recv_bytes())
        setup = setup if setup.workers else replace(setup, workers=threads)
        jobs = BatchQueue(pipe, Path(home, "run", "logs"))
        facts, pool = _open_pool(setup, home, jobs)
        pipe.send_bytes(encode_message(facts))
        if pool is not None:
            _play_batches(jobs, pool)
    except (DriverGone, EOFError, OSError):
        pass  # the Dask worker is gone and cannot be informed
    finally:
        remove_folder(home)


def _open_pool(setup: NodeSetup, home: str, jobs: BatchQueue) -> tuple[NodeFacts, Executor | None]:
    """Return the facts of this node and its pool; None instead of a pool if it cannot play."""
    facts = NodeFacts(
        same={"python": python_here()}, host=socket.gethostname(), workers=setup.workers, form=build_form()
    )
    if setup.protocol != PROTOCOL:
        return replace(facts, problem=f"its arena speaks protocol {PROTOCOL}, not {setup.protocol}"), None
    if setup.python != python_here():
        return facts, None  # unpickling what another Python pickled is not safe
    roster, missing = unpack_for_node(setup.roster, home)
    # From here on the facts are complete, and the driver can say exactly what differs.
    facts = replace(facts, same=environment_facts(roster, missing))
    if missing:
        return facts, None
    jobs.logs.mkdir(parents=True)
    try:
        lacking = not_enforced(roster.entrants.values(), setup.limits.isolate)
        pool = choose_executor(roster, setup.limits, setup.workers, jobs.should_stop, jobs.logs)
    except ArenaError as error:
        return replace(facts, problem=str(error)), None
    return replace(facts, lacking=tuple(lacking)), pool


def _play_batches(jobs: BatchQueue, pool: Executor) -> None:
    """Play until there is nothing more to do; workers start with the first batch."""
    if not jobs.wait():
        return
    jobs.pool = pool
    with pool:
        while True:
            for _ in pool.run(jobs, jobs.add_finished):
                pass
            # After a stop, unfinished matches will not be played: send what there is, so that the driver need not wait.
            jobs.send_finished(include_partial=jobs.stopped)
            if not jobs.wait():
                return


# In the Dask worker: hands batches to the agent and waits for the results.
#
# No bot and no game is loaded here. The functions prepare, play, stop and leave are the tasks that the driver submits,
# each for one run; a Dask worker can serve several runs.


CANCEL_POLL_S = 0.5
"""Time between two checks of whether the driver still wants a batch."""
AGENT_TIMEOUT_S = 60.0
"""Time without a message after which an agent is given up."""
START_TIMEOUT_S = 180.0
"""Time for an agent to load the bots and send its facts: networks are large and disks are slow."""
EXIT_TIMEOUT_S = 10.0
"""Time for an agent to end its processes."""
MAX_RUNS = 8
"""Runs that a Dask worker keeps; this bounds what dead drivers leave behind."""


class AgentDied(Exception):
    """The agent has exited during a batch, or stopped responding."""


class NotPrepared(Exception):
    """This Dask worker does not have the setup of the run."""


class BatchCancelled(Exception):
    """The driver does not wait for this batch any more."""


class CodeChanged(Exception):
    """The code on a node changed since the run began."""


class Agent:
    """The Dask worker's side of an agent process."""

    def __init__(
        self, setup: bytes, threads: int, path: list[str], shipped: Path | None, wanted: Callable[[], bool]
    ) -> None:
        """Start the agent. It finds modules on `path`, after those in `shipped`; `wanted` returns whether the driver
        lives."""
        self._wanted = wanted
        self.pipe, child_end = Pipe()
        first = str(shipped) if shipped else ""
        code = (
            f"import sys; sys.path[:] = {[first] * bool(first) + path!r}; "
            f"from harness.cluster.agent import main; main({child_end.fileno()}, {threads}, {first!r})"
        )
        self.process = subprocess.Popen(  # noqa: S603 - it is ourselves
            [sys.executable, "-P", "-c", code],
            stdin=subprocess.DEVNULL,
            stdout=2,
            pass_fds=[child_end.fileno()],
            env={**os.environ, "PYTHONHASHSEED": "0"},  # sets iterate in the same order on every node
        )
        child_end.close()
        # Several tasks share the pipe, and both the reader thread and a task may close the agent.
        self._sending, self._closing = threading.Lock(), threading.Lock()
        self._pending: dict[int, Future[bytes]] = {}
        """Results that tasks wait for, by number of the batch. The thread that takes one out of here completes it."""
        self.ended = False
        try:
            self.pipe.send_bytes(setup)
            if not self.pipe.poll(START_TIMEOUT_S):
                self.close()
                raise AgentDied("it did not start in time")
            self.facts = decode_facts(self.pipe.recv_bytes())
        except (EOFError, OSError) as error:
            self.close()
            raise AgentDied(f"it exited during its start (exit code {self.process.returncode})") from error
        threading.Thread(target=self._read_reports, daemon=True).start()

    def expect_batch(self, number: int) -> Future[bytes]:
        """Register a batch before it is sent, so that its result cannot arrive unexpected."""
        pending = self._pending[number] = Future[bytes]()
        return pending

    def play(self, batch: bytes, number: int, pending: Future[bytes], wanted: Callable[[], bool]) -> bytes:
        """Send a batch and return its result; raise AgentDied if the agent exits before that."""
        try:
            try:
                with self._sending:
                    self.pipe.send_bytes(batch)
            except OSError as error:
                raise AgentDied("it exited before it received the batch") from error
            while not wait([pending], CANCEL_POLL_S).done:
                if not wanted():
                    raise BatchCancelled
            return pending.result()
        finally:
            # After a cancellation, too: a late result then finds no pending batch and is dropped.
            self._pending.pop(number, None)

    @property
    def batch_numbers(self) -> list[int]:
        """Numbers of the batches that are being played."""
        return list(self._pending)

    def stop(self) -> None:
        """Let the agent finish the matches that it is playing."""
        with suppress(OSError), self._sending:
            self.pipe.send_bytes(encode_message(StopPlaying()))

    def close(self) -> None:
        """End the agent with all its processes."""
        self.ended = True
        with self._closing:
            with suppress(OSError), socket.socket(fileno=os.dup(self.pipe.fileno())) as line:
                line.shutdown(socket.SHUT_RDWR)  # unlike close(), this wakes threads that read or write the pipe
            try:
                self.process.wait(EXIT_TIMEOUT_S)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
            self.pipe.close()
        # Wake the tasks that wait for results. They remove their batches in other threads at the same time.
        while self._pending:
            with suppress(KeyError):
                died = AgentDied(f"it exited during a batch (exit code {self.process.poll()})")
                self._pending.popitem()[1].set_exception(died)

    def _read_reports(self) -> None:
        """Read reports until the agent exits, stops responding, or is idle and its driver is gone."""
        with suppress(EOFError, OSError, TypeError):  # close() in another thread leaves the connection without a handle
            while self.pipe.poll(AGENT_TIMEOUT_S):
                data = self.pipe.recv_bytes()
                report = decode_report(data)
                if isinstance(report, BatchDone) and (pending := self._pending.pop(report.number, None)):
                    pending.set_result(data)
                elif not self._pending and not self._wanted():
                    break
        self.close()


class NodeService:
    """One run on this Dask worker: its setup, and its agent, which is restarted after it dies."""

    def __init__(
        self, setup: bytes, threads: int, path: list[str], shipped: Path | None, wanted: Callable[[], bool]
    ) -> None:
        """`shipped` is the folder with packages that the driver sent; `wanted` returns whether the driver lives."""
        self._start_agent = partial(Agent, setup, threads, path, shipped, wanted)
        self._lock = threading.Lock()
        self._agent: Agent | None = None
        self._facts: NodeFacts | None = None
        self.stopped = False
        """Whether the run was stopped: batches that arrive now are returned empty."""

    def _running_agent(self) -> Agent:
        """Return the agent, started again if it died; raise CodeChanged if its facts have changed."""
        if self._agent is None or self._agent.ended or self._agent.process.poll() is not None:
            self._agent = None
            agent = self._start_agent()
            self._facts = self._facts or agent.facts
            # Code that was edited in the middle of a run would give other records under the same names.
            if agent.facts.same != self._facts.same:
                agent.close()
                raise CodeChanged("its code has changed since the run began")
            self._agent = agent
        return self._agent

    def facts(self) -> bytes:
        """Return the encoded facts of the node."""
        with self._lock:
            return encode_message(self._running_agent().facts)

    def play(self, batch: bytes, number: int, wanted: Callable[[], bool]) -> bytes:
        """Play a batch and return its encoded result."""
        with self._lock:  # leave() in another thread sees the pending batch, and keeps the agent
            agent = self._running_agent()
            pending = agent.expect_batch(number)
        return agent.play(batch, number, pending, wanted)

    @property
    def busy(self) -> bool:
        """Whether a batch is being played."""
        return self._agent is not None and bool(self._agent.batch_numbers)

    def stop(self) -> list[int]:
        """Let the agent finish the matches that it is playing; return the numbers of its batches."""
        self.stopped = True
        if self._agent is None:
            return []
        self._agent.stop()
        return self._agent.batch_numbers

    def leave(self, unless_busy: bool = False) -> None:
        """End the agent; with `unless_busy`, only if it is not playing a batch."""
        with self._lock:
            if self._agent is not None and not (unless_busy and self.busy):
                self._agent.close()
                self._agent = None


_services: OrderedDict[str, NodeService] = OrderedDict()
_services_lock = threading.Lock()


def prepare(run: str, setup: bytes, wheels: Mapping[str, bytes]) -> bytes:
    """Store the setup and packages of a run on this Dask worker; return the encoded facts of the node."""
    # Dask is imported in the functions that run inside of a Dask worker. The agent process loads this module too, does
    # not need Dask, and would start 0.6 s later.
    from distributed import get_worker

    worker = get_worker()
    shipped = unpack_wheels(wheels, Path(worker.local_directory, "arena-shipped")) if wheels else None
    service = NodeService(setup, worker.state.nthreads, _agent_search_path(worker.local_directory), shipped, _wanted())
    with _services_lock:
        leaving = [_services.pop(run)] if run in _services else []
        idle = [name for name, each in _services.items() if not each.busy]
        # Runs that are playing are never evicted, even if that exceeds the limit.
        leaving += [_services.pop(name) for name in idle[: max(0, len(_services) + 1 - MAX_RUNS)]]
        _services[run] = service
    # Outside of the lock: closing an agent can take seconds.
    for old in leaving:
        old.leave(unless_busy=True)
    return service.facts()


def play(run: str, number: int, batch: bytes) -> bytes:
    """Play a batch of a run and return its encoded result."""
    from distributed import secede  # see prepare

    wanted = _wanted()
    secede()  # frees the Dask thread, so that the next batch can arrive and the pool never runs dry
    with _services_lock:
        if run not in _services:
            raise NotPrepared
        service = _services[run]
        _services.move_to_end(run)  # least recently used first
    if service.stopped:
        return encode_message(BatchDone(number=number))
    try:
        return service.play(batch, number, wanted)
    finally:
        if not wanted():  # the driver may have died, even if the batch finished before the next check
            service.leave(unless_busy=True)


def _wanted() -> Callable[[], bool]:
    """Return a function that returns whether a driver waits for the current task or holds its result."""
    from distributed import get_worker  # see prepare

    worker = get_worker()
    # Dask removes a task from this table when the client releases or cancels it, or disconnects.
    tasks: Mapping[Any, object] = worker.state.tasks
    key = worker.get_current_task()
    return lambda: getattr(tasks.get(key), "state", "") in ("executing", "long-running", "memory")


def _agent_search_path(scratch: str) -> list[str]:
    """Return the agent's sys.path: that of the Dask worker without its current folder and Dask's own."""
    here, meant = Path.cwd(), os.environ.get("PYTHONPATH", "").split(os.pathsep)
    # The folders of nannies and of the scheduler are beside that of the worker.
    above = Path(scratch).parent
    scratch = str(above) if above.name == "dask-scratch-space" else scratch
    ours = Path(__file__).parents[2]
    return [
        place
        for place in sys.path
        if place in meant or (place and Path(place) != here and not Path(place).is_relative_to(scratch))
    ] + ([str(ours)] if str(ours) not in meant and ours == here else [])


async def stop(run: str) -> list[int]:
    """Let the agent of a run finish the matches that it is playing; return the numbers of its batches."""
    return await asyncio.to_thread(_services[run].stop) if run in _services else []


async def leave(run: str) -> None:
    """End the agent of a run."""
    service = _services.pop(run, None)
    if service is not None:
        await asyncio.to_thread(service.leave)
