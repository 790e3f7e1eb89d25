"""What `--cluster` can name: a scheduler's address, its file, some workers on this machine, or a function that makes
a cluster."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from harness.core.errors import UsageError

if TYPE_CHECKING:
    from distributed.security import Security

MOST_HERE = 256
"""Nodes that are started on this machine."""
LOCAL = re.compile(r"local:(.*)")
ADDRESS = re.compile(r"(\w+://.+)|(.+:\d+)")
FACTORY = re.compile(r"([\w.]+):([\w.]+)")
LEAVE_TIME = 10.0


class ClusterPlace(NamedTuple):
    """A cluster that can be reached."""

    address: str
    security: Security | None = None
    close: Callable[[], None] = lambda: None
    """Ends it, if it was begun for this run."""


def open_place(named: str, tell: Callable[[str], None] = lambda _sentence: None) -> ClusterPlace:
    """The cluster that was named, begun if it has to be; UsageError if it is none. `tell` hears of what takes long."""
    if local := LOCAL.fullmatch(named):
        tell(f"Starting {local[1]} Dask workers on this machine ...")
        return _started_here(named, local[1])
    if Path(named).is_file():
        return ClusterPlace(_address_in(Path(named)))
    if ADDRESS.fullmatch(named):
        return ClusterPlace(named if "://" in named else f"tcp://{named}")
    if factory := FACTORY.fullmatch(named):
        tell(f"Starting the cluster of {named} ...")
        return _made_by(named, factory[1], factory[2])
    raise UsageError(
        f"{named!r} is no cluster. Give the address of a Dask scheduler (tcp://10.0.0.1:8786) or its scheduler file, "
        f"local:4 for four workers on this machine, or module:function, which returns a Dask cluster."
    )


def _address_in(path: Path) -> str:
    try:
        return str(json.loads(path.read_text(encoding="utf-8"))["address"])
    except (OSError, ValueError, LookupError, TypeError) as error:
        raise UsageError(f"{path} is not a scheduler file of Dask's: {error!r}.") from error


def _started_here(named: str, count: str) -> ClusterPlace:
    if not count.isdecimal() or not 1 <= int(count) <= MOST_HERE:
        raise UsageError(f"{named!r}: say how many workers, from 1 to {MOST_HERE}, as in local:4.")
    return begin_here(named, "harness.executors.cluster.started_here", count)


def begin_here(named: str, module: str, *args: object) -> ClusterPlace:
    """A cluster that one of our modules serves in a process of its own, until it is closed."""
    code = f"import sys; sys.path[:] = {sys.path!r}; import runpy; runpy.run_module({module!r}, run_name='__main__')"
    process = subprocess.Popen(  # noqa: S603 - it is ourselves
        [sys.executable, "-P", "-c", code, *map(str, args)],  # -m would import from the folder that somebody is in
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        start_new_session=True,  # Ctrl-C is ours
    )
    assert process.stdin is not None
    assert process.stdout is not None
    address = process.stdout.readline().decode().strip()

    def close() -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.close()
        process.stdout.close()
        try:
            process.wait(LEAVE_TIME)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    if not address:
        close()
        raise UsageError(f"{named} could not be started: its process ended with exit code {process.returncode}.")
    return ClusterPlace(address, close=close)


def _made_by(named: str, module: str, name: str) -> ClusterPlace:
    try:
        made = _function(module, name)()
    except Exception as error:
        raise UsageError(f"--cluster {named} makes no cluster: {type(error).__name__}: {error}.") from error
    address = getattr(made, "scheduler_address", None)
    if not isinstance(address, str) or not address:
        raise UsageError(f"--cluster {named} returned {made!r}, which is no Dask cluster: it has no scheduler_address.")
    return ClusterPlace(address, getattr(made, "security", None) or None, getattr(made, "close", lambda: None))


def _function(module: str, name: str) -> Any:
    """What is called so in a module, which may be a file beside one's TOML. Nodes that it starts inherit our path: they
    are not to take a folder called bots that lies there for ours."""
    here = str(Path.cwd())
    sys.path.insert(0, here)
    try:
        found: Any = import_module(module)
    finally:
        sys.path.remove(here)
    for part in name.split("."):
        found = getattr(found, part)
    return found
