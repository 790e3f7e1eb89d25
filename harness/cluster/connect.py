"""Find, start or check the Dask cluster that --cluster names."""

from __future__ import annotations

import json
import logging
import os
import pickle
import re
import shutil
import socket
import subprocess
import sys
import warnings
from collections.abc import Callable
from importlib import import_module
from ipaddress import ip_address
from pathlib import Path
from tempfile import mkdtemp
from time import monotonic
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import cryptography  # noqa: F401 - Dask needs it for keys, and a missing package is reported before anything starts
import dask
import msgspec
from distributed import Client, LocalCluster
from distributed.security import Security
from msgspec import Struct

from harness.cluster.link import CONNECT_TIMEOUT_S, RemoteCall, connection_error
from harness.cluster.messages import arena_here, python_here
from harness.core.compiled import build_form
from harness.core.errors import UsageError
from harness.isolation.doctor import probe

# What `--cluster` can name: a scheduler's address or file, a number of local workers, or a function that returns a
# cluster.


MAX_LOCAL_NODES = 256
"""Largest number of nodes on this machine."""
LOCAL = re.compile(r"local:(.*)")
ADDRESS = re.compile(r"(\w+://.+)|(.+:\d+)")
FACTORY = re.compile(r"([\w.]+):([\w.]+)")
EXIT_TIMEOUT_S = 10.0


class ClusterHandle(NamedTuple):
    """The address of a cluster, and how to close it; like a Dask cluster, so that a function may return one."""

    scheduler_address: str
    security: Security | None = None
    """Its certificates; None for those of Dask's configuration, if there are any."""
    close: Callable[[], None] = lambda: None
    """Ends the cluster if it was started for this run."""


def open_cluster(named: str, report: Callable[[str], None] = lambda _sentence: None) -> ClusterHandle:
    """Return the cluster that --cluster names, started if necessary; `report` reports steps that take long, and a
    scheduler that is open to other machines.

    Raise UsageError if the text names no cluster.
    """
    cluster = _find_or_start(named, report)
    try:
        address = urlsplit(cluster.scheduler_address)
    except ValueError as error:
        raise UsageError(f"{named!r} is not the address of a Dask scheduler: {error}.") from None
    if address.scheme == "tcp" and not _is_loopback(address.hostname or ""):
        report(
            f"Warning: whatever reaches {cluster.scheduler_address} can run code on its nodes, because it does not use "
            f"TLS (docs/clusters.md)."
        )
    return cluster


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:  # a name
        return host == "localhost"


def _find_or_start(named: str, report: Callable[[str], None]) -> ClusterHandle:
    if local := LOCAL.fullmatch(named):
        report(f"Starting {local[1]} Dask workers on this machine ...")
        if not re.fullmatch(r"\d{1,6}", local[1]) or not 1 <= int(local[1]) <= MAX_LOCAL_NODES:
            raise UsageError(f"{named!r}: the number of workers must be 1 to {MAX_LOCAL_NODES}, as in local:4.")
        return start_cluster_process(named, "harness.cluster.connect", local[1])
    if Path(named).is_file():
        return ClusterHandle(_read_scheduler_file(Path(named)))
    if ADDRESS.fullmatch(named):
        return ClusterHandle(named if "://" in named else f"tcp://{named}")
    if factory := FACTORY.fullmatch(named):
        report(f"Starting the cluster of {named} ...")
        return _call_factory(named, factory[1], factory[2])
    raise UsageError(
        f"{named!r} is not a cluster. Give the address of a Dask scheduler (tcp://10.0.0.1:8786) or its file, "
        f"local:4 for four workers on this machine, or module:function, which returns a Dask cluster."
    )


def _read_scheduler_file(path: Path) -> str:
    try:
        return str(json.loads(path.read_text(encoding="utf-8"))["address"])
    except (OSError, ValueError, LookupError, TypeError) as error:
        raise UsageError(f"{path} is not a Dask scheduler file: {error!r}.") from error


def start_cluster_process(named: str, module: str, *args: object) -> ClusterHandle:
    """Start a cluster that a module of Arena serves in a separate process until it is closed."""
    code = f"import sys; sys.path[:] = {sys.path!r}; import runpy; runpy.run_module({module!r}, run_name='__main__')"
    process = subprocess.Popen(  # noqa: S603 - it is ourselves
        [sys.executable, "-P", "-c", code, *map(str, args)],  # -m would import from the current folder
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        start_new_session=True,  # Ctrl-C reaches the driver only, which then closes the cluster
    )
    assert process.stdin is not None
    assert process.stdout is not None
    stdin, stdout = process.stdin, process.stdout

    def close() -> None:
        stdin.close()
        stdout.close()
        try:
            process.wait(EXIT_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    try:
        # Keys come through the pipe: other users can read the arguments of every process.
        address, security = pickle.load(stdout)  # noqa: S301 - from our own process
    except EOFError:
        close()
        raise UsageError(
            f"{named} could not be started: its process ended with exit code {process.returncode}."
        ) from None
    return ClusterHandle(address, security, close)


def _call_factory(named: str, module: str, name: str) -> ClusterHandle:
    try:
        made = _import_factory(module, name)()
    except Exception as error:
        raise UsageError(f"{named} failed to create a cluster: {type(error).__name__}: {error}.") from error
    address = getattr(made, "scheduler_address", None)
    if not isinstance(address, str) or not address:
        raise UsageError(f"{named} returned {made!r}, not a Dask cluster: it has no scheduler_address.")
    return ClusterHandle(address, getattr(made, "security", None) or None, getattr(made, "close", lambda: None))


def _import_factory(module: str, name: str) -> Any:
    """Import a function of a module, which may be a file in the current folder.

    The folder is on sys.path only during the import. Nodes that the function starts inherit sys.path, and a folder
    called `bots` there must not replace Arena's own.
    """
    here = str(Path.cwd())
    sys.path.insert(0, here)
    try:
        found: Any = import_module(module)
    finally:
        sys.path.remove(here)
    for part in name.split("."):
        found = getattr(found, part)
    return found


# A local Dask cluster in a separate process: it uses no time of the driver's process, and ends with it.
#
# Every user of this machine can connect to its ports, and a Dask cluster runs the code of all that connect. So it has
# keys, made for this run, that only the driver gets. Dask writes them for a moment into a folder that only this user
# can read. Its web pages know no keys, so they are off.


HOST = "127.0.0.1"


def serve_local_cluster(workers: int, processes: bool = True) -> None:
    """Start Dask workers with one thread each, write the scheduler's address and its keys to stdout, and serve until
    stdin closes."""
    dask.config.set(
        {
            "distributed.worker.profile.enabled": False,  # Dask's profiler samples threads that only wait
            # Dask starts its web servers even without a dashboard: they get no pages.
            "distributed.scheduler.http.routes": [],
            "distributed.worker.http.routes": [],
        }
    )
    security = Security.temporary()
    # By default Dask uses a folder of a fixed name in the system's folder for temporary files, imports modules from it,
    # and trusts it even if another user has created it.
    scratch = mkdtemp(prefix="arena-dask-")
    dask.config.set({"temporary-directory": scratch})
    cluster = LocalCluster(
        local_directory=scratch,
        n_workers=workers,
        threads_per_worker=1,
        processes=processes,
        protocol="tls",
        security=security,
        host=HOST,
        # Port 0 is any free one: without an address Dask takes port 8787, and prints a warning if that is in use.
        scheduler_kwargs={"dashboard": False, "dashboard_address": f"{HOST}:0"},
        memory_limit=0,  # Arena limits the memory of bots, and Dask itself needs little
        silence_logs=logging.CRITICAL,
    )
    pickle.dump((cluster.scheduler_address, security), sys.stdout.buffer)
    sys.stdout.buffer.flush()
    # Blocks until the driver closes the pipe or dies.
    sys.stdin.buffer.read()
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)  # hide Dask's messages about closed connections
    cluster.close()
    shutil.rmtree(scratch, ignore_errors=True)


if __name__ == "__main__":
    serve_local_cluster(int(sys.argv[1]))


# Diagnostics for `arena doctor --cluster`: versions of each node, and guarantees that it can enforce.


PROBE_TIMEOUT_S = 60.0
"""Time for all nodes to find out what they can enforce."""
PROBE = "import json; from harness.cluster.connect import describe; print(json.dumps(describe()))"


class NodeDiagnostics(Struct, frozen=True, kw_only=True):
    """A node's report about itself."""

    node: str
    threads: int
    host: str = ""
    python: str = ""
    arena: str = ""
    form: str = ""
    """Whether Arena is compiled there; the records are the same either way."""
    enforced: dict[str, bool] = {}
    """Which guarantees against an isolated bot are enforced there."""
    problem: str = ""
    """Why the node could not be examined."""

    @property
    def lacking(self) -> list[str]:
        """Names of the guarantees that it does not enforce."""
        return [name for name, kept in self.enforced.items() if not kept]

    @property
    def same(self) -> bool:
        """Whether its Python and Arena equal those of this machine."""
        return (self.python, self.arena) == (python_here(), arena_here())


def describe() -> dict[str, Any]:
    """Return what this machine is and, found out by a confined program, what it enforces."""
    enforced = {guarantee.name: guarantee.enforced for guarantee in probe()}
    about = {"host": socket.gethostname(), "form": build_form(), "enforced": enforced}
    return about | {"python": python_here(), "arena": arena_here()}


def probe_node() -> str:
    """On a Dask worker: return the description of the machine as JSON, made by a separate process."""
    done = subprocess.run(  # noqa: S603 - it is ourselves
        [sys.executable, "-P", "-c", f"import sys; sys.path[:] = {sys.path!r}; {PROBE}"],
        capture_output=True,
        text=True,
        timeout=PROBE_TIMEOUT_S,
        check=False,
    )
    if done.returncode:
        last = done.stderr.strip().splitlines()[-1:] or [f"exit code {done.returncode}"]
        return json.dumps({"problem": last[0]})
    return done.stdout


def diagnose_cluster(named: str, report: Callable[[str], None] = lambda _sentence: None) -> list[NodeDiagnostics]:
    """Return the diagnostics of all nodes, sorted by name; raise UsageError if there is no cluster or no node.

    `report` as in `open_cluster`.
    """
    cluster, logger = open_cluster(named, report), logging.getLogger("distributed")
    previous_level = logger.level
    logger.setLevel(logging.CRITICAL)
    try:
        with (
            warnings.catch_warnings(action="ignore"),  # about different versions: the result shows them
            Client(
                cluster.scheduler_address, timeout=CONNECT_TIMEOUT_S, security=cluster.security, set_as_default=False
            ) as client,
        ):
            known = client.scheduler_info(n_workers=-1)["workers"]
            if not known:
                raise UsageError(f"The cluster at {named} has no nodes: start 'dask worker ADDRESS' on each machine.")
            call = RemoteCall(probe_node).to_bytes()
            asked = {at: client.submit(pickle.loads, call, workers=[at], pure=False) for at in known}
            until = monotonic() + PROBE_TIMEOUT_S
            found = (_diagnostics_of(known[at], future, until) for at, future in asked.items())
            return sorted(found, key=lambda one: one.node)
    except (OSError, TypeError, ValueError) as error:
        raise connection_error(cluster.scheduler_address, error) from None
    finally:
        logger.setLevel(previous_level)
        cluster.close()


def _diagnostics_of(node: dict[str, Any], future: Any, until: float) -> NodeDiagnostics:
    about: dict[str, Any] = {"node": str(node["name"]), "threads": node["nthreads"]}
    try:
        about |= json.loads(future.result(timeout=max(0.1, until - monotonic())))
        return msgspec.convert(about, NodeDiagnostics)
    except TimeoutError:
        problem = f"no answer within {PROBE_TIMEOUT_S:g} s: the node is busy or gone"
    except Exception as error:  # the probe may raise anything
        problem = f"{type(error).__name__}: {str(error).partition(chr(10))[0]}"
    return NodeDiagnostics(node=about["node"], threads=about["threads"], problem=problem)
