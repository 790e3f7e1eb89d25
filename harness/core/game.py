"""The contract of an engine: a Game is a set of rules, a State is one play of it, a View is what a seat may know.

mypyc compiles this module. Games and states of plugins are plain Python, so both classes allow interpreted subclasses,
and State has `__slots__`: compiled classes have no `__dict__`. Neither inherits from ABC: all compiled classes would
share one cache of `isinstance`, which then takes one game for another.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from random import Random
from typing import Any, ClassVar, Final, Generic, Self, TypeVar, cast

import msgspec
from mypy_extensions import mypyc_attr

from harness.core.action import Action, EncodingPart, View, default_features
from harness.core.compiled import get_state, new_instance
from harness.core.errors import IllegalAction, UsageError
from harness.core.options import resolve
from harness.core.records import Event, Option, Value
from harness.core.rng import Chance

NOBODY: Final = -1
"""The value of `seat` when the game is over."""

SEAT_NAMES: Final[tuple[str, ...]] = tuple([f"seat {seat}" for seat in range(64)])
"""Names of the players in texts if no others are given."""

A = TypeVar("A", bound=Action)
V = TypeVar("V", bound=View)


@mypyc_attr(allow_interpreted_subclasses=True)
class State(Generic[V]):
    """One play of a game, from the deal to the scores.

    `seat`, `phase` and `legal` are plain attributes that `step` keeps up to date: they are read at every decision. A
    subclass lists its own attributes in `__slots__` and keeps references to immutable values where it can, so that
    views and clones are cheap.
    """

    __slots__ = ("chance", "ending", "game", "legal", "log", "phase", "players", "seat")

    caches: ClassVar[frozenset[str]] = frozenset()
    """Names of attributes that cache what follows from the others: they are not compared."""

    forgets: ClassVar[frozenset[str]] = frozenset()
    """Names of attributes with which imagined states need not agree: seats may forget them under the rules, or they are
    counters that only name luck to come."""

    game: Game[V]
    players: int
    chance: Chance
    seat: int
    """The seat that has to choose; `NOBODY` when the game is over."""
    phase: str
    """The kind of choice, e.g. "answer"; the same word in every view."""
    legal: tuple[Action, ...]
    """The legal actions in a stable order, without duplicates; empty only when the game is over."""
    ending: str
    """Why the game ended ("" before its end, "truncated" if a rule stopped it)."""
    log: list[Event] | None
    """Where events are appended; None if no one reads them, as in search and fast play."""

    def __reduce__(self) -> tuple[Any, ...]:
        """Return what pickles and copies need: all attributes, whichever class of the hierarchy is compiled."""
        # By attribute names: compiled classes have no `__dict__`, and pickle would miss their attributes.
        return new_instance, (type(self),), get_state(self)

    def __setstate__(self, parts: dict[str, Any]) -> None:
        for name, value in parts.items():
            setattr(self, name, value)

    def apply(self, action: Action) -> None:
        """Carry out a legal action and advance to the next choice; raise IllegalAction for any other and change
        nothing."""
        if action not in self.legal:
            raise IllegalAction(f"{action!s} is not legal now; legal: {', '.join(map(str, self.legal))}.")
        self.step(action)

    @abstractmethod
    def step(self, action: Action) -> None:
        """Carry out an action that is known to be legal. Callers outside of engines use `apply`."""
        raise NotImplementedError

    @abstractmethod
    def clone(self) -> Self:
        """Return an independent copy that shares no mutable part; its `log` is None."""
        raise NotImplementedError

    @abstractmethod
    def view(self, seat: int) -> V:
        """Return what this seat may know now, and nothing else."""
        raise NotImplementedError

    @abstractmethod
    def scores(self) -> tuple[int, ...]:
        """Return the current score of each seat; final when the game is over."""
        raise NotImplementedError

    def unseen(self) -> int:
        """Return the number of cards that no seat has ever seen and whose order is already fixed: what `redealt`
        shuffles again. 0 in a game that draws its luck only when it is needed."""
        return 0

    def redealt(self, chance: Chance) -> Self:
        """Return a clone whose future luck comes from `chance`, including the order of cards that no seat has ever
        seen.

        Every seat's view stays the same, and what all seats together know must not make one order of these cards
        likelier than another: docs/add-a-game.md.
        """
        new = self.clone()
        # Enough for a game that draws its luck when it is needed; one with a fixed order of unseen cards overrides this
        # and shuffles them.
        new.chance = chance
        return new


@mypyc_attr(allow_interpreted_subclasses=True)
class Game(Generic[V]):
    """The rules of one game with its options set. Get one from `configure`; equal options give the same object."""

    name: ClassVar[str]
    title: ClassVar[str]
    version: ClassVar[str]
    """Version of the rules: changes whenever the same actions could lead to a different result."""
    min_players: ClassVar[int]
    max_players: ClassVar[int]
    options: ClassVar[tuple[Option, ...]] = ()
    view_type: ClassVar[type[View]]
    rules_behind: ClassVar[Mapping[str, tuple[str, ...]]] = {}
    """Phase -> numbers of the rules that are relevant for a person who has to choose in it."""
    rule_events: ClassVar[Mapping[str, str | Callable[[str, dict[str, Any]], bool]]] = {}
    """Number of a rule -> the kind of event that shows it at work, or a test of an event's kind and data. `arena
    analyse` counts them."""

    settings: Mapping[str, Value]
    """Every option with its value."""
    files: Mapping[str, str]
    """Digest -> content of the files among the settings."""
    actions: tuple[Action, ...]
    """All actions of the game; `actions[code].code == code`."""

    # Actions and games are compared by identity, so equal options must give the same object, even after unpickling.
    _configured: ClassVar[dict[tuple[Any, ...], Any]] = {}

    def __init__(self, settings: Mapping[str, Value], files: Mapping[str, str]) -> None:
        self.settings = dict(settings)
        self.files = dict(files)

    @classmethod
    def configure(cls, options: Mapping[str, object] | None = None, files: Mapping[str, str] | None = None) -> Self:
        """Return the game with these options; raise an error with the allowed values for unknown or bad ones.

        `files` has the contents of files that the options name by digest, as records do.
        """
        settings, contents = resolve(cls.title, cls.options, options or {}, files)
        key = (cls, tuple(settings.items()))
        # By values, not by what was given: two ways to type the same options must give the same object.
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
        """Return a new state, dealt, at its first choice. Set-up events go to `log`."""
        raise NotImplementedError

    def check_chance(self, chance: object) -> None:
        """Raise a TypeError that says what `new` takes, unless this is a Chance."""
        if not isinstance(chance, Chance):
            raise TypeError(f"new(players, chance) takes a Chance, as in new(3, Chance(5)), not {chance!r}.")

    @abstractmethod
    def imagine(self, view: V, rng: Random) -> State[V]:
        """Return a complete state that gives the same view, its unknown part dealt by `rng`."""
        raise NotImplementedError

    @abstractmethod
    def render(self, view: V, names: Sequence[str] = SEAT_NAMES) -> str:
        """Return the view as text for a person; `names[seat]` is what each player is called."""
        raise NotImplementedError

    def event_text(self, event: Event, names: Sequence[str] = SEAT_NAMES) -> str:
        """Return the event as a sentence for a person; it contains nothing that is not in the event and `names`, by
        which it calls the players. "" leaves the event out of replays."""
        facts = ", ".join(
            [
                names[value] if key == "seat" and isinstance(value, int) else f"{key} {value}"
                for key, value in event.data.items()
            ]
        )
        return f"{event.kind}: {facts}" if facts else event.kind

    def chapter(self, event: Event) -> str:
        """Return a short name for the part of a match that this public event begins, such as "round 4"; "" for most
        events. Replays mark and jump to it."""
        return ""

    def score_text(self, score: int | float) -> str:
        """Return a score in the game's words, as `"12 nuggets"`: an int is the score of one match or the difference
        of two, so without a plus sign; a float is a mean or its error."""
        return f"{score:,}" if isinstance(score, int) else f"{score:,.1f}"

    def rules_text(self) -> str:
        """Return the rules as Markdown in which each numbered rule is a list item; "" if the game has none."""
        return ""

    def viewer_script(self) -> str:
        """Return JavaScript that draws the table in the replay viewer (docs/report.md); "" to show `render` instead."""
        return ""

    def features(self, views: Sequence[V], scores: Sequence[int]) -> list[list[float]]:
        """Return a row of numbers for each seat that describes how it stands, from all views and the current scores.

        A value function is learned from them (docs/add-a-game.md). By default they are derived from the fields of the
        views.
        """
        return default_features(views, scores)

    def value_data(self) -> str:
        """Return the game's value function as `arena learn-values` wrote it; "" if it has none."""
        return ""

    def score_bounds(self, players: int) -> tuple[int, int]:
        """Return the lowest and the highest score that a seat can have, at any time."""
        raise UsageError(f"{self.title} does not declare what scores are possible: its game has no score_bounds().")

    def max_decisions(self, players: int) -> int:
        """Return a number of choices, those with a single legal action included, that no match exceeds; a longer one
        may be possible if it is less likely than 1 in 10**15."""
        raise UsageError(f"{self.title} does not declare how long a match can be: its game has no max_decisions().")

    def view_bounds(self, players: int) -> Mapping[str, int]:
        """Return bounds that are narrower with these options and players than in the type of the view: the title of a
        `Meta` and the highest number, or the greatest length, instead of that of the `Meta`."""
        return {}

    def encoding(self, players: int) -> tuple[EncodingPart | str, ...]:
        """Return a compact numeric encoding of a view, for learning programs; () if the game has none.

        The generic one is derived from the types of the view's fields (docs/encoding.md); a string is the name of a
        field that is encoded as there.
        """
        return ()

    def components(self) -> dict[str, object]:
        """Return the data of the game that never changes in a match (its components), JSON-ready."""
        return {}

    def view_to_json(self, view: V) -> bytes:
        """Return the view as one JSON object."""
        return msgspec.json.encode(view)

    def view_from_json(self, data: bytes | str) -> V:
        """Return the view that `view_to_json` wrote."""
        return cast("V", msgspec.json.decode(data, type=self.view_type))


def _restore_game(cls: type[Game[Any]], settings: dict[str, Value], files: dict[str, str]) -> Game[Any]:
    return cls.configure(settings, files)
