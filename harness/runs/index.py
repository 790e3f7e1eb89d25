"""Records in schedule order, and the cache of what was derived from them."""

from __future__ import annotations

import os
import sys
from array import array
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from functools import cache
from hashlib import sha256
from itertools import pairwise
from operator import attrgetter
from pathlib import Path
from stat import S_ISREG
from typing import TYPE_CHECKING, Annotated, Any, Protocol

import msgspec

from harness.core.errors import StoreError
from harness.core.plan import Plan
from harness.core.records import GameRecord
from harness.ratings.trueskill import duplicate_index, in_schedule_order
from harness.runs.store import GAMES, PART, UNREADABLE, MatchResult, RunFolder

if TYPE_CHECKING:
    from hashlib import _Hash


# The results of a run in the order of its schedule, in little memory whatever the order of its file.


MOST_WAITING = 10_000
"""Results that may wait for earlier ones. Workers leave a few; where more wait a match is missing, or somebody has put
the file into another order: then it is looked through for the places of all."""


@dataclass(slots=True)
class Mark:
    """How far a run has been read in the order of its schedule."""

    due: int = 0
    """The place in the schedule of the result that comes next."""
    waiting: dict[int, MatchResult] = field(default_factory=dict)
    """Those that were read and come later, by their places."""
    lines: int = 0
    """Lines of the file that were read, and their bytes."""
    size: int = 0
    hashed: _Hash | None = None
    """Takes in what is read, if anybody wants to know."""


def ordered_results(
    run: RunFolder, mark: Mark | None = None, at_end: Callable[[Mark], None] = lambda _mark: None
) -> Iterator[MatchResult]:
    """All results of a run as they are rated: in the order of the schedule, not in that in which matches ended; from a
    mark on, if one is given. `at_end` is called when the file is at its end, before those that wait for nothing. Runs
    that have an order of their own come in that, from their beginning."""
    if (run.merged or run.info.plan.before) and (own := run.ordered()) is not None:
        yield from own
        return
    mark = mark or Mark()
    waiting, due, read, hashed = mark.waiting, mark.due, run.read_result, mark.hashed
    number, size = mark.lines, mark.size
    for number, line in run.lines(mark.lines, mark.size):
        result = read(number, line)
        size += len(line) + 1
        if hashed is not None:
            hashed.update(line)
            hashed.update(b"\n")
        index = result.index
        if index == due:
            yield result
            due += 1
            while waiting and due in waiting:
                yield waiting.pop(due)
                due += 1
            continue
        if index < due or index in waiting:
            raise duplicate_index(result)
        waiting[index] = result
        if len(waiting) > MOST_WAITING:
            waiting.clear()
            yield from _by_place(run, due)
            return
    mark.due, mark.lines, mark.size = due, number, size
    at_end(mark)
    for index in sorted(waiting):
        yield waiting[index]


def _by_place(run: RunFolder, due: int) -> Iterator[MatchResult]:
    """The results from a place of the schedule on, read where they stand in the file."""
    places, starts = array("q"), array("q", [0])
    for _, index, line in run.places():
        places.append(index)
        starts.append(starts[-1] + len(line) + 1)
    numbers = range(len(places))
    in_order = all(one < other for one, other in pairwise(places))
    order = numbers if in_order else sorted(numbers, key=places.__getitem__)
    last = -1
    with (run.folder / GAMES).open("rb") as file:
        for number in order:
            twice, last = places[number] == last, places[number]
            if last < due and not twice:
                continue
            file.seek(starts[number])
            result = run.read_result(number + 1, file.readline()[:-1])
            if twice:
                raise duplicate_index(result)
            yield result


# Results deal by deal, where the matches of one deal do not follow each other.
#
# A late candidate of a gauntlet plays the deals of before, and several folders may hold matches of the same deals.
# Claims compare deals with deals, so all matches of a deal are rated together, where its first one stands.


class _DealPlace(msgspec.Struct):
    index: Annotated[int, msgspec.Meta(ge=0, le=2**50)]
    seed: int


def deals_come_again(plan: Plan) -> bool:
    """Whether deals that were over have been played again by whoever came late."""
    return bool(plan.before) and len(plan.candidates) > plan.before[0].candidates


def rated_order(plan: Plan, records: Iterable[GameRecord]) -> Iterator[GameRecord]:
    """Records of a run with this plan in the order in which they are rated."""
    if not deals_come_again(plan):
        return in_schedule_order(records)
    ordered = sorted(records, key=attrgetter("index"))
    first: dict[int, int] = {}
    for record in ordered:
        first.setdefault(record.seed, record.index)
    return iter(sorted(ordered, key=lambda record: first[record.seed]))  # which keeps the order within a deal


def lines_by_deal(runs: Sequence[RunFolder]) -> Iterator[tuple[RunFolder, int, bytes]]:
    """The lines of these folders with their numbers, deal by deal: the deal that comes first in a schedule first, and
    in each deal in the order of the schedule. Memory is needed for their places, not for themselves."""
    whose, places, deals, starts, numbers = array("l"), array("q"), array("q"), array("q"), array("q")
    known: dict[int, int] = {}
    first = array("q")
    """The place of each deal's first match in its schedule, and in which of the folders."""
    decode = msgspec.json.Decoder(_DealPlace).decode
    for folder, run in enumerate(runs):
        start = 0
        for number, line in run.lines():
            try:
                found = decode(line)
            except UNREADABLE as error:
                raise StoreError(f"{run.folder / GAMES}, line {number}, is not a record: {error}.") from error
            place = found.index * len(runs) + folder
            deal = known.setdefault(found.seed, len(first))
            if deal == len(first):
                first.append(place)
            elif place < first[deal]:
                first[deal] = place
            for into, value in ((whose, folder), (places, found.index), (deals, deal), (starts, start)):
                into.append(value)
            numbers.append(number)
            start += len(line) + 1
    del known
    order = list(range(len(places)))
    for key in (places.__getitem__, lambda at: first[deals[at]]):  # the first stays the order within what is equal
        order.sort(key=key)
    last = (-1, -1)
    with ExitStack() as stack:
        files = [stack.enter_context((run.folder / GAMES).open("rb")) for run in runs]
        for at in order:
            files[whose[at]].seek(starts[at])
            run, line = runs[whose[at]], files[whose[at]].readline()[:-1]
            if last == (last := (whose[at], places[at])):
                raise duplicate_index(run.read_result(numbers[at], line))
            yield run, numbers[at], line


# Objects of known classes as bytes, and back: MessagePack and a list of classes, so that reading runs no code.


Known = Mapping[type, Sequence[str]]
"""Classes, and what of their objects is kept."""

SMALL = 2**63
"""Whole numbers from minus this to below it are MessagePack's own."""
_PLAIN = (str, bytes, float, bool, type(None))


def packed(value: object, known: Known) -> bytes:
    """The value as bytes; TypeError if something in it is of no known class."""
    return msgspec.msgpack.encode(_packed(value, known))


def unpacked(data: bytes, known: Known) -> Any:
    """What was packed; ValueError if these are no such bytes."""
    by_name = {cls.__name__: (cls, fields) for cls, fields in known.items()}
    try:
        return _unpacked(msgspec.msgpack.decode(data), by_name)
    except (msgspec.MsgspecError, LookupError, TypeError, AttributeError, RecursionError) as error:
        raise ValueError(f"no packed state: {error}") from error


def _packed(value: Any, known: Known) -> object:
    """Lists are what MessagePack has no word for, with a letter that says what it is."""
    kind = type(value)
    if kind in _PLAIN:
        return value
    if kind is int:
        return value if -SMALL <= value < SMALL else ["i", str(value)]
    if kind in (list, tuple):
        return [kind.__name__[0], *[_packed(each, known) for each in value]]
    if kind is set:  # in an order of its own: equal states are equal bytes, in whatever order they grew
        return ["s", *sorted((_packed(each, known) for each in value), key=msgspec.msgpack.encode)]
    if kind in (dict, Counter):
        return [kind.__name__[0], *[_packed(each, known) for pair in value.items() for each in pair]]
    if kind is deque:
        return ["q", value.maxlen, *[_packed(each, known) for each in value]]
    if kind is array:
        return ["a", value.typecode, value.tobytes()]
    return ["o", kind.__name__, *[_packed(getattr(value, name), known) for name in known[kind]]]


def _unpacked(value: Any, known: Mapping[str, tuple[type, Sequence[str]]]) -> Any:
    if type(value) is not list:
        return value
    kind, *parts = value
    if kind == "i":
        return int(parts[0])
    if kind == "a":
        found = array(parts[0])
        found.frombytes(parts[1])
        return found
    if kind == "o":
        cls, fields = known[parts[0]]
        values = [_unpacked(each, known) for each in parts[1:]]
        if issubclass(cls, tuple):
            return cls(*values)
        made = object.__new__(cls)
        for name, each in zip(fields, values, strict=True):
            object.__setattr__(made, name, each)
        return made
    if kind == "q":
        return deque([_unpacked(each, known) for each in parts[1:]], maxlen=parts[0])
    inside = [_unpacked(each, known) for each in parts]
    if kind in ("d", "C"):
        pairs = dict(zip(inside[::2], inside[1::2], strict=True))
        return pairs if kind == "d" else Counter(pairs)
    return {"l": list, "t": tuple, "s": set}[kind](inside)


# What was made of the records of a long run, remembered for the next time: a shortcut that nobody needs.
#
# It lies in the reader's own cache folder, not in the run's: who sends a run sends records, and never what they come
# to. A memory is used if the file begins with exactly the bytes that it was made from, by their SHA-256, and if it
# was made by this very code; whatever is wrong with it, it is as if it were not there.


LEAST = 16_000_000
"""Bytes of records below which reading them again takes no time."""
GROWN = 1.1
"""A run that has grown by less is not worth another memory."""
KEPT = 40
"""Memories that are kept; the oldest ones go."""
CHUNK = 1 << 20
SUM = sha256().digest_size


class Gathering(Protocol):
    """What takes in results in the order of the schedule, and can be kept."""

    name: str
    known: Known

    def add(self, record: GameRecord) -> None:
        """Takes in one match."""

    def state(self) -> object:
        """All of it, made of `known` classes."""

    def restore(self, state: Any) -> None:
        """Puts it back to where `state` was taken."""


class _Memory(msgspec.Struct, array_like=True):
    code: bytes
    due: int
    waiting: list[MatchResult]
    lines: int
    size: int
    digest: bytes
    """SHA-256 of the first `size` bytes of games.jsonl."""
    state: bytes


_decoder = msgspec.msgpack.Decoder(_Memory)


def feed(run: RunFolder, *gatherings: Gathering) -> None:
    """Feeds all results of a run, in the order of its schedule, to each of these; those that all of them remember are
    not read again."""
    keep = is_long(run)
    mark = (_recalled(run, gatherings) if keep else None) or Mark(hashed=sha256() if keep else None)
    known = mark.size

    def at_end(reached: Mark) -> None:
        if keep and reached.size >= max(LEAST, GROWN * known):
            _remember(run, reached, gatherings)

    adds = [gathering.add for gathering in gatherings]
    for result in ordered_results(run, mark, at_end):
        for add in adds:
            add(result)


def is_long(run: RunFolder) -> bool:
    """Whether what is made of a run is worth remembering."""
    try:
        return (run.folder / GAMES).stat().st_size >= LEAST and run.ordered() is None
    except OSError:
        return False


def recall(run: RunFolder, name: str, about: bytes = b"") -> Any:
    """What was remembered of exactly this file of records, and of whatever else it is `about`; None if nothing was."""
    with suppress(OSError, ValueError, msgspec.MsgspecError):
        memory = _read(_place(run, name), about) if is_long(run) else None
        if memory and (run.folder / GAMES).stat().st_size == memory.size and _begins_with(run, memory):
            return unpacked(memory.state, {})
    return None


def remember(run: RunFolder, name: str, state: object, digest: bytes, size: int, about: bytes = b"") -> None:
    """Remembers something of a file of records with this SHA-256 and size: what MessagePack has words for."""
    if is_long(run):
        _write(_place(run, name), _Memory(_code(about), 0, [], 0, size, digest, packed(state, {})))


def cache_folder() -> Path:
    """Where memories are kept; nowhere if there is no home."""
    try:
        return Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser() / "arena" / "runs"
    except RuntimeError:
        return Path(os.devnull) / "arena"


def _place(run: RunFolder, name: str) -> Path:
    """The file for what is remembered of a run under this name."""
    return cache_folder() / f"{sha256(bytes(run.folder.resolve())).hexdigest()[:32]}.{name}"


def _recalled(run: RunFolder, gatherings: Sequence[Gathering]) -> Mark | None:
    """How far all memories go, with everything put back to there; None if they are not there, or not of this file."""
    try:
        memories = [_read(_place(run, gathering.name)) for gathering in gatherings]
        first = memories[0]
        if first is None or any(one is None or one.digest != first.digest for one in memories):
            return None
        hashed = _begins_with(run, first)
        if hashed is None:
            return None
        states = [unpacked(one.state, its.known) for one, its in zip(memories, gatherings, strict=True) if one]
    except (OSError, ValueError, msgspec.MsgspecError):
        return None
    for gathering, state in zip(gatherings, states, strict=True):
        gathering.restore(state)
    waiting = {result.index: result for result in first.waiting}
    return Mark(first.due, waiting, first.lines, first.size, hashed)


def _read(path: Path, about: bytes = b"") -> _Memory | None:
    """A memory that this user and this code have written whole."""
    with os.fdopen(os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0)), "rb") as file:  # a pipe would wait
        found = os.fstat(file.fileno())
        ours = not hasattr(os, "geteuid") or (found.st_uid == os.geteuid() and not found.st_mode & 0o022)
        if not S_ISREG(found.st_mode) or not ours:
            return None
        data = file.read()
    if sha256(data[:-SUM]).digest() != data[-SUM:]:
        return None
    memory = _decoder.decode(data[:-SUM])
    return memory if memory.code == _code(about) else None


def _begins_with(run: RunFolder, memory: _Memory) -> _Hash | None:
    """What the records begin with, hashed, if it is what the memory was made from."""
    hashed, left = sha256(), memory.size
    with (run.folder / GAMES).open("rb") as file:
        while left and (chunk := file.read(min(CHUNK, left))):
            hashed.update(chunk)
            left -= len(chunk)
    return hashed if not left and hashed.digest() == memory.digest else None


def _remember(run: RunFolder, mark: Mark, gatherings: Sequence[Gathering]) -> None:
    assert mark.hashed is not None
    digest, waiting = mark.hashed.digest(), list(mark.waiting.values())
    for gathering in gatherings:
        state = packed(gathering.state(), gathering.known)
        memory = _Memory(_code(), mark.due, waiting, mark.lines, mark.size, digest, state)
        _write(_place(run, gathering.name), memory)


def _write(path: Path, memory: _Memory) -> None:
    data = msgspec.msgpack.encode(memory)
    with suppress(OSError):  # no room, no home, no right to write: then it is read again the next time
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        part = path.with_name(f"{path.name}.{os.getpid()}{PART}")
        part.unlink(missing_ok=True)
        with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(data)
            file.write(sha256(data).digest())
        part.replace(path)
        for old in sorted(path.parent.iterdir(), key=_age)[:-KEPT]:
            old.unlink(missing_ok=True)


def _age(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:  # another process has taken it away
        return 0.0


@cache
def _code(about: bytes = b"") -> bytes:
    """Which code makes something of records: whoever changes it, or another Python, remembers nothing."""
    whole = sha256(sys.version.encode() + about)
    for path in _sources():
        whole.update(path.name.encode())
        whole.update(path.read_bytes())
    return whole.digest()


def _sources() -> list[Path]:
    harness = Path(__file__).parents[1]
    return sorted(path for path in harness.rglob("*") if path.suffix in (".py", ".so", ".pyd"))
