"""A match with a person: the seat, saved games, and the session."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from hashlib import blake2b
from pathlib import Path
from typing import NamedTuple

import msgspec
from msgspec.structs import replace

from harness.core.action import Action, View
from harness.core.bot import encode_notes
from harness.core.errors import StoreError, UsageError
from harness.core.files import Folder, write_whole
from harness.core.options import BotLimits
from harness.core.records import Event, GameRecord, Isolation, MatchSpec
from harness.core.rng import Chance
from harness.executors.base import Roster, isolated
from harness.match.replay import HUMAN, Narration, rank_text, seat_names, sentences
from harness.match.stepper import MatchStepper
from harness.output.text import Console
from harness.play.person import NoHintError, ask_for_hint, choose_opponents, register_person
from harness.play.terminal import Dialogue, Interrupts, Turn
from harness.plugins.entrants import Entrant
from harness.plugins.registry import Registry
from harness.runs.reader import GAMES, UNREADABLE
from harness.runs.request import RunRequest
from harness.runs.resume import reopen
from harness.runs.scheduler import Schedule
from harness.runs.setup import RunSetup, info_for, prepare, run_folder
from harness.runs.store import LOCK, RUN, RunFolder, now

# Saved games: a run folder with one deal after the other at the same table, and perhaps an unfinished match.
#
# A choice is on disk before it is played, so that a closed laptop or a killed terminal loses nothing. Only the person's
# choices are saved: the bots are asked again and decide the same.


UNFINISHED = "unfinished.json"


class SavedChoice(NamedTuple):
    """A decision of the person: a digest of their view, and the code of the chosen action."""

    seen: str
    code: int


class Unfinished(msgspec.Struct, frozen=True):
    """The content of unfinished.json."""

    spec: MatchSpec
    choices: tuple[SavedChoice, ...] = ()


class SavedMatch:
    """One match of a person in its run folder, new or continued."""

    def __init__(
        self, run: RunFolder, setup: RunSetup, match: Unfinished, fresh: bool, isolate: Isolation = "auto"
    ) -> None:
        self.run, self.setup, self.match, self.fresh, self.isolate = run, setup, match, fresh, isolate
        self._isolated: list[Roster] = []

    @property
    def opponents(self) -> dict[str, Entrant]:
        """The bots at the table."""
        return {name: entrant for name, entrant in self.setup.entrants.items() if name != HUMAN}

    def isolate_bots(self, bots: Mapping[str, Entrant]) -> Mapping[str, Entrant]:
        """Return these bots as they play: untrusted ones in separate processes."""
        roster = isolated(Roster(self.setup.games, bots), BotLimits(0.0, isolate=self.isolate))
        self._isolated.append(roster)
        return roster.entrants

    @property
    def seat(self) -> int:
        """The person's seat."""
        return self.match.spec.seats.index(HUMAN)

    @contextmanager
    def open_for_play(self) -> Iterator[None]:
        """Lock the run folder, and end the bots' processes afterwards.

        A new folder in which nothing was chosen is deleted.
        """
        try:
            with self.run.writing():
                yield
        finally:
            for roster in self._isolated:
                roster.close()
        if self.fresh and not self.match.choices:
            for name in (RUN, GAMES, LOCK):
                self.run.files.remove(name)
            with suppress(OSError):  # the user put another file into it
                self.run.folder.rmdir()

    def save_choices(self, choices: Sequence[SavedChoice]) -> None:
        """Save the person's choices so far."""
        self.match = replace(self.match, choices=tuple(choices))
        write_whole(self.run.files, UNFINISHED, msgspec.json.encode(self.match) + b"\n")

    def save_record(self, record: GameRecord, notes: bytes = b"") -> None:
        """Write the record and the bots' notes of the finished match, and delete unfinished.json."""
        self.run.go_on(self.setup.plan)
        self.run.append(record, notes)
        self.run.finish(now())
        self.fresh = False
        self.run.files.remove(UNFINISHED)


def new_match(request: RunRequest, registry: Registry, seat: int | None, command: str) -> SavedMatch:
    """Return a new run with its first match: one game, the requested bots and as many others as needed."""
    [game] = request.games
    names = choose_opponents(registry, registry.game(game), request.bots)
    register_person(registry)
    players = 1 + len(registry.entrants(names))
    setup = prepare(replace(request, bots=(HUMAN, *names), players=players, deals=1), registry)
    spec = _next_match(setup, (), seat)
    info = info_for(setup, command, {"isolate": request.isolate})
    run = RunFolder.create(run_folder(Path(request.results), request.name), info)
    run.warnings += setup.warnings
    return SavedMatch(run, setup, Unfinished(spec), fresh=True, isolate=request.isolate)


def continue_match(
    run: RunFolder, registry: Registry, seat: int | None, force: bool = False, isolate: Isolation = "auto"
) -> SavedMatch:
    """Return the unfinished match of this run, or another deal at the same table."""
    register_person(registry)
    folder, setup = run.folder, reopen(run, registry, force)
    if HUMAN not in setup.entrants:
        raise UsageError(f"{folder} is a run of bots.", fix="resume-tournament", folder=str(folder))
    records = list(run.records())
    played = tuple(record.set for record in records)
    # The schedule grows by one deal with each match, so the folder stays a valid run.
    longer = Schedule(replace(setup.plan, deals=len(played) + 1), registry.formats)
    setup = RunSetup(longer, setup.games, setup.entrants)
    left = _read_unfinished(folder)
    if left is not None and left.spec.id not in {record.id for record in records}:
        if seat is not None:
            raise UsageError(f"{folder} holds an unfinished match with a fixed seat.", fix="fixed-seat")
        if HUMAN not in left.spec.seats or left.spec not in setup.schedule.matches():
            raise StoreError(f"{folder / UNFINISHED} holds no match of this run. Delete it to play another deal.")
        return SavedMatch(run, setup, left, fresh=False, isolate=isolate)
    return SavedMatch(run, setup, Unfinished(_next_match(setup, played, seat)), fresh=False, isolate=isolate)


def _next_match(setup: RunSetup, played: Sequence[str], seat: int | None) -> MatchSpec:
    """Return the first deal that was not played, with the person in this seat, or one seat further with each deal."""
    [game] = setup.plan.games
    if seat is not None and not 0 <= seat < game.players:
        raise UsageError(f"This table has seats 0 to {game.players - 1}, not {seat}.")
    wanted = len(played) % game.players if seat is None else seat
    matches = setup.schedule.matches()
    return next(spec for spec in matches if spec.set not in played and spec.seats[wanted] == HUMAN)


def _read_unfinished(folder: Path) -> Unfinished | None:
    path = folder / UNFINISHED
    try:
        return msgspec.json.decode(Folder(folder).read(UNFINISHED), type=Unfinished)
    except FileNotFoundError:
        return None
    except (OSError, *UNREADABLE) as error:
        raise StoreError(f"{path} cannot be read: {error}. Delete it to play another deal.") from error


# The session: the bots play up to the person's next decision, a dialogue asks the person, a file saves the choices.


class PlaySession:
    """Plays a person's match from the start, or from where it was left, to the end."""

    def __init__(self, console: Console, interrupts: Interrupts, saved: SavedMatch, adviser: Entrant | None) -> None:
        self.console, self.interrupts, self.saved = console, interrupts, saved
        self.adviser = saved.isolate_bots({adviser.name: adviser})[adviser.name] if adviser else None
        self.spec = saved.match.spec
        self.game = saved.setup.games[self.spec.game]
        self.names = seat_names(self.spec.seats, saved.seat)
        self.dialogue = Dialogue(console, self.game, self.names, self._get_hint)
        self.choices = list(saved.match.choices)
        self.choices_played = 0
        """Number of saved choices that have been played."""
        self.past: Sequence[Event] = ()
        """The events that the person could see up to the last choice."""

    def play(self) -> GameRecord:
        """Play the match to its end and record it; raises PlayerQuit or KeyboardInterrupt if the person leaves."""
        bots = self.saved.isolate_bots(self.saved.opponents)
        match = MatchStepper(self.spec, self.game, [bots.get(name) for name in self.spec.seats], self._stop_if_ended)
        while match.advance():
            self.past, view, actions = match.events(), match.view(), match.legal
            action = self._replay_choice(view, actions)
            if action is None:
                action = self._ask(Turn(view, actions, match.news(), self.past))
            self.choices_played += 1
            match.answer(action)
        record = match.record()
        self.saved.save_record(record, encode_notes(record.id, match.notes) if match.notes else b"")
        return record

    def _stop_if_ended(self) -> None:
        """Raise KeyboardInterrupt after a bot's decision. Raised inside of it, the referee would treat it as a
        fault."""
        if self.interrupts.pending:
            raise KeyboardInterrupt

    def _replay_choice(self, view: View, actions: Sequence[Action]) -> Action | None:
        if self.choices_played == len(self.choices):
            return None
        choice = self.choices[self.choices_played]
        action = next((action for action in actions if action.code == choice.code), None)
        # Saved choices fit only as long as the bots decide as before: they may have been updated, or be random.
        if action is None or choice.seen != self._digest(view):
            del self.choices[self.choices_played :]
            self.console.paragraph(
                "A bot played differently this time, so your later choices no longer fit. Continue from here."
            )
            return None
        return action

    def _ask(self, turn: Turn) -> Action:
        with self.interrupts.prompting():
            action = self.dialogue.choose(turn)
        # On disk before it is played: see above.
        self.choices.append(SavedChoice(self._digest(turn.view), action.code))
        self.saved.save_choices(self.choices)
        return action

    def _digest(self, view: View) -> str:
        return blake2b(self.game.view_to_json(view), digest_size=8).hexdigest()

    def _get_hint(self, view: View, actions: Sequence[Action]) -> tuple[str, Action, list[str]]:
        if self.adviser is None:
            raise NoHintError("no bot that plays better than at random is installed, and no hint bot was named.")
        # A named stream, so that asking for hints does not change any other luck.
        own = Chance(self.spec.seed).derive("bot", self.spec.id, self.saved.seat, HUMAN)
        seed = Chance(own).derive("hint", self.choices_played)
        adviser, players = self.adviser, len(self.spec.seats)
        return adviser.name, *ask_for_hint(adviser, self.game, view, players, actions, self.past, seed)

    def greet(self) -> None:
        """Print the seats and how to get help."""
        say, seats = self.console.say, self.spec.seats
        say(f"{self.game.title}: {self.spec.id}, you against {', '.join(name for name in seats if name != HUMAN)}.")
        for seat, name in enumerate(self.names):
            say(f"  seat {seat}: {name}")
        say("Type ? for help, quit to leave (the match is saved).")
        if self.choices:
            say(f"Your {len(self.choices)} choices so far are replayed ...")

    def farewell(self, record: GameRecord) -> None:
        """Print what happened after the person's last choice, and the result."""
        seat, say = self.saved.seat, self.console.say
        # The session saw events only up to the last choice, so the rest comes from the record.
        narration = Narration(self.game, record, you=seat)
        narration.advance()
        while not narration.over:
            narration.step()
            narration.advance()
        seen = sentences(self.game, narration.log, self.names, seat)
        say()
        for sentence in seen[len(self.past) :]:
            self.console.paragraph(sentence, indent="    ", first="  - ")
        say()
        say(narration.table(seat))
        say()
        for line in narration.result():
            say(line)
        say(f"You are {rank_text(record, seat)}.")
