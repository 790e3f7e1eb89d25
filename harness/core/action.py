"""Actions, views and what belongs to a game's description: its data files and its numeric features."""

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


# A move of a game: one interned, typed object for each code.


@dataclass(frozen=True, eq=False, slots=True)
class Action:
    """One move of a game. Interned: there is one object for each code, so `is` and `==` agree.

    Engines subclass it with typed fields (`Play(site, value)`); `kind` groups the actions of one sort.
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
    """An action as data: its code, its kind, and the fields that the game gave it, in their order."""
    own = {each.name: getattr(action, each.name) for each in fields(action) if each.name not in _BASE_FIELDS}
    return {"code": action.code, "kind": action.kind, **own}


_BASE_FIELDS = frozenset(Action.__dataclass_fields__)


# What one seat may know: the base of every game's view.


class View(Struct, frozen=True):
    """Everything one seat may know, as a value. Subclasses add the game's own fields (immutable ones only)."""

    seat: int
    """Whose view this is."""
    turn: int
    """Whose choice is awaited; -1 when the game is over."""
    phase: str
    """What kind of choice is awaited."""


# Reads a game's figures (cards, tiles, towns) from TOML into a typed value.


T = TypeVar("T")


def read_data_file(package: str, name: str) -> str:
    """The text of a data file inside an engine's own package, e.g. `bundled("engines.el_paso", "el_paso.toml")`."""
    return (resources.files(package) / "data" / name).read_text(encoding="utf-8")


def read_components(game: str, text: str, shape: type[T]) -> T:
    """The figures as `shape`; raises BadComponents with the place where they do not fit."""
    try:
        return msgspec.toml.decode(text, type=shape)
    except msgspec.ValidationError as error:
        raise BadComponents(f"{game}'s components do not fit: {error}.") from error
    except msgspec.DecodeError as error:
        raise BadComponents(f"{game}'s components are not TOML: {error}.") from error


# How a seat stands, as numbers: what can be read from the views of any game, and what games say it with.


_TEXT_CODES = 1000
"""Texts (phases, names of cards) become one of so many numbers: enough to tell those of one game apart."""


def compare_to_others(values: Sequence[float], seat: int) -> tuple[float, float, float]:
    """What this seat has of something, and how much that is more than the best and than the average of the others."""
    mine, others = values[seat], [*values[:seat], *values[seat + 1 :]] or [0.0]
    return mine, mine - max(others), mine - sum(others) / len(others)


def ahead_of(values: Sequence[float], seat: int) -> float:
    """The share of the other seats that have less of it; one that has as much is half of one."""
    mine = values[seat]
    return (sum([(mine > other) + 0.5 * (mine == other) for other in values]) - 0.5) / max(1, len(values) - 1)


def default_features(views: Sequence[Any], scores: Sequence[int]) -> list[list[float]]:
    """A row for each seat: its score beside the others', then what its view holds, field by field."""
    return [
        [len(views), *compare_to_others(scores, seat), ahead_of(scores, seat), *_view_features(view, len(views))]
        for seat, view in enumerate(views)
    ]


def _view_features(view: msgspec.Struct, players: int) -> list[float]:
    """A number for each number or text of the view; of each list its length, its sum, and what stands in it for this
    seat and for the others, if it may be one with something for each seat."""
    row: list[float] = []
    seat: int = view.seat  # type: ignore[attr-defined]  # every View has one
    for name in view.__struct_fields__:
        value = getattr(view, name)
        if not isinstance(value, list | tuple):
            row.append(sum(_numbers(value)))
            continue
        sums = [sum(_numbers(each)) for each in value]
        for_seats = len(sums) == players
        mine = sums[seat] if for_seats else 0.0
        rest = sums[:seat] + sums[seat + 1 :] if for_seats else []
        row += [len(sums), sum(sums), mine, max(rest, default=0.0), mine - sum(rest) / max(1, len(rest))]
    return row


def _numbers(value: object) -> Iterator[float]:
    """All numbers in it, texts as numbers of their own."""
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
