"""The driver's client of the Dask scheduler.

It runs an event loop in a separate thread, so that a call that hangs does not stop the driver. Everything that happens
reaches the driver as an event in a queue.
"""

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

from harness.cluster import agent
from harness.cluster.messages import NodeFacts, encode_message, python_here
from harness.core.errors import UsageError

CONNECT_TIMEOUT_S = 10.0
"""Time for the scheduler to answer."""
POLL_INTERVAL_S = 0.5
"""Time between two requests for the list of nodes."""
CLOSE_TIMEOUT_S = 15.0
"""Time for nodes to end the run's processes."""
DISCONNECTED = "scheduler-connection-lost"
"""Dask's reason for cancelling tasks when the connection breaks, even if it reconnects later."""
NOISY_LOGGERS = ("distributed", "distributed.client", "tornado.application")
"""Dask's loggers that write to stderr at their own levels."""


REMOTE_PYTHON = (
    "__import__('importlib.util').util.find_spec('harness.cluster.agent') and "
    "f\"{__import__('platform').python_implementation()} {__import__('platform').python_version()}\""
)
"""Expression for the Python of a node, if Arena is installed there. Any Python can evaluate it, whereas a Dask worker
dies of a function that it cannot import."""


class RemoteCall:
    """A call that is executed by unpickling it.

    The scheduler unpickles the tasks that it passes on. These are sent as bytes inside of a plain `pickle.loads` task,
    so the scheduler needs no Arena.
    """

    def __init__(self, function: Callable[..., Any], *args: object) -> None:
        self._call = (function, args)

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[object, ...]]:
        return self._call

    def to_bytes(self) -> bytes:
        """Return the bytes for `pickle.loads` on the node."""
        return pickle.dumps(self)


class SeenNode(NamedTuple):
    """A Dask worker as the scheduler lists it."""

    name: str
    threads: int
    last_seen: float
    """By the scheduler's clock."""


class NodesSeen(NamedTuple):
    """The nodes that are connected now, by address."""

    nodes: dict[str, SeenNode]


class NodePrepared(NamedTuple):
    """A node has sent its facts, or failed to."""

    address: str
    facts: bytes
    error: Exception | None


class BatchEnded(NamedTuple):
    """A batch was returned, or failed."""

    number: int
    done: bytes
    error: Exception | None


class NodesStopped(NamedTuple):
    """Nodes have been asked to stop."""

    playing: dict[str, list[int]]
    """Numbers of the batches that each is playing, by address."""


class SchedulerLost(NamedTuple):
    """The connection to the scheduler is lost."""


ClusterEvent = NodesSeen | NodePrepared | NodesStopped | BatchEnded | SchedulerLost


class SchedulerClient:
    """The connection of one run to the scheduler at this address."""

    def __init__(self, address: str, run: str, security: Security | None = None) -> None:
        self.address, self.run = address, run
        self.events: SimpleQueue[ClusterEvent] = SimpleQueue()
        self._security = security
        self._ready = threading.Event()
        self._connect_error: Exception | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._client: Client | None = None
        self._closing: asyncio.Event | None = None
        self._lost = False
        self._batches: dict[int, asyncio.Task[None]] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._numbers = count()
        self._held_futures: dict[str, Any] = {}
        """Futures of the nodes' facts. The scheduler keeps them as long as this client lives; when the driver dies they
        vanish, and the agents see that no driver wants them any more."""
        self._loggers = {logging.getLogger(name): logging.getLogger(name).level for name in NOISY_LOGGERS}
        self._thread = threading.Thread(target=self._run, name="arena-cluster", daemon=True)

    def open(self) -> None:
        """Connect; raise UsageError if the scheduler does not answer."""
        for logger in self._loggers:
            logger.setLevel(logging.CRITICAL + 1)  # the driver reports the same events as messages
        self._thread.start()
        self._ready.wait()
        if self._connect_error is not None:
            self._thread.join()
            self._restore_loggers()
            raise connection_error(self.address, self._connect_error) from None

    def close(self, addresses: Iterable[str]) -> None:
        """End the run's processes on these nodes, and disconnect."""
        if self._thread.is_alive():
            self._submit(self._close(list(addresses)))
            # A daemon thread with a limit: a frozen scheduler must not keep the run from ending.
            self._thread.join(CLOSE_TIMEOUT_S + CONNECT_TIMEOUT_S)
        self._restore_loggers()

    def _restore_loggers(self) -> None:
        for logger, level in self._loggers.items():
            logger.setLevel(level)

    def prepare(self, address: str, setup: bytes, wheels: dict[str, bytes]) -> None:
        """Send the run's setup to a node; NodePrepared follows."""
        self._submit(self._prepare(address, setup, wheels))

    def play(self, address: str, number: int, batch: bytes) -> None:
        """Send a batch to a node; BatchEnded follows."""

        # The task is created inside of the loop, so that cancel_batch always finds it.
        async def played() -> None:
            self._batches[number] = asyncio.create_task(self._play(address, number, batch))

        self._submit(played())

    def cancel_batch(self, number: int) -> None:
        """Cancel a batch; no event follows."""

        async def cancel() -> None:
            if task := self._batches.pop(number, None):
                task.cancel()

        self._submit(cancel())

    def stop(self, addresses: Iterable[str]) -> None:
        """Let nodes finish what they are playing; NodesStopped follows."""

        async def stopped() -> None:
            self.events.put(NodesStopped(await self._run_on_nodes(agent.stop, list(addresses))))

        self._submit(stopped())

    def _submit(self, coroutine: Coroutine[Any, Any, None]) -> None:
        assert self._loop is not None, "open() comes first"

        def begin() -> None:
            task = asyncio.ensure_future(coroutine)
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

        try:
            self._loop.call_soon_threadsafe(begin)
        except RuntimeError:  # the loop has ended
            coroutine.close()

    def _run(self) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about large tasks and different versions, which Arena checks itself
            asyncio.run(self._main())

    async def _main(self) -> None:
        self._loop, self._closing = asyncio.get_running_loop(), asyncio.Event()
        self._loop.set_exception_handler(_handle_loop_exception)
        client = None
        try:
            client = Client(
                self.address,
                asynchronous=True,
                timeout=CONNECT_TIMEOUT_S,
                security=self._security,
                set_as_default=False,
            )
            self._client = client
            # a server that is not a scheduler may accept and stay silent
            await asyncio.wait_for(client, CONNECT_TIMEOUT_S + 1)
        except Exception as error:
            self._connect_error = error
            if client is not None:
                with suppress(Exception):
                    await asyncio.wait_for(client.close(), 1.0)
            self._ready.set()
            return
        self._ready.set()
        try:
            await self._watch(client)
        finally:
            self._scheduler_lost()  # without this loop the driver would wait forever
        for task in list(self._tasks):
            task.cancel()
        with suppress(Exception):
            await asyncio.wait_for(client.close(), CONNECT_TIMEOUT_S)

    async def _watch(self, client: Client) -> None:
        """Put the list of nodes into the queue again and again, until the client is closed."""
        assert self._closing is not None
        scheduler: Any = client.scheduler
        while not self._closing.is_set():
            if client.status != "running":
                self._scheduler_lost()
            elif not self._lost:
                # A slow answer does not mean that the scheduler is lost: only the status of the client decides that.
                with suppress(OSError, asyncio.TimeoutError):
                    known = await asyncio.wait_for(scheduler.identity(n_workers=-1), CONNECT_TIMEOUT_S)
                    all_nodes = known["workers"].items()
                    seen = {
                        at: SeenNode(str(n["name"]), int(n["nthreads"]), float(n["last_seen"])) for at, n in all_nodes
                    }
                    self.events.put(NodesSeen(seen))
            with suppress(asyncio.TimeoutError):
                await asyncio.wait_for(self._closing.wait(), POLL_INTERVAL_S)

    def _scheduler_lost(self) -> None:
        if not self._lost:
            self._lost = True
            self.events.put(SchedulerLost())

    async def _prepare(self, address: str, setup: bytes, wheels: dict[str, bytes]) -> None:
        # First with code that needs no Arena: see REMOTE_PYTHON.
        python, error = await self._run_task(eval, address, REMOTE_PYTHON)
        facts = encode_message(NodeFacts(same={"python": python})) if error is None else b""
        if python == python_here():
            facts, error = await self._run_task(agent.prepare, address, self.run, setup, wheels)
        self.events.put(NodePrepared(address, facts, error))

    async def _play(self, address: str, number: int, batch: bytes) -> None:
        done, error = await self._run_task(agent.play, address, self.run, number, batch)
        self._batches.pop(number, None)
        self.events.put(BatchEnded(number, done, error))

    async def _run_task(
        self, function: Callable[..., Any], address: str, *args: object
    ) -> tuple[Any, Exception | None]:
        """Return the result of a function on a node, or its exception. It never runs on another node."""
        assert self._client is not None
        future: Any = None
        try:
            key = f"arena-{self.run}-{next(self._numbers)}"
            call = RemoteCall(function, *args).to_bytes()
            # pure=False and a unique key: Dask must not reuse the result of an equal task.
            future = self._client.submit(pickle.loads, call, workers=[address], pure=False, key=key)
            said = await future
        except asyncio.CancelledError:
            with suppress(Exception):
                await asyncio.wait_for(future.cancel(), CONNECT_TIMEOUT_S)
            raise
        except Exception as error:
            if self._client.status != "running" or getattr(error, "reason", "") == DISCONNECTED:
                self._scheduler_lost()  # not a failure of the node, and its results cannot reach this client any more
            return b"", error
        else:
            # Held as long as the run lasts: see _held_futures.
            if function is agent.prepare:
                self._held_futures[address] = future
            return said, None
        finally:
            if future is not None and self._held_futures.get(address) is not future:
                future.release()

    async def _run_on_nodes(self, function: Callable[[str], Any], addresses: list[str]) -> dict[str, Any]:
        """Return the results of a function on these nodes, without nodes that do not answer."""
        assert self._client is not None
        with suppress(Exception):
            # `run` bypasses the queue of tasks, so it reaches a node that is busy playing.
            asked = self._client.run(function, self.run, workers=addresses, on_error="ignore")
            return dict(await asyncio.wait_for(asked, CLOSE_TIMEOUT_S))
        return {}

    async def _close(self, addresses: list[str]) -> None:
        assert self._closing is not None
        for task in list(self._batches.values()):
            task.cancel()
        if addresses and not self._lost:
            await self._run_on_nodes(agent.leave, addresses)
        self._closing.set()


def connection_error(address: str, error: Exception) -> UsageError:
    """Return the error for a scheduler that cannot be reached."""
    if address.startswith("tls://") and isinstance(error, TypeError):  # Dask's answer to a missing certificate
        return UsageError(
            f"The Dask scheduler at {address} needs a certificate, and Dask's configuration here names none "
            f"(docs/clusters.md)."
        )
    reason = str(error).strip()[:200].partition("\n")[0] or type(error).__name__
    return UsageError(
        f"No Dask scheduler answers at {address} ({reason}). Start one there with 'dask scheduler', and "
        f"'dask worker ADDRESS' on each machine.",
        fix="cluster-local",
    )


def _handle_loop_exception(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """Report an unhandled exception, unless it is Dask's: cancelled futures leave some behind."""
    if not type(context.get("exception")).__module__.startswith("distributed"):
        loop.default_exception_handler(context)
