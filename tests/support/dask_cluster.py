"""A real Dask scheduler and real workers on this machine, each a process that can be killed."""

from __future__ import annotations

import json
import os
import secrets
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from tests.support.waiting import PATIENCE, wait_for

ROOT = Path(__file__).parents[2]
MARK = "ARENA_TEST_CLUSTER"
"""In the environment of all processes of a cluster, and of whatever they start."""


class DaskCluster:
    """A scheduler, and nodes that come and go. Used as a context manager; nothing that it has started outlives it."""

    def __init__(
        self,
        folder: Path,
        nodes: int = 0,
        threads: int = 1,
        host: str = "127.0.0.1",
        prefix: Sequence[str] = (),
        options: Sequence[str] = (),
        **environment: str,
    ) -> None:
        """`prefix` is before the command of the scheduler; `options` are those of every node, as is the environment."""
        self.mark, self.host, self.options, self.environment = secrets.token_hex(8), host, options, environment
        self.file = folder / f"scheduler-{self.mark}.json"
        self.log = (folder / f"dask-{self.mark}.log").open("ab")
        self.nodes: list[subprocess.Popen[bytes]] = []
        self.scheduler = self._start(
            "scheduler", "--port", "0", "--host", host, "--scheduler-file", self.file, prefix=prefix
        )
        self.address = wait_for(self._address, "the scheduler says where it is")
        for _ in range(nodes):
            self.add_node(threads)
        if nodes:
            self.wait_for_nodes(nodes)

    def _address(self) -> str:
        with suppress(OSError, ValueError):
            return str(json.loads(self.file.read_text())["address"])
        return ""

    def _start(
        self, what: str, *args: object, prefix: Sequence[str] = (), **environment: str
    ) -> subprocess.Popen[bytes]:
        command = [*prefix, sys.executable, "-m", f"distributed.cli.dask_{what}", *map(str, args), "--no-dashboard"]
        path = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")]).rstrip(os.pathsep)
        return subprocess.Popen(
            command,
            env={**os.environ, "PYTHONPATH": path, MARK: self.mark, **environment},
            stdin=subprocess.DEVNULL,
            stdout=self.log,
            stderr=self.log,
            start_new_session=True,
        )

    def add_node(
        self, threads: int = 1, name: str = "", prefix: Sequence[str] = (), host: str = "", **environment: str
    ) -> subprocess.Popen[bytes]:
        """One more node; its process."""
        named = ["--name", name] if name else []
        node = self._start(
            "worker", self.address, "--nthreads", threads, "--no-nanny", "--host", host or self.host, *named,
            *self.options, prefix=prefix, **self.environment, **environment,
        )  # fmt: skip
        self.nodes.append(node)
        return node

    def wait_for_nodes(self, count: int) -> None:
        """Comes back when the scheduler knows so many."""
        from distributed import Client

        with Client(self.address, set_as_default=False) as client:
            client.wait_for_workers(count, timeout=PATIENCE)

    def processes(self, fits: Callable[[str], bool] = lambda _command: True) -> list[int]:
        """Ids of the living processes of this cluster whose command line fits."""
        found = []
        mark = f"{MARK}={self.mark}".encode()
        for place in Path("/proc").iterdir():
            with suppress(OSError):
                if place.name.isdecimal() and mark in (place / "environ").read_bytes():
                    state = (place / "stat").read_text().rpartition(")")[2].split()[0]
                    if state != "Z" and fits((place / "cmdline").read_bytes().replace(b"\0", b" ").decode()):
                        found.append(int(place.name))
        return sorted(found)

    def agents(self) -> list[int]:
        """Ids of the processes that agents are and have started."""
        return self.processes(lambda command: "cluster.agent" in command)

    def close(self) -> None:
        """Ends everything."""
        for process in [*self.nodes, self.scheduler]:
            with suppress(ProcessLookupError):
                process.send_signal(signal.SIGCONT)
                process.kill()
            process.wait()
        self.log.close()

    def __enter__(self) -> DaskCluster:
        return self

    def __exit__(self, *_error: Any) -> None:
        self.close()
        wait_for(lambda: not self.processes(), "no process of the cluster is left")
