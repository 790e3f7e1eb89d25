"""What was made of the records of a long run, remembered for the next time: a shortcut that nobody needs.

It lies in the reader's own cache folder, not in the run's: who sends a run sends records, and never what they come to.
A memory is used if the file begins with exactly the bytes that it was made from, by their SHA-256, and if it was made
by this very code; whatever is wrong with it, it is as if it were not there.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import cache
from hashlib import sha256
from pathlib import Path
from stat import S_ISREG
from typing import TYPE_CHECKING, Any, Protocol

import msgspec

from harness.core.types import GameRecord
from harness.runs.match_result import MatchResult
from harness.runs.plain_state import Known, packed, unpacked
from harness.runs.run_files import PART
from harness.runs.schedule_order import Mark, ordered_results
from harness.runs.store import GAMES, RunFolder

if TYPE_CHECKING:
    from hashlib import _Hash

LEAST = 16_000_000
"""Bytes of records below which reading them again takes no time."""
GROWN = 1.1
"""A run that has grown by less is not worth another memory."""
KEPT = 40
"""Memories that are kept; the oldest ones go."""
CHUNK = 1 << 20
SUM = sha256().digest_size
CODE = ("core", "match", "ratings", "runs", "schedule", "output")
"""The packages of harness that decide what is made of records."""


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


def _sources() -> Iterator[Path]:
    harness = Path(__file__).parents[1]
    for package in CODE:
        yield from sorted(path for path in (harness / package).rglob("*") if path.suffix in (".py", ".so", ".pyd"))
