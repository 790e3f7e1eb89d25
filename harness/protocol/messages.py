"""The wire protocol: one JSON object a line. docs/protocol.md tells it to authors of bots."""

from __future__ import annotations

from typing import Any, Literal

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType

from harness.core.types import Event, Option, Value

PROTOCOL = 1
LONGEST_LINE = 1 << 16
"""Bytes of a bot's line: no honest one comes near it."""
LONGEST_DESCRIPTIONS = 1 << 20
"""A Python file with many bots describes them all in one line, to arena's own program: no author writes that one."""

Want = Literal["actions", "components", "engine", "events", "result", "texts"]


class Hello(Struct, tag_field="type", tag="hello", frozen=True):
    """Arena's first line."""

    protocol: int
    arena: str


class Engine(Struct, frozen=True):
    """Where a Python program finds the rules: a class, and the files among its settings, and the bot's, by digest."""

    cls: str
    files: dict[str, str]


class NewGame(Struct, tag_field="type", tag="new-game", frozen=True):
    """A match begins."""

    id: int
    game: str
    rules: str
    settings: dict[str, Value]
    seat: int
    players: int
    seed: int
    options: dict[str, Value]
    move_time: float | None
    game_time: float | None
    components: Raw | UnsetType = UNSET
    engine: Engine | UnsetType = UNSET


class Choose(Struct, tag_field="type", tag="choose", frozen=True):
    """A decision is asked for. Small and simple fields come first, for programs that read no further."""

    id: int
    legal: list[int]
    time: float | None
    view: Raw
    """Read by the game, whose own business it is. Written from a Raw, or from a view as it is."""
    texts: list[str] | UnsetType = UNSET
    actions: list[Raw] | UnsetType = UNSET
    """The fields of each legal action, in the order of `legal`."""
    events: list[Event] | UnsetType = UNSET


class GameOver(Struct, tag_field="type", tag="game-over", frozen=True):
    """A match has ended. The deal stays untold: other seatings of it may still be to come."""

    id: int
    ending: str
    scores: tuple[int, ...]
    ranks: tuple[int, ...]
    decisions: tuple[int, ...]


class Bye(Struct, tag_field="type", tag="bye", frozen=True):
    """The last line: nothing is expected any more."""


Request = Hello | NewGame | Choose | GameOver | Bye


class Introduction(Struct, tag_field="type", tag="hello", frozen=True):
    """A program's answer to hello: what it is, which games it plays (none: any), and what it wants to be sent."""

    protocol: int
    name: str = ""
    version: str = ""
    games: tuple[str, ...] = ()
    wants: tuple[Want, ...] = ("components", "events", "texts")


class Ready(Struct, tag_field="type", tag="ready", frozen=True):
    """The answer to new-game and to game-over."""

    id: int


class Choice(Struct, tag_field="type", tag="choice", frozen=True, omit_defaults=True):
    """The answer to choose."""

    id: int
    code: int
    note: Any = None
    """What the bot thought, for its author: a note, or a list of notes."""


class FaultReport(Struct, tag_field="type", tag="fault", frozen=True, omit_defaults=True):
    """A program may own up to a fault: the match is lost, but its process goes on."""

    id: int
    kind: Literal["exception", "illegal", "memory"] = "exception"
    detail: str = ""
    note: Any = None
    """As in a choice."""


Reply = Introduction | Ready | Choice | FaultReport


class BotDescription(Struct, frozen=True):
    """What a bot in a Python file says of itself. A file is asked what it holds before any of its bots plays."""

    name: str
    version: str
    games: tuple[str, ...]
    options: tuple[Option, ...]
    doc: str
    files: tuple[str, ...] = ()


encode = msgspec.json.Encoder().encode
decode_request = msgspec.json.Decoder(Request).decode
_decode_reply = msgspec.json.Decoder(Reply).decode
_decode_descriptions = msgspec.json.Decoder(list[BotDescription]).decode
_UNREADABLE = (msgspec.MsgspecError, RecursionError, MemoryError, ValueError)


class NotAMessage(Exception):
    """A line that is no message of this protocol."""


def decode_reply(line: bytes) -> Reply:
    """The message in a program's line; raises NotAMessage, and nothing else, for anything that is none."""
    try:
        reply: Reply = _decode_reply(line)
    except _UNREADABLE as error:
        raise NotAMessage(_why(line, error)) from None
    return reply


def decode_descriptions(line: bytes) -> list[BotDescription]:
    """The bots that a file describes in a line; raises NotAMessage, and nothing else, for anything else."""
    try:
        descriptions: list[BotDescription] = _decode_descriptions(line)
    except _UNREADABLE as error:
        raise NotAMessage(_why(line, error)) from None
    return descriptions


def _why(line: bytes, error: Exception) -> str:
    """The line and what is wrong with it; the error may quote the line, too."""
    quoted = "".join(letter if letter.isprintable() else "?" for letter in str(error)[:200])
    return f"{printable(line)} ({quoted})"


def printable(line: bytes) -> str:
    """A program's line as a person may see it: short, and without control characters."""
    text = line[:120].decode(errors="replace")
    return repr(text) + ("..." if len(line) > 120 else "")
