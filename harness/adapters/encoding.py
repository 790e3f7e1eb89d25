"""Views as numbers of a fixed count with a named layout: what a learning program gets to see."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Hashable, Sequence
from functools import cache, cached_property, partial
from operator import itemgetter
from typing import Any, Literal, NamedTuple

from msgspec.structs import astuple

from harness.adapters.fields import BySeat, Items, Kind, OutOfBounds, seat_label, view_kinds
from harness.core.action import EncodingPart, Number, View
from harness.core.errors import UsageError, safe_repr
from harness.core.game import Game

EncodingName = Literal["auto", "compact", "generic"]

MAX_CACHED = 2_000
"""Values of one part, or of one item of it, whose numbers are kept. More take memory, and in random matches they are
found little more often."""
LONG_LIST = 20
"""The items of a list of at least this many numbers are compared one by one."""
Put = Callable[[Any, Any, Any], None]
"""Takes a value, what it was in the seat's last view, and the buffer to write to."""
UNSET: Any = type("_Unset", (tuple,), {})()
"""Stands for a value of the last view where there was none: the numbers are zeros. It has no items, and is not the same
object as a value without items."""


class _Form(NamedTuple):
    """How numbers are held: in lists, or as float32."""

    blank: Callable[[int], Any]
    """Makes a buffer of zeros."""
    pack: Callable[[Sequence[float]], Any]
    """Makes numbers what can be written to a slice of the buffer."""
    copier: Callable[[Any], Callable[[], Any]]
    """Takes a buffer, and returns what makes the result of it."""


class _Level(NamedTuple):
    """A value that consists of items: how many there are, and where their numbers go."""

    least: int
    most: int
    """If it is more than `least`, the number of items comes first, and zeros stand for those that are not there."""
    by_seat: bool = False
    """The items of the seats, that of the owner of the view first."""
    placed: bool = False
    """The value is a pair: the places of the items, and the items."""


class _Part(NamedTuple):
    """An `EncodingPart`, or a field of the generic encoding."""

    name: str
    fields: tuple[str, ...]
    numbers: Sequence[Number]
    levels: Sequence[_Level]
    """The value consists of items, which consist of items, and so on."""
    encoder: Callable[[int], Callable[[Any], Sequence[float]]]
    """Takes the seat of a view, and returns what encodes an item of the innermost level."""
    relative: bool
    cached: bool = True


class _Known(dict[Hashable, Any]):
    """The packed numbers of each value of one part, or of an item of it; computed when first looked up.

    Whether numbers are within their bounds is a law of conformance.
    """

    def __init__(self, part: _Part, seat: int, form: _Form) -> None:
        super().__init__()
        self.name, self.encode, self.form, self.size = part.name, part.encoder(seat), form, len(part.numbers)
        for level in part.levels:
            self.size = (self.size - (level.least < level.most)) // max(1, level.most)
        self.pack = form.pack if self.size != 1 else itemgetter(0)
        self.cached = part.cached

    def packed(self, value: Any) -> Any:
        """Return the packed numbers of a value without looking them up."""
        numbers = self.encode(value)
        if len(numbers) != self.size:
            raise UsageError(f"The part {self.name} has {self.size} numbers, and its encode made {len(numbers)}.")
        return self.pack(numbers)

    def __missing__(self, value: Any) -> Any:
        if len(self) >= MAX_CACHED:
            self.clear()
        self[value] = packed = self.packed(value)
        return packed


def _place(levels: Sequence[_Level], known: _Known, seat: int, start: int, end: int) -> tuple[Any, Any]:
    """Return where to write what `known` has for a value, and `known`; or None and a `Put`, if the value has items."""
    if not levels:
        where = start if end - start == 1 else slice(start, end)
        return (where, known) if known.cached else (None, _put_computed(known.packed, where))
    level, *inner = levels
    first = start + (level.least < level.most)
    width = (end - first) // max(1, level.most)
    starts = [first + place * width for place in range(level.most)]
    if level.by_seat:
        starts = [*starts[-seat:], *starts[:-seat]]
    places = [_place(inner, known, seat, place, place + width) for place in starts]
    zeros = known.form.pack([0] * (end - start))
    if level.placed:
        return None, _put_placed(places, slice(start, end), zeros)
    return None, _put_items(level, places, start, starts, zeros)


def _put_changed(items: Sequence[Any], before: Sequence[Any], places: Sequence[tuple[Any, Any]], buffer: Any) -> None:
    """Write the numbers of the items that are not the same objects as before, each to its place."""
    # To see that an item is the same object takes less than to hash it.
    for number, item in enumerate(items):
        if item is not before[number]:
            where, known = places[number]
            if where is None:
                known(item, before[number], buffer)
            else:
                buffer[where] = known[item]


def _put_items(
    level: _Level, places: Sequence[tuple[Any, Any]], start: int, starts: Sequence[int], zeros: Sequence[float]
) -> Put:
    least, most, end = level.least, level.most, start + len(zeros)

    def resized(value: Any, before: Any, buffer: Any) -> Any:
        """Prepare the buffer for another number of items, and return what they were."""
        count = len(value)
        if level.by_seat and count != most:
            raise UsageError(f"The encoding is for {most} players, the view has {count}.")
        if not least <= count <= most:
            raise OutOfBounds(f"there are {count} items, not {least} to {most}: {safe_repr(value)}")
        if least < most:
            buffer[start] = count
        if count < len(before):
            buffer[starts[count] : end] = zeros[: end - starts[count]]
        return (*before, *[UNSET] * (count - len(before)))

    def put(value: Any, before: Any, buffer: Any) -> None:
        if len(value) != len(before):
            before = resized(value, before, buffer)
        _put_changed(value, before, places, buffer)

    return put


def _put_placed(all_places: Sequence[tuple[Any, Any]], whole: slice, zeros: Sequence[float]) -> Put:
    def put(value: Any, before: Any, buffer: Any) -> None:
        (places, items), (old_places, old) = value, before
        if places is not old_places and places[: len(old_places)] != old_places:
            buffer[whole] = zeros
            old = ()
        if len(items) > len(old):
            old = (*old, *[UNSET] * (len(items) - len(old)))
        _put_changed(items, old, [all_places[place] for place in places], buffer)

    return put


def _put_computed(packed: Callable[[Any], Any], where: Any) -> Put:
    def put(value: Any, _before: Any, buffer: Any) -> None:
        buffer[where] = packed(value)

    return put


def _put_zipped(put: Put) -> Put:
    """Return what puts the values of several fields for each seat."""
    return lambda value, _before, buffer: put(tuple(zip(*value, strict=True)), UNSET, buffer)


class _Plan(NamedTuple):
    """How the views of one seat are encoded: the numbers of values that changed are put into the buffer of the seat's
    last view."""

    single: Sequence[tuple[Any, Any]]
    """What `_place` returns, for each value of a view."""
    joint: Sequence[tuple[Sequence[int], Callable[[Any], Any], tuple[Any, Any]]]
    """The same for parts of several fields, after the numbers of their fields, and what selects their values."""
    blank: Callable[[], tuple[Any, Callable[[], Any]]]
    """Makes a buffer and its copier."""
    kept: list[tuple[Sequence[Any], Any, Callable[[], Any]]]
    """Values, buffer and copier of the seat's last view. Threads may share an encoding: each takes them out to use
    them."""


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

    def __init__(self, game: Game[Any], players: int, name: EncodingName, parts: Sequence[_Part], scaled: bool) -> None:
        self.game, self.players, self.name, self.scaled = game, players, name, scaled
        self.numbers: tuple[Number, ...]
        """The meaning of each number, with its bounds."""
        self.slices: dict[str, slice] = {}
        """Where the numbers of each part are."""
        numbers: list[Number] = []
        for part in parts:
            start = len(numbers)
            numbers += part.numbers
            self.slices[part.name] = slice(start, len(numbers))
        self._scales = [_scale(number) for number in numbers] if scaled else []
        for place, scale in enumerate(self._scales):
            label, low, high = numbers[place]
            numbers[place] = Number(label, low / scale, high / scale)
        self.numbers = tuple(numbers)
        self.size = len(numbers)
        """How many numbers there are."""
        self._parts = parts
        names = game.view_type.__struct_fields__
        self._properties = sorted({name for part in parts for name in part.fields} - {*names})
        self._fields = [*names, *self._properties]

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
        return self._updated(view, self._arrays)

    def packed(self, view: View) -> bytearray:
        """Return the numbers of a view as the bytes of float32. It needs no other package."""
        return bytearray(array("f", self.encode(view)).tobytes())

    @cached_property
    def _lists(self) -> list[_Plan]:
        return self._plans(_Form(lambda size: [0] * size, tuple, lambda buffer: buffer.copy))

    @cached_property
    def _arrays(self) -> list[_Plan]:
        # Learned bots do without these, and do not load numpy.
        np = _numpy()
        scales = np.array(self._scales, "float32")

        def copier(buffer: Any) -> Callable[[], Any]:
            numbers = np.frombuffer(buffer, "float32")
            return partial(np.divide, numbers, scales) if self.scaled else numbers.copy

        return self._plans(_Form(lambda size: array("f", bytes(4 * size)), partial(array, "f"), copier))

    def _plans(self, form: _Form) -> list[_Plan]:
        """Return for each seat how its views are encoded."""
        shared = {part.name: _Known(part, 0, form) for part in self._parts}

        def blank() -> tuple[Any, Callable[[], Any]]:
            buffer = form.blank(self.size)
            return buffer, form.copier(buffer)

        plans = []
        for seat in range(self.players):
            single: list[tuple[Any, Any]] = [(None, _nothing)] * len(self._fields)
            joint = list[tuple[Sequence[int], Callable[[Any], Any], tuple[Any, Any]]]()
            for part in self._parts:
                places = [self._fields.index(field) for field in part.fields]
                known = _Known(part, seat, form) if part.relative else shared[part.name]
                there = self.slices[part.name]
                found = _place(part.levels, known, seat, there.start, there.stop)
                if len(places) > 1 and part.levels and not part.levels[0].placed:
                    found = None, _put_zipped(found[1])
                if len(places) > 1 or single[places[0]] != (None, _nothing):
                    joint.append((places, itemgetter(*places), found))
                else:
                    single[places[0]] = found
            plans.append(_Plan(single, joint, blank, []))
        return plans

    def _updated(self, view: View, plans: Sequence[_Plan]) -> Any:
        """Return the numbers of a view. Most values are as they were: their numbers stay."""
        try:
            single, joint, blank, kept = plans[view.seat]
        except IndexError:
            raise UsageError(f"The encoding is for {self.players} players, the view is of seat {view.seat}.") from None
        values = astuple(view)
        for name in self._properties:
            values += (getattr(view, name),)
        last: Sequence[Any]
        try:
            last, buffer, copy = kept.pop()
        except IndexError:  # the first view, another thread has it, or a value was refused
            last, (buffer, copy) = [UNSET] * len(values), blank()
        _put_changed(values, last, single, buffer)
        for fields, select, (where, known) in joint:
            for field in fields:
                if values[field] is not last[field]:
                    if where is None:
                        known(select(values), select(last), buffer)
                    else:
                        buffer[where] = known[select(values)]
                    break
        kept.append((values, buffer, copy))
        return copy()


def _nothing(_value: Any, _before: Any, _buffer: Any) -> None:
    """Ignore a field that has no numbers."""


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
    chosen = [generic[part] if isinstance(part, str) else _own_part(part, players) for part in parts]
    return Encoding(game, players, "compact", chosen, scaled)


def _generic_parts(game: Game[Any], players: int, fields: Sequence[str] | None = None) -> list[_Part]:
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


def _generic_part(name: str, kind: Kind) -> _Part:
    numbers, levels = list(kind.numbers(name)), list[_Level]()
    # The items of a short list often move up, and it does not have many values: it is looked up as a whole.
    while isinstance(kind, BySeat) or (isinstance(kind, Items) and kind.width >= LONG_LIST):
        if isinstance(kind, BySeat):
            levels.append(_Level(kind.players, kind.players, by_seat=True))
        else:
            levels.append(_Level(kind.min_length, kind.length))
        kind = kind.inner
    put = kind.put

    def encode(seat: int, value: Any) -> Sequence[float]:
        out: list[float] = []
        put(value, seat, out)
        return out

    return _Part(name, (name,), numbers, levels, partial(partial, encode), kind.relative)


def _own_part(part: EncodingPart, players: int) -> _Part:
    numbers, levels = list(part.numbers), list[_Level]()
    placed = part.items > 0 and len(part.fields) > 1
    if placed:
        levels.append(_Level(part.items, part.items, placed=True))
    if part.by_seat:
        levels.append(_Level(players, players, by_seat=True))
        seats = [seat_label(place) for place in range(players)]
        if placed:
            numbers = [each._replace(label=f"{each.label}[{seat}]") for each in numbers for seat in seats]
        else:
            numbers = [each._replace(label=f"{part.name}[{seat}]{each.label}") for seat in seats for each in numbers]
    if part.items and not placed:
        levels.append(_Level(part.items, part.items))

    def encoder(seat: int) -> Callable[[Any], Sequence[float]]:
        encode = partial(part.encode, seat) if part.relative else part.encode
        return encode if placed or len(part.fields) == 1 else lambda values: encode(*values)

    return _Part(part.name, part.fields, numbers, levels, encoder, part.relative, part.cached)


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


def _scale(number: Number) -> float:
    return max(abs(number.low), abs(number.high)) or 1.0


@cache
def _numpy() -> Any:
    # Loaded here: learned bots encode without numpy, so that they work where it is not installed.
    try:
        import numpy
    except ImportError:
        raise UsageError("Arrays need numpy: pip install 'arena-harness[learn]'. Lists do not.") from None
    return numpy
