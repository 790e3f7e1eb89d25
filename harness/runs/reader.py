"""Read games.jsonl: lines and their checksums, results with or without actions, in schedule order or deal by deal.

A torn last line is left out with a warning; `runs/store.py` drops it when the run is continued.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from itertools import pairwise
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar
from zlib import crc32

import msgspec

from harness.core.errors import StoreError
from harness.core.files import MAX_LINE_BYTES, Folder, cannot_read, limited_lines
from harness.core.plan import Plan
from harness.core.records import (
    SUMMED,
    GameRecord,
    Int64,
    ReorderBuffer,
    fits_seats,
    in_schedule_order,
    same_place_error,
)

if TYPE_CHECKING:
    from hashlib import _Hash

    from harness.runs.store import RunFolder

# Long work, for example reading all records. A command that shows progress follows it.


Item = TypeVar("Item")
Follower = Callable[[Iterable[Any], str, Callable[[], int]], Iterator[Any]]
_followers: list[Follower] = []


def followed(items: Iterable[Item], what: str, total: Callable[[], int]) -> Iterator[Item]:
    """Yield the items. A command that shows progress counts `what` they are, of the number that `total` returns."""
    return _followers[-1](items, what, total) if _followers else iter(items)


@contextmanager
def following(follower: Follower) -> Iterator[None]:
    """Pass the work of this process to a follower, which must yield all items."""
    _followers.append(follower)
    try:
        yield
    finally:
        _followers.remove(follower)


# A line of games.jsonl: a JSON object whose last field is the checksum of all bytes before it.


GAMES = "games.jsonl"
SUM_NAME, SUM_SIZE = len(b',"sum":"'), len(SUMMED % 0)
BUFFER_BYTES = 1 << 18
BATCH_LINES = 64
"""Lines that are decoded before the first of their records is used: doing one thing for many lines, then the next, is
faster than doing all for each line, because the processor predicts a short loop better."""
UNREADABLE = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)
"""What decoding raises if bytes were changed."""


class MatchResult(GameRecord, frozen=True, kw_only=True, gc=False, rename={"actions": "(actions are left out)"}):
    """A record without its actions, decoded in half of the time: for everything that does not replay the match."""

    # The field is renamed to a key that no line has, so the decoder skips the actions in the line.
    actions: tuple[int, ...] = ()


class LinePlace(msgspec.Struct):
    """The place of a match in the schedule, and its deal."""

    index: Int64
    seed: int = 0


_decode_record = msgspec.json.Decoder(GameRecord).decode
_decode_result = msgspec.json.Decoder(MatchResult).decode
_decode_place = msgspec.json.Decoder(LinePlace).decode
ACTIONS = b'"actions":'


class RecordLine(NamedTuple):
    """A line of games.jsonl; errors name the file and the line."""

    path: Path
    number: int
    """Counted from 1."""
    start: int
    """Offset in the file, in bytes."""
    data: bytes
    """The line without its line break."""

    @property
    def end(self) -> int:
        """Where the next line starts."""
        return self.start + len(self.data) + 1

    def record(self) -> GameRecord:
        """Return the record; raises StoreError if the line is damaged."""
        return self.decode(_decode_record)

    def result(self) -> GameRecord:
        """Return the record without its actions, which must be there; raises StoreError if the line is damaged."""
        result = self.decode(_decode_result)
        if ACTIONS not in self.data:
            raise self._no_record(ValueError("it has no actions"))
        return result

    def decode_place(self) -> LinePlace:
        """Return the place of the match without checking the rest of the line."""
        try:
            return _decode_place(self.data)
        except UNREADABLE as error:
            raise self._no_record(error) from error

    def check_sum(self) -> None:
        """Raise StoreError if the line is not as it was written."""
        if self.data.endswith(SUMMED % crc32(self.data[:-SUM_SIZE])):
            return
        there = self.data[-SUM_SIZE:].startswith(SUMMED[:SUM_NAME])
        what = "is not as it was written: its checksum does not fit" if there else "has no checksum"
        raise StoreError(
            f"{self.path}, line {self.number}, {what}. Delete that line, and its match is played again when the run is "
            f"continued."
        )

    def decode(self, decode: Callable[[bytes], GameRecord]) -> GameRecord:
        """Return what `decode` makes of the line; raises StoreError if the line is damaged."""
        self.check_sum()
        try:
            record = decode(self.data)
        except UNREADABLE as error:
            raise self._no_record(error) from error
        if not fits_seats(record):
            raise StoreError(f"{self.path}, line {self.number}: {record.id} does not fit its seats.")
        return record

    def _no_record(self, error: Exception) -> StoreError:
        return StoreError(f"{self.path}, line {self.number}, is not a record: {error}.")


def read_lines(
    folder: Folder, lines: int = 0, size: int = 0, warnings: list[str] | None = None
) -> Iterator[RecordLine]:
    """Yield the complete lines of games.jsonl after the first `lines`, which have `size` bytes.

    An incomplete last line is left out, with a sentence in `warnings`: its match was being written, or the process was
    killed, and then the match is played again.
    """
    path = folder.path / GAMES
    try:
        with folder.open_to_read(GAMES, BUFFER_BYTES) as file:
            file.seek(size)
            for number, data in enumerate(limited_lines(file), lines + 1):
                if not data.endswith(b"\n"):
                    torn = f"{path}, line {number}: the last line is torn and is left out."
                    if warnings is not None and torn not in warnings:
                        warnings.append(torn)
                    return
                yield RecordLine(path, number, size, data[:-1])
                size += len(data)
    except FileNotFoundError:
        raise StoreError(f"{path} is missing: the run folder is damaged.") from None
    except OSError as error:
        raise cannot_read(path, error) from error


def count_lines(folder: Folder, size: int = 0) -> int:
    """Return the number of complete lines of games.jsonl after its first `size` bytes; 0 if it cannot be read."""
    try:
        with folder.open_to_read(GAMES, BUFFER_BYTES) as file:
            file.seek(size)
            lines = bytes_without = 0
            # A sparse file may have terabytes of zeros: reading that line fails.
            while bytes_without <= MAX_LINE_BYTES and (chunk := file.read(BUFFER_BYTES)):
                lines += (found := chunk.count(b"\n"))
                bytes_without = 0 if found else bytes_without + len(chunk)
            return lines
    except OSError:
        return 0


class RecordDigest:
    """The digest of all records of a run: SHA-256 of the SHA-256 of each line, with its times and its checksum, in
    schedule order."""

    def __init__(self) -> None:
        self._whole, self._buffer = sha256(), ReorderBuffer[bytes]()
        self._repeated: list[bytes] = []
        """Digests of lines whose place already had a line. A complete run has none."""

    def add_line(self, index: int, line: bytes) -> None:
        """Add a line with its place in the schedule."""
        # A digest of digests: lines that come too early are held as 32 bytes each, whatever their length.
        digest = sha256(line).digest()
        ready = self._buffer.add(index, digest)
        if ready is None:  # part of the digest, so that an added copy of a record does not go unnoticed
            self._repeated.append(digest)
        else:
            self._whole.update(b"".join(ready))

    def text(self) -> str:
        """Return the digest of the lines so far."""
        whole = self._whole.copy()
        whole.update(b"".join([*self._buffer.in_order(), *sorted(self._repeated)]))
        return f"sha256:{whole.hexdigest()}"


# Order: ratings depend on the order of results, and a file has them in the order in which matches ended.
#
# Schedule order is the rule. Where matches of one deal do not follow each other in the schedule, results come deal by
# deal: a late candidate of a gauntlet plays earlier deals, and several folders may have matches of the same deals.
# Claims compare deals with deals, so all matches of a deal are rated together, at the place of its first match.


MAX_WAITING_RESULTS = 10_000
"""Results that may wait in memory for earlier ones: a deal is played in random order. If there are more, a match is
missing or the file was sorted differently, and it is read by position instead."""


@dataclass(slots=True)
class ReadCursor:
    """How far a file was read in schedule order."""

    lines: int = 0
    size: int = 0
    """Bytes of these lines."""
    buffer: ReorderBuffer[GameRecord] = field(default_factory=ReorderBuffer)
    """Results that were read and wait for earlier ones."""
    hashed: _Hash | None = None
    """SHA-256 of what was read, if it is needed."""

    def add_line(self, line: bytes) -> None:
        """Move past a line."""
        self.lines += 1
        self.size += len(line) + 1
        if self.hashed is not None:
            self.hashed.update(line)
            self.hashed.update(b"\n")


def ordered_results(
    run: RunFolder, cursor: ReadCursor | None = None, at_end: Callable[[ReadCursor], None] = lambda _cursor: None
) -> Iterator[GameRecord]:
    """Yield all results of a run in the order in which they are rated, or those after a cursor.

    `at_end` is called with the cursor at the end of the file, before results that wait for missing ones are yielded.
    Runs that are rated deal by deal are always read from the start.
    """
    # Only these runs can have matches of one deal that do not follow each other.
    if (run.merged or run.info.plan.before) and (by_deal := run.ordered()) is not None:
        yield from by_deal
        return
    cursor = cursor or ReadCursor()
    buffer = cursor.buffer
    for line in run.lines(cursor):
        result = line.result()
        cursor.add_line(line.data)
        ready = buffer.add(result.index, result)
        if ready is None:
            raise same_place_error(result)
        yield from ready
        if len(buffer.waiting) > MAX_WAITING_RESULTS:
            # Everything before `due` was yielded already; the rest is found by its position in the file.
            buffer.waiting.clear()
            for _, late in sorted_lines([run], from_place=buffer.due):
                yield late.result()
            return
    at_end(cursor)
    yield from buffer.in_order()


def sorted_lines(
    runs: Sequence[RunFolder], by_deal: bool = False, from_place: int = 0
) -> Iterator[tuple[RunFolder, RecordLine]]:
    """Yield the lines of these runs in schedule order from a place on, or deal by deal in the order of their first
    matches. Only positions are held in memory, 8 bytes for each field of a line.
    """
    folders, places, deals, starts, numbers = array("l"), array("q"), array("q"), array("q"), array("q")
    deal_numbers: dict[int, int] = {}
    firsts = array("q")
    """The place of each deal's first match, made unique by the number of its folder."""
    for folder, run in enumerate(runs):
        for line in run.lines():
            found = line.decode_place()
            place = found.index * len(runs) + folder
            deal = deal_numbers.setdefault(found.seed, len(firsts)) if by_deal else 0
            if deal == len(firsts):
                firsts.append(place)
            elif place < firsts[deal]:
                firsts[deal] = place
            values = (folder, found.index, deal, line.start, line.number)
            for column, value in zip((folders, places, deals, starts, numbers), values, strict=True):
                column.append(value)
    del deal_numbers
    order: Sequence[int] = range(len(places))
    if by_deal or any(one > other for one, other in pairwise(places)):
        order = sorted(order, key=places.__getitem__)
    if by_deal:
        order = sorted(order, key=lambda at: firsts[deals[at]])  # a stable sort: places stay in order within a deal
    last = (-1, -1)
    with ExitStack() as stack:
        paths = [run.folder / GAMES for run in runs]
        files = [stack.enter_context(run.files.open_to_read(GAMES)) for run in runs]
        for at in order:
            folder, twice = folders[at], last == (folders[at], places[at])
            last = folder, places[at]
            # A repeated place is an error even before `from_place`: the first of the two was already rated.
            if places[at] < from_place and not twice:
                continue
            files[folder].seek(starts[at])
            line = RecordLine(paths[folder], numbers[at], starts[at], files[folder].readline()[:-1])
            if twice:
                raise same_place_error(line.result())
            yield runs[folder], line


def is_rated_by_deal(plan: Plan) -> bool:
    """Return whether a bot that joined late has played earlier deals."""
    return bool(plan.before) and len(plan.candidates) > plan.before[0].candidates


def rated_order(plan: Plan, records: Iterable[GameRecord]) -> Iterator[GameRecord]:
    """Yield records of a run with this plan in the order in which they are rated."""
    if not is_rated_by_deal(plan):
        return in_schedule_order(records)
    ordered = sorted(records, key=attrgetter("index"))
    first: dict[int, int] = {}
    for record in ordered:
        first.setdefault(record.seed, record.index)
    return iter(sorted(ordered, key=lambda record: first[record.seed]))  # a stable sort, as above
