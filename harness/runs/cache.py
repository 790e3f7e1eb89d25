"""Cache of what was derived from the records of long runs. Safe to delete."""

from __future__ import annotations

import sys
from array import array
from collections import Counter, deque
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import msgspec
from msgspec.structs import asdict

from harness.core.errors import StoreError
from harness.core.files import UserCache
from harness.core.records import GameRecord, ReorderBuffer
from harness.runs.reader import GAMES, UNREADABLE, MatchResult, ReadCursor, ordered_results
from harness.runs.store import RunFolder

if TYPE_CHECKING:
    from hashlib import _Hash


# The state of a reducer as bytes: MessagePack and a list of classes. Unlike unpickling, reading it runs no code.


StateClasses = Mapping[type, Sequence[str]]
"""Classes that may occur in a state, and the attributes that are stored."""

MSGPACK_INT_LIMIT = 2**63
"""Integers from minus this to below it are MessagePack integers; others are stored as text."""
_PLAIN = (str, bytes, float, bool, type(None))


def pack_state(value: object, classes: StateClasses) -> bytes:
    """Return the value as bytes; raises KeyError if it contains an object of another class."""
    return msgspec.msgpack.encode(_to_plain(value, classes))


def unpack_state(data: bytes, classes: StateClasses) -> Any:
    """Return what was packed; raises ValueError if these bytes are not a packed state."""
    by_name = {cls.__name__: (cls, fields) for cls, fields in classes.items()}
    try:
        return _from_plain(msgspec.msgpack.decode(data), by_name)
    except (msgspec.MsgspecError, LookupError, TypeError, AttributeError, RecursionError) as error:
        raise ValueError(f"no packed state: {error}") from error


def _to_plain(value: Any, classes: StateClasses) -> object:
    """Return the value as MessagePack can store it: a list stands for any other type, and starts with its letter."""
    kind = type(value)
    if kind in _PLAIN:
        return value
    if kind is int:
        return value if -MSGPACK_INT_LIMIT <= value < MSGPACK_INT_LIMIT else ["i", str(value)]
    if kind in (list, tuple):
        return [kind.__name__[0], *[_to_plain(each, classes) for each in value]]
    if kind is set:  # sorted, so that equal sets give equal bytes whatever their history
        return ["s", *sorted((_to_plain(each, classes) for each in value), key=msgspec.msgpack.encode)]
    if kind in (dict, Counter):
        return [kind.__name__[0], *[_to_plain(each, classes) for pair in value.items() for each in pair]]
    if kind is deque:
        return ["q", value.maxlen, *[_to_plain(each, classes) for each in value]]
    if kind is array:
        return ["a", value.typecode, value.tobytes()]
    return ["o", kind.__name__, *[_to_plain(getattr(value, name), classes) for name in classes[kind]]]


def _from_plain(value: Any, classes: Mapping[str, tuple[type, Sequence[str]]]) -> Any:
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
        cls, fields = classes[parts[0]]
        values = [_from_plain(each, classes) for each in parts[1:]]
        if issubclass(cls, tuple):
            return cls(*values)
        made = object.__new__(cls)
        for name, each in zip(fields, values, strict=True):
            object.__setattr__(made, name, each)
        return made
    if kind == "q":
        return deque([_from_plain(each, classes) for each in parts[1:]], maxlen=parts[0])
    inside = [_from_plain(each, classes) for each in parts]
    if kind in ("d", "C"):
        pairs = dict(zip(inside[::2], inside[1::2], strict=True))
        return pairs if kind == "d" else Counter(pairs)
    return {"l": list, "t": tuple, "s": set}[kind](inside)


# The cache: states of reducers, each with the SHA-256 of the records that it was made from.
#
# It is in the user's cache folder and not in the run's: a run that is sent to others contains records, never results
# that they would have to trust. An entry is used if games.jsonl starts with exactly the bytes that it was made from and
# if the code has not changed. An entry that is damaged in any way counts as missing.


MIN_CACHED_BYTES = 16_000_000
"""Smallest games.jsonl that is worth caching: smaller ones are read in no time."""
MIN_GROWTH = 1.1
"""Factor by which a file must have grown before its entry is written again."""
ENTRIES = UserCache("runs")
MAX_ENTRIES = 40
"""Entries that are kept, newest first."""
MAX_ENTRY_BYTES = 1 << 30
"""Largest entry that is read or written; some tens of megabytes hold a million records."""
READ_BYTES = 1 << 20
DIGEST_BYTES = sha256().digest_size


class Reducer(Protocol):
    """Consumes results in the order in which they are rated; its state can be cached and resumed."""

    name: str
    """Name of its cache entries."""
    classes: StateClasses

    def add(self, record: GameRecord) -> None:
        """Add one match."""

    def state(self) -> object:
        """Return everything that `restore` needs, made of `classes`."""

    def restore(self, state: Any) -> None:
        """Continue from a state."""


class CacheEntry(msgspec.Struct, array_like=True):
    """A state, and the records that it was made from."""

    code: bytes
    """Digest of the code that made it."""
    due: int
    waiting: list[MatchResult]
    """The reorder buffer at the end of these records."""
    lines: int
    size: int
    digest: bytes
    """SHA-256 of the first `size` bytes of games.jsonl."""
    state: bytes


_decoder = msgspec.msgpack.Decoder(CacheEntry)


def replay_into(run: RunFolder, *reducers: Reducer) -> None:
    """Add all results of a run to these reducers, in the order in which they are rated; those that are cached for all
    reducers are not read again."""
    # Reducers continue from the cached state, and only lines after it are read. All of them must be at the same line.
    caching = worth_caching(run)
    cursor = (restore_states(run, reducers) if caching else None) or ReadCursor(hashed=sha256() if caching else None)
    cached = cursor.size

    def at_end(reached: ReadCursor) -> None:
        if caching and reached.size >= MIN_GROWTH * cached:
            save_states(run, reached, reducers)

    adds = [reducer.add for reducer in reducers]
    for result in ordered_results(run, cursor, at_end):
        for add in adds:
            add(result)


def save_states(run: RunFolder, cursor: ReadCursor, reducers: Sequence[Reducer]) -> None:
    """Save the states of reducers that have consumed the lines up to the cursor, if there are enough."""
    if cursor.hashed is None or cursor.size < MIN_CACHED_BYTES:
        return
    digest, waiting = cursor.hashed.digest(), [MatchResult(**asdict(each)) for each in cursor.buffer.waiting.values()]
    for reducer in reducers:
        state, due = pack_state(reducer.state(), reducer.classes), cursor.buffer.due
        entry = CacheEntry(_code_digest(), due, waiting, cursor.lines, cursor.size, digest, state)
        _write_entry(_entry_name(run, reducer.name), entry)


def worth_caching(run: RunFolder) -> bool:
    """Return whether a run is long enough, and read in schedule order."""
    try:
        return run.size() >= MIN_CACHED_BYTES and run.ordered() is None
    except OSError:
        return False


def load_cached(run: RunFolder, name: str, about: bytes = b"") -> Any:
    """Return the value that was saved for exactly these records and for what else it is `about`; None if there is
    none."""
    with suppress(OSError, ValueError, *UNREADABLE):
        entry = _read_entry(_entry_name(run, name), about) if worth_caching(run) else None
        if entry and run.size() == entry.size and _hash_start(run, entry):
            return unpack_state(entry.state, {})
    return None


def save_cached(run: RunFolder, name: str, value: object, digest: bytes, size: int, about: bytes = b"") -> None:
    """Save a value of plain types for records with this SHA-256 and size."""
    if worth_caching(run):
        entry = CacheEntry(_code_digest(about), 0, [], 0, size, digest, pack_state(value, {}))
        _write_entry(_entry_name(run, name), entry)


def _entry_name(run: RunFolder, name: str) -> str:
    return f"{sha256(bytes(run.folder.resolve())).hexdigest()[:32]}.{name}"


def restore_states(run: RunFolder, reducers: Sequence[Reducer]) -> ReadCursor | None:
    """Restore all reducers to the same point of the file and return it; None if an entry is missing or not of this
    file."""
    try:
        entries = [_read_entry(_entry_name(run, reducer.name)) for reducer in reducers]
        first = entries[0]
        if first is None or any(entry is None or entry.digest != first.digest for entry in entries):
            return None
        hashed = _hash_start(run, first)
        if hashed is None:
            return None
        states = [unpack_state(entry.state, its.classes) for entry, its in zip(entries, reducers, strict=True) if entry]
    except (OSError, ValueError, *UNREADABLE):
        return None
    # Only now: if a state cannot be decoded, no reducer has been changed.
    for reducer, state in zip(reducers, states, strict=True):
        try:
            reducer.restore(state)
        except Exception as error:  # other types than this code has written, and the reducer is half changed
            path = ENTRIES.path / _entry_name(run, reducer.name)
            path.unlink(missing_ok=True)
            raise StoreError(f"{path} was not written by arena, and was deleted; try again.") from error
    buffer = ReorderBuffer[GameRecord](first.due, {result.index: result for result in first.waiting})
    return ReadCursor(first.lines, first.size, buffer, hashed)


def _read_entry(name: str, about: bytes = b"") -> CacheEntry | None:
    """Return an entry; None if it is damaged, or if other code wrote it."""
    data = ENTRIES.read(name, MAX_ENTRY_BYTES)
    if sha256(data[:-DIGEST_BYTES]).digest() != data[-DIGEST_BYTES:]:
        return None
    entry = _decoder.decode(data[:-DIGEST_BYTES])
    sound = entry.size > 0 and entry.lines >= 0 and entry.due >= 0
    return entry if sound and entry.code == _code_digest(about) else None


def _hash_start(run: RunFolder, entry: CacheEntry) -> _Hash | None:
    """Return the hash of the start of games.jsonl if the entry was made from it, otherwise None."""
    hashed, left = sha256(), entry.size
    with run.files.open_to_read(GAMES) as file:
        while left and (chunk := file.read(min(READ_BYTES, left))):
            hashed.update(chunk)
            left -= len(chunk)
    return hashed if not left and hashed.digest() == entry.digest else None


def _write_entry(name: str, entry: CacheEntry) -> None:
    data = msgspec.msgpack.encode(entry)
    if len(data) <= MAX_ENTRY_BYTES - DIGEST_BYTES:
        ENTRIES.write(name, data + sha256(data).digest(), MAX_ENTRIES)


@cache
def _code_digest(about: bytes = b"") -> bytes:
    """Return a digest of all code and the Python version: any change of them invalidates the cache."""
    whole = sha256(sys.version.encode() + about)
    harness = Path(__file__).parents[1]
    for path in sorted(path for path in harness.rglob("*") if path.suffix in (".py", ".so", ".pyd")):
        whole.update(path.name.encode())
        whole.update(path.read_bytes())
    return whole.digest()
