"""Views as numbers of a fixed count with a named layout: what a learning program gets to see."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from contextlib import suppress
from functools import cache
from itertools import chain
from operator import attrgetter
from typing import Any, Literal, NamedTuple

from harness.adapters.fields import BySeat, Kind, OutOfBounds, Range, seat_label, view_kinds
from harness.core.action import EncodingPart, Number, View
from harness.core.errors import UsageError
from harness.core.game import Game

EncodingName = Literal["auto", "compact", "generic"]

MAX_CACHED = 500
"""Values of one part whose numbers are kept. More are not found faster in random matches, and take memory."""
MANY_NUMBERS = 40
"""A part with at least this many numbers is packed by numpy, which is faster if they are whole and small."""
Pack = Callable[[Sequence[float]], Any]
Join = Callable[[Iterable[Any]], Any]


class _Known(dict[Hashable, Any]):
    """The packed numbers of each value of one part, or of one seat of it; computed when they are first looked up.

    Whether numbers are within their bounds is a law of conformance.
    """

    def __init__(self, part: EncodingPart, seat: int, pack: Pack) -> None:
        super().__init__()
        self.part, self.seat, self.pack = part, seat, pack

    def __missing__(self, value: Any) -> Any:
        part = self.part
        values = (value,) if len(part.fields) == 1 else value
        numbers = part.encode(self.seat, *values) if part.relative else part.encode(*values)
        if len(numbers) != len(part.numbers):
            wanted = len(part.numbers)
            raise UsageError(f"The part {part.name} has {wanted} numbers, and its encode made {len(numbers)}.")
        if len(self) >= MAX_CACHED:
            self.clear()
        self[value] = packed = self.pack(numbers)
        return packed


class _SeatBySeat(NamedTuple):
    """Packs fields with an item for each seat, that of the seat of the view first."""

    known: _Known
    """The packed numbers of items, whichever seat has them."""
    seat: int
    players: int
    join: Join

    def pack(self, value: Any) -> Any:
        """Return the packed numbers of all items."""
        items = value if len(self.known.part.fields) == 1 else tuple(zip(*value, strict=True))
        if len(items) != self.players:
            raise UsageError(f"The encoding is for {self.players} players, the view has {len(items)}.")
        known = self.known
        return self.join([known[item] for item in items[self.seat :] + items[: self.seat]])


class _Segment(NamedTuple):
    """Fields that are read at once: several parts of one field each, or the fields of one part."""

    read: Callable[[Any], Any]
    many: bool
    """Whether it has a value for each of several parts."""


class _Plan:
    """How the views of one seat are encoded: the fields are read, and those that have changed are looked up."""

    def __init__(self, segments: Sequence[_Segment], look_ups: Sequence[Callable[[Any], Any]]) -> None:
        self.segments, self.look_ups = segments, look_ups
        self.last: tuple[list[Any], list[Any]] = [object()] * len(look_ups), [None] * len(look_ups)
        """The values of the seat's last view, and their packed numbers. Replaced as a whole, never changed: threads
        may share an encoding."""


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
        self._lists, self._arrays = self._plans(parts, tuple, _joined_tuples), list[_Plan]()
        self._parts = parts

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
        out: list[float] = []
        for numbers in self._collect(view, self._lists):
            out += numbers
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
            self._arrays = self._plans(self._parts, _float32, b"".join)
        return bytearray().join(self._collect(view, self._arrays))

    def _plans(self, parts: Sequence[EncodingPart], pack: Pack, join: Join) -> list[_Plan]:
        """Return for each seat how its views are encoded."""
        segments = tuple(_segments(parts))
        shared = {part.name: _Known(part, 0, pack) for part in parts}
        plans = []
        for seat in range(self.players):
            look_ups: list[Callable[[Any], Any]] = []
            for part in parts:
                known = _Known(part, seat, pack) if part.relative else shared[part.name]
                by_seat = _SeatBySeat(known, seat, self.players, join)
                look_ups.append(by_seat.pack if part.by_seat else known.__getitem__)
            plans.append(_Plan(segments, look_ups))
        return plans

    def _collect(self, view: View, plans: list[_Plan]) -> list[Any]:
        """Return the packed numbers of each part. Most fields are as they were: their numbers are kept."""
        seat = view.seat
        if seat >= self.players:
            raise UsageError(f"The encoding is for {self.players} players, not for a view of seat {seat}.")
        plan, values = plans[seat], list[Any]()
        for read, many in plan.segments:
            if many:
                values += read(view)
            else:
                values.append(read(view))
        # To see that a value is the same object takes less than to hash it.
        last, kept = plan.last
        packed = [
            there if value is before else look_up(value)
            for value, before, there, look_up in zip(values, last, kept, plan.look_ups, strict=True)
        ]
        plan.last = values, packed
        return packed


def _segments(parts: Sequence[EncodingPart]) -> Iterator[_Segment]:
    """Yield what to read of a view. Fields that follow each other are read in one call, which is faster."""
    run: list[str] = []
    for part in [*parts, None]:
        if part is not None and len(part.fields) == 1:
            run += part.fields
            continue
        if run:
            yield _Segment(attrgetter(*run), len(run) > 1)
            run = []
        if part is not None:
            yield _Segment(attrgetter(*part.fields), False)


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
    # The items of other seats change rarely at the same time: each is looked up by itself.
    by_seat = isinstance(kind, BySeat) and not isinstance(kind.inner, Range)
    inner = kind.inner if isinstance(kind, BySeat) and by_seat else kind

    def encode_for(seat: int, value: Any) -> list[float]:
        out: list[float] = []
        inner.put(value, seat, out)
        return out

    def encode(value: Any) -> list[float]:
        return encode_for(0, value)

    numbers = tuple(inner.numbers("" if by_seat else name))
    return EncodingPart(name, (name,), numbers, encode_for if inner.relative else encode, inner.relative, by_seat)


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
