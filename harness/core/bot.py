"""The contract of a bot, and the notes that a bot may keep about its decisions."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence, Set
from functools import cache, cached_property
from math import isfinite
from random import Random
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Self

import msgspec
from msgspec import Struct

from harness.core.action import Action
from harness.core.errors import UsageError
from harness.core.game import Game
from harness.core.options import NO_FILES
from harness.core.records import Event, GameRecord, Option, Value

# Notes: what a bot writes down for its author. They are stored beside the records and never shown to a player.


MAX_DECISION_NOTE_BYTES = 4_000
MAX_MATCH_NOTE_BYTES = 64_000
"""Size of the notes of one bot, as JSON: for one decision, and for a whole match."""
CUT = " ... (cut)"
MAX_NOTE_DEPTH = 8
"""Nesting of lists and mappings; deeper values are kept as text."""
MAX_NOTE_INT = 2**63

_encode = msgspec.json.Encoder().encode


class DecisionNotes(Struct, frozen=True):
    """A bot's notes at one decision of a match."""

    decision: int
    """Number of the decision in the match, from 0."""
    seat: int
    said: tuple[Any, ...]
    """Each note as text or plain data."""


class MatchNotes(Struct, frozen=True):
    """All notes of a match: a line of notes.jsonl."""

    match: str
    notes: tuple[DecisionNotes, ...]


def encode_notes(match: str, notes: Sequence[DecisionNotes]) -> bytes:
    """Return the line for notes.jsonl."""
    return _encode(MatchNotes(match, tuple(notes)))


class NoteBuffer(list[bytes]):
    """Notes of one seat since the last `drain`, each as JSON.

    A list without an `__init__`: the referee checks at each decision of each match whether it is empty.
    """

    decision_bytes_left = MAX_DECISION_NOTE_BYTES
    """Bytes left for this decision."""
    match_bytes_left = MAX_MATCH_NOTE_BYTES
    """Bytes left for the match."""

    def add(self, said: object) -> None:
        """Keep a note, or as much of it as fits. Never raises, whatever it is given."""
        room = min(self.decision_bytes_left, self.match_bytes_left)
        if not room:
            return
        try:
            note = _encode(to_plain_data(said))
            if len(note) > room:
                note = _cut(said if isinstance(said, str) else note.decode(), room)
                self.decision_bytes_left = 0
                if room == self.match_bytes_left:
                    self.match_bytes_left = 0
            else:
                self.decision_bytes_left -= len(note)
        except Exception:  # a repr that raises, a list that contains itself: a note must not stop a match
            note = _encode(f"a note of type {type(said).__name__} that cannot be written")
        self.match_bytes_left = max(0, self.match_bytes_left - len(note))
        self.append(note)

    def drain(self) -> tuple[Any, ...]:
        """Return the notes as plain data and start the next decision."""
        said = tuple([msgspec.json.decode(note) for note in self])
        self.clear()
        self.decision_bytes_left = MAX_DECISION_NOTE_BYTES
        return said


def _cut(text: str, room: int) -> bytes:
    """Return as much of the text as fits, as JSON; escapes and multi-byte characters take more room."""
    room = max(room - len(CUT), len(_encode("")))
    text = without_surrogates(text[:room])
    while len(_encode(text)) > room:
        text = text[: len(text) * room // (len(_encode(text)) + 1)]
    return _encode(text + CUT)


def without_surrogates(text: str) -> str:
    """Return the text without lone surrogates, which cannot be encoded."""
    return text.encode("utf-8", "replace").decode()


def to_plain_data(said: object, deepest: int = MAX_NOTE_DEPTH) -> Any:
    """Return texts, numbers, lists and mappings as they are, actions as text, arrays as lists, anything else as its
    repr."""
    match said:
        case None | bool():
            return said
        case str():
            return without_surrogates(said)
        # Subclasses such as IntEnum and numpy.float64 become plain numbers.
        case int() if -MAX_NOTE_INT <= said < MAX_NOTE_INT:
            return int(said)
        case float() if isfinite(said):
            return float(said)
        case Action():
            return said.text
        case bytes() | bytearray() | float() | int():
            return repr(said)
        case Mapping() if deepest:
            return {str(to_plain_data(key, 0)): to_plain_data(value, deepest - 1) for key, value in said.items()}
        case Sequence() | Set() if deepest:
            return [to_plain_data(each, deepest - 1) for each in said]
    as_list = getattr(said, "tolist", None)  # arrays and scalars of numpy and torch
    if deepest and callable(as_list):
        return to_plain_data(as_list(), deepest - 1)
    return without_surrogates(repr(said))


# The class that bot authors subclass


if TYPE_CHECKING:
    # Type checkers support defaults of type variables: `Bot` alone is a bot for any view, even under --strict.
    from typing_extensions import TypeVar

    ViewType = TypeVar("ViewType", default=Any, contravariant=True)
else:
    from typing import TypeVar

    ViewType = TypeVar("ViewType", contravariant=True)


class Bot(Generic[ViewType]):
    """A player. Subclass it, list the games it plays, write `choose`.

    One object plays one match in one seat. Arena creates it, sets the attributes below, calls `start`, then `choose`
    for each decision, and `finish` at the end. An exception is a fault of the bot and never stops the run.

    `Bot[ElPasoView]` declares the type of its views for type checkers and editors; `Bot` alone takes any.
    """

    name: ClassVar[str] = ""
    """The name on the command line; by default the class's name in kebab-case."""
    games: ClassVar[tuple[str, ...]] = ()
    """Names of the games it plays; empty means any game."""
    version: ClassVar[str] = ""
    """By default the version of the package that contains it."""
    options: ClassVar[tuple[Option, ...]] = ()
    """What can be set in its name, as in `sprinter:stars=2`."""
    files: ClassVar[tuple[str, ...]] = ()
    """Data files beside its source file that it reads, like `weights.npz`: when they change it is a different bot."""
    by_default: ClassVar[bool] = True
    """Whether `arena tournament` enters it when no bot is named; set it to False for a slow bot."""

    game: Game[Any]
    """The rules being played: `self.game.actions`, `self.game.imagine(view, self.rng)`, `self.game.settings`."""
    seat: int
    """Its position at the table, from 0."""
    players: int
    """The number of players at the table."""
    settings: Mapping[str, Value]
    """Its options with their values."""
    seed: int
    """The seed of this bot in this seat of this match."""

    _contents: Mapping[str, str] = NO_FILES
    """Digest -> content of the files that its options name."""
    _note_buffer: NoteBuffer | None = None
    """Where its notes go; None outside of a match, and when another bot asks it."""
    _processor_time: float | None = None
    """Processor time in seconds that it has used in this match, if it runs in a separate process."""

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        # A subclass of a bot is another bot: it must not inherit the name.
        if "name" not in cls.__dict__:
            cls.name = kebab(cls.__name__)
        if "__orig_bases__" not in cls.__dict__:
            # Otherwise Python finds the attribute of the generic Bot, and dill would pickle the class without its
            # bases.
            cls.__orig_bases__ = cls.__bases__  # type: ignore[attr-defined]

    @cached_property
    def rng(self) -> Random:
        """Random numbers of this bot in this match. A bot that uses only these plays the same when a match is
        repeated."""
        return Random(self.seed)

    def seated(self, game: Game[Any], seat: int, players: int, seed: int, settings: Mapping[str, Value]) -> Self:
        """Give this object a seat in a match and return it, not yet started: for the referee, and for bots that ask
        others."""
        self.game, self.seat, self.players, self.seed, self.settings = game, seat, players, seed, settings
        return self

    def file_option(self, name: str) -> str:
        """Return the text of the file that an option of kind "file" names; empty if it names none.

        `self.settings[name]` is its digest: the run keeps the text and can continue without the file.
        """
        digest = str(self.settings[name])
        return self._contents[digest] if digest else ""

    def start(self) -> None:
        """Called once, when game, seat and players are known."""

    def observe(self, events: Sequence[Event]) -> None:
        """Called before each `choose` with what this seat could see since its last decision; override it to get
        events."""

    def choose(self, view: ViewType, actions: Sequence[Action]) -> Action:
        """Return one of `actions` (there are always at least two)."""
        raise NotImplementedError(f"{type(self).__name__} has no choose() method.")

    def note(self, said: object) -> None:
        """Keep a note with the decision: replays show it, no other bot sees it.

        Text or data: numbers, lists, mappings, actions; anything else is kept as its `repr`. Notes made in `start`
        and `observe` belong to the next decision. At most 4,000 bytes for a decision and 64,000 for a match are kept.
        Never raises, and does nothing outside of a match.
        """
        if self._note_buffer is not None:
            self._note_buffer.add(said)

    def finish(self, record: GameRecord) -> None:
        """Called once, when the match is over; the record does not say which deal it was."""


@cache  # a function that is entered twice is one bot, and pickle finds one class
def function_bot(choose: Callable[[Any, Sequence[Action]], Action]) -> type[Bot]:
    """Return a bot class that chooses by a plain function and has its name; the function may have an attribute
    `games`."""
    name = getattr(choose, "__name__", type(choose).__name__)
    if not name.isidentifier():
        raise UsageError(f"{name} is a function without a name: define it with def, its name is the bot's.")

    def ask(_self: Bot, view: Any, actions: Sequence[Action]) -> Action:
        return choose(view, actions)

    parts = {"choose": ask, "name": kebab(name.replace("_", "-")), "games": tuple(getattr(choose, "games", ()))}
    return type(name, (Bot,), {**parts, "__doc__": choose.__doc__, "__module__": choose.__module__})


def kebab(name: str) -> str:
    """`StayToTheLast` -> `stay-to-the-last`."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "-", name).lower()
