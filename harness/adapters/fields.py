"""The allowed values of the fields of a view, read from their types, and how each value becomes numbers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from enum import Enum
from functools import cache
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

from msgspec import Meta, Struct

from harness.core.action import MARK, Number, View
from harness.core.errors import ConformanceError, safe_repr
from harness.core.game import Game


class Kind(ABC):
    """The allowed values of a field. Its numbers have the same count and order for each value."""

    relative = False
    """Whether the numbers depend on the seat that the view belongs to."""

    @abstractmethod
    def numbers(self, label: str) -> Iterator[Number]:
        """Yield what each number says."""

    @abstractmethod
    def put(self, value: Any, owner: int, out: list[float]) -> None:
        """Append the numbers of a value in a view of this seat; raise OutOfBounds if the value may not be there."""

    def missing(self, label: str) -> Iterator[str]:
        """Yield what has no bounds and so cannot be encoded."""
        yield from ()

    @property
    def width(self) -> int:
        """How many numbers there are."""
        return sum(1 for _ in self.numbers(""))


class OutOfBounds(ConformanceError):
    """A value is outside of the bounds that its type declares."""


class Range(Kind):
    """A number between bounds."""

    def __init__(self, low: float, high: float) -> None:
        self.low, self.high = low, high

    def numbers(self, label: str) -> Iterator[Number]:
        """Yield the number itself."""
        yield Number(label, self.low, self.high)

    def put(self, value: Any, owner: int, out: list[float]) -> None:
        """Append the number."""
        if not self.low <= value <= self.high:
            raise OutOfBounds(f"{safe_repr(value)} is not between {self.low} and {self.high}")
        out.append(value + 0)  # a bool becomes a number

    def put_all(self, values: Sequence[Any], out: list[float]) -> None:
        """Append several numbers: most fields are lists, and this is faster than one by one."""
        if values and not self.low <= min(values) <= max(values) <= self.high:
            raise OutOfBounds(f"not all of {safe_repr(values)} are between {self.low} and {self.high}")
        out += map(int, values) if values and type(values[0]) is bool else values


class OneOf(Kind):
    """One of several values: a number for each, 1 for the one that it is."""

    def __init__(self, values: Sequence[Any]) -> None:
        self.values = tuple(values)
        self._places = {value: place for place, value in enumerate(self.values)}

    def numbers(self, label: str) -> Iterator[Number]:
        """Yield one number for each value."""
        for value in self.values:
            yield Number(f"{label}={value.name if isinstance(value, Enum) else value}", 0, 1)

    def put(self, value: Any, owner: int, out: list[float]) -> None:
        """Append a 1 among zeros."""
        place = self._places.get(value)
        if place is None:
            raise OutOfBounds(f"{safe_repr(value)} is none of {', '.join(map(str, self.values))}")
        start = len(out)
        out += [0] * len(self.values)
        out[start + place] = 1


class SeatNumber(Kind):
    """A seat, counted from the owner of the view: a number for each, all 0 for no seat."""

    relative = True

    def __init__(self, players: int) -> None:
        self.players = players

    def numbers(self, label: str) -> Iterator[Number]:
        """Yield one number for each seat."""
        for place in range(self.players):
            yield Number(f"{label}={seat_label(place)}", 0, 1)

    def put(self, value: Any, owner: int, out: list[float]) -> None:
        """Append a 1 among zeros, or zeros."""
        start = len(out)
        out += [0] * self.players
        if 0 <= value < self.players:
            out[start + (value - owner) % self.players] = 1
        elif value != -1:
            raise OutOfBounds(f"there is no seat {safe_repr(value)}")


class OwnSeat(SeatNumber):
    """The seat of the view itself, which is not counted from anywhere."""

    def numbers(self, label: str) -> Iterator[Number]:
        """Yield one number for each seat."""
        for place in range(self.players):
            yield Number(f"{label}={place}", 0, 1)

    def put(self, value: Any, owner: int, out: list[float]) -> None:
        """Append a 1 among zeros."""
        super().put(value, 0, out)


class Maybe(Kind):
    """A value or None: 1 and the value, or zeros."""

    def __init__(self, inner: Kind) -> None:
        self.inner, self.relative = inner, inner.relative

    def numbers(self, label: str) -> Iterator[Number]:
        """Yield whether there is a value, then its numbers."""
        yield Number(f"{label}?", 0, 1)
        yield from (_with_zero(number) for number in self.inner.numbers(label))

    def put(self, value: Any, owner: int, out: list[float]) -> None:
        """Append the value, or zeros."""
        if value is None:
            out += [0] * (1 + self._inner_width)
        else:
            out.append(1)
            self.inner.put(value, owner, out)

    def missing(self, label: str) -> Iterator[str]:
        """Yield what is missing inside."""
        return self.inner.missing(label)

    @property
    def _inner_width(self) -> int:
        return width_of(self.inner)


class Items(Kind):
    """A tuple of any length up to a limit: the length, the items, and zeros for those that are not there.

    One whose length is fixed has its items only.
    """

    def __init__(self, inner: Kind, length: int, min_length: int) -> None:
        self.inner, self.length, self.min_length, self.relative = inner, length, min_length, inner.relative

    def numbers(self, label: str) -> Iterator[Number]:
        """Yield the length, then the items."""
        if self.min_length < self.length:
            yield Number(f"{label}.length", 0, self.length)
        for place in range(self.length):
            yield from (_with_zero(number) for number in self.inner.numbers(f"{label}[{place}]"))

    def put(self, value: Any, owner: int, out: list[float]) -> None:
        """Append length, items and zeros."""
        if not self.min_length <= len(value) <= self.length:
            wanted = f"{self.min_length} to {self.length}"
            raise OutOfBounds(f"there are {len(value)} items, not {wanted}: {safe_repr(value)}")
        if self.min_length < self.length:
            out.append(len(value))
        inner = self.inner
        if type(inner) is Range:
            inner.put_all(value, out)
        else:
            for item in value:
                inner.put(item, owner, out)
        if len(value) < self.length:
            out += [0] * (width_of(inner) * (self.length - len(value)))

    def missing(self, label: str) -> Iterator[str]:
        """Yield what is missing inside."""
        return self.inner.missing(f"{label}[i]")


class BySeat(Kind):
    """An item for each seat, that of the owner of the view first."""

    relative = True

    def __init__(self, inner: Kind, players: int) -> None:
        self.inner, self.players = inner, players

    def numbers(self, label: str) -> Iterator[Number]:
        """Yield the numbers of each seat."""
        for place in range(self.players):
            yield from self.inner.numbers(f"{label}[{seat_label(place)}]")

    def put(self, value: Any, owner: int, out: list[float]) -> None:
        """Append the items, rotated."""
        if len(value) != self.players:
            raise OutOfBounds(f"there are {len(value)} items for {self.players} seats: {safe_repr(value)}")
        rotated = value[owner:] + value[:owner]
        if type(self.inner) is Range:
            self.inner.put_all(rotated, out)
        else:
            for item in rotated:
                self.inner.put(item, owner, out)

    def missing(self, label: str) -> Iterator[str]:
        """Yield what is missing inside."""
        return self.inner.missing(f"{label}[seat]")


class Record(Kind):
    """A struct, a named tuple, a dataclass or a tuple of fixed length: its fields one after the other."""

    def __init__(self, names: Sequence[str], kinds: Sequence[Kind], *, by_place: bool) -> None:
        self.names, self.kinds, self.by_place = tuple(names), tuple(kinds), by_place
        self.relative = any(kind.relative for kind in kinds)

    def numbers(self, label: str) -> Iterator[Number]:
        """Yield the numbers of each field."""
        for name, kind in zip(self.names, self.kinds, strict=True):
            yield from kind.numbers(f"{label}.{name}")

    def put(self, value: Any, owner: int, out: list[float]) -> None:
        """Append the fields."""
        parts: Iterable[Any] = value if self.by_place else [getattr(value, name) for name in self.names]
        for kind, part in zip(self.kinds, parts, strict=True):
            kind.put(part, owner, out)

    def missing(self, label: str) -> Iterator[str]:
        """Yield what is missing in any field."""
        for name, kind in zip(self.names, self.kinds, strict=True):
            yield from kind.missing(f"{label}.{name}")


class Undeclared(Kind):
    """A type without bounds: conformance takes any value, and an encoding is impossible."""

    def __init__(self, wanted: str) -> None:
        self.wanted = wanted

    def numbers(self, label: str) -> Iterator[Number]:
        """Yield nothing."""
        yield from ()

    def put(self, value: Any, owner: int, out: list[float]) -> None:
        """Accept any value."""

    def missing(self, label: str) -> Iterator[str]:
        """Yield what to declare."""
        yield f"{label}: {self.wanted}"


@cache
def width_of(kind: Kind) -> int:
    """Return how many numbers a value of this kind has."""
    return kind.width


def seat_label(place: int) -> str:
    """Return the name of the seat n places after the owner of the view."""
    return f"+{place}" if place else "me"


def _with_zero(number: Number) -> Number:
    """Return the number with 0 within its bounds: it stands for what is not there."""
    return Number(number.label, min(0, number.low), max(0, number.high))


@cache
def view_kinds(game: Game[Any], players: int) -> dict[str, Kind]:
    """Return what each field of the game's views may hold at a table of n players."""
    hints = get_type_hints(game.view_type, include_extras=True)
    limits = game.view_bounds(players)
    found = {name: _kind(hints[name], players, limits) for name in game.view_type.__struct_fields__}
    return {**found, "seat": OwnSeat(players)}


def check_view(game: Game[Any], players: int, view: View) -> None:
    """Raise OutOfBounds if a field has a value that its declared type does not allow."""
    for name, kind in view_kinds(game, players).items():
        try:
            kind.put(getattr(view, name), view.seat, [])
        except (OutOfBounds, TypeError, ValueError, AttributeError) as error:
            raise OutOfBounds(f"{type(view).__name__}.{name} does not fit its type: {error}.") from error


def _kind(hint: Any, players: int, limits: Mapping[str, int]) -> Kind:
    metas: list[Meta] = []
    while get_origin(hint) is Annotated:
        hint, *marks = get_args(hint)
        metas = [*(mark for mark in marks if isinstance(mark, Meta)), *metas]
    schema = {key: value for meta in metas for key, value in (meta.extra_json_schema or {}).items()}
    origin, args = get_origin(hint), get_args(hint)
    if schema.get(MARK) == "seat":
        return SeatNumber(players)
    if "enum" in schema:
        return OneOf(schema["enum"])
    if origin is Literal:
        return OneOf(args)
    if origin in (Union, UnionType):
        inner = [arg for arg in args if arg is not NoneType]
        if len(inner) == 1 < len(args):
            return Maybe(_kind(inner[0], players, limits))
        return Undeclared("only a union with None has an encoding")
    if origin is tuple or hint is tuple:
        return _tuple_kind(args, metas, schema, players, limits)
    if isinstance(hint, type):
        return _class_kind(hint, metas, players, limits)
    return Undeclared(f"{hint} has no encoding")


def _tuple_kind(
    args: tuple[Any, ...], metas: Sequence[Meta], schema: Mapping[str, Any], players: int, limits: Mapping[str, int]
) -> Kind:
    if len(args) != 2 or args[1] is not Ellipsis:
        kinds = [_kind(arg, players, limits) for arg in args]
        return Record([str(place) for place in range(len(args))], kinds, by_place=True)
    inner = _kind(args[0], players, limits)
    if schema.get(MARK) == "per seat":
        return BySeat(inner, players)
    lengths = [_narrowed(meta.max_length, meta, limits) for meta in metas if meta.max_length is not None]
    # Without a limit, a list of seats names each seat once.
    if not lengths and isinstance(inner, SeatNumber):
        lengths = [players]
    if not lengths:
        return Undeclared("a tuple needs Meta(max_length=...)")
    return Items(inner, min(lengths), max([meta.min_length or 0 for meta in metas], default=0))


def _class_kind(hint: type, metas: Sequence[Meta], players: int, limits: Mapping[str, int]) -> Kind:
    if issubclass(hint, Enum):
        return OneOf(list(hint))
    if hint is bool:
        return Range(0, 1)
    if issubclass(hint, int | float):
        low = [meta.ge for meta in metas if meta.ge is not None]
        high = [_narrowed(meta.le, meta, limits) for meta in metas if meta.le is not None]
        if hint is int:  # "less than 6" is "at most 5"
            low += [meta.gt + 1 for meta in metas if meta.gt is not None]
            high += [_narrowed(meta.lt - 1, meta, limits) for meta in metas if meta.lt is not None]
        return Range(max(low), min(high)) if low and high else Undeclared("a number needs Meta(ge=..., le=...)")
    if hint is str:
        return Undeclared('a string needs words(...), as in Annotated[str, words("red", "blue")]')
    names: Sequence[str] | None = getattr(hint, "_fields", None)  # of a named tuple
    by_place = names is not None
    if names is not None:
        pass
    elif issubclass(hint, Struct):
        names = hint.__struct_fields__
    elif is_dataclass(hint):
        names = [field.name for field in fields(hint)]
    else:
        return Undeclared(f"{hint.__name__} has no encoding")
    hints = get_type_hints(hint, include_extras=True)
    return Record(names, [_kind(hints[name], players, limits) for name in names], by_place=by_place)


def _narrowed(bound: Any, meta: Meta, limits: Mapping[str, int]) -> Any:
    return min(bound, limits.get(meta.title or "", bound))
