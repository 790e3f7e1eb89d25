"""What runs in a Dask worker: it hands batches to the agent beside it, and waits for what comes back.

No bot and no rules are loaded here. The functions are the tasks that the driver submits, each named by the run that it
is for; one Dask worker may serve several runs.
"""

from __future__ import annotations

import asyncio
import os
import socket
import subprocess
import sys
import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from multiprocessing import Pipe
from pathlib import Path
from typing import Any

from harness.executors.cluster.node_messages import (
    BatchDone,
    NodeFacts,
    StopPlaying,
    decode_facts,
    decode_report,
    encode_message,
)
from harness.plugins.wheel_unpacking import unpack_wheels

LOOK = 0.5
"""Seconds between two looks at whether anybody still wants a batch."""
SILENT = 60.0
"""Seconds without a sign of life after which an agent is given up."""
START_TIME = 180.0
"""Seconds for an agent to load the bots and to say what it is: networks are large and disks are slow."""
LEAVE_TIME = 10.0
"""Seconds for an agent to end what it has started."""
MOST_RUNS = 8
"""Runs that a Dask worker remembers: those of drivers that have died are let go in time."""


class AgentDied(Exception):
    """The process that plays beside a Dask worker has ended in the middle of a batch, or is not heard of any more."""


class NotPrepared(Exception):
    """This Dask worker has not been told what the run is."""


class Unwanted(Exception):
    """Nobody waits for this batch any more."""


class CodeChanged(Exception):
    """A node was begun anew, and is not what it was."""


@dataclass(slots=True)
class _Expected:
    """Somebody waits for a batch."""

    came: threading.Event = field(default_factory=threading.Event)
    done: bytes | None = None


class Agent:
    """This process's end of an agent."""

    def __init__(
        self, setup: bytes, threads: int, path: list[str], shipped: Path | None, wanted: Callable[[], bool]
    ) -> None:
        """It finds modules on `path`, and those that were `shipped` first; `wanted` says whether there is a driver."""
        self._wanted = wanted
        self.door, theirs = Pipe()
        first = str(shipped) if shipped else ""
        code = (
            f"import sys; sys.path[:] = {[first] * bool(first) + path!r}; "
            f"from harness.executors.cluster.agent import main; main({theirs.fileno()}, {threads}, {first!r})"
        )
        self.process = subprocess.Popen(  # noqa: S603 - it is ourselves
            [sys.executable, "-P", "-c", code],
            stdin=subprocess.DEVNULL,
            stdout=2,
            pass_fds=[theirs.fileno()],
            env={**os.environ, "PYTHONHASHSEED": "0"},  # as everywhere: who goes through a set takes the same way
        )
        theirs.close()
        self._sending, self._closing = threading.Lock(), threading.Lock()
        self._expected: dict[int, _Expected] = {}
        self.ended = False
        try:
            self.door.send_bytes(setup)
            if not self.door.poll(START_TIME):
                self.close()
                raise AgentDied("it has not said in time what it is")
            self.facts = decode_facts(self.door.recv_bytes())
        except (EOFError, OSError) as error:
            self.close()
            raise AgentDied(f"it ended when it began (exit code {self.process.returncode})") from error
        threading.Thread(target=self._listen, daemon=True).start()

    def expect(self, number: int) -> _Expected:
        """From now on somebody waits for this batch."""
        expected = self._expected[number] = _Expected()
        return expected

    def play(self, batch: bytes, number: int, expected: _Expected, wanted: Callable[[], bool]) -> bytes:
        """What came of a batch that is expected."""
        try:
            with self._sending:
                self.door.send_bytes(batch)
            while not expected.came.wait(LOOK):
                if not wanted():
                    raise Unwanted
        except OSError as error:
            raise AgentDied("it ended before the batch came") from error
        finally:
            self._expected.pop(number, None)
        if expected.done is None:
            raise AgentDied(f"it ended in the middle of a batch (exit code {self.process.poll()})")
        return expected.done

    @property
    def busy(self) -> bool:
        """Whether somebody waits for a batch."""
        return bool(self._expected)

    @property
    def numbers(self) -> list[int]:
        """The batches that somebody waits for."""
        return list(self._expected)

    def stop(self) -> None:
        """Lets it finish what it plays, and no more."""
        with suppress(OSError), self._sending:
            self.door.send_bytes(encode_message(StopPlaying()))

    def close(self) -> None:
        """Ends it, with all that it has started."""
        self.ended = True
        with self._closing:
            with suppress(OSError), socket.socket(fileno=os.dup(self.door.fileno())) as line:
                line.shutdown(socket.SHUT_RDWR)  # whoever reads or writes there is woken, which closing does not do
            try:
                self.process.wait(LEAVE_TIME)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
            self.door.close()
        self._wake_all()

    def _listen(self) -> None:
        """Takes in what it reports, until it ends, says nothing any more, or has nothing to do and nobody wants it."""
        with suppress(EOFError, OSError, TypeError):  # a connection that is closed meanwhile has no handle
            while self.door.poll(SILENT):
                data = self.door.recv_bytes()
                report = decode_report(data)
                if isinstance(report, BatchDone) and (expected := self._expected.pop(report.number, None)):
                    expected.done = data
                    expected.came.set()
                elif not self.busy and not self._wanted():
                    break
        self.close()

    def _wake_all(self) -> None:
        while self._expected:
            with suppress(KeyError):
                self._expected.popitem()[1].came.set()


class NodeDoor:
    """A run on this Dask worker: what it is, and the agent that plays it, begun anew when it has died."""

    def __init__(
        self, setup: bytes, threads: int, path: list[str], shipped: Path | None, wanted: Callable[[], bool]
    ) -> None:
        """`shipped` is the folder with the packages that were sent along; `wanted` says whether there is a driver."""
        self._begin = partial(Agent, setup, threads, path, shipped, wanted)
        self._lock = threading.Lock()
        self._agent: Agent | None = None
        self._facts: NodeFacts | None = None
        self.stopped = False
        """Whether the run is to end: a batch that comes now is not begun."""

    def _there(self) -> Agent:
        """The agent, which is what it was if it is another one."""
        if self._agent is None or self._agent.ended or self._agent.process.poll() is not None:
            self._agent = None
            agent = self._begin()
            self._facts = self._facts or agent.facts
            if agent.facts.same != self._facts.same:
                agent.close()
                raise CodeChanged("its code is not what it was when the run began")
            self._agent = agent
        return self._agent

    def facts(self) -> bytes:
        """What the node says of itself."""
        with self._lock:
            return encode_message(self._there().facts)

    def play(self, batch: bytes, number: int, wanted: Callable[[], bool]) -> bytes:
        """What came of a batch."""
        with self._lock:  # whoever takes the agent away sees that it is expected to play
            agent = self._there()
            expected = agent.expect(number)
        return agent.play(batch, number, expected, wanted)

    @property
    def busy(self) -> bool:
        """Whether it plays."""
        return self._agent is not None and self._agent.busy

    def stop(self) -> list[int]:
        """Lets the agent finish what it plays; which batches it is at."""
        self.stopped = True
        if self._agent is None:
            return []
        self._agent.stop()
        return self._agent.numbers

    def leave(self, unless_busy: bool = False) -> None:
        """Ends the agent."""
        with self._lock:
            if self._agent is not None and not (unless_busy and self._agent.busy):
                self._agent.close()
                self._agent = None


_doors: OrderedDict[str, NodeDoor] = OrderedDict()
_opening = threading.Lock()


def prepare(run: str, setup: bytes, wheels: Mapping[str, bytes]) -> bytes:
    """Tells this Dask worker what a run is, with packages for it; what the node says of itself then."""
    from distributed import get_worker

    worker = get_worker()
    shipped = unpack_wheels(wheels, Path(worker.local_directory, "arena-shipped")) if wheels else None
    door = NodeDoor(setup, worker.state.nthreads, _search_path(worker.local_directory), shipped, _wanted())
    with _opening:
        leaving = [_doors.pop(run)] if run in _doors else []
        idle = [name for name, each in _doors.items() if not each.busy]
        leaving += [_doors.pop(name) for name in idle[: max(0, len(_doors) + 1 - MOST_RUNS)]]
        _doors[run] = door
    for old in leaving:
        old.leave(unless_busy=True)
    return door.facts()


def play(run: str, number: int, batch: bytes) -> bytes:
    """Plays a batch; what came of it."""
    from distributed import secede

    wanted = _wanted()
    secede()  # the next batch may come while this one is played: the pool has something before it at any time
    with _opening:
        if run not in _doors:
            raise NotPrepared
        door = _doors[run]
        _doors.move_to_end(run)  # those that are used last are remembered longest
    if door.stopped:
        return encode_message(BatchDone(number=number))
    try:
        return door.play(batch, number, wanted)
    finally:
        if not wanted():  # also where it was finished before anybody looked: the driver may have died
            door.leave(unless_busy=True)


def _wanted() -> Callable[[], bool]:
    """Says whether a driver waits for the task that calls this, or holds what came of it."""
    from distributed import get_worker

    worker = get_worker()
    tasks: Mapping[Any, object] = worker.state.tasks
    key = worker.get_current_task()
    return lambda: getattr(tasks.get(key), "state", "") in ("executing", "long-running", "memory")


def _search_path(scratch: str) -> list[str]:
    """Where an agent finds modules: as the Dask worker does, but for the folder that it happens to be in, and Dask's
    own."""
    here, meant = Path.cwd(), os.environ.get("PYTHONPATH", "").split(os.pathsep)
    ours = Path(__file__).parents[3]
    return [
        place
        for place in sys.path
        if place in meant or (place and Path(place) != here and not Path(place).is_relative_to(scratch))
    ] + ([str(ours)] if str(ours) not in meant and ours == here else [])


async def stop(run: str) -> list[int]:
    """Lets the agent of a run finish what it plays, and no more; which batches it is at."""
    return await asyncio.to_thread(_doors[run].stop) if run in _doors else []


async def leave(run: str) -> None:
    """Ends the agent of a run."""
    door = _doors.pop(run, None)
    if door is not None:
        await asyncio.to_thread(door.leave)
