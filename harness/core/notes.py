"""What a bot notes about its decisions, for its author: kept beside the records, never shown to a player."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from math import isfinite
from typing import Any

import msgspec
from msgspec import Struct

from harness.core.action import Action

MOST_A_DECISION = 4_000
MOST_A_MATCH = 64_000
"""Bytes of notes, as JSON, that are kept of one bot: for one decision, and for all of a match."""
CUT = " ... (cut)"
DEEPEST = 8
"""Levels of lists and mappings inside each other; what lies deeper is kept as text."""
LARGEST_INT = 2**63

_encode = msgspec.json.Encoder().encode


class DecisionNotes(Struct, frozen=True):
    """What a bot noted at one decision of a match."""

    decision: int
    """Its number in the match, from 0."""
    seat: int
    said: tuple[Any, ...]
    """Each note as text or plain data."""


class MatchNotes(Struct, frozen=True):
    """All notes of a match: a line of notes.jsonl."""

    match: str
    notes: tuple[DecisionNotes, ...]


def encode_notes(match: str, notes: Iterable[DecisionNotes]) -> bytes:
    """The line for notes.jsonl; empty where nothing was noted."""
    noted = tuple(notes)
    return _encode(MatchNotes(match, noted)) if noted else b""


class Notebook(list[bytes]):
    """What one bot has noted since somebody last looked, each note as JSON. There is one for each seat of a match.

    A list without an `__init__` of its own: whether it is empty is asked at each decision of each match.
    """

    room = MOST_A_DECISION
    """Bytes left for this decision."""
    left = MOST_A_MATCH
    """Bytes left for the match."""

    def add(self, said: object) -> None:
        """Keeps a note, or as much of it as there is room for. Nothing that it is given makes it raise."""
        room = min(self.room, self.left)
        if not room:
            return
        try:
            note = _encode(plain(said))
            if len(note) > room:
                note = _cut(said if isinstance(said, str) else note.decode(), room)
                self.room, self.left = 0, self.left if room < self.left else 0
            else:
                self.room -= len(note)
        except Exception:  # a repr that raises, a list that contains itself: a note is not worth a match
            note = _encode(f"a note of type {type(said).__name__} that cannot be written")
        self.left = max(0, self.left - len(note))
        self.append(note)

    def take(self) -> tuple[Any, ...]:
        """What was noted, as plain data; the next decision begins."""
        said = tuple([msgspec.json.decode(note) for note in self])
        self.clear()
        self.room = MOST_A_DECISION
        return said


def _cut(text: str, room: int) -> bytes:
    """As much of the text as fits; escapes and long characters make it shorter."""
    room = max(room - len(CUT), len(_encode("")))
    text = plain_text(text[:room])
    while len(_encode(text)) > room:
        text = text[: len(text) * room // (len(_encode(text)) + 1)]
    return _encode(text + CUT)


def plain_text(text: str) -> str:
    """The text without half characters, which cannot be written."""
    return text.encode("utf-8", "replace").decode()


def plain(said: object, deepest: int = DEEPEST) -> Any:
    """Texts, numbers, lists and mappings as they are, actions by their texts, arrays as lists, anything else as repr
    shows it."""
    match said:
        case None | bool():
            return said
        case str():
            return plain_text(said)
        case int() if -LARGEST_INT <= said < LARGEST_INT:
            return int(said)
        case float() if isfinite(said):
            return float(said)
        case Action():
            return said.text
        case bytes() | bytearray() | float() | int():
            return repr(said)
        case Mapping() if deepest:
            return {str(plain(key, 0)): plain(value, deepest - 1) for key, value in said.items()}
        case Sequence() | Set() if deepest:
            return [plain(each, deepest - 1) for each in said]
    as_list = getattr(said, "tolist", None)  # arrays and numbers of numpy and torch
    if deepest and callable(as_list):
        return plain(as_list(), deepest - 1)
    return plain_text(repr(said))
