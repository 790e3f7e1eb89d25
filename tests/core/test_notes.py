"""What bots note is kept with their decisions, within bounds, and harms nobody."""

from __future__ import annotations

import json

import msgspec
import pytest

from engines.el_paso import ElPaso
from harness import Bot
from harness.core.bot import CUT, MAX_DECISION_NOTE_BYTES, MAX_MATCH_NOTE_BYTES, NoteBuffer, to_plain_data
from harness.core.records import MatchSpec
from harness.match.referee import play
from harness.plugins.entrants import enter

GAME = ElPaso.configure()


class Quiet(Bot):
    """Takes the first action."""

    def choose(self, view, actions):
        return actions[0]


class Noting(Quiet):
    """Says what it does, in a name that is another's in records."""

    name = "quiet"

    def start(self):
        self.note("here I sit")

    def observe(self, events):
        self.note(len(events))

    def choose(self, view, actions):
        self.note({actions[0]: 1.5})
        return actions[0]


class Raising(Quiet):
    """Notes, and fails."""

    def choose(self, view, actions):
        self.note("it comes")
        raise RuntimeError("here it is")


def match(*bots, notes=None):
    entrants = [enter(bot, {}, "", "test", "1") for bot in bots]
    spec = MatchSpec("m", 0, "s", GAME.name, dict(GAME.settings), 11, tuple(e.name for e in entrants))
    return play(spec, GAME, entrants, notes=notes)


def test_notes_stay_with_their_decisions_and_out_of_the_record():
    notes = []
    record = match(Noting, Quiet, notes=notes)
    assert record.without_timing() == match(Quiet, Quiet).without_timing()
    assert {note.seat for note in notes} == {0}
    assert len(notes) == record.decisions[0]
    first, second = notes[:2]
    assert first.said[0] == "here I sit"
    assert isinstance(first.said[1], int)
    taken = GAME.actions[record.actions[second.decision]]
    assert second.said[1:] == ({taken.text: 1.5},)


def test_notes_written_before_a_failure_are_kept():
    notes = []
    record = match(Quiet, Raising, notes=notes)
    [note] = notes
    assert (note.decision, note.seat, note.said) == (record.faults[0].decision, 1, ("it comes",))


def test_a_note_outside_a_match_or_without_note_storage_is_ignored():
    Noting().note("to the wind")
    match(Noting, Quiet)


class Broken:
    def __repr__(self):
        raise ValueError("no words")


@pytest.mark.parametrize("said", [Broken(), {1: Broken()}, "\ud800", float("nan"), 2**70, b"raw", {1, 2}, object, [[]]])
def test_any_value_can_be_noted_and_is_stored_as_json(said):
    book = NoteBuffer()
    book.add(said)
    [note] = book.drain()
    json.loads(msgspec.json.encode(note))


class Array:
    """As arrays and numbers of numpy and torch are."""

    def __init__(self, items):
        self.items = items

    def tolist(self):
        return self.items


def test_notes_keep_plain_data_and_convert_other_objects_to_text():
    action = GAME.actions[3]
    said = {"best": action, action: [1, 2.5, None, True], "net": Array([1.0, 2.0]), "one": Array(3), 7: Quiet}
    assert to_plain_data(said) == {
        "best": action.text,
        action.text: [1, 2.5, None, True],
        "net": [1.0, 2.0],
        "one": 3,
        "7": repr(Quiet),
    }
    endless: list[object] = []
    endless.append(endless)
    assert json.dumps(to_plain_data(endless))


@pytest.mark.parametrize("said", ["x" * 100_000, "é\n" * 50_000, list(range(100_000))])
def test_notes_of_a_decision_have_a_size_limit_and_are_marked_where_cut(said):
    book = NoteBuffer()
    book.add("first")
    book.add(said)
    book.add("too late")
    first, cut = book.drain()
    assert (first, cut[-len(CUT) :]) == ("first", CUT)
    assert (
        MAX_DECISION_NOTE_BYTES * 0.9
        < len(msgspec.json.encode(first) + msgspec.json.encode(cut))
        <= MAX_DECISION_NOTE_BYTES
    )
    passed_on = NoteBuffer()  # as from a bot's own process to arena
    for note in (first, cut):
        passed_on.add(note)
    assert passed_on.drain() == (first, cut)


def test_notes_of_a_match_have_a_size_limit():
    book, kept = NoteBuffer(), []
    for _ in range(100):
        book.add("x" * 3000)
        kept += book.drain()
    assert len(msgspec.json.encode(kept)) <= MAX_MATCH_NOTE_BYTES + 100
    assert kept[-1].endswith(CUT)
    assert not any(note.endswith(CUT) for note in kept[:-1])
