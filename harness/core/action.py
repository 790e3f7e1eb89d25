"""Actions and views, the data files of a game, and the features that describe how a seat stands."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, fields
from importlib import resources
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeVar
from zlib import crc32

import msgspec
from msgspec import Struct

from harness.core.errors import BadComponents

if TYPE_CHECKING:
    from harness.core.game import Game


# Actions


@dataclass(frozen=True, eq=False, slots=True)
class Action:
    """One move of a game. Interned: there is one object for each code, so `is` and `==` agree.

    Engines subclass it with typed fields (`Play(site, value)`); `kind` groups actions of the same type.
    """

    kind: ClassVar[str] = ""

    game: Game[Any] = field(repr=False)
    code: int
    text: str

    def __str__(self) -> str:
        return self.text

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, _memo: object) -> Self:
        return self

    def __reduce__(self) -> tuple[Any, tuple[Game[Any], int]]:
        return _restore_action, (self.game, self.code)


def _restore_action(game: Game[Any], code: int) -> Action:
    return game.actions[code]


def action_fields(action: Action) -> dict[str, Any]:
    """Return an action as data: its code, its kind, and the fields that the game added, in their order."""
    own = {each.name: getattr(action, each.name) for each in fields(action) if each.name not in _BASE_FIELDS}
    return {"code": action.code, "kind": action.kind, **own}


_BASE_FIELDS = frozenset(Action.__dataclass_fields__)


# Views


class View(Struct, frozen=True):
    """Everything one seat may know, as a value. Subclasses add the fields of the game (immutable ones only)."""

    seat: int
    """The seat that this view belongs to."""
    turn: int
    """The seat that has to choose; -1 when the game is over."""
    phase: str
    """The kind of choice that is due."""


# Data files


T = TypeVar("T")


def read_data_file(package: str, name: str) -> str:
    """Return the text of a file in an engine's `data` folder, e.g. `read_data_file("engines.el_paso",
    "el_paso.toml")`."""
    return (resources.files(package) / "data" / name).read_text(encoding="utf-8")


def read_components(game: str, text: str, shape: type[T]) -> T:
    """Return the data of a TOML file as `shape`; raise BadComponents with the position of what does not fit."""
    try:
        return msgspec.toml.decode(text, type=shape)
    except msgspec.ValidationError as error:
        raise BadComponents(f"{game}'s components do not fit: {error}.") from error
    except msgspec.DecodeError as error:
        raise BadComponents(f"{game}'s components are not TOML: {error}.") from error


# Features: how a seat stands, as numbers


_TEXT_CODES = 1000
"""Texts (phases, names of cards) are hashed to this many numbers: enough that those of one game rarely collide."""


def compare_to_others(values: Sequence[float], seat: int) -> tuple[float, float, float]:
    """Return this seat's value, and its lead over the best and over the average of the other seats."""
    mine, others = values[seat], [*values[:seat], *values[seat + 1 :]] or [0.0]
    return mine, mine - max(others), mine - sum(others) / len(others)


def ahead_of(values: Sequence[float], seat: int) -> float:
    """Return the share of the other seats with a lower value; a seat with the same value counts half."""
    mine = values[seat]
    return (sum([(mine > other) + 0.5 * (mine == other) for other in values]) - 0.5) / max(1, len(values) - 1)


def default_features(views: Sequence[Any], scores: Sequence[int]) -> list[list[float]]:
    """Return a row for each seat: its score compared to the others, then the fields of its view."""
    return [
        [len(views), *compare_to_others(scores, seat), ahead_of(scores, seat), *_view_features(view, len(views))]
        for seat, view in enumerate(views)
    ]


def _view_features(view: msgspec.Struct, players: int) -> list[float]:
    """Return a number for each number or text of the view, and five for each list: length, sum, and, if it may have one
    item for each seat, the seat's own and how that compares to the others."""
    row: list[float] = []
    seat: int = view.seat  # type: ignore[attr-defined]  # every View has one
    for name in view.__struct_fields__:
        value = getattr(view, name)
        if not isinstance(value, list | tuple):
            row.append(sum(_numbers(value)))
            continue
        sums = [sum(_numbers(each)) for each in value]
        # A guess: a list of another length cannot have one item for each seat.
        for_seats = len(sums) == players
        mine = sums[seat] if for_seats else 0.0
        rest = sums[:seat] + sums[seat + 1 :] if for_seats else []
        row += [len(sums), sum(sums), mine, max(rest, default=0.0), mine - sum(rest) / max(1, len(rest))]
    return row


def _numbers(value: object) -> Iterator[float]:
    """Yield all numbers in a value; texts are hashed."""
    if isinstance(value, bool | int | float):
        yield float(value)
    elif isinstance(value, str):
        yield float(crc32(value.encode()) % _TEXT_CODES)
    elif isinstance(value, list | tuple | set | frozenset):
        for each in value:
            yield from _numbers(each)
    elif isinstance(value, dict):
        for key, each in value.items():
            yield from _numbers(key)
            yield from _numbers(each)
    elif isinstance(value, msgspec.Struct):
        for name in value.__struct_fields__:
            yield from _numbers(getattr(value, name))
