"""What every executor does, the executor of a run, and which bots play outside this process."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, Self

import msgspec

from harness.core.errors import UsageError
from harness.core.game import Game
from harness.core.options import MAX_WORKERS, BotLimits
from harness.core.records import Fault, GameRecord, Isolation, MatchSpec
from harness.isolation.launch import remove_stale_folders
from harness.match.faults import Limits
from harness.plugins.entrants import BotDescription, BotRef, Entrant, is_confined
from harness.plugins.features import EXECUTORS

# What every executor does and gets, and the executor of a run.
#
# Three modules are imported where they are used. They would make every start of `arena` slower: sandboxes
# (isolation.entrants) by 24 ms of processor time, the fork server by 7 ms. The module of an executor is named as text
# in the table of features.
#
# A new executor is a subclass of Executor and its line in EXECUTORS (harness/plugins/features.py).


class Played(NamedTuple):
    """A finished match, its line for games.jsonl, and its line for notes.jsonl, empty if no bot noted anything."""

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
        """Return the entrants of a match, seat by seat, ready to play."""
        seats = [self.entrants[name] for name in spec.seats]
        for entrant in seats:
            if entrant.isolated:
                entrant.warm_up(spec.seats.count(entrant.name), (spec.game, spec.seed))
        return seats

    @property
    def loaded(self) -> Mapping[str, Entrant]:
        """The entrants that are loaded; in a worker those that have played."""
        here: Mapping[str, Entrant] = getattr(self.entrants, "loaded", self.entrants)
        return here

    def close(self) -> None:
        """End the processes of the entrants."""
        for entrant in self.loaded.values():
            entrant.close()


class Job(msgspec.Struct, frozen=True):
    """A match to play."""

    spec: MatchSpec
    forfeits: tuple[Fault, ...] = ()
    """Seats that are not asked from the decision of their fault on: the bot is disqualified, or it kills or hangs the
    process."""
    again: bool = False
    """Whether the match was lost with another worker before."""


class ClusterChoice(NamedTuple):
    """The cluster on which a run is played, if not on this machine."""

    address: str = ""
    """What --cluster names."""
    ship: bool = False
    """Whether packages are sent to its nodes."""


WORKERS_VARIABLE = "ARENA_WORKERS"
"""Environment variable with the default number of workers."""
HERE = ClusterChoice()
"""No cluster."""


class ExecutorSettings(NamedTuple):
    """What every executor gets from a run."""

    limits: BotLimits
    times: Limits
    """Its time limits, as the referee gets them."""
    workers: int
    """Worker processes; 0 is this process only. On a cluster, of each node; 0 for one a thread of its Dask worker."""
    logs: Path | None = None
    """Folder for what bots print. Without one it goes to stderr, except for that of sandboxed bots."""
    show_output: bool = False
    """Whether it goes to stderr, too."""
    cluster: ClusterChoice = HERE


class WorkerLoss(NamedTuple):
    """A worker was lost: the match and, if a bot was being asked, the seat."""

    match: str
    seat: int | None
    what: str


class Executor(ABC):
    """Plays matches; used as a context manager."""

    elsewhere: ClassVar[bool] = False
    """Whether it sends bots to other machines and isolates them there, instead of getting isolated bots."""

    def __init__(self, roster: Roster, should_stop: Callable[[], bool]) -> None:
        self.roster, self.should_stop = roster, should_stop
        self.report: Callable[[str], None] = lambda _sentence: None
        """Prints a sentence for the user; set by the caller."""
        self.losses: list[WorkerLoss] = []
        """Workers that died or were killed."""
        self.given_up: list[str] = []
        """Matches that no worker survived, although no bot could be blamed."""

    @classmethod
    @abstractmethod
    def open(cls, roster: Roster, settings: ExecutorSettings, should_stop: Callable[[], bool]) -> Self:
        """Return the executor for a run with these settings."""

    def status(self) -> str:
        """Return what plays, in a few words, or an empty string."""
        return ""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.roster.close()

    @abstractmethod
    def run(self, jobs: Iterable[Job], keep: Keep = discard) -> Iterator[Played]:
        """Play these matches; `keep` gets each as it ends, and it is yielded then or soon after, in any order.

        Jobs are taken as they are needed. An iterator that had no more is asked again while matches are being played:
        their results may lead to more.

        Once the executor should stop, it starts no further match and returns after those that are being played.
        """


encode = msgspec.json.Encoder().encode


CAN_FORK = hasattr(os, "fork")
"""Whether this system can fork, which worker processes and sandboxed bots need."""


def choose_executor(
    roster: Roster,
    limits: BotLimits,
    workers: int | None,
    should_stop: Callable[[], bool] = lambda: False,
    logs: Path | None = None,
    cluster: ClusterChoice = HERE,
    show_output: bool = False,
) -> Executor:
    """Return the executor for this number of workers (0: this process, None: one for each core), or for a cluster.

    `logs` is the folder for what bots print; `show_output` prints it, too.
    """
    if workers and not CAN_FORK:
        raise UsageError("Worker processes need Linux, macOS or another Unix.", fix="no-workers")
    if workers is None:
        workers = 0 if cluster.address else default_workers()
    kind = "cluster" if cluster.address else "local" if workers else "serial"
    module, _, name = EXECUTORS[kind].partition(":")
    executor: type[Executor] = getattr(load_cluster(module) if cluster.address else import_module(module), name)
    settings = ExecutorSettings(limits, _times(limits), workers, logs, show_output, cluster)
    if not executor.elsewhere:
        roster = isolated(roster, limits, logs, show_output)
    remove_stale_folders()  # of earlier processes: ours are locked
    return executor.open(roster, settings, should_stop)


def load_cluster(module: str) -> Any:
    """Import and return a module that needs Dask; raise UsageError if Dask is not installed."""
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] == "harness":  # a mistake in Arena, not a missing package
            raise
        raise UsageError(
            f"A cluster needs {error.name}, which is not installed here: pip install 'arena-harness[cluster]'."
        ) from None


def expect_workers(workers: int | None, clean: bool = False) -> None:
    """Start the fork server if workers will be needed; set `clean` if no bot has been loaded in this process."""
    if workers is None:
        default_workers()  # reports a wrong setting before anything starts
    if workers != 0 and CAN_FORK:
        from harness.executors import forkserver  # 24 ms, which only runs with workers need

        forkserver.start_forkserver(clean)


def isolated(roster: Roster, limits: BotLimits, logs: Path | None = None, show_output: bool = False) -> Roster:
    """Return the roster with programs and isolated bots in separate processes, as a run's limits demand."""
    apart = any(entrant.isolated or entrant.untrusted for entrant in roster.entrants.values())
    if limits.isolate in ("auto", "off") and not apart:
        return roster
    from harness.isolation.entrants import IsolationPolicy, isolate_all  # 45 ms, which only sandboxed bots need

    if not CAN_FORK:
        raise UsageError("Programs and sandboxed bots need Linux, macOS or another Unix.")
    policy = IsolationPolicy(
        limits.isolate,
        _times(limits),
        limits.memory,
        threads=limits.threads,
        logs=str(logs or ""),
        show=show_output,
        keep=limits.keep_processes,
        ponder=limits.ponder,
    )
    return roster._replace(entrants=isolate_all(roster.entrants, policy, roster.games))


def _times(limits: BotLimits) -> Limits:
    return Limits(limits.move_time, limits.game_time, clock=limits.clock)


def default_workers() -> int:
    """Return the number of workers: ARENA_WORKERS, or one for each core that this process may use; 0 if the system
    cannot fork."""
    if not CAN_FORK:
        return 0
    asked = os.environ.get(WORKERS_VARIABLE, "")
    if asked:
        if not asked.isdecimal() or not 1 <= int(asked) <= MAX_WORKERS:
            raise UsageError(f"{WORKERS_VARIABLE} is a whole number from 1 to {MAX_WORKERS}, not {asked!r}.")
        return int(asked)
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


# Bots outside this process.


class SandboxLoader(NamedTuple):
    """The registry's way to bots outside this process (`harness.plugins.entrants.RemoteLoader`)."""

    isolate: Isolation = "auto"
    recorded: tuple[BotDescription, ...] = ()
    """Descriptions of the bots of a file, if a league has recorded them."""

    def loads_here(self, untrusted: str) -> bool:
        """Return whether a Python file is loaded in this process: the user's own, unless all bots are isolated."""
        return not is_confined(untrusted, self.isolate)

    def enter_command(self, ref: BotRef) -> Entrant:
        """Return an entrant for a program."""
        from harness.isolation.entrants import enter_command  # as in `isolated`

        return enter_command(ref, self.isolate)

    def bots_in(self, path: str) -> list[BotDescription]:
        """Return the bots of a file, described by a separate process unless there are recorded descriptions."""
        from harness.isolation.entrants import bots_in  # as in `isolated`

        return list(self.recorded) or bots_in(path, self.isolate)
