"""What a bot author writes against: one class, one method."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache, cached_property
from random import Random
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Self

from harness.core.action import Action
from harness.core.errors import UsageError
from harness.core.game import Game
from harness.core.notes import Notebook
from harness.core.options import NO_FILES
from harness.core.types import Event, GameRecord, Option, Value

if TYPE_CHECKING:
    # A type checker knows defaults of type variables: `Bot` alone is a bot for any view, also under --strict.
    from typing_extensions import TypeVar

    ViewType = TypeVar("ViewType", default=Any, contravariant=True)
else:
    from typing import TypeVar

    ViewType = TypeVar("ViewType", contravariant=True)


class Bot(Generic[ViewType]):
    """A player. Subclass it, list the games it plays, write `choose`.

    One object plays one match in one seat. arena makes it, sets the attributes below, calls `start`, then `choose`
    for each decision, and `finish` at the end. Whatever it raises is a fault of the bot, never of the run.

    `Bot[ElPasoView]` says which views it is asked with, for type checkers and editors; `Bot` alone takes any.
    """

    name: ClassVar[str] = ""
    """The name on the command line; by default the class's name in kebab-case."""
    games: ClassVar[tuple[str, ...]] = ()
    """Names of the games it plays; empty means any game."""
    version: ClassVar[str] = ""
    """By default the version of the package it comes in."""
    options: ClassVar[tuple[Option, ...]] = ()
    """What can be set in its name, as in `sprinter:stars=2`."""
    files: ClassVar[tuple[str, ...]] = ()
    """Data files beside its own file that it reads, like `weights.npz`: when they change it is another bot."""
    by_default: ClassVar[bool] = True
    """Whether `arena tournament` enters it when no bot is named; a slow bot says False."""

    game: Game[Any]
    """The rules being played: `self.game.actions`, `self.game.imagine(view, self.rng)`, `self.game.settings`."""
    seat: int
    """Where it sits, from 0."""
    players: int
    """How many sit at the table."""
    settings: Mapping[str, Value]
    """Its options with their values."""
    seed: int
    """Belongs to this bot in this seat of this match."""

    _contents: Mapping[str, str] = NO_FILES
    """The contents of files that its options name, by digest."""
    _notebook: Notebook | None = None
    """Where its notes go; None while nobody keeps them, as when another bot asks it."""
    _processor_time: float | None = None
    """Seconds of processor time that it has used in this match, where it has processes of its own."""

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "name" not in cls.__dict__:
            cls.name = kebab(cls.__name__)
        if "__orig_bases__" not in cls.__dict__:
            # Else it is found in Bot, which is generic, and dill would send the class away without its bases.
            cls.__orig_bases__ = cls.__bases__  # type: ignore[attr-defined]

    @cached_property
    def rng(self) -> Random:
        """This bot's own luck in this match: use it, and the match can be repeated."""
        return Random(self.seed)

    def seated(self, game: Game[Any], seat: int, players: int, seed: int, settings: Mapping[str, Value]) -> Self:
        """This object with a seat in a match, not yet started: for the referee, and for bots that ask other bots."""
        self.game, self.seat, self.players, self.seed, self.settings = game, seat, players, seed, settings
        return self

    def file_option(self, name: str) -> str:
        """The text of the file that an option of kind "file" names; empty if it names none.

        `self.settings[name]` is its digest: the text is kept with the run, which goes on without the file.
        """
        digest = str(self.settings[name])
        return self._contents[digest] if digest else ""

    def start(self) -> None:
        """Called once, when game, seat and players are known."""

    def observe(self, events: Sequence[Event]) -> None:
        """What this seat could see since its last decision, before each `choose`; override it to be sent events."""

    def choose(self, view: ViewType, actions: Sequence[Action]) -> Action:
        """One of `actions` (there are always at least two)."""
        raise NotImplementedError(f"{type(self).__name__} has no choose() method.")

    def note(self, said: object) -> None:
        """Keeps what the bot thinks with its decision: replays show it, no other bot sees it.

        A text, or data: numbers, lists, mappings, actions; of anything else, what `repr` shows. What is noted in
        `start` and `observe` goes with the next decision. Of one bot 4,000 bytes a decision and 64,000 a match are
        kept. It never raises, and does nothing outside a match.
        """
        if self._notebook is not None:
            self._notebook.add(said)

    def finish(self, record: GameRecord) -> None:
        """Called once, when the match is over; the record does not say which deal it was."""


@cache
def function_bot(choose: Callable[[Any, Sequence[Action]], Action]) -> type[Bot]:
    """A bot that chooses by a plain function; the function names it. It says what it plays by an attribute `games`."""
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
