"""What every executor does, which executor a run asks for, and which bots play outside this process."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, Protocol, Self

import msgspec

from harness.core.errors import UsageError
from harness.core.game import Game
from harness.core.options import MAX_WORKERS, BotLimits
from harness.core.records import Fault, GameRecord, Isolation, MatchSpec
from harness.isolation.launch import remove_stale_folders
from harness.match.faults import Limits
from harness.plugins.entrants import BotDescription, BotRef, Entrant
from harness.plugins.features import EXECUTORS
from harness.plugins.trust import is_confined

# What every executor does and is told, and the executor that a run asks for.
#
# A new executor is a file of its own and one line in EXECUTORS (harness/plugins/features.py).


class Played(NamedTuple):
    """A finished match, its line for games.jsonl, and its line for notes.jsonl, empty where no bot noted anything."""

    record: GameRecord
    line: bytes
    notes: bytes = b""


Keep = Callable[[Sequence[Played]], object]
"""Stores finished matches where they survive this process."""


def discard(_played: Sequence[Played]) -> None:
    """Store nothing: for matches that are not part of a run."""


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
    cluster: str = ""
    """The Dask cluster whose nodes play; `workers` is then for each node, 0 one for each thread of its Dask worker."""
    ship: bool = False
    """Whether packages are sent along to the nodes."""
    asked: BotLimits = BotLimits()
    """All limits of the run, for executors that place bots themselves."""
    logs: str = ""
    """Where bots in processes of their own write what they print; nowhere if empty."""


class ClusterChoice(NamedTuple):
    """The cluster on which a run is played, if not on this machine."""

    address: str = ""
    """What --cluster names."""
    ship: bool = False
    """Whether packages are sent along to its nodes."""


WORKERS_VARIABLE = "ARENA_WORKERS"
"""What says in the environment how many workers play where nobody says it."""
HERE = ClusterChoice()
"""No cluster."""


class WorkerLoss(NamedTuple):
    """A worker was lost: the match and, if a bot was being asked, the seat."""

    match: str
    seat: int | None
    what: str


class Executor(Protocol):
    """Plays matches; used as a context manager."""

    elsewhere: ClassVar[bool]
    """Whether it takes bots to other machines and confines them there, instead of being given them confined."""
    tell: Callable[[str], None]
    """Takes sentences for the person who waits; set by whoever has one."""
    losses: list[WorkerLoss]
    """Workers that died or were killed."""
    given_up: list[str]
    """Matches that no worker survived, though no bot could be blamed."""

    @classmethod
    def open(cls, roster: Roster, settings: ExecutorSettings, should_stop: Callable[[], bool]) -> Self:
        """The executor that a run with these settings asks for."""

    def status(self) -> str:
        """Who plays, in a few words, where that is worth telling."""

    def __enter__(self) -> Self: ...
    def __exit__(self, *_error: object) -> None: ...

    def run(self, jobs: Iterable[Job], keep: Keep = discard) -> Iterator[Played]:
        """Plays these matches, lets `keep` have the lines of each as it ends, and gives it then or soon after, in any
        order. Jobs are taken as they are needed, and asked for again while matches are being played: an iterator that
        had no more may have more by then.

        Once the executor has been told to stop, it begins no further match and ends with those being played.
        """


encode = msgspec.json.Encoder().encode


CAN_FORK = hasattr(os, "fork")
"""Whether this system has what worker processes, and bots in processes of their own, are built on."""


def choose_executor(
    roster: Roster,
    limits: BotLimits,
    workers: int | None,
    should_stop: Callable[[], bool] = lambda: False,
    logs: Path | None = None,
    cluster: ClusterChoice = HERE,
) -> Executor:
    """The executor for so many workers (0: this process, None: one for each core) under a run's limits, or for a
    cluster.

    `logs` is where bots in processes of their own write what they print.
    """
    kind = "cluster" if cluster.address else "serial" if workers == 0 else "local"
    if workers and not CAN_FORK:
        raise UsageError("Worker processes need Linux, macOS or another Unix; play in this process with --workers 0.")
    settings = ExecutorSettings(
        limits=_times(limits),
        workers=(0 if cluster.address else default_workers()) if workers is None else workers,
        memory=limits.memory,
        threads=limits.threads,
        cluster=cluster.address,
        ship=cluster.ship,
        asked=limits,
        logs=str(logs or ""),
    )
    executor = _executor(kind if settings.workers or kind != "local" else "serial")
    remove_stale_folders()
    return executor.open(roster if executor.elsewhere else isolated(roster, limits, logs), settings, should_stop)


def _executor(kind: str) -> type[Executor]:
    module, _, name = EXECUTORS[kind].partition(":")
    executor: type[Executor] = getattr(load_cluster(module) if kind == "cluster" else import_module(module), name)
    return executor


def load_cluster(module: str) -> Any:
    """A module that needs Dask; UsageError if that is not installed."""
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] == "harness":
            raise
        raise UsageError(
            f"A cluster needs {error.name}, which is not installed here: pip install 'arena-harness[cluster]'."
        ) from None


def expect_workers(workers: int | None, clean: bool = False) -> None:
    """Begins to make ready for so many workers; `clean` says that no bot has been loaded in this process yet."""
    if workers is None:
        default_workers()  # what is wrong with it is told before anything is begun
    if workers != 0 and CAN_FORK:
        from harness.executors import forkserver

        forkserver.start_forkserver(clean)


def isolated(roster: Roster, limits: BotLimits, logs: Path | None = None) -> Roster:
    """The roster with its bots where a run's limits want them: programs, and isolated bots, in processes."""
    apart = any(entrant.isolated or entrant.untrusted for entrant in roster.entrants.values())
    if limits.isolate in ("auto", "off") and not apart:
        return roster
    from harness.isolation.entrants import IsolationPolicy, isolate_all

    if not CAN_FORK:
        raise UsageError("Bots in processes of their own, programs too, need Linux, macOS or another Unix.")
    policy = IsolationPolicy(
        limits.isolate,
        _times(limits),
        limits.memory,
        threads=limits.threads,
        logs=str(logs or ""),
        keep=limits.keep_processes,
        ponder=limits.ponder,
    )
    return roster._replace(entrants=isolate_all(roster.entrants, policy, roster.games))


def _times(limits: BotLimits) -> Limits:
    return Limits(limits.move_time, limits.game_time, clock=limits.clock)


def default_workers() -> int:
    """As many workers as ARENA_WORKERS says, or one for each core that this process may use; none where there are no
    workers."""
    if not CAN_FORK:
        return 0
    asked = os.environ.get(WORKERS_VARIABLE, "")
    if asked:
        if not asked.isdecimal() or not 1 <= int(asked) <= MAX_WORKERS:
            raise UsageError(f"{WORKERS_VARIABLE} is a whole number from 1 to {MAX_WORKERS}, not {asked!r}.")
        return int(asked)
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


# Which bots play outside this process, and the registry's way to them; what they need is loaded when there are any.


class SandboxLoader(NamedTuple):
    """The registry's way to bots outside this process (`harness.plugins.entrants.RemoteLoader`)."""

    isolate: Isolation = "auto"

    def loads_here(self, untrusted: str) -> bool:
        """Whether a Python file is loaded in this process, as one's own is unless everybody is confined."""
        return not is_confined(untrusted, self.isolate)

    def enter_command(self, ref: BotRef) -> Entrant:
        """Return an entrant for a program."""
        from harness.isolation.entrants import enter_command

        return enter_command(ref, self.isolate)

    def bots_in(self, path: str) -> list[BotDescription]:
        """The bots of a file, described by a process of its own."""
        from harness.isolation.entrants import bots_in

        return bots_in(path, self.isolate)
