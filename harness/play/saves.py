"""The run folder of a person's matches: one deal after the other at the same table, and a match that is not over yet.

A choice is on disk before it is played, so that a closed lid or a killed terminal costs nothing. Only the
person's choices are kept: the bots, asked again, do what they did.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

import msgspec
from msgspec.structs import replace

from harness.core.errors import StoreError, UsageError
from harness.core.types import GameRecord, Isolation, MatchSpec
from harness.executors.jobs import Roster, isolated
from harness.match.narration import HUMAN
from harness.play.advice import opponents
from harness.play.human import Human
from harness.plugins.entrants import Entrant
from harness.plugins.registry import Offer, Registry
from harness.runs.request import RunRequest
from harness.runs.run_files import LOCK, write_whole
from harness.runs.run_setup import RunSetup, info_for, now, prepare, reopen, run_folder
from harness.runs.store import GAMES, RUN, RunFolder
from harness.schedule import Schedule

UNFINISHED = "unfinished.json"


class SavedChoice(NamedTuple):
    """A decision of the person: a digest of what they saw, and the code of what they chose."""

    seen: str
    code: int


class Unfinished(msgspec.Struct, frozen=True):
    """What unfinished.json holds."""

    spec: MatchSpec
    choices: tuple[SavedChoice, ...] = ()


class SavedMatch:
    """One match of a person in its run folder, new or to be continued."""

    def __init__(
        self, run: RunFolder, setup: RunSetup, match: Unfinished, fresh: bool, isolate: Isolation = "auto"
    ) -> None:
        self.run, self.setup, self.match, self.fresh, self.isolate = run, setup, match, fresh, isolate
        self._placed: list[Roster] = []

    @property
    def opponents(self) -> dict[str, Entrant]:
        """All but the person."""
        return {name: entrant for name, entrant in self.setup.entrants.items() if name != HUMAN}

    def placed(self, bots: Mapping[str, Entrant]) -> Mapping[str, Entrant]:
        """These bots where they play: those that are confined in processes of their own."""
        terms = {**RunRequest(workers=0).limits, "isolate": self.isolate}
        roster = isolated(Roster(self.setup.games, bots), terms)
        self._placed.append(roster)
        return roster.entrants

    @property
    def seat(self) -> int:
        """Where the person sits."""
        return self.match.spec.seats.index(HUMAN)

    @contextmanager
    def at_table(self) -> Iterator[None]:
        """While it is entered nobody else plays in this folder; then the processes of bots end. A new folder in which
        nothing was chosen goes again."""
        try:
            with self.run.writing():
                yield
        finally:
            for roster in self._placed:
                roster.close()
        if self.fresh and not self.match.choices:
            for name in (RUN, GAMES, LOCK):
                (self.run.folder / name).unlink(missing_ok=True)
            with suppress(OSError):  # somebody has put something into it
                self.run.folder.rmdir()

    def goodbye(self) -> str:
        """What becomes of a match that the person has left."""
        if self.match.choices:
            return f"Your match is kept. Go on with: arena play --resume {self.run.folder}"
        return "You chose nothing, so nothing is kept."

    def keep(self, choices: Sequence[SavedChoice]) -> None:
        """Notes the person's choices so far."""
        self.match = replace(self.match, choices=tuple(choices))
        write_whole(self.run.folder / UNFINISHED, msgspec.json.encode(self.match) + b"\n")

    def record(self, record: GameRecord, notes: bytes = b"") -> None:
        """The match is over: it becomes a record like any other, with what the bots noted."""
        self.run.go_on(self.setup.plan)
        self.run.append(msgspec.json.encode(record), notes)
        self.run.finish(now())
        self.fresh = False
        (self.run.folder / UNFINISHED).unlink(missing_ok=True)


def enter_person(registry: Registry) -> None:
    """Lets the person be entered under a name, as bots are."""
    if HUMAN in registry.bots:
        source = registry.bots[HUMAN].source
        raise UsageError(f"{source} has a bot called {HUMAN!r}, the name of the person here; rename that bot.")
    registry.bots[HUMAN] = Offer(Human, "a person", "")


def new_match(request: RunRequest, registry: Registry, seat: int | None, command: str) -> SavedMatch:
    """A new run with the first match of a person: at one game, against the request's bots and who else is needed."""
    [game] = request.games
    company = opponents(registry, registry.game(game), request.bots)
    enter_person(registry)
    players = 1 + len(registry.entrants(company))
    setup = prepare(replace(request, bots=(HUMAN, *company), players=players, deals=1), registry)
    spec = _next_match(setup, (), seat)
    told = info_for(setup, command, {"isolate": request.isolate})
    run = RunFolder.create(run_folder(Path(request.results), request.name), told)
    run.warnings += setup.warnings
    return SavedMatch(run, setup, Unfinished(spec), fresh=True, isolate=request.isolate)


def continue_match(
    run: RunFolder, registry: Registry, seat: int | None, force: bool = False, isolate: Isolation = "auto"
) -> SavedMatch:
    """The match that was left in this run, or else another deal at the same table."""
    enter_person(registry)
    folder, setup = run.folder, reopen(run, registry, force)
    if HUMAN not in setup.entrants:
        raise UsageError(f"{folder} is a run of bots; continue it with: arena tournament --resume {folder}")
    records = list(run.records())
    played = tuple(record.set for record in records)
    longer = Schedule(replace(setup.plan, deals=len(played) + 1), registry.formats)
    setup = RunSetup(longer, setup.games, setup.entrants)
    left = _left(folder)
    if left is not None and left.spec.id not in {record.id for record in records}:
        if seat is not None:
            raise UsageError(f"{folder} holds a match in which you sit already; leave out --seat to go on with it.")
        return SavedMatch(run, setup, left, fresh=False, isolate=isolate)
    return SavedMatch(run, setup, Unfinished(_next_match(setup, played, seat)), fresh=False, isolate=isolate)


def _next_match(setup: RunSetup, played: Sequence[str], seat: int | None) -> MatchSpec:
    """The first deal that was not played, with the person in this seat, or one seat farther with each deal."""
    [game] = setup.plan.games
    if seat is not None and not 0 <= seat < game.players:
        raise UsageError(f"This table has seats 0 to {game.players - 1}, not {seat}.")
    wanted = len(played) % game.players if seat is None else seat
    matches = setup.schedule.matches()
    return next(spec for spec in matches if spec.set not in played and spec.seats[wanted] == HUMAN)


def _left(folder: Path) -> Unfinished | None:
    path = folder / UNFINISHED
    try:
        return msgspec.json.decode(path.read_bytes(), type=Unfinished)
    except FileNotFoundError:
        return None
    except (OSError, msgspec.MsgspecError) as error:
        raise StoreError(f"{path} cannot be read: {error}. Delete it to play another deal.") from error
