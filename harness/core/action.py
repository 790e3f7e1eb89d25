"""Actions and views with their bounds, the data files of a game, and the features that describe how a seat stands."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, fields
from importlib import resources
from math import fsum
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, NamedTuple, Self, TypeVar
from zlib import crc32

import msgspec
from msgspec import Meta, Struct

from harness.core.errors import BadComponents, printable

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


# Views. What their fields may hold is part of their types: numbers and lengths as `Annotated[int, Meta(ge=0, le=8)]`,
# seats and texts by the names below. The JSON schema, conformance, the pages and the numeric encoding read it there.
# Views of a running match are made without checks, so bounds cost nothing.


T = TypeVar("T")

MARK = "x-arena"
"""The key, in the JSON schema of a type, for what the schema has no word for."""

Seat = Annotated[int, Meta(ge=-1, le=63, extra_json_schema={MARK: "seat"})]
"""The number of a seat; -1 for no seat. An encoding counts from the owner of the view."""
PerSeat = Annotated[tuple[T, ...], Meta(max_length=64, extra_json_schema={MARK: "per seat"})]
"""One item for each seat, as in `PerSeat[int]`. An encoding begins with the item of the owner of the view."""


def words(*values: str) -> Meta:
    """Return the bound of a string that is one of these: `Annotated[str, words("red", "blue")]`."""
    return Meta(extra_json_schema={"enum": list(values)})


class View(Struct, frozen=True):
    """Everything one seat may know, as a value. Subclasses add the fields of the game (immutable ones only)."""

    seat: Annotated[int, Meta(ge=0, le=63)]
    """The seat that this view belongs to."""
    turn: Seat
    """The seat that has to choose; -1 when the game is over."""
    phase: str
    """The kind of choice that is due."""


class Number(NamedTuple):
    """A number of an encoding: its meaning, and its bounds."""

    label: str
    """What it says."""
    low: float
    """The lowest value."""
    high: float
    """The highest value."""


class EncodingPart(NamedTuple):
    """Some neighbouring numbers of a game's encoding, and how they follow from fields of the view."""

    name: str
    """What they are called together."""
    fields: tuple[str, ...]
    """The fields of the view that the numbers depend on."""
    numbers: tuple[Number, ...]
    """What each of them says."""
    encode: Callable[..., Sequence[float]]
    """Takes the values of the fields, and returns the numbers. Equal values must give equal numbers."""
    relative: bool = False
    """Whether `encode` takes the seat of the view as well, before the values."""
    by_seat: bool = False
    """Whether the fields are `PerSeat`. Then `encode` takes the values of one seat, and the numbers come once for each
    seat, those of the owner of the view first."""
    items: int = 0
    """How many items the field (with `by_seat` that of one seat) has, if it is a tuple of always as many. Then `encode`
    takes one of them, and the numbers of all follow each other. With two fields, the first one has the number of the
    place of each item of the second, a `PerSeat` with `by_seat`; the numbers of places without an item are 0."""
    cached: bool = True
    """Whether results are kept. That costs more than it saves for long values that hardly ever come again."""


# Data files


def read_data_file(package: str, name: str) -> str:
    """Return the text of a file in an engine's `data` folder, e.g. `read_data_file("engines.el_paso",
    "el_paso.toml")`."""
    return (resources.files(package) / "data" / name).read_text(encoding="utf-8")


MAX_TOML_BYTES = 200_000
MAX_DOTS_PER_LINE = 100


def parse_toml(text: str) -> dict[str, Any]:
    """Return the data of a TOML text; raise tomllib.TOMLDecodeError for any text that is not TOML or not of a usual
    size."""
    # Loaded here: it takes 3 ms, which shells would wait for at every completion.
    import tomllib

    if len(text) > MAX_TOML_BYTES:
        raise tomllib.TOMLDecodeError(f"It is longer than {MAX_TOML_BYTES:,} characters")
    # tomllib needs minutes for a key of 50,000 parts (a.a.a...). A key ends with its line.
    for number, line in enumerate(text.split("\n"), start=1):
        if line.count(".") > MAX_DOTS_PER_LINE:
            raise tomllib.TOMLDecodeError(f"More than {MAX_DOTS_PER_LINE} dots (at line {number}, column 1)")
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise tomllib.TOMLDecodeError("It has too many brackets inside each other") from None
    except tomllib.TOMLDecodeError:
        raise
    except ValueError as error:  # a number with more digits than Python converts
        raise tomllib.TOMLDecodeError(str(error)) from error


def read_components(game: str, text: str, shape: type[T]) -> T:
    """Return the data of a TOML file as `shape`; raise BadComponents with the path of the key that does not fit.

    A components file may come from anyone: `shape` must bound every figure and every length (msgspec's `Meta`), so that
    matches end and memory suffices. A ValueError of its `__post_init__` is reported with the path, too.
    """
    try:
        data = parse_toml(text)
    except ValueError as error:
        raise BadComponents(f"{game}'s components are not TOML: {_shown(error)}.") from error
    try:
        return msgspec.convert(data, shape, str_keys=True)
    except (msgspec.ValidationError, RecursionError) as error:
        raise BadComponents(f"{game}'s components do not fit: {_shown(error)}.") from error


def _shown(error: Exception) -> str:
    """Return the message of an error, which may quote the file."""
    return printable(str(error), max_chars=300)


# Features: how a seat stands, as numbers


_TEXT_CODES = 1000
"""Texts (phases, names of cards) are hashed to this many numbers: enough that those of one game rarely collide."""


def compare_to_others(values: Sequence[float], seat: int) -> tuple[float, float, float]:
    """Return this seat's value, and its lead over the best and over the average of the other seats."""
    mine, others = values[seat], [*values[:seat], *values[seat + 1 :]] or [0.0]
    return mine, mine - max(others), mine - fsum(others) / len(others)


def ahead_of(values: Sequence[float], seat: int) -> float:
    """Return the share of the other seats with a lower value; a seat with the same value counts half."""
    mine = values[seat]
    return (fsum([(mine > other) + 0.5 * (mine == other) for other in values]) - 0.5) / max(1, len(values) - 1)


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
            row.append(fsum(_numbers(value)))
            continue
        sums = [fsum(_numbers(each)) for each in value]
        # A guess: a list of another length cannot have one item for each seat.
        for_seats = len(sums) == players
        mine = sums[seat] if for_seats else 0.0
        rest = sums[:seat] + sums[seat + 1 :] if for_seats else []
        row += [len(sums), fsum(sums), mine, max(rest, default=0.0), mine - fsum(rest) / max(1, len(rest))]
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
