"""The run folder: run.json says what was asked, games.jsonl holds a line for each match, notes.jsonl what bots noted in
it, the rest is derived."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from time import monotonic
from typing import TypeVar

import msgspec

from harness.core.errors import StoreError, UnknownName
from harness.core.format import Plan
from harness.core.notes import DecisionNotes, MatchNotes
from harness.core.types import Fault, GameRecord, Value, failures_of

RUN, GAMES, NOTES, PART = "run.json", "games.jsonl", "notes.jsonl", ".part"
SYNC_EVERY = 1.0
"""Seconds after which what was written is forced to the disk: a power cut loses no more."""
LOCK = "lock"
LOGS = "logs"
"""The folder for what bots print in processes of their own."""
LAYOUT = 2
"""2 keeps the settings of a format together in the plan; 1 had a field for each."""


class EntrantInfo(msgspec.Struct, frozen=True):
    """Which program an entrant is."""

    name: str
    spec: str
    source: str
    version: str
    digest: str = ""
    """What its source is; runs of older arenas do not know."""


class RunInfo(msgspec.Struct, frozen=True):
    """What run.json holds."""

    arena: str
    plan: Plan
    entrants: tuple[EntrantInfo, ...]
    files: dict[str, str]
    """Digest -> content of files that belong to the rules."""
    limits: dict[str, Value]
    """What bots may use, and how they are kept: the options of the command that say so."""
    command: str
    machine: dict[str, str]
    started: str
    finished: str = ""
    forced: tuple[str, ...] = ()
    """What had changed when the run was continued all the same."""
    layout: int = LAYOUT


class MatchResult(msgspec.Struct, frozen=True):
    """What a record says of a match without its actions: read five times as fast."""

    id: str
    index: int
    game: str
    seats: tuple[str, ...]
    scores: tuple[int, ...]
    ranks: tuple[int, ...]
    ending: str
    decisions: tuple[int, ...]
    time: tuple[float, ...] = ()
    slowest: tuple[float, ...] = ()
    faults: tuple[Fault, ...] = ()

    @property
    def failures(self) -> tuple[Fault, ...]:
        """What bots did wrong in this match."""
        return failures_of(self.faults)


R = TypeVar("R", GameRecord, MatchResult)

_encoder = msgspec.json.Encoder()
_record_decoder = msgspec.json.Decoder(GameRecord)
_result_decoder = msgspec.json.Decoder(MatchResult)
_notes_decoder = msgspec.json.Decoder(MatchNotes)
LISTED = 20
"""Matches that are named to somebody who asks for one that is not there."""


class RunFolder:
    """A run folder. `RunFolder.create` and `RunFolder.open` give one; records are appended as matches end."""

    def __init__(self, folder: Path, info: RunInfo) -> None:
        self.folder, self.info = folder, info
        self.warnings: list[str] = []
        self._records: RecordFile | None = None
        self._notes: RecordFile | None = None

    @classmethod
    def create(cls, folder: Path, info: RunInfo) -> RunFolder:
        """A new run folder; refuses one that exists with something in it."""
        try:
            if (folder / RUN).exists():
                raise StoreError(
                    f"{folder} holds a run already: continue it with --resume {folder}, or choose another --name."
                )
            folder.mkdir(parents=True, exist_ok=True)
            if any(
                path.name != RUN + PART for path in folder.iterdir()
            ):  # that one is left by a run killed at its start
                raise StoreError(f"{folder} is not empty and is no run folder; choose another --name.")
            run = cls(folder, info)
            run._write_info()
            (folder / GAMES).touch()
        except OSError as error:
            raise StoreError(f"Cannot write to {folder}: {error.strerror or error}.") from error
        return run

    @classmethod
    def open(cls, folder: Path) -> RunFolder:
        """An existing run folder."""
        path = folder / RUN
        try:
            info = _read_info(path.read_bytes())
        except FileNotFoundError:
            there = "has no run.json: it is not a run folder" if folder.is_dir() else "does not exist"
            raise StoreError(f"{folder} {there}.") from None
        except OSError as error:
            raise StoreError(f"Cannot read {path}: {error.strerror or error}.") from error
        except msgspec.MsgspecError as error:
            raise StoreError(f"{path} was not written by arena: {error}.") from error
        if info.layout != LAYOUT:
            raise StoreError(f"{path} has layout {info.layout}; this arena reads layouts up to {LAYOUT}.")
        return cls(folder, info)

    def _write_info(self) -> None:
        write_whole(self.folder / RUN, msgspec.json.format(_encoder.encode(self.info), indent=2) + b"\n")

    def records(self) -> Iterator[GameRecord]:
        """All records in file order. A torn last line is left out with a warning; any other bad line is an error."""
        return self._decoded(_record_decoder)

    def results(self) -> Iterator[MatchResult]:
        """The same without the actions."""
        return self._decoded(_result_decoder)

    def _decoded(self, decoder: msgspec.json.Decoder[R]) -> Iterator[R]:
        path = self.folder / GAMES
        try:
            with path.open("rb") as lines:
                for number, line in enumerate(lines, 1):
                    if not line.endswith(b"\n"):
                        self.warnings.append(f"{path}, line {number}: the last line is torn and is left out.")
                        return
                    try:
                        record = decoder.decode(line)
                    except msgspec.MsgspecError as error:
                        raise StoreError(f"{path}, line {number}, is not a record: {error}.") from error
                    if not _is_sound(record):
                        raise StoreError(f"{path}, line {number}: {record.id} does not fit its number of seats.")
                    yield record
        except FileNotFoundError:
            raise StoreError(f"{path} is missing: the run folder is damaged.") from None

    def record(self, match: str | int) -> GameRecord:
        """The record of a match, by its id or its place in the schedule."""
        ids = []
        for record in self.records():
            if str(match) in (record.id, str(record.index)):
                return record
            ids.append(record.id)
        shown = ids if len(ids) <= LISTED else [*ids[: LISTED // 2], *ids[-LISTED // 2 :]]
        raise UnknownName(f"match of {self.folder}", str(match), shown)

    def notes(self, match: str) -> tuple[DecisionNotes, ...]:
        """What bots noted in a match. Where it was played twice, for its record was lost, the last time counts."""
        path, found = self.folder / NOTES, None
        if not path.exists():
            return ()
        with path.open("rb") as lines:
            for number, line in enumerate(lines, 1):
                if not line.endswith(b"\n"):
                    break  # torn: its match has no record, and is played again
                try:
                    noted = _notes_decoder.decode(line)
                except msgspec.MsgspecError as error:
                    raise StoreError(f"{path}, line {number}, holds no notes: {error}. Take that line out.") from error
                found = noted if noted.match == match else found
        return found.notes if found else ()

    @contextmanager
    def writing(self) -> Iterator[None]:
        """While it is entered this process, and no other, appends records."""
        with lock(self.folder):
            self._records = RecordFile(self.folder / GAMES)
            self.warnings += self._records.warnings
            try:
                yield
            finally:
                for file in filter(None, (self._notes, self._records)):
                    file.close()
                self._records = self._notes = None

    def append(self, line: bytes, notes: bytes = b"") -> None:
        """Adds a record, and the notes of its match, and hands them to the system at once: they survive the death of
        this process. Notes come first: a match that is not recorded is played again, and notes are written again."""
        assert self._records is not None, "records are appended within writing()"
        if notes:
            self._open_notes().append(notes)
        self._records.append(line)

    def force(self, changes: Sequence[str]) -> None:
        """Keeps what had changed when the run was continued: its records are not all of the same bots or rules."""
        new = tuple(change for change in changes if change not in self.info.forced)
        if new:
            self.info = msgspec.structs.replace(self.info, forced=(*self.info.forced, *new))
            self._write_info()

    def _open_notes(self) -> RecordFile:
        """There is no file where no bot notes anything."""
        if self._notes is None:
            (self.folder / NOTES).touch()
            self._notes = RecordFile(self.folder / NOTES)
            self.warnings += self._notes.warnings
        return self._notes

    def finish(self, when: str) -> None:
        """Notes that the schedule is complete."""
        self.info = msgspec.structs.replace(self.info, finished=when)
        self._write_info()

    def extend(self, plan: Plan) -> None:
        """Lets the run go on by a plan that begins with what it has."""
        with lock(self.folder):
            self.info = msgspec.structs.replace(self.info, plan=plan, finished="")
            self._write_info()


def _read_info(data: bytes) -> RunInfo:
    """What run.json holds, also one of an older layout."""
    raw = msgspec.json.decode(data)
    if isinstance(raw, dict) and raw.get("layout") == 1 and isinstance(raw.get("plan"), dict):
        plan, raw = raw["plan"], {**raw, "layout": LAYOUT}
        kept = {name: plan.get(name.replace("-", "_")) for name in FORMER_SETTINGS}
        raw["plan"] = {**plan, "settings": {name: value for name, value in kept.items() if value}}
    return msgspec.convert(raw, RunInfo)


FORMER_SETTINGS = ("tables", "rounds", "until-separated", "max-matches")
"""Options of formats that layout 1 had as fields of the plan."""


def _is_sound(record: GameRecord | MatchResult) -> bool:
    """Whether everything that goes by seat is there for each seat, and for no other."""
    seats = len(record.seats)
    times = (record.time or record.seats, record.slowest or record.seats)
    by_seat = (record.scores, record.ranks, record.decisions, *times)
    return all(len(each) == seats for each in by_seat) and all(0 <= fault.seat < seats for fault in record.faults)


def write_whole(path: Path, data: bytes) -> None:
    """Writes a file so that a reader finds the old one or the new one, never half of it."""
    part = path.with_name(path.name + PART)
    with part.open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    part.replace(path)


def find(results: Path, name: str) -> Path:
    """The folder of a run given by path or by name."""
    for folder in (Path(name), results / name):
        if (folder / RUN).exists():
            return folder
    known = sorted(path.parent.name for path in results.glob(f"*/{RUN}"))
    if Path(name).exists():
        raise StoreError(f"{name} is not a run folder: it has no {RUN}.")
    listed = f" Runs in {results}: {', '.join(known)}." if known else f" There are no runs in {results}."
    raise StoreError(f"There is no run {name!r}.{listed}")


class RecordFile:
    """games.jsonl or notes.jsonl, open for appending. A torn last line is cut off when it is opened."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.warnings: list[str] = []
        try:
            self._fd = os.open(path, os.O_RDWR | os.O_APPEND | getattr(os, "O_BINARY", 0))
        except OSError as error:
            raise StoreError(f"Cannot write to {path}: {error.strerror or error}.") from error
        size = os.fstat(self._fd).st_size
        self._end = self._whole_lines(size)
        if self._end < size:
            os.ftruncate(self._fd, self._end)
            self.warnings.append(f"{path}: a torn last line of {size - self._end} bytes was dropped.")
        self._synced = monotonic()

    def _whole_lines(self, size: int) -> int:
        """Where the last complete line ends."""
        at = size
        while at > 0:
            step = min(65536, at)
            os.lseek(self._fd, at - step, os.SEEK_SET)  # appending does not look at this
            newline = os.read(self._fd, step).rfind(b"\n")
            if newline >= 0:
                return at - step + newline + 1
            at -= step
        return 0

    def append(self, line: bytes) -> None:
        """Writes a line; when that fails the file is left without it."""
        data = line + b"\n"
        try:
            written = os.write(self._fd, data)
            while written < len(data):
                written += os.write(self._fd, data[written:])
            self._end += written
            if monotonic() - self._synced > SYNC_EVERY:
                self._sync()
        except OSError as error:
            os.ftruncate(self._fd, self._end)
            raise StoreError(
                f"Cannot write to {self.path}: {error.strerror or error}. What was recorded so far is safe; "
                f"mend that and continue with --resume {self.path.parent}."
            ) from error

    def _sync(self) -> None:
        os.fsync(self._fd)
        self._synced = monotonic()
        if not _is_at(self.path, self._fd):
            raise StoreError(f"{self.path} was moved or deleted while the run was being played.")

    def close(self) -> None:
        """Forces everything to the disk and lets go of the file."""
        try:
            os.fsync(self._fd)
        finally:
            os.close(self._fd)


@contextmanager
def lock(folder: Path) -> Iterator[None]:
    """Keeps other processes from writing to a run. It is gone with this process, however that ends.

    A record lock belongs to one process: children do not inherit it, so none of them can hold it longer than we do.
    """
    try:
        import fcntl
    except ImportError:  # no such locks on this system
        yield
        return
    path = folder / LOCK
    while True:
        try:
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
        except OSError as error:
            raise StoreError(f"Cannot write to {folder}: {error.strerror or error}.") from error
        try:
            try:
                fcntl.lockf(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                owner = os.pread(descriptor, 32, 0).decode(errors="replace").strip()
                raise StoreError(f"{folder} is being written by another process ({owner or 'unknown'}).") from None
            if not _is_at(path, descriptor):
                continue  # its last owner took the file away between our opening and our locking it
            os.ftruncate(descriptor, 0)
            os.pwrite(descriptor, str(os.getpid()).encode(), 0)
            yield
            path.unlink(missing_ok=True)
            return
        finally:
            os.close(descriptor)


def _is_at(path: Path, descriptor: int) -> bool:
    """Whether the open file is the one that has this name."""
    try:
        return path.stat().st_ino == os.fstat(descriptor).st_ino
    except FileNotFoundError:
        return False
