"""Frozen value types that everything else passes around, and records in schedule order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from operator import itemgetter
from typing import Annotated, Final, Generic, Literal, TypeVar
from zlib import crc32

from msgspec import Meta, Struct
from msgspec.structs import replace

from harness.core.errors import StoreError

Value = str | int | bool | float
"""Types of the values of options of games, bots and formats."""

OptionKind = Literal["text", "int", "float", "bool", "file", "bot"]
Isolation = Literal["auto", "off", "on", "strict"]
"""Which bots are sandboxed: untrusted ones (auto), none, all, or all with an error if that is impossible (strict)."""
Clock = Literal["fair", "wall"]
"""How lateness is judged: see `harness.match.faults.Limits`."""
FaultKind = Literal["exception", "illegal", "timeout", "crash", "memory", "disqualified"]


class Option(Struct, frozen=True):
    """One option of a game, a bot or a format, with what it allows.

    `kind` says how a string is read: "text", "int", "float", "bool", "file" (a path whose content becomes part of the
    rules; recorded by digest, so that a run can be replayed without the file), or "bot" (the name of an installed bot,
    got with `bot_named`; "" is none).
    """

    name: str
    default: Value
    help: str
    choices: tuple[Value, ...] = ()
    kind: OptionKind = "text"
    minimum: float | None = None
    maximum: float | None = None


class Event(Struct, frozen=True):
    """Something that happened at the table, for logs and replays.

    `to` holds the seats that may know it: None is all seats, () is none (a face-down pile's order).
    """

    kind: str
    data: dict[str, object]
    to: tuple[int, ...] | None = None


class Fault(Struct, frozen=True, gc=False):
    """A failure of a bot: seat, kind, decision of the match, and its error message."""

    seat: int
    kind: FaultKind
    decision: int
    detail: str = ""
    phase: str = ""
    """What was to be chosen, in the game's word for it; empty where nothing was, or where its process died over it."""


# gc=False, here and below: these values hold no reference cycles, and with millions of them in memory the collector
# would walk through all of them again and again.
class MatchSpec(Struct, frozen=True, gc=False):
    """One match to be played; two plays of the same spec give the same record, timing aside."""

    id: str
    index: int
    """Position in the schedule; ratings are taken in this order."""
    set: str
    """The duplicate set: matches that share one deal and one table of bots."""
    game: str
    options: dict[str, Value]
    seed: int
    """The deal."""
    seats: tuple[str, ...]
    """Entrant names, seat by seat."""
    round: int = 0
    """Round of its game, from 1; a deal in formats that need no results, a unit in a comparison. 0: no schedule."""
    table: int = 0
    """Number of its duplicate set within the round, from 1. 0: no schedule."""

    @classmethod
    def single(
        cls, name: str, game: str, options: Mapping[str, Value], seed: int, seats: Sequence[str], index: int = 0
    ) -> MatchSpec:
        """Return a match outside any schedule."""
        return cls(
            id=name, index=index, set=name, game=game, options=dict(options), seed=seed, seats=tuple(seats)
        )  # fmt: skip


MAX_SEATS: Final = 64
"""Seats at a table of any game."""
# Limits for files from others: larger figures would overflow in sums and in named luck.
Int64 = Annotated[int, Meta(ge=-(2**63), le=2**63 - 1)]
Seed = Annotated[int, Meta(ge=0, le=2**63 - 1)]
Times = tuple[Annotated[float, Meta(ge=-1e9, le=1e9)], ...]
"""Seconds by seat."""


LAYOUT: Final = 3
"""Version of the layout of run.json and games.jsonl."""


class GameRecord(Struct, frozen=True, gc=False):
    """One finished match: a line of games.jsonl."""

    id: str
    index: Int64
    set: str
    game: str
    rules: str
    options: dict[str, Value]
    seed: Seed
    seats: Annotated[tuple[str, ...], Meta(max_length=MAX_SEATS)]
    scores: tuple[Int64, ...]
    ranks: tuple[int, ...]
    ending: str
    actions: tuple[int, ...]
    """Codes of all decisions in order; forced choices are left out."""
    decisions: tuple[Int64, ...]
    """Decisions made by each seat."""
    time: Times = ()
    """Seconds each seat thought in all."""
    slowest: Times = ()
    """Seconds of each seat's slowest decision."""
    faults: tuple[Fault, ...] = ()
    cpu: Times = ()
    """Seconds of processor time of each seat's processes; 0 for bots without a process, empty if all are."""
    round: Int64 = 0
    """Round and table of its `MatchSpec`."""
    table: Int64 = 0

    def has_stand_in(self, seat: int, decision: int) -> bool:
        """Return whether this decision of the seat was made at random, because its bot had failed."""
        return any(fault.seat == seat and fault.decision <= decision for fault in self.faults)

    @property
    def spec(self) -> MatchSpec:
        """The match that was played."""
        return MatchSpec(*[getattr(self, name) for name in MatchSpec.__struct_fields__])

    @property
    def failures(self) -> tuple[Fault, ...]:
        """Faults that happened in this match: a disqualification comes from earlier ones."""
        return tuple([fault for fault in self.faults if fault.kind != "disqualified"]) if self.faults else ()

    def without_timing(self) -> GameRecord:
        """Return the part that must be the same in every play of the match."""
        return replace(self, time=(), slowest=(), cpu=())


SUMMED: Final = b',"sum":"%08x"}'
"""The end of a line that has a checksum: CRC-32 of all bytes before this, in eight hexadecimal digits."""


def with_sum(line: bytes) -> bytes:
    """Return a JSON object in one line with its checksum as its last field."""
    body = line[:-1]
    return body + SUMMED % crc32(body)


def belongs_to(record: GameRecord, spec: MatchSpec) -> bool:
    """Return whether a record is of exactly this match."""
    # Field by field, the one most likely to differ first: `record.spec == spec` takes twice as long.
    return (
        record.id == spec.id
        and record.seed == spec.seed
        and record.seats == spec.seats
        and record.index == spec.index
        and record.game == spec.game
        and record.set == spec.set
        and record.options == spec.options
        and record.round == spec.round
        and record.table == spec.table
    )


def fits_seats(record: GameRecord) -> bool:
    """Return whether everything that is given by seat is there for each seat, and for no other, and a seat is first."""
    seats, ranks = len(record.seats), record.ranks
    if not len(record.scores) == len(ranks) == len(record.decisions) == seats > 0:
        return False
    fits = min(ranks) == 1 and max(ranks) <= seats
    fits = fits and {len(record.time), len(record.slowest), len(record.cpu)} <= {0, seats}
    return fits and (not record.faults or all(0 <= fault.seat < seats for fault in record.faults))


def ranks_of(scores: Sequence[int]) -> tuple[int, ...]:
    """Return the rank of each seat from the scores alone: 1 is best, equal scores share a rank."""
    best_first = sorted(scores, reverse=True)
    return tuple(best_first.index(score) + 1 for score in scores)


# Cached: the ranks of a run repeat all the time, and every match is rated by them.
@lru_cache(maxsize=100_000)
def shares_ahead(ranks: tuple[int, ...]) -> tuple[float, ...]:
    """Return for each seat the share of the other seats that it finished ahead of; a tie counts half."""
    others = max(1, len(ranks) - 1)
    return tuple((sum(rank > mine for rank in ranks) + 0.5 * (ranks.count(mine) - 1)) / others for mine in ranks)


# Results in schedule order. Matches end in any order, but ratings, digests and formats depend on the order of results.


Item = TypeVar("Item")


@dataclass(slots=True)
class ReorderBuffer(Generic[Item]):
    """Puts items that arrive in any order into the order of their places: 0, 1, 2 and so on."""

    due: int = 0
    """The next place to be passed on."""
    waiting: dict[int, Item] = field(default_factory=dict)
    """Items that arrived before an earlier one, by place; at most about as many as a deal has matches."""

    def add(self, place: int, item: Item) -> list[Item] | None:
        """Return the items that can be passed on now, in order; None if this place already had an item."""
        if place == self.due:
            self.due += 1
            return [item, *self.pop_ready()] if self.waiting else [item]
        # None, not an error: the caller knows what a second item means. For ratings it is an error, for a digest it
        # counts.
        if place < self.due or place in self.waiting:
            return None
        self.waiting[place] = item
        return []

    def pop_ready(self) -> Iterator[Item]:
        """Remove and yield the waiting items that have no gap before them."""
        while self.due in self.waiting:
            self.due += 1
            yield self.waiting.pop(self.due - 1)

    def in_order(self) -> list[Item]:
        """Return the waiting items in order, with their gaps closed."""
        return [item for _, item in sorted(self.waiting.items(), key=itemgetter(0))]


def in_schedule_order(records: Iterable[GameRecord]) -> Iterator[GameRecord]:
    """Yield records in schedule order, in which they are rated; those that wait for earlier ones lose their actions."""
    buffer = ReorderBuffer[GameRecord]()
    for record in records:
        # Only records that have to wait: the others are passed on at once and cost no memory.
        early = record.index > buffer.due and record.actions
        ready = buffer.add(record.index, replace(record, actions=()) if early else record)
        if ready is None:
            raise same_place_error(record)
        yield from ready
    yield from buffer.in_order()


def same_place_error(record: GameRecord) -> StoreError:
    """Return the error for a record that has the place of another one."""
    return StoreError(
        f"Two records, one of them {record.id}, have place {record.index} in the schedule: a match is there twice, or "
        f"there are records of another run. 'arena verify' lists the records that do not belong to the run."
    )
