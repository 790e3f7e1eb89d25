"""Views as numbers of a fixed count with a named layout: what a learning program gets to see."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from contextlib import suppress
from functools import cache
from operator import attrgetter
from typing import Any, Literal, NamedTuple

from harness.adapters.fields import BySeat, Kind, OutOfBounds, Range, seat_label, view_kinds
from harness.core.action import EncodingPart, Number, View
from harness.core.errors import UsageError
from harness.core.game import Game

EncodingName = Literal["auto", "compact", "generic"]

MAX_CACHED = 5_000
"""Values of one part whose numbers are kept."""
MANY_NUMBERS, MAX_BYTE = 100, 255
"""A part with at least this many numbers, all of one scale, is packed through a table if they are whole."""


class _Step(NamedTuple):
    """How the numbers of one part, or of one seat of it, are computed and kept."""

    part: EncodingPart
    known: dict[Hashable, Any]
    """Values -> numbers; shared by all seats if the numbers do not depend on the seat."""
    scales: Sequence[float] | None
    table: Any = None
    """Numpy array with the packed number for each whole number; None if the part has few numbers, or several scales."""


class _Segment(NamedTuple):
    """Fields that are read at once: several fields of one part each, the fields of a part, or those of each seat."""

    read: Callable[[Any], Any]
    many: bool
    """Whether it has a value for each of several steps."""
    by_seat: int
    """The number of fields with an item for each seat; 0 if they have none."""


class _Plan(NamedTuple):
    """How the views of one seat are encoded: the fields are read, and each value is looked up."""

    segments: tuple[_Segment, ...]
    steps: tuple[_Step, ...]
    look_ups: tuple[Callable[[Hashable], Any], ...]


class Encoding:
    """Turns the views of a game at a table of n players into numbers.

    `encoding_of` makes one. The numbers are whole unless the view has fractions, or `scaled`.

    Examples:
        >>> from harness import encoding_of, step_match
        >>> match = step_match("el-paso", [None, None], seed=7)
        >>> encoding = encoding_of(match.game, players=2)
        >>> numbers = encoding.encode(match.view(0))
        >>> encoding.slices["money"]
        slice(21, 23, None)
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
        if scaled:
            numbers = [
                Number(number.label, number.low / _scale(number), number.high / _scale(number)) for number in numbers
            ]
        self.numbers = tuple(numbers)
        self.size = len(numbers)
        """How many numbers there are."""
        self._lists, self._arrays = self._plans(parts), list[_Plan]()
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
        for numbers in self._collect(view, self._lists, tuple):
            out += numbers
        return out

    def array(self, view: View) -> Any:
        """Return the numbers of a view as a numpy array of float32."""
        return _from_bytes()(self.packed(view), "float32")

    def packed(self, view: View) -> bytearray:
        """Return the numbers of a view as the bytes of float32. It needs no other package, but is faster with numpy."""
        if not self._arrays:  # learned bots do without them, and do not load numpy
            self._arrays = self._plans(self._parts, _table)
        return bytearray().join(self._collect(view, self._arrays, _float32))

    def _plans(
        self, parts: Sequence[EncodingPart], make_table: Callable[[EncodingPart, bool], Any] = lambda *_: None
    ) -> list[_Plan]:
        """Return for each seat how its views are encoded."""
        segments = tuple(_segments(parts))
        shared = {part.name: dict[Hashable, Any]() for part in parts}
        tables = {part.name: make_table(part, self.scaled) for part in parts}
        plans = []
        for _ in range(self.players):
            steps: list[_Step] = []
            for part in parts:
                known = dict[Hashable, Any]() if part.relative else shared[part.name]
                scales = [1 / _scale(number) for number in part.numbers] if self.scaled else None
                steps += [_Step(part, known, scales, tables[part.name])] * (self.players if part.by_seat else 1)
            plans.append(_Plan(segments, tuple(steps), tuple([step.known.get for step in steps])))
        return plans

    def _collect(self, view: View, plans: list[_Plan], pack: Callable[[Iterable[float]], Any]) -> list[Any]:
        """Return the packed numbers of each part. Most fields are as they were: their numbers are looked up."""
        seat = view.seat
        if seat >= self.players:
            raise UsageError(f"The encoding is for {self.players} players, not for a view of seat {seat}.")
        plan, values = plans[seat], list[Any]()
        for read, many, by_seat in plan.segments:
            value = read(view)
            if by_seat:
                items = value if by_seat == 1 else tuple(zip(*value, strict=True))
                if len(items) != self.players:
                    raise UsageError(f"The encoding is for {self.players} players, the view has {len(items)}.")
                values += items[seat:]
                values += items[:seat]
            elif many:
                values += value
            else:
                values.append(value)
        packed = [look_up(value) for look_up, value in zip(plan.look_ups, values, strict=True)]
        if None in packed:
            for place, found in enumerate(packed):
                if found is None:
                    packed[place] = _fill(plan.steps[place], seat, values[place], pack)
        return packed


def _segments(parts: Sequence[EncodingPart]) -> Iterator[_Segment]:
    """Yield what to read of a view. Fields that follow each other are read in one call, which is faster."""
    run: list[str] = []
    for part in [*parts, None]:
        if part is not None and not part.by_seat and len(part.fields) == 1:
            run += part.fields
            continue
        if run:
            yield _Segment(attrgetter(*run), len(run) > 1, 0)
            run = []
        if part is not None:
            yield _Segment(attrgetter(*part.fields), False, len(part.fields) if part.by_seat else 0)


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


def _fill(step: _Step, seat: int, value: Any, pack: Callable[[Iterable[float]], Any]) -> Any:
    """Compute and keep the numbers of a value. Whether they are within their bounds is a law of conformance."""
    part = step.part
    values = (value,) if len(part.fields) == 1 else value
    numbers = part.encode(seat, *values) if part.relative else part.encode(*values)
    if len(numbers) != len(part.numbers):
        raise UsageError(f"The part {part.name} has {len(part.numbers)} numbers, and its encode made {len(numbers)}.")
    if len(step.known) >= MAX_CACHED:
        step.known.clear()
    if step.table is not None:
        with suppress(TypeError, ValueError):  # a number that is not whole, or out of its bounds
            whole: Any = numbers
            step.known[value] = packed = step.table.take(_from_bytes()(bytearray(whole), "uint8")).tobytes()
            return packed
    if step.scales is not None:
        numbers = [number * scale for number, scale in zip(numbers, step.scales, strict=True)]
    step.known[value] = packed = pack(numbers)
    return packed


def _table(part: EncodingPart, scaled: bool) -> Any:
    """Return the packed form of each whole number of a part, if it has many numbers of one scale."""
    scales = {_scale(number) if scaled else 1.0 for number in part.numbers}
    low, high = min(number.low for number in part.numbers), max(number.high for number in part.numbers)
    if len(part.numbers) < MANY_NUMBERS or len(scales) > 1 or low < 0 or high > MAX_BYTE:
        return None
    try:
        import numpy as np
    except ImportError:
        return None
    return np.array([value * (1 / scale) for value in range(MAX_BYTE + 1) for scale in scales], np.float32)


def _float32(numbers: Iterable[float]) -> bytes:
    return array("f", numbers).tobytes()


@cache
def _from_bytes() -> Callable[[bytearray, str], Any]:
    # Loaded here: learned bots encode without numpy, so that they work where it is not installed.
    try:
        from numpy import frombuffer
    except ImportError:
        raise UsageError("Arrays need numpy: pip install 'arena-harness[learn]'. Lists do not.") from None
    found: Callable[[bytearray, str], Any] = frombuffer
    return found
