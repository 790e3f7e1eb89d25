"""The executors there are, and the one that a run asks for. A new one is a file of its own and one word here."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

from harness.executors.isolation import isolate_all
from harness.executors.jobs import Executor, ExecutorSettings, Roster
from harness.executors.remote import IsolationPolicy
from harness.match.referee import Limits

EXECUTORS = {
    "serial": "harness.executors.serial:SerialExecutor",
    "local": "harness.executors.local:LocalPool",
}
"""Name -> module and class; the class has a method `open(roster, settings, should_stop)`."""


def choose_executor(
    roster: Roster,
    limits: Mapping[str, Any],
    workers: int | None,
    should_stop: Callable[[], bool] = lambda: False,
    logs: Path | None = None,
) -> Executor:
    """The executor for so many workers (0: this process, None: one for each core) under a run's limits.

    `logs` is where bots in processes of their own write what they print.
    """
    settings = ExecutorSettings(
        limits=Limits(limits["move_time"], limits["game_time"]),
        workers=default_workers() if workers is None else workers,
        memory=limits["memory"],
    )
    module, _, name = EXECUTORS["local" if settings.workers else "serial"].partition(":")
    executor: Executor = getattr(import_module(module), name).open(
        isolated(roster, limits, logs), settings, should_stop
    )
    return executor


def isolated(roster: Roster, limits: Mapping[str, Any], logs: Path | None = None) -> Roster:
    """The roster with its bots where a run's limits want them: programs, and isolated bots, in processes."""
    if limits["isolate"] == "off" and not any(entrant.isolated for entrant in roster.entrants.values()):
        return roster
    times = Limits(limits["move_time"], limits["game_time"])
    policy = IsolationPolicy(limits["isolate"], times, limits["memory"], logs=str(logs or ""))
    return roster._replace(entrants=isolate_all(roster.entrants, policy, roster.games))


def default_workers() -> int:
    """One worker for each core that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
