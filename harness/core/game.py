"""The contract of an engine: a Game is a set of rules, a State is one play of it, a View is what a seat may know."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from random import Random
from typing import Any, ClassVar, Final, Generic, Self, TypeVar, cast

import msgspec

from harness.core.action import Action, View, default_features
from harness.core.compiled import get_state, mypyc_attr, new_instance
from harness.core.errors import IllegalAction
from harness.core.options import resolve
from harness.core.records import Event, Option, Value
from harness.core.rng import Chance

NOBODY: Final = -1
"""The seat to move once a game is over."""

A = TypeVar("A", bound=Action)
V = TypeVar("V", bound=View)


@mypyc_attr(allow_interpreted_subclasses=True)
class State(ABC, Generic[V]):
    """One play of a game, from the deal to the scores.

    `seat`, `phase` and `legal` are plain attributes that `step` keeps up to date: they are read at every
    decision. A subclass lists its own attributes in `__slots__` and keeps references to immutable
    values where it can, so that views and clones are cheap.
    """

    __slots__ = ("chance", "ending", "game", "legal", "log", "phase", "players", "seat")

    caches: ClassVar[frozenset[str]] = frozenset()
    """Attributes that only remember what can be worked out from the others: no part of what a state is."""

    forgets: ClassVar[frozenset[str]] = frozenset()
    """Attributes of which the rules let seats forget what they once knew: imagined states are not held to it."""

    game: Game[V]
    players: int
    chance: Chance
    seat: int
    """Whose choice it is; NOBODY when the game is over."""
    phase: str
    """What is being chosen, e.g. "answer"; the same word in every view."""
    legal: tuple[Action, ...]
    """What may be chosen, in a stable order, without duplicates; empty only when the game is over."""
    ending: str
    """Why the game ended ("" while it goes on, "truncated" where a rule stopped it)."""
    log: list[Event] | None
    """Where events go when somebody listens; None in search and in fast play."""

    def __reduce__(self) -> tuple[Any, ...]:
        """For pickles and copies: all attributes, whichever class of a family is compiled."""
        return new_instance, (type(self),), get_state(self)

    def __setstate__(self, parts: dict[str, Any]) -> None:
        for name, value in parts.items():
            setattr(self, name, value)

    def apply(self, action: Action) -> None:
        """Carry out a legal action and go on to the next choice; anything else raises and changes nothing."""
        if action not in self.legal:
            raise IllegalAction(f"{action!s} is not legal now; legal: {', '.join(map(str, self.legal))}.")
        self.step(action)

    @abstractmethod
    def step(self, action: Action) -> None:
        """Carry out an action that is known to be legal. Callers outside engines use `apply`."""

    @abstractmethod
    def clone(self) -> Self:
        """An independent copy that shares no mutable part; its `log` is None."""

    @abstractmethod
    def view(self, seat: int) -> V:
        """What this seat may know now, and nothing else."""

    @abstractmethod
    def scores(self) -> tuple[int, ...]:
        """The score of each seat as things stand; final when the game is over."""

    def unseen(self) -> int:
        """How many cards lie where no seat has ever seen them, in an order that was fixed before: what `redealt` lays
        out anew. 0 in a game whose luck is drawn when it is needed."""
        return 0

    def redealt(self, chance: Chance) -> Self:
        """A clone whose luck to come is that of `chance`, down to the cards that no seat has ever seen.

        Every seat's view stays as it is, and what all seats together know does not make one order of the others
        likelier than another: docs/add-a-game.md.
        """
        new = self.clone()
        new.chance = chance
        return new


@mypyc_attr(allow_interpreted_subclasses=True)
class Game(ABC, Generic[V]):
    """The rules of one game with its options set. Get one from `configure`; equal options give the same object."""

    name: ClassVar[str]
    title: ClassVar[str]
    version: ClassVar[str]
    """Version of the rules: bumped whenever the same actions could lead to another result."""
    min_players: ClassVar[int]
    max_players: ClassVar[int]
    options: ClassVar[tuple[Option, ...]] = ()
    view_type: ClassVar[type[View]]
    rules_behind: ClassVar[Mapping[str, tuple[str, ...]]] = {}
    """Phase -> numbers of the rules that a person who has to choose then may want to read."""

    settings: Mapping[str, Value]
    """Every option with its value."""
    files: Mapping[str, str]
    """Digest -> content of the files among the settings."""
    actions: tuple[Action, ...]
    """All actions of the game; `actions[code].code == code`."""

    _configured: ClassVar[dict[tuple[Any, ...], Any]] = {}

    def __init__(self, settings: Mapping[str, Value], files: Mapping[str, str]) -> None:
        self.settings = dict(settings)
        self.files = dict(files)

    @classmethod
    def configure(cls, options: Mapping[str, object] | None = None, files: Mapping[str, str] | None = None) -> Self:
        """The game with these options; unknown or bad ones are refused with what is allowed.

        `files` has the contents of files that the options name by digest, as records do.
        """
        settings, contents = resolve(cls.title, cls.options, options or {}, files)
        key = (cls, tuple(settings.items()))
        if key not in cls._configured:
            cls._configured[key] = cls(settings, contents)
        game: Self = cls._configured[key]
        return game

    def __repr__(self) -> str:
        shown = ", ".join(f"{key}={value!r}" for key, value in self.settings.items())
        return f"{type(self).__name__}({shown})"

    def __reduce__(self) -> tuple[Any, ...]:
        return _restore_game, (type(self), dict(self.settings), dict(self.files))

    def add(self, table: list[Action], kind: type[A], text: str, *fields: Any) -> A:
        """Append an action of this kind to a table under construction, with the next code."""
        action = kind(self, len(table), text, *fields)
        table.append(action)
        return action

    @abstractmethod
    def new(self, players: int, chance: Chance, log: list[Event] | None = None) -> State[V]:
        """A fresh state, dealt, at its first choice. Set-up events go to `log`."""

    @abstractmethod
    def imagine(self, view: V, rng: Random) -> State[V]:
        """A complete state that this view cannot tell from the real one, its unknown part dealt by `rng`."""

    @abstractmethod
    def render(self, view: V) -> str:
        """The view as text for a person."""

    def event_text(self, event: Event) -> str:
        """The event as a sentence for a person; it never says more than the event does."""
        facts = ", ".join(f"{key} {value}" for key, value in event.data.items())
        return f"{event.kind}: {facts}" if facts else event.kind

    def score_text(self, score: float) -> str:
        """A score in the game's words, as `"12 nuggets"`: an int is the score of one match, a float a mean of several,
        or how far it may be off."""
        return f"{score:,}" if isinstance(score, int) else f"{score:,.1f}"

    def rules_text(self) -> str:
        """The rules as a page of Markdown in which each numbered rule is a list item; "" if the game brings none."""
        return ""

    def viewer_script(self) -> str:
        """JavaScript that draws the table for the replay viewer (docs/report.md); "" to show `render` instead."""
        return ""

    def features(self, views: Sequence[V], scores: Sequence[int]) -> list[list[float]]:
        """How each seat stands, as numbers: a row for each seat, from all views and the scores as things stand.

        A value function is learned on them (docs/add-a-game.md). Without some of its own a game has those that can be
        read from any view.
        """
        return default_features(views, scores)

    def value_data(self) -> str:
        """The value function that the game brings, as `arena learn-values` wrote it; "" if it brings none."""
        return ""

    def components(self) -> dict[str, object]:
        """The figures of the game that never change in a match (components), as JSON-ready data."""
        return {}

    def view_to_json(self, view: V) -> bytes:
        """The view as one JSON object."""
        return msgspec.json.encode(view)

    def view_from_json(self, data: bytes | str) -> V:
        """The view that `view_to_json` wrote."""
        return cast("V", msgspec.json.decode(data, type=self.view_type))


def _restore_game(cls: type[Game[Any]], settings: dict[str, Value], files: dict[str, str]) -> Game[Any]:
    return cls.configure(settings, files)
