"""Play a recorded match again: check it, step through its positions, or describe it in words."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import inf
from textwrap import wrap
from typing import Any

import msgspec

from harness.core.action import Action, View, action_fields
from harness.core.bot import DecisionNotes
from harness.core.errors import ReplayError, printable
from harness.core.game import Game, State
from harness.core.records import Event, GameRecord
from harness.core.rng import Chance
from harness.match.referee import ranks_with_faults, stand_in_action

# Replay and verification


SCHEMA = 1


class Replay:
    """A recorded match, stepped through decision by decision."""

    def __init__(self, game: Game[Any], record: GameRecord, chance: Chance | None = None) -> None:
        # By other rules the same actions may be legal and lead to another result.
        if record.rules != game.version:
            raise ReplayError(
                f"{record.id} was played by version {record.rules} of the rules of {game.title}; "
                f"version {game.version} is installed."
            )
        if not game.min_players <= len(record.seats) <= game.max_players:
            raise ReplayError(f"{record.id} has {len(record.seats)} seats, which {game.title} cannot be played with.")
        self.game, self.record = game, record
        self.log: list[Event] = []
        self.state: State[Any] = game.new(len(record.seats), chance or Chance(record.seed), self.log)
        self.decision = 0
        """How many decisions have been made."""
        self.decisions = [0] * len(record.seats)

    @property
    def over(self) -> bool:
        """Whether the match has ended."""
        return not self.state.legal

    def next_action(self) -> Action:
        """Return the recorded action, or the only legal one."""
        legal = self.state.legal
        # Forced choices are not in the record: the rules give them.
        if len(legal) == 1:
            return legal[0]
        if self.decision >= len(self.record.actions):
            raise ReplayError(f"{self.record.id}: the record ends at decision {self.decision}, the game continues.")
        code = self.record.actions[self.decision]
        if not 0 <= code < len(self.game.actions):
            raise ReplayError(f"{self.record.id}, decision {self.decision}: there is no action {code}.")
        action = self.game.actions[code]
        if action not in legal:
            raise ReplayError(f"{self.record.id}, decision {self.decision}: {action} is not legal.")
        return action

    def position(self, notes: tuple[Any, ...] = ()) -> Position:
        """Return the current decision, with these notes of the bot."""
        state = self.state
        stand_in = self.record.has_stand_in(state.seat, self.decision)
        view, chosen = state.view(state.seat), self.next_action()
        return Position(self.decision, state.seat, view, state.legal, chosen, stand_in, notes)

    def step(self) -> None:
        """Carry out the next action."""
        action = self.next_action()
        if len(self.state.legal) > 1:
            self.decision += 1
            self.decisions[self.state.seat] += 1
        self.state.step(action)

    def check_end(self) -> None:
        """Raise ReplayError if the record's results differ from what the actions led to."""
        record = self.record
        if self.decision < len(record.actions):
            raise ReplayError(f"{record.id}: the game ended after {self.decision} of {len(record.actions)} decisions.")
        scores = self.state.scores()
        # All that follows from the actions is compared; times and faults cannot be computed again.
        for what, recorded, actual in (
            ("scores", record.scores, scores),
            ("ranks", record.ranks, ranks_with_faults(scores, record.faults)),
            ("ending", record.ending, self.state.ending),
            ("decisions", record.decisions, tuple(self.decisions)),
        ):
            if recorded != actual:
                raise ReplayError(f"{record.id}: the record says {what} {recorded}, the game gives {actual}.")


def verify(game: Game[Any], record: GameRecord) -> None:
    """Play a record again; raise ReplayError if it breaks the rules, or if a failed bot's actions are not those of
    its seeded stand-in.
    """
    _check_ranges(record)
    replay = Replay(game, record)
    replay.state.log = None  # records hold no events, and logging them takes time
    # The stream from which the referee drew the actions of a failed bot, one for each of its decisions.
    luck = {seat: Chance(record.seed).rng("spare", record.id, seat) for seat in {f.seat for f in record.faults}}
    while not replay.over:
        state = replay.state
        if luck and len(state.legal) > 1 and record.has_stand_in(state.seat, replay.decision):
            due = stand_in_action(luck[state.seat], state.legal)
            if replay.next_action() is not due:
                raise ReplayError(
                    f"{record.id}, decision {replay.decision}: the stand-in of {record.seats[state.seat]} plays {due} "
                    f"here, and the record says {replay.next_action()}."
                )
        replay.step()
    replay.check_end()


def _check_ranges(record: GameRecord) -> None:
    """Raise ReplayError for faults at decisions that do not exist, and for impossible times."""
    for fault in record.faults:
        if not 0 <= fault.decision <= len(record.actions):  # equal: after the last decision
            raise ReplayError(
                f"{record.id}: the record says that {record.seats[fault.seat]} failed ({fault.kind}) at decision "
                f"{fault.decision}, and the match has {len(record.actions)}."
            )
    for what, times in (("time", record.time), ("slowest", record.slowest), ("cpu", record.cpu)):
        if not all(0 <= each < inf for each in times):
            raise ReplayError(f"{record.id}: the record says {what} {times}, which is not a valid time.")


def stream(
    game: Game[Any], record: GameRecord, notes: Sequence[DecisionNotes] = (), seat: int | None = None
) -> Iterator[dict[str, object]]:
    """Yield everything that happened in a match, as JSON-ready objects: docs/replay.md has the schema.

    With a seat, each of its decisions comes with its view.
    """
    yield {
        "type": "match",
        "schema": SCHEMA,
        "id": record.id,
        "game": record.game,
        "rules": record.rules,
        "options": record.options,
        "seed": record.seed,
        "players": len(record.seats),
        "seats": record.seats,
        "components": game.components(),
    }
    replay = Replay(game, record)
    shown = 0
    noted = {note.decision: list(note.said) for note in notes}
    while True:
        for event in replay.log[shown:]:
            to = "all" if event.to is None else list(event.to)
            yield {"type": "event", "event": event.kind, "to": to, "data": event.data}
        shown = len(replay.log)
        if replay.over:
            break
        # Forced choices are shown, too, but have no number: they are not decisions.
        choice = _choice_data(replay)
        if choice["decision"] in noted:
            choice["notes"] = noted[replay.decision]
        if seat is not None and seat == choice["seat"] and not choice["forced"]:
            choice["view"] = json.loads(game.view_to_json(replay.state.view(seat)))
        yield choice
        replay.step()
    replay.check_end()
    yield {
        "type": "end",
        "ending": record.ending,
        "scores": record.scores,
        "ranks": record.ranks,
        "faults": msgspec.to_builtins(record.faults),
    }


def _choice_data(replay: Replay) -> dict[str, object]:
    state = replay.state
    forced = len(state.legal) == 1
    stand_in = replay.record.has_stand_in(state.seat, replay.decision)
    return {
        "type": "choice",
        "decision": None if forced else replay.decision,
        "seat": state.seat,
        "kind": state.phase,
        "forced": forced,
        "by": "rules" if forced else "stand-in" if stand_in else "bot",
        "legal": [describe_action(action) for action in state.legal],
        "taken": replay.next_action().code,
    }


def describe_action(action: Action) -> dict[str, object]:
    """Return an action as data: code, kind and text, and the fields that its class adds."""
    return {**msgspec.to_builtins(action_fields(action)), "text": action.text}


# Positions


@dataclass(frozen=True, slots=True)
class Position:
    """One decision of a match."""

    decision: int
    """Its number in the match, from 0."""
    seat: int
    view: View
    """The view of the seat."""
    legal: tuple[Action, ...]
    chosen: Action
    stand_in: bool = False
    """Whether this was chosen at random because the bot had failed."""
    notes: tuple[Any, ...] = ()
    """The bot's notes."""


def positions(game: Game[Any], record: GameRecord, notes: Sequence[DecisionNotes] = ()) -> Iterator[Position]:
    """Yield every decision of the match; raise ReplayError if the record does not fit the rules."""
    replay = Replay(game, record)
    # Positions need no events, and logging them takes time.
    replay.state.log = None
    noted = {note.decision: note.said for note in notes}
    while not replay.over:
        if len(replay.state.legal) > 1:
            yield replay.position(noted.get(replay.decision, ()))
        replay.step()
    replay.check_end()


# Description in words


HUMAN = "human"
"""Name of a person in records and on leaderboards."""
ORDINALS = {1: "1st", 2: "2nd", 3: "3rd"}


def sentences(game: Game[Any], events: Iterable[Event], names: Sequence[str], seat: int | None = None) -> list[str]:
    """Return the events as sentences: those that a seat could see, or all of them with a note on who could. Events
    whose text is empty are left out."""
    texts = [(event, game.event_text(event, names)) for event in events]
    if seat is None:
        return [text + _visibility(event, names) for event, text in texts if text]
    return [text for event, text in texts if text and (event.to is None or seat in event.to)]


def _visibility(event: Event, names: Sequence[str]) -> str:
    if event.to is None:
        return ""
    return f"  ({', '.join(names[seat] for seat in event.to)} only)" if event.to else "  (hidden)"


def seat_names(seats: Sequence[str], you: int | None = None) -> list[str]:
    """Return what each player is called in texts: the bot, with the seat number if it has several seats, and "(you)"
    for the reader."""
    seats = list(map(printable, seats))
    names = [name if seats.count(name) == 1 else f"{name} (seat {seat})" for seat, name in enumerate(seats)]
    return [f"{name} (you)" if seat == you else name for seat, name in enumerate(names)]


def note_text(said: object) -> str:
    """Return a note as text."""
    text = said if isinstance(said, str) else json.dumps(said, ensure_ascii=False)
    return printable(text.replace("\n", " "))


class Narration(Replay):
    """Describes a recorded match, decision by decision."""

    def __init__(
        self, game: Game[Any], record: GameRecord, notes: Sequence[DecisionNotes] = (), you: int | None = None
    ) -> None:
        super().__init__(game, record)
        self.names = seat_names(record.seats, you)
        self._notes = {note.decision: note.said for note in notes}
        self._events_shown = 0

    @property
    def seat(self) -> int:
        """Seat that decides now."""
        return self.state.seat

    def heading(self) -> list[str]:
        """Return lines with the match and its seats."""
        record = self.record
        seats = [f"  seat {seat}: {printable(name)}" for seat, name in enumerate(record.seats)]
        return [f"{printable(record.id)}: {self.game.title}, deal {record.seed}", *seats]

    def advance(self, seat: int | None = None) -> list[str]:
        """Go to the next decision or the end; return what happened, as a seat could see it or in full."""
        lines: list[str] = []
        while True:
            lines += sentences(self.game, self.log[self._events_shown :], self.names, seat)
            self._events_shown = len(self.log)
            legal = self.state.legal
            if len(legal) != 1:
                break
            if seat in (None, self.seat):
                lines.append(f"{self.names[self.seat]} must {legal[0]}.")
            self.step()
        if self.over:
            self.check_end()
        return lines

    def table(self, seat: int) -> str:
        """Return the table as this seat sees it now."""
        return self.game.render(self.state.view(seat), self.names)

    def choice(self) -> str:
        """Return a line with this decision: seat, choice and legal actions."""
        among = ", ".join(map(str, self.state.legal))
        stand_in = " (stand-in)" if self.record.has_stand_in(self.seat, self.decision) else ""
        return f"{self.decision:4}  {self.names[self.seat]}{stand_in}: {self.next_action()}  (of: {among})"

    def note_lines(self) -> list[str]:
        """Return the bot's notes at this decision."""
        return [note_text(said) for said in self._notes.get(self.decision, ())]

    def result(self) -> list[str]:
        """Return lines with the result, winner first, and the faults."""
        record = self.record
        by_rank = sorted(range(len(record.seats)), key=record.ranks.__getitem__)
        scores = [self.game.score_text(score) for score in record.scores]
        lines = [
            f"Ended: {printable(record.ending)}",
            *(f"  {record.ranks[seat]}. {self.names[seat]}: {scores[seat]}" for seat in by_rank),
        ]
        for fault in record.faults:
            lines.append(f"Fault of {self.names[fault.seat]} at decision {fault.decision}: {fault.kind}")
            lines += [f"  {line}" for line in fault.detail.splitlines()]
        return lines


def wrapped_lines(first: str, text: str, width: int, indent: str = "") -> Iterator[str]:
    """Yield the text after `first`, in lines shorter than `width` (0: any), the later ones indented as far as the first
    or by `indent`."""
    indent = indent or " " * len(first)
    for line in text.splitlines() or [""]:
        yield from wrap(
            line, (width or len(first + line) + 2) - 1, initial_indent=first, subsequent_indent=indent,
            break_on_hyphens=False,
        ) or [first.rstrip()]  # fmt: skip
        first = indent


def narrate_match(
    game: Game[Any], record: GameRecord, seat: int | None = None, notes: Sequence[DecisionNotes] = (), width: int = 0
) -> Iterator[str]:
    """Yield a whole match in words; with a seat also its table at each of its decisions.

    Sentences are wrapped to `width` characters; 0 is any width.
    """
    narration = Narration(game, record, notes)
    yield from narration.heading()
    while True:
        for sentence in narration.advance():
            yield from wrapped_lines(" " * 6, sentence, width, " " * 8)
        if narration.over:
            break
        if seat == narration.seat:
            yield f"\n{narration.table(seat)}\n"
        number = f"{narration.decision:4}  "
        yield from wrapped_lines(number, narration.choice().removeprefix(number), width)
        for note in narration.note_lines():
            yield from wrapped_lines("      note: ", note, width)
        narration.step()
    yield from narration.result()


def rank_text(record: GameRecord, seat: int) -> str:
    """Return the place of a seat: "2nd of 4"."""
    rank = record.ranks[seat]
    shared = ", shared" if record.ranks.count(rank) > 1 else ""
    return f"{ORDINALS.get(rank, f'{rank}th')} of {len(record.ranks)}{shared}"
