"""What every node of a cluster is and can enforce, for whoever is about to play there."""

from __future__ import annotations

import json
import logging
import pickle
import subprocess
import sys
import warnings
from time import monotonic
from typing import Any

import msgspec
from distributed import Client
from msgspec import Struct

from harness.core.errors import UsageError
from harness.executors.cluster.link import CONNECT_TIME, Call, no_answer
from harness.executors.cluster.node_facts import arena_here, python_here
from harness.executors.cluster.places import open_place

PROBE_TIME = 60.0
"""Seconds for all nodes to find out what they can enforce."""
PROBE = "import json; from harness.executors.cluster.checkup import describe; print(json.dumps(describe()))"


class NodeCheckup(Struct, frozen=True, kw_only=True):
    """What a node says of itself."""

    node: str
    threads: int
    host: str = ""
    python: str = ""
    arena: str = ""
    form: str = ""
    """Whether arena is compiled there; the records are the same either way."""
    enforced: dict[str, bool] = {}
    """What is kept from an isolated bot there."""
    problem: str = ""
    """Why nothing is known of it."""

    @property
    def lacking(self) -> list[str]:
        """What it does not enforce."""
        return [name for name, kept in self.enforced.items() if not kept]

    @property
    def same(self) -> bool:
        """Whether it has the Python and the arena that this machine has."""
        return (self.python, self.arena) == (python_here(), arena_here())


def describe() -> dict[str, Any]:
    """What this machine is; a confined program finds out what is enforced."""
    import socket

    from harness.core.compiled import form
    from harness.sandbox.doctor import probe

    enforced = {guarantee.name: guarantee.enforced for guarantee in probe()}
    about = {"host": socket.gethostname(), "form": form(), "enforced": enforced}
    return about | {"python": python_here(), "arena": arena_here()}


def probe_node() -> str:
    """Runs on a Dask worker: what the machine is, found out by a process beside it."""
    done = subprocess.run(  # noqa: S603 - it is ourselves
        [sys.executable, "-P", "-c", f"import sys; sys.path[:] = {sys.path!r}; {PROBE}"],
        capture_output=True,
        text=True,
        timeout=PROBE_TIME,
        check=False,
    )
    if done.returncode:
        last = done.stderr.strip().splitlines()[-1:] or [f"exit code {done.returncode}"]
        return json.dumps({"problem": last[0]})
    return done.stdout


def examine(named: str) -> list[NodeCheckup]:
    """All nodes of a cluster, by their names; UsageError if there is no cluster, or no node."""
    place, logger = open_place(named), logging.getLogger("distributed")
    loudness = logger.level
    logger.setLevel(logging.CRITICAL)
    try:
        with (
            warnings.catch_warnings(action="ignore"),  # of versions that differ: we show our own
            Client(place.address, timeout=CONNECT_TIME, security=place.security, set_as_default=False) as client,
        ):
            known = client.scheduler_info(n_workers=-1)["workers"]
            if not known:
                raise UsageError(f"The cluster at {named} has no nodes: start 'dask worker ADDRESS' on each machine.")
            call = Call(probe_node).packed()
            asked = {at: client.submit(pickle.loads, call, workers=[at], pure=False) for at in known}
            until = monotonic() + PROBE_TIME
            found = (_checkup(known[at], future, until) for at, future in asked.items())
            return sorted(found, key=lambda one: one.node)
    except (OSError, TypeError, ValueError) as error:
        raise no_answer(place.address, error) from None
    finally:
        logger.setLevel(loudness)
        place.close()


def _checkup(node: dict[str, Any], future: Any, until: float) -> NodeCheckup:
    about: dict[str, Any] = {"node": str(node["name"]), "threads": node["nthreads"]}
    try:
        about |= json.loads(future.result(timeout=max(0.1, until - monotonic())))
        return msgspec.convert(about, NodeCheckup)
    except TimeoutError:
        problem = f"no answer within {PROBE_TIME:g} s: it is busy, or gone"
    except Exception as error:  # whatever went wrong there
        problem = f"{type(error).__name__}: {str(error).partition(chr(10))[0]}"
    return NodeCheckup(node=about["node"], threads=about["threads"], problem=problem)
