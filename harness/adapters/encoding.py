"""Views as numbers of a fixed count with a named layout: what a learning program gets to see."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Hashable, Iterable, Sequence
from contextlib import suppress
from functools import cache
from itertools import chain, repeat
from operator import attrgetter, is_
from typing import Any, Literal, NamedTuple

from harness.adapters.fields import BySeat, Fixed, Items, Kind, OutOfBounds, Range, seat_label, view_kinds
from harness.core.action import EncodingPart, Number, View
from harness.core.errors import UsageError
from harness.core.game import Game

EncodingName = Literal["auto", "compact", "generic"]

MAX_CACHED = 500
"""Values of one part, or of one item of it, whose numbers are kept. More are not found faster in random matches, and
take memory."""
MANY_NUMBERS = 40
"""A part with at least this many numbers is packed by numpy, which is faster if they are whole and small."""
Pack = Callable[[Sequence[float]], Any]
Join = Callable[[Iterable[Any]], Any]
Put = Callable[[Any, Any, Any], None]
"""Takes the value of a field or a tuple of the values of several, what it was in the seat's last view, and the buffer
to write to."""
UNSET = repeat(repeat(object()))
"""Stands for the values of the last view before there is one, and for those of each seat."""


class _Form(NamedTuple):
    """How numbers are held: in lists, or as the bytes of float32."""

    pack: Pack
    join: Join
    blank: Any
    """The buffer of one number."""


class _Known(dict[Hashable, Any]):
    """The packed numbers of each value of one part, or of one seat or item of it; computed when first looked up.

    Whether numbers are within their bounds is a law of conformance.
    """

    def __init__(self, part: EncodingPart, seat: int, pack: Pack) -> None:
        super().__init__()
        self.part, self.seat, self.pack = part, seat, pack

    def __missing__(self, value: Any) -> Any:
        part = self.part
        values = (value,) if len(part.fields) == 1 or part.split else value
        numbers = part.encode(self.seat, *values) if part.relative else part.encode(*values)
        if not part.split and len(numbers) != len(part.numbers):
            raise _wrong_count(part, len(numbers))
        if len(self) >= MAX_CACHED:
            self.clear()
        self[value] = packed = self.pack(numbers)
        return packed


def _look_up(known: _Known, form: _Form) -> Callable[[Any], Any]:
    """Return what looks up the packed numbers of a value, item by item if the part is split."""
    part, find, join, split = known.part, known.__getitem__, form.join, known.part.split
    several, size = len(part.fields) > 1, len(form.blank)
    if split is None:
        return find

    def look_up(value: Any) -> Any:
        found = join(map(find, split(*value) if several else split(value)))
        if len(found) != size * len(part.numbers):
            raise _wrong_count(part, len(found) // size)
        return found

    return look_up


def _put_into(known: _Known, form: _Form, wheres: Sequence[slice]) -> Put:
    """Return what writes one part to a buffer: where it is, or where it is for each seat."""
    look_up, several, players, where = _look_up(known, form), len(known.part.fields) > 1, len(wheres), wheres[0]

    def put_all(value: Any, before: Any, buffer: Any) -> None:
        if not (several and all(map(is_, value, before))):
            buffer[where] = look_up(value)

    def put_seats(value: Any, before: Any, buffer: Any) -> None:
        items: Sequence[Any] = tuple(zip(*value, strict=True)) if several else value
        if len(items) != players:
            raise UsageError(f"The encoding is for {players} players, the view has {len(items)}.")
        for item, old, there in zip(items, UNSET if several else before, wheres, strict=False):
            if item is not old:
                buffer[there] = look_up(item)

    return put_seats if known.part.by_seat else put_all


def _wrong_count(part: EncodingPart, count: int) -> UsageError:
    return UsageError(f"The part {part.name} has {len(part.numbers)} numbers, and its encode made {count}.")


class _Plan:
    """How the views of one seat are encoded: the fields are read, and the numbers of those that changed are put into
    the buffer of the seat's last view."""

    def __init__(self, read: Callable[[Any], Any], joint: Sequence[Callable[[Any], Any]], blank: Any) -> None:
        self.read, self.joint, self.blank = read, joint, blank
        """`read` returns a value for each part of one field, and each of `joint` the values of a part with several."""
        self.tables: list[Any] = []
        self.wheres: list[slice | None] = []
        """Where to put what the table has for a value. Most fields are so simple; None if the table is a `Put`."""
        self.kept: list[tuple[Sequence[Any], Any]] = []
        """Values and buffer of the seat's last view. Threads may share an encoding: each takes them out to use them."""


class Encoding:
    """Turns the views of a game at a table of n players into numbers.

    `encoding_of` makes one. The numbers are whole unless the view has fractions, or `scaled`.

    Examples:
        >>> from harness import encoding_of, step_match
        >>> match = step_match("el-paso", [None, None], seed=7)
        >>> encoding = encoding_of(match.game, players=2)
        >>> numbers = encoding.encode(match.view(0))
        >>> encoding.slices["money"]
        slice(25, 27, None)
        >>> [number.label for number in encoding.numbers[encoding.slices["money"]]]
        ['money[me]', 'money[+1]']
    """

    def __init__(
        self, game: Game[Any], players: int, name: EncodingName, parts: Sequence[EncodingPart], scaled: bool
    ) -> None:
        self.game, self.players, self.name, self.scaled = game, players, name, scaled
        self.numbers: tuple[Number, ...]
        """The meaning of each number, with its bounds."""
        self.slices: dict[str, slice] = {}
        """Where the numbers of each part are."""
        numbers: list[Number] = []
        for part in parts:
            start = len(numbers)
            numbers += _numbers_of(part, players)
            self.slices[part.name] = slice(start, len(numbers))
        self._scales = [_scale(number) for number in numbers] if scaled else []
        for place, scale in enumerate(self._scales):
            label, low, high = numbers[place]
            numbers[place] = Number(label, low / scale, high / scale)
        self.numbers = tuple(numbers)
        self.size = len(numbers)
        """How many numbers there are."""
        self._divisors: Any = None
        self._parts = parts
        self._lists, self._arrays = self._plans(_Form(tuple, _joined_tuples, [0])), list[_Plan]()

    def __reduce__(self) -> tuple[Any, ...]:
        return encoding_of, (self.game, self.players, self.name, self.scaled)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.game.name}, {self.players} players, {self.name}: {self.size} numbers>"

    @property
    def low(self) -> list[float]:
        """The lower bound of each number."""
        return [number.low for number in self.numbers]

    @property
    def high(self) -> list[float]:
        """The upper bound of each number."""
        return [number.high for number in self.numbers]

    def encode(self, view: View) -> list[float]:
        """Return the numbers of a view as a list. It needs no other package."""
        out: list[float] = self._updated(view, self._lists)
        if self._scales:
            return [number / scale for number, scale in zip(out, self._scales, strict=True)]
        return out

    def array(self, view: View) -> Any:
        """Return the numbers of a view as a numpy array of float32."""
        numbers = _numpy().frombuffer(self._joined(view), "float32")
        if self._scales:
            if self._divisors is None:
                self._divisors = _numpy().array(self._scales, "float32")
            numbers /= self._divisors
        return numbers

    def packed(self, view: View) -> bytearray:
        """Return the numbers of a view as the bytes of float32. It needs no other package, but is faster with numpy."""
        return bytearray(array("f", self.encode(view)).tobytes()) if self._scales else self._joined(view)

    def _joined(self, view: View) -> bytearray:
        """Return the numbers as bytes of float32, without their scale."""
        if not self._arrays:  # learned bots do without them, and do not load numpy
            self._arrays = self._plans(_Form(_float32, b"".join, bytearray(4)))
        joined: bytearray = self._updated(view, self._arrays)
        return joined

    def _plans(self, form: _Form) -> list[_Plan]:
        """Return for each seat how its views are encoded."""
        unit = len(form.blank)
        # Fields of different parts are read at once. A getter of one name would not return a tuple.
        single = [part for part in self._parts if len(part.fields) == 1]
        single = single if len(single) > 1 else []
        others = [part for part in self._parts if part not in single]
        read = attrgetter(*[part.fields[0] for part in single]) if single else _nothing
        joint = [attrgetter(*part.fields) for part in others]
        shared = {part.name: _Known(part, 0, form.pack) for part in self._parts}
        plans = []
        for seat in range(self.players):
            plan = _Plan(read, joint, form.blank * self.size)
            for part in [*single, *others]:
                start, width = self.slices[part.name].start * unit, len(part.numbers) * unit
                seats = [(other - seat) % self.players for other in range(self.players)] if part.by_seat else [0]
                wheres = [slice(start + place * width, start + (place + 1) * width) for place in seats]
                known = _Known(part, seat, form.pack) if part.relative else shared[part.name]
                plain = not (part.by_seat or part.split or len(part.fields) > 1)
                plan.tables.append(known if plain else _put_into(known, form, wheres))
                plan.wheres.append(wheres[0] if plain else None)
            plans.append(plan)
        return plans

    def _updated(self, view: View, plans: list[_Plan]) -> Any:
        """Return the buffer with the numbers of a view. Most fields are as they were: their numbers stay."""
        seat = view.seat
        if seat >= self.players:
            raise UsageError(f"The encoding is for {self.players} players, not for a view of seat {seat}.")
        plan = plans[seat]
        values = plan.read(view)
        if plan.joint:
            values += tuple([read(view) for read in plan.joint])
        last: Iterable[Any]
        try:
            last, buffer = plan.kept.pop()
        except IndexError:  # the first view, another thread has it, or a value was refused
            last, buffer = UNSET, plan.blank[:]
        # To see that a value is the same object takes less than to hash it.
        for value, before, table, where in zip(values, last, plan.tables, plan.wheres, strict=False):
            if value is not before:
                if where is not None:
                    buffer[where] = table[value]
                else:
                    table(value, before, buffer)
        plan.kept.append((values, buffer))
        return buffer[:]


def _nothing(_view: View) -> tuple[()]:
    return ()


def encoding_of(game: Game[Any], players: int, name: EncodingName = "auto", scaled: bool = False) -> Encoding:
    """Return the encoding of a game's views at a table of n players.

    `name` is "compact" for the game's own, "generic" for the one that is derived from the bounds
    of its view, and "auto" for the compact one if there is one. `scaled` divides each number by the larger of its
    bounds, so that it lies between -1 and 1.
    """
    if name not in ("auto", "compact", "generic"):
        raise UsageError(f"There is no encoding {name!r}. Choose from: auto, compact, generic.")
    if players not in range(game.min_players, game.max_players + 1):
        raise UsageError(f"{game.title} is for {game.min_players} to {game.max_players} players, not {players}.")
    return _encoding(game, players, name, scaled)


@cache
def _encoding(game: Game[Any], players: int, name: EncodingName, scaled: bool) -> Encoding:
    parts = () if name == "generic" else game.encoding(players)
    if not parts and name == "compact":
        raise UsageError(f"{game.title} has no compact encoding: use the generic one.")
    if not parts:
        return Encoding(game, players, "generic", _generic_parts(game, players), scaled)
    fields = [part for part in parts if isinstance(part, str)]
    generic = {part.name: part for part in _generic_parts(game, players, fields)}
    chosen = [generic[part] if isinstance(part, str) else part for part in parts]
    return Encoding(game, players, "compact", chosen, scaled)


def _generic_parts(game: Game[Any], players: int, fields: Sequence[str] | None = None) -> list[EncodingPart]:
    kinds = view_kinds(game, players)
    if fields is not None:
        kinds = {name: kinds[name] for name in fields}
    missing = [text for name, kind in kinds.items() for text in kind.missing(name)]
    if missing:
        raise UsageError(
            f"{game.title} has no numeric encoding, because fields of its view have no bounds "
            f"(docs/encoding.md). {'; '.join(missing)}."
        )
    return [_generic_part(name, kind) for name, kind in kinds.items()]


def _generic_part(name: str, kind: Kind) -> EncodingPart:
    by_seat = isinstance(kind, BySeat)
    inner = whole = kind.inner if isinstance(kind, BySeat) else kind
    split = None
    if isinstance(whole, Items) and not isinstance(whole.inner, Range):
        split, inner = whole.split, whole.inner

    def encode_for(seat: int, value: Any) -> Sequence[float]:
        if type(value) is Fixed:
            return value.numbers
        out: list[float] = []
        inner.put(value, seat, out)
        return out

    def encode(value: Any) -> Sequence[float]:
        return encode_for(0, value)

    numbers = tuple(whole.numbers("" if by_seat else name))
    return EncodingPart(
        name, (name,), numbers, encode_for if inner.relative else encode, inner.relative, by_seat, split
    )


def check_encoding(game: Game[Any], players: int, view: View) -> None:
    """Raise OutOfBounds if the game's compact encoding makes a number of this view that is not within its bounds."""
    if _has_compact(game, players):
        encoding = encoding_of(game, players, "compact")
        for number, found in zip(encoding.numbers, encoding.encode(view), strict=True):
            if not number.low <= found <= number.high:
                raise OutOfBounds(f"{number.label} is {found}, not between {number.low} and {number.high}.")


@cache  # a game makes its parts again each time
def _has_compact(game: Game[Any], players: int) -> bool:
    return bool(game.encoding(players))


def _numbers_of(part: EncodingPart, players: int) -> list[Number]:
    if not part.by_seat:
        return list(part.numbers)
    return [
        number._replace(label=f"{part.name}[{seat_label(place)}]{number.label}")
        for place in range(players)
        for number in part.numbers
    ]


def _scale(number: Number) -> float:
    return max(abs(number.low), abs(number.high)) or 1.0


def _joined_tuples(parts: Iterable[tuple[float, ...]]) -> tuple[float, ...]:
    return tuple(chain.from_iterable(parts))


def _float32(numbers: Sequence[float]) -> bytes:
    if len(numbers) >= MANY_NUMBERS:
        with suppress(TypeError, ValueError, UsageError):  # fractions, numbers over 255, no numpy
            whole: Any = numbers
            packed: bytes = _numpy().frombuffer(bytearray(whole), "uint8").astype("float32").tobytes()
            return packed
    return array("f", numbers).tobytes()


@cache
def _numpy() -> Any:
    # Loaded here: learned bots encode without numpy, so that they work where it is not installed.
    try:
        import numpy
    except ImportError:
        raise UsageError("Arrays need numpy: pip install 'arena-harness[learn]'. Lists do not.") from None
    return numpy
