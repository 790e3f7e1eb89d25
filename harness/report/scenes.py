"""Scenes: recorded matches for the replay viewer, with the view of every seat at each choice, compressed."""

from __future__ import annotations

import base64
import gzip
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, TypeGuard

import msgspec

from harness.core.action import View
from harness.core.bot import DecisionNotes
from harness.core.errors import ArenaError
from harness.core.game import Game, State
from harness.core.records import Event, GameRecord
from harness.core.value_function import Valuer, valuer_of
from harness.match.replay import Replay, note_text, seat_names
from harness.runs.reader import followed
from harness.runs.store import RunFolder

STILL_OPEN = "Its deal is still being played: it can be seen when all matches of that deal have ended."
ASKED = "asked for"
"""Reason for matches that were named on the command line."""
MAX_SCENE_CHARS = 1_500_000
"""Limit for the matches that Arena selects; matches named by the user are added in any case."""


@dataclass(frozen=True, slots=True)
class Scene:
    """A match in the viewer."""

    record: GameRecord
    reason: str
    packed: str
    """Its data: compressed JSON as base64; "" if the match cannot be shown."""
    trouble: str = ""
    """The reason why it cannot be shown."""


def scenes(
    games: Mapping[str, Game[Any]],
    chosen: Iterable[tuple[GameRecord, str]],
    withheld: Collection[str] = (),
    notes: Mapping[str, Sequence[DecisionNotes]] = {},
) -> list[Scene]:
    """Return the scenes of these matches, each chosen for a reason, with the notes of bots by match.

    Matches that would make the page too large are left out, unless the user named them. Matches that are `withheld` are
    left out too; if the user named one, its scene has the reason instead of data.
    """
    found: list[Scene] = []
    room = MAX_SCENE_CHARS
    chosen = list(chosen)
    for record, reason in followed(chosen, "replays", lambda: len(chosen)):
        if record.id in withheld:
            found += [Scene(record, reason, "", STILL_OPEN)] if reason == ASKED else []
            continue
        scene = _scene(games, record, reason, notes.get(record.id, ()))
        if reason != ASKED:
            room -= len(scene.packed)
            if room < 0:
                continue
        found.append(scene)
    return found


def notes_of(run: RunFolder, matches: Collection[str]) -> dict[str, Sequence[DecisionNotes]]:
    """Return what bots noted in these matches; none if the file of notes is damaged."""
    try:
        if run.several:
            return {match: run.notes(match) for match in matches}
        return {noted.match: noted.notes for noted in run.all_notes() if noted.match in matches}
    except ArenaError:
        return {}


def _scene(games: Mapping[str, Game[Any]], record: GameRecord, reason: str, notes: Sequence[DecisionNotes]) -> Scene:
    game = games.get(record.game)
    if game is None:
        return Scene(record, reason, "", f"The game {record.game} is not installed here.")
    try:
        data = scene_data(game, record, notes)
    except ArenaError as error:
        return Scene(record, reason, "", str(error))
    return Scene(record, reason, packed(data))


def packed(data: Mapping[str, object]) -> str:
    """Return the data of a scene as a page holds it: compressed JSON as base64."""
    # Without a time in the gzip header the same run always gives the same page.
    return base64.b64encode(gzip.compress(msgspec.json.encode(data), 6, mtime=0)).decode()


def scene_data(game: Game[Any], record: GameRecord, notes: Sequence[DecisionNotes] = ()) -> dict[str, object]:
    """Return the data of a match for the viewer; docs/report.md has the schema. Raise ReplayError if it cannot be
    replayed."""
    replay, names = Replay(game, record), seat_names(record.seats)
    frames, course = _Frames(game, names), _Course(game, len(record.actions))
    noted = {note.decision: [note_text(one) for one in note.said] for note in notes}
    texts: dict[int, str] = {}
    steps: list[dict[str, object]] = []
    differences: list[object] = []
    marks: list[tuple[int, str]] = []
    shown = 0
    while True:
        fresh, shown = replay.log[shown:], len(replay.log)
        state, at = replay.state, len(steps)
        marks += [(at, text) for event in fresh if (text := game.chapter(event))]
        views = [state.view(seat) for seat in range(state.players)]
        differences.append(frames.difference(views))
        course.add(state, views)
        events = [_shown_event(game, event, names) for event in fresh]
        steps.append({**_step(replay, noted, texts), "events": [event for event in events if event[1]]})
        if replay.over:
            break
        replay.step()
    replay.check_end()
    return {
        "id": record.id,
        "game": record.game,
        "title": game.title,
        "seats": record.seats,
        "names": names,
        "figures": game.components(),
        "drawn": frames.drawn,
        "texts": texts,
        "steps": steps,
        "frames": differences,
        "scores": course.scores,
        "expected": course.expected,
        "marks": marks,
        "turning": turning_points(course),
        "end": {
            "scores": record.scores,
            "results": [game.score_text(score) for score in record.scores],
            "ranks": record.ranks,
            "ending": record.ending,
            "faults": [[fault.seat, fault.kind, fault.decision] for fault in record.faults],
        },
    }


def _shown_event(game: Game[Any], event: Event, names: Sequence[str]) -> tuple[object, str]:
    return "all" if event.to is None else list(event.to), game.event_text(event, names)


def _step(replay: Replay, noted: Mapping[int, Sequence[str]], texts: dict[int, str]) -> dict[str, object]:
    """Return the choice that is due, {} at the end; the texts of its actions are added to `texts`."""
    if replay.over:
        return {}
    state, forced = replay.state, len(replay.state.legal) == 1
    stand_in = replay.record.has_stand_in(state.seat, replay.decision)
    texts.update((action.code, action.text) for action in state.legal)
    step: dict[str, object] = {
        "seat": state.seat,
        "kind": state.phase,
        "by": "rules" if forced else "stand-in" if stand_in else "bot",
        "decision": None if forced else replay.decision,
        "legal": [action.code for action in state.legal],
        "taken": replay.next_action().code,
    }
    # Forced choices have no number: a note of the next decision is not theirs.
    return {**step, "notes": noted[replay.decision]} if replay.decision in noted and not forced else step


# Frames: the views of the seats at each step, as differences from the step before.


class _Frames:
    """Turns the views of all seats into differences. A field that is the same for all seats is written once."""

    def __init__(self, game: Game[Any], names: Sequence[str]) -> None:
        self.drawn = bool(game.viewer_script())
        self._game, self._names = game, names
        self._plain = type(game).view_to_json is Game.view_to_json
        self._views: list[dict[str, Any]] = []
        self._fields: list[dict[str, object]] = []
        """By seat, the fields of its view in the last frame: as the view has them, and as JSON has them."""
        self._own: set[str] = set()
        """Fields that were different for two seats at some step."""

    def difference(self, views: Sequence[View]) -> object:
        """Return what has changed since the last call: the field "all" has what all seats know, "own" by seat what only
        it knows. If a value is in both, "own" counts."""
        now = [self._view_fields(view) for view in views]
        old, self._views = self._views or [{} for _ in now], now
        self._fields = self._fields or [{} for _ in now]
        shared: dict[str, object] = {}
        own: dict[int, dict[str, object]] = {}
        # What has not changed is the same object, so most fields need no comparison.
        moved = {
            key for a, b in zip(old, now, strict=True) for key, value in b.items() if a.get(key, self) is not value
        }
        for key in filter(moved.__contains__, now[0]):
            first = msgspec.to_builtins(now[0][key])
            values = [first if view[key] is now[0][key] else msgspec.to_builtins(view[key]) for view in now]
            known = key in self._fields[0]
            before = [fields.get(key) for fields in self._fields]
            for fields, value in zip(self._fields, values, strict=True):
                fields[key] = value
            if key in self._own or any(value is not first and value != first for value in values):
                known &= key in self._own
                self._own.add(key)
                for seat, value in enumerate(values):
                    found = difference(before[seat], value) if known else [value]
                    if found is not None:
                        own.setdefault(seat, {})[key] = found
            elif found := difference(before[0], first) if known else [first]:
                shared[key] = found
        return {name: found for name, found in (("all", shared), ("own", own)) if found}

    def _view_fields(self, view: View) -> dict[str, Any]:
        if not self.drawn:
            text = self._game.render(view, self._names)
            return {"turn": view.turn, "phase": view.phase, "text": text}
        if not self._plain:
            fields: dict[str, Any] = msgspec.json.decode(self._game.view_to_json(view))
            return fields
        return msgspec.structs.asdict(view)


def difference(old: object, new: object) -> object:
    """Return how two JSON values differ: None if they are equal, otherwise the new value in a list, or for two lists of
    the same length that hold lists an object with the differences of their items."""
    if old == new:
        return None
    if _is_list(old) and _is_list(new) and len(old) == len(new) and any(map(_is_list, new)):
        items = enumerate(zip(old, new, strict=True))
        return {at: found for at, (a, b) in items if a is not b and (found := difference(a, b)) is not None}
    return [new]


def _is_list(value: object) -> TypeGuard[Sequence[object]]:
    return type(value) is list or type(value) is tuple


# The course of a match: scores and what each seat can expect, and the steps at which it turned.


class _Course:
    """The score of each seat at each step and, if the game has a value function, the share of the others that it can
    expect to finish ahead of."""

    def __init__(self, game: Game[Any], decisions: int) -> None:
        self._sparse, self._phase = decisions > MAX_VALUED, ""
        self.scores: list[tuple[int, ...]] = []
        self.expected: list[Sequence[float]] | None = None
        self._valuer: Valuer | None = None
        if game.value_data():
            with suppress(ArenaError):  # it was learned for other features
                self._valuer, self.expected = valuer_of(game), []

    def add(self, state: State[Any], views: Sequence[View]) -> None:
        """Add a step."""
        self.scores.append(state.scores())
        if self._valuer is None or self.expected is None:
            return
        same = state.phase == self._phase and len(self.scores) > 1 and self.scores[-1] == self.scores[-2]
        self._phase = state.phase
        if self.expected and (len(state.legal) == 1 or (self._sparse and same)):
            # A forced step belongs to the choice before it; in a long match so do the choices of a phase.
            self.expected.append(self.expected[-1])
        else:
            shares = self._valuer.shares(state, [0.5] * state.players, views)
            self.expected.append([min(1.0, max(0.0, round(share, 3))) for share in shares])


MAX_VALUED = 120
"""Decisions up to which a value function is asked at each: it takes longer than all the rest."""
MAX_TURNING_POINTS = 4
MIN_TURN = 0.08
"""The least change of what a seat can expect that is shown as a turning point."""
TURN_APART = 4
"""Steps within which two changes are one turning point."""


def turning_points(course: _Course) -> list[tuple[int, int, float]]:
    """Return the steps at which a match turned, each with the seat that it meant most for and the change of its
    expected result; without a value function the changes of the lead, with the difference of the scores."""
    if course.expected is None:
        return _lead_changes(course.scores)[-MAX_TURNING_POINTS:]
    found: list[tuple[float, int, int]] = []
    last = len(course.expected) - 1
    for at, (before, after) in enumerate(pairwise(course.expected), 1):
        changes = [new - old for old, new in zip(before, after, strict=True)]
        seat = max(range(len(changes)), key=lambda seat: abs(changes[seat]))
        if abs(changes[seat]) >= MIN_TURN and at < last:
            found.append((round(changes[seat], 3), at, seat))
    turns: list[tuple[int, int, float]] = []
    for change, at, seat in sorted(found, key=lambda one: (-abs(one[0]), one[1])):
        if len(turns) < MAX_TURNING_POINTS and all(abs(at - other) > TURN_APART for other, _, _ in turns):
            turns.append((at, seat, change))
    return sorted(turns)


def _lead_changes(scores: Sequence[Sequence[int]]) -> list[tuple[int, int, float]]:
    found: list[tuple[int, int, float]] = []
    leader = -1
    for at, now in enumerate(scores):
        best = sorted(now, reverse=True)
        if len(best) > 1 and best[0] > best[1] and now.index(best[0]) != leader:
            found += [(at, now.index(best[0]), float(best[0] - best[1]))] if leader >= 0 else []
            leader = now.index(best[0])
    return found
