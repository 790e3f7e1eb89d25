"""What every executor does, and what goes over the pipes between a pool and its workers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple, Protocol, Self

import msgspec

from harness.core.game import Game
from harness.core.types import Fault, GameRecord, MatchSpec
from harness.match.referee import Limits
from harness.plugins.entrants import Entrant


class Played(NamedTuple):
    """A finished match, and its line for games.jsonl."""

    record: GameRecord
    line: bytes


class Roster(NamedTuple):
    """The rules and bots behind the names in a MatchSpec."""

    games: Mapping[str, Game[Any]]
    entrants: Mapping[str, Entrant]

    def seats(self, spec: MatchSpec) -> list[Entrant]:
        """The entrants of a match, seat by seat, ready to play it."""
        for name in spec.seats:
            self.entrants[name].warm_up(spec.seats.count(name))
        return [self.entrants[name] for name in spec.seats]

    def close(self) -> None:
        """Ends the processes that entrants have of their own."""
        for entrant in self.entrants.values():
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

    def __enter__(self) -> Self: ...
    def __exit__(self, *_error: object) -> None: ...

    def run(self, jobs: Iterable[Job]) -> Iterator[Played]:
        """Plays these matches and gives each as it ends, in any order. Jobs are taken as they are needed.

        Once the executor has been told to stop, it begins no further match and ends with those being played.
        """


encode = msgspec.json.Encoder().encode
