"""The driver's line to the scheduler: a thread with an event loop of its own, so that nothing that hangs out there
keeps the run from looking after the rest. What happens comes in as events, in a queue."""

from __future__ import annotations

import asyncio
import logging
import pickle
import threading
import warnings
from collections.abc import Callable, Coroutine, Iterable
from contextlib import suppress
from itertools import count
from queue import SimpleQueue
from typing import Any, NamedTuple

from distributed import Client
from distributed.security import Security

from harness.core.errors import UsageError
from harness.executors.cluster import door
from harness.executors.cluster.node_facts import python_here
from harness.executors.cluster.node_messages import NodeFacts, encode_message

CONNECT_TIME = 10.0
"""Seconds for a scheduler to answer."""
LOOK_EVERY = 0.5
"""Seconds between two looks at which nodes there are."""
LEAVE_TIME = 15.0
"""Seconds that nodes have to end what the run has started there."""
DISCONNECTED = "scheduler-connection-lost"
"""Why Dask cancels what is under way when its line to the scheduler breaks, though it may find another one."""
LOUD = ("distributed", "distributed.client", "tornado.application")
"""Loggers that write to stderr at levels of their own."""


PYTHON_THERE = (
    "__import__('importlib.util').util.find_spec('harness.executors.cluster.door') and "
    "f\"{__import__('platform').python_implementation()} {__import__('platform').python_version()}\""
)
"""What Python a node has, if it has arena: asked in a way that any Python understands. A Dask worker that is sent a
function which it cannot import dies of it."""


class Call:
    """Unpickling it is calling a function of arena's. Tasks are sent as bytes of such: the scheduler, which opens
    whatever it is to pass on, then needs no arena."""

    def __init__(self, function: Callable[..., Any], *args: object) -> None:
        self._meant = (function, args)

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[object, ...]]:
        return self._meant

    def packed(self) -> bytes:
        """What `pickle.loads` is given on a node."""
        return pickle.dumps(self)


class SeenNode(NamedTuple):
    """A Dask worker, as the scheduler knows it."""

    name: str
    threads: int
    last_seen: float
    """In the scheduler's time."""


class NodesSeen(NamedTuple):
    """Which nodes there are now, by their addresses."""

    nodes: dict[str, SeenNode]


class NodePrepared(NamedTuple):
    """A node has said what it is, or why it cannot."""

    address: str
    facts: bytes
    error: Exception | None


class BatchEnded(NamedTuple):
    """A batch has come back, or it has not."""

    number: int
    done: bytes
    error: Exception | None


class NodesStopped(NamedTuple):
    """Nodes have heard that the run is to end."""

    playing: dict[str, list[int]]
    """By their addresses, the batches that they are at."""


class SchedulerLost(NamedTuple):
    """There is no scheduler any more."""


ClusterEvent = NodesSeen | NodePrepared | NodesStopped | BatchEnded | SchedulerLost


class ClusterLink:
    """An open line to the scheduler at this address, for one run."""

    def __init__(self, address: str, run: str, security: Security | None = None) -> None:
        self.address, self.run = address, run
        self.events: SimpleQueue[ClusterEvent] = SimpleQueue()
        self._security = security
        self._ready = threading.Event()
        self._failed: Exception | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._client: Client | None = None
        self._closing: asyncio.Event | None = None
        self._lost = False
        self._batches: dict[int, asyncio.Task[None]] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._numbers = count()
        self._held: dict[str, Any] = {}
        """What nodes have said of themselves, held at the scheduler for as long as we are there: an agent of a driver
        that has died finds that nobody holds it any more."""
        self._loggers = {logging.getLogger(name): logging.getLogger(name).level for name in LOUD}
        self._thread = threading.Thread(target=self._run, name="arena-cluster", daemon=True)

    def open(self) -> None:
        """Connects; UsageError if nobody answers."""
        for logger in self._loggers:
            logger.setLevel(logging.CRITICAL + 1)  # what they have to say reaches our user as sentences
        self._thread.start()
        self._ready.wait()
        if self._failed is not None:
            self._thread.join()
            self._be_loud()
            raise no_answer(self.address, self._failed) from None

    def close(self, addresses: Iterable[str]) -> None:
        """Ends what the run has started on these nodes, and hangs up."""
        if self._thread.is_alive():
            self._soon(self._close(list(addresses)))
            self._thread.join(LEAVE_TIME + CONNECT_TIME)
        self._be_loud()

    def _be_loud(self) -> None:
        for logger, level in self._loggers.items():
            logger.setLevel(level)

    def prepare(self, address: str, setup: bytes, wheels: dict[str, bytes]) -> None:
        """Tells a node what the run is; NodePrepared comes then."""
        self._soon(self._prepare(address, setup, wheels))

    def play(self, address: str, number: int, batch: bytes) -> None:
        """Sends a batch to a node; BatchEnded comes then."""

        async def played() -> None:
            self._batches[number] = asyncio.create_task(self._play(address, number, batch))

        self._soon(played())

    def forget(self, number: int) -> None:
        """Nobody waits for this batch any more."""

        async def cancel() -> None:
            if task := self._batches.pop(number, None):
                task.cancel()

        self._soon(cancel())

    def stop(self, addresses: Iterable[str]) -> None:
        """Lets nodes finish what they play, and no more; NodesStopped comes then."""

        async def stopped() -> None:
            self.events.put(NodesStopped(await self._on_nodes(door.stop, list(addresses))))

        self._soon(stopped())

    def _soon(self, coroutine: Coroutine[Any, Any, None]) -> None:
        assert self._loop is not None, "a link is opened before it is used"

        def begin() -> None:
            task = asyncio.ensure_future(coroutine)
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

        try:
            self._loop.call_soon_threadsafe(begin)
        except RuntimeError:  # it has ended
            coroutine.close()

    def _run(self) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of a setup that is large, of versions that differ: we check our own
            asyncio.run(self._main())

    async def _main(self) -> None:
        self._loop, self._closing = asyncio.get_running_loop(), asyncio.Event()
        self._loop.set_exception_handler(_not_theirs)
        client = None
        try:
            client = Client(
                self.address, asynchronous=True, timeout=CONNECT_TIME, security=self._security, set_as_default=False
            )
            self._client = client
            await asyncio.wait_for(client, CONNECT_TIME + 1)  # who answers may say nothing more
        except Exception as error:
            self._failed = error
            if client is not None:
                with suppress(Exception):
                    await asyncio.wait_for(client.close(), 1.0)
            self._ready.set()
            return
        self._ready.set()
        try:
            await self._watch(client)
        finally:
            self._scheduler_lost()  # whatever it was: nobody looks any more
        for task in list(self._tasks):
            task.cancel()
        with suppress(Exception):
            await asyncio.wait_for(client.close(), CONNECT_TIME)

    async def _watch(self, client: Client) -> None:
        """Looks which nodes there are, until the link is closed."""
        assert self._closing is not None
        scheduler: Any = client.scheduler
        while not self._closing.is_set():
            if client.status != "running":
                self._scheduler_lost()
            elif not self._lost:
                with suppress(OSError, asyncio.TimeoutError):
                    known = await asyncio.wait_for(scheduler.identity(n_workers=-1), CONNECT_TIME)
                    self.events.put(NodesSeen({at: _seen(node) for at, node in known["workers"].items()}))
            with suppress(asyncio.TimeoutError):
                await asyncio.wait_for(self._closing.wait(), LOOK_EVERY)

    def _scheduler_lost(self) -> None:
        if not self._lost:
            self._lost = True
            self.events.put(SchedulerLost())

    async def _prepare(self, address: str, setup: bytes, wheels: dict[str, bytes]) -> None:
        python, error = await self._task(eval, address, PYTHON_THERE)
        facts = encode_message(NodeFacts(same={"python": python})) if error is None else b""
        if python == python_here():
            facts, error = await self._task(door.prepare, address, self.run, setup, wheels)
        self.events.put(NodePrepared(address, facts, error))

    async def _play(self, address: str, number: int, batch: bytes) -> None:
        done, error = await self._task(door.play, address, self.run, number, batch)
        self._batches.pop(number, None)
        self.events.put(BatchEnded(number, done, error))

    async def _task(self, function: Callable[..., Any], address: str, *args: object) -> tuple[Any, Exception | None]:
        """What a function says on a node; it is run there, or nowhere."""
        assert self._client is not None
        future: Any = None
        try:
            key = f"arena-{self.run}-{next(self._numbers)}"
            call = Call(function, *args).packed()
            future = self._client.submit(pickle.loads, call, workers=[address], pure=False, key=key)
            said = await future
        except asyncio.CancelledError:
            with suppress(Exception):
                await asyncio.wait_for(future.cancel(), CONNECT_TIME)
            raise
        except Exception as error:
            if self._client.status != "running" or getattr(error, "reason", "") == DISCONNECTED:
                self._scheduler_lost()  # the node is not to blame, and what was out there has no way back to us
            return b"", error
        else:
            if function is door.prepare:
                self._held[address] = future
            return said, None
        finally:
            if future is not None and self._held.get(address) is not future:
                future.release()

    async def _on_nodes(self, function: Callable[[str], Any], addresses: list[str]) -> dict[str, Any]:
        """What a function says on each of these nodes; nothing of those that do not answer."""
        assert self._client is not None
        with suppress(Exception):
            asked = self._client.run(function, self.run, workers=addresses, on_error="ignore")
            return dict(await asyncio.wait_for(asked, LEAVE_TIME))
        return {}

    async def _close(self, addresses: list[str]) -> None:
        assert self._closing is not None
        for task in list(self._batches.values()):
            task.cancel()
        if addresses and not self._lost:
            await self._on_nodes(door.leave, addresses)
        self._closing.set()


def no_answer(address: str, error: Exception) -> UsageError:
    """What to say to somebody whose scheduler cannot be reached."""
    return UsageError(
        f"No Dask scheduler answers at {address} ({_plain(error)}). Start one there with 'dask scheduler', and "
        f"'dask worker ADDRESS' on each machine; or let arena start some here: --cluster local:4."
    )


def _seen(node: dict[str, Any]) -> SeenNode:
    return SeenNode(str(node["name"]), int(node["nthreads"]), float(node["last_seen"]))


def _not_theirs(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """Tells of an exception that nobody took, unless it is Dask's: it leaves some behind when futures are cancelled."""
    if not type(context.get("exception")).__module__.startswith("distributed"):
        loop.default_exception_handler(context)


def _plain(error: Exception) -> str:
    return str(error).strip().splitlines()[0][:200] if str(error).strip() else type(error).__name__
