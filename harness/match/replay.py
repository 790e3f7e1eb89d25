"""Plays recorded matches again: as a stream of everything that happened, and as a check."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from math import inf
from typing import Any

import msgspec

from harness.core.action import Action
from harness.core.chance import Chance
from harness.core.errors import ReplayError
from harness.core.game import Game, State
from harness.core.notes import DecisionNotes
from harness.core.types import Event, GameRecord
from harness.match.referee import ranks_with_faults, stand_in_action

SCHEMA = 1


class Replay:
    """One recorded match, to be stepped through decision by decision."""

    def __init__(self, game: Game[Any], record: GameRecord, chance: Chance | None = None) -> None:
        if record.rules != game.version:
            raise ReplayError(
                f"{record.id} was played by version {record.rules} of the rules of {game.title}; "
                f"version {game.version} is installed."
            )
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
        """What is done now: the recorded action, or the only one there is."""
        legal = self.state.legal
        if len(legal) == 1:
            return legal[0]
        if self.decision >= len(self.record.actions):
            raise ReplayError(f"{self.record.id}: the record ends at decision {self.decision}, the game goes on.")
        code = self.record.actions[self.decision]
        if not 0 <= code < len(self.game.actions):
            raise ReplayError(f"{self.record.id}, decision {self.decision}: there is no action {code}.")
        action = self.game.actions[code]
        if action not in legal:
            raise ReplayError(f"{self.record.id}, decision {self.decision}: {action} is not legal.")
        return action

    def step(self) -> None:
        """Carries out the next action."""
        action = self.next_action()
        if len(self.state.legal) > 1:
            self.decision += 1
            self.decisions[self.state.seat] += 1
        self.state.step(action)

    def check_end(self) -> None:
        """Raises ReplayError where the record's results are not what the actions led to."""
        record = self.record
        if self.decision < len(record.actions):
            raise ReplayError(f"{record.id}: the game ended after {self.decision} of {len(record.actions)} decisions.")
        scores = self.state.scores()
        for what, recorded, actual in (
            ("scores", record.scores, scores),
            ("ranks", record.ranks, ranks_with_faults(scores, record.faults)),
            ("ending", record.ending, self.state.ending),
            ("decisions", record.decisions, tuple(self.decisions)),
        ):
            if recorded != actual:
                raise ReplayError(f"{record.id}: the record says {what} {recorded}, the game gives {actual}.")


def verify(game: Game[Any], record: GameRecord) -> None:
    """Plays a record again; raises ReplayError where it does not fit the rules, or where a bot that had failed did
    not play by the luck of its stand-in."""
    _check_reach(record)
    replay = Replay(game, record)
    replay.state.log = None
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


def _check_reach(record: GameRecord) -> None:
    """Raises ReplayError for faults where there was nothing to decide, and for times that nobody can take."""
    for fault in record.faults:
        if not 0 <= fault.decision <= len(record.actions):  # at the last: when the match was over
            raise ReplayError(
                f"{record.id}: the record says that {record.seats[fault.seat]} failed ({fault.kind}) at decision "
                f"{fault.decision}, and the match has {len(record.actions)}."
            )
    for what, times in (("time", record.time), ("slowest", record.slowest), ("cpu", record.cpu)):
        if not all(0 <= each < inf for each in times):
            raise ReplayError(f"{record.id}: the record says {what} {times}, and nobody takes such a time.")


def stream(
    game: Game[Any], record: GameRecord, notes: Sequence[DecisionNotes] = (), seat: int | None = None
) -> Iterator[dict[str, object]]:
    """Everything that happened in a match, as JSON-ready objects: docs/replay.md has the schema.

    With a seat, each of its decisions comes with what it saw.
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
    told = 0
    noted = {note.decision: list(note.said) for note in notes}
    while True:
        for event in replay.log[told:]:
            yield _event(event)
        told = len(replay.log)
        if replay.over:
            break
        choice = _choice(replay)
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


def _event(event: Event) -> dict[str, object]:
    to = "all" if event.to is None else list(event.to)
    return {"type": "event", "event": event.kind, "to": to, "data": event.data}


def _choice(replay: Replay) -> dict[str, object]:
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
    """An action as data: its code, kind and text, and the fields that its class adds."""
    fields = {name: getattr(action, name) for name in type(action).__dataclass_fields__ if name not in _COMMON}
    return {"code": action.code, "kind": action.kind, **msgspec.to_builtins(fields), "text": action.text}


_COMMON = {"game", "code", "text", "kind"}
