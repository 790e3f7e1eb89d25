"""What every executor does and is told, and the executor that a run asks for.

A new executor is a file of its own and one word in EXECUTORS.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple, Protocol, Self

import msgspec

from harness.core.errors import UsageError
from harness.core.game import Game
from harness.core.types import Fault, GameRecord, MatchSpec
from harness.match.referee import Limits
from harness.plugins.entrants import Entrant
from harness.sandbox.scratch import clear_left


class Played(NamedTuple):
    """A finished match, its line for games.jsonl, and its line for notes.jsonl, empty where no bot noted anything."""

    record: GameRecord
    line: bytes
    notes: bytes = b""


class Roster(NamedTuple):
    """The rules and bots behind the names in a MatchSpec."""

    games: Mapping[str, Game[Any]]
    entrants: Mapping[str, Entrant]

    def seats(self, spec: MatchSpec) -> list[Entrant]:
        """The entrants of a match, seat by seat, ready to play it."""
        seats = [self.entrants[name] for name in spec.seats]
        for entrant in seats:
            if entrant.isolated:
                entrant.warm_up(spec.seats.count(entrant.name), (spec.game, spec.seed))
        return seats

    @property
    def loaded(self) -> Mapping[str, Entrant]:
        """The entrants that are here; in a worker those that have played."""
        here: Mapping[str, Entrant] = getattr(self.entrants, "loaded", self.entrants)
        return here

    def close(self) -> None:
        """Ends the processes that entrants have of their own."""
        for entrant in self.loaded.values():
            entrant.close()


class Job(msgspec.Struct, frozen=True):
    """A match to be played."""

    spec: MatchSpec
    forfeits: tuple[Fault, ...] = ()
    """Seats that are not asked from that decision on: their bot is disqualified, or kills or hangs the process."""
    again: bool = False
    """Whether the match was played before in another worker, and lost with it."""


class ExecutorSettings(msgspec.Struct, frozen=True, kw_only=True):
    """What every executor is told by a run."""

    limits: Limits
    workers: int
    """Processes that play; 0 is none beside this one."""
    memory: int = 0
    """Megabytes a worker; 0 is no limit."""
    threads: int = 1
    """Of each native pool (OpenMP, BLAS) in a worker; 0 is as many as it likes."""


class WorkerLoss(NamedTuple):
    """A worker was lost: the match and, if a bot was being asked, the seat."""

    match: str
    seat: int | None
    what: str


class Executor(Protocol):
    """Plays matches; used as a context manager."""

    losses: list[WorkerLoss]
    """Workers that died or were killed."""
    given_up: list[str]
    """Matches that no worker survived, though no bot could be blamed."""

    @classmethod
    def open(cls, roster: Roster, settings: ExecutorSettings, should_stop: Callable[[], bool]) -> Self:
        """The executor that a run with these settings asks for."""

    @staticmethod
    def serves(settings: ExecutorSettings) -> bool:
        """Whether a run with these settings is for this executor."""

    def __enter__(self) -> Self: ...
    def __exit__(self, *_error: object) -> None: ...

    def run(self, jobs: Iterable[Job]) -> Iterator[Played]:
        """Plays these matches and gives each as it ends, in any order. Jobs are taken as they are needed.

        Once the executor has been told to stop, it begins no further match and ends with those being played.
        """


encode = msgspec.json.Encoder().encode


CAN_FORK = hasattr(os, "fork")
"""Whether this system has what worker processes, and bots in processes of their own, are built on."""
EXECUTORS = ("harness.executors.serial:SerialExecutor", "harness.executors.local:LocalPool")
"""Module and class of each; the first that `serves` a run's settings is given it by `open(roster, settings, stop)`."""


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
    if workers and not CAN_FORK:
        raise UsageError("Worker processes need Linux, macOS or another Unix; play in this process with --workers 0.")
    settings = ExecutorSettings(
        limits=_times(limits),
        workers=default_workers() if workers is None else workers,
        memory=limits["memory"],
        threads=limits["threads"],
    )
    clear_left()
    placed = isolated(roster, limits, logs)
    for place in EXECUTORS:
        module, _, name = place.partition(":")
        executor: type[Executor] = getattr(import_module(module), name)
        if executor.serves(settings):
            return executor.open(placed, settings, should_stop)
    raise AssertionError(f"no executor serves {settings}")


def expect_workers(workers: int | None, clean: bool = False) -> None:
    """Begins to make ready for so many workers; `clean` says that no bot has been loaded in this process yet."""
    if workers != 0 and CAN_FORK:
        from harness.executors import nursery

        nursery.make_ready(clean)


def isolated(roster: Roster, limits: Mapping[str, Any], logs: Path | None = None) -> Roster:
    """The roster with its bots where a run's limits want them: programs, and isolated bots, in processes."""
    apart = any(entrant.isolated or entrant.stranger for entrant in roster.entrants.values())
    if limits["isolate"] in ("auto", "off") and not apart:
        return roster
    from harness.executors.isolation import isolate_all
    from harness.executors.remote import IsolationPolicy

    if not CAN_FORK:
        raise UsageError("Bots in processes of their own, programs too, need Linux, macOS or another Unix.")
    policy = IsolationPolicy(
        limits["isolate"],
        _times(limits),
        limits["memory"],
        threads=limits["threads"],
        logs=str(logs or ""),
        keep=limits.get("keep_processes", False),
        ponder=limits.get("ponder", False),
    )
    return roster._replace(entrants=isolate_all(roster.entrants, policy, roster.games))


def _times(limits: Mapping[str, Any]) -> Limits:
    return Limits(limits["move_time"], limits["game_time"], clock=limits.get("clock", "fair"))


def default_workers() -> int:
    """One worker for each core that this process may use; none where there are no workers."""
    if not CAN_FORK:
        return 0
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
