"""The run folder: run.json, games.jsonl with checksums, and the lock for one writer at a time.

A torn last line, left by a process that was killed, is dropped when the file is opened for writing (`RecordFile`).
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from hashlib import sha256
from itertools import islice
from os import SEEK_END
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING

import msgspec

from harness.core.bot import DecisionNotes, MatchNotes
from harness.core.errors import StoreError, UnknownName, UsageError
from harness.core.files import (
    MAX_DATA_BYTES,
    MAX_LINE_BYTES,
    MAX_TEXT_BYTES,
    PART,
    Folder,
    cannot_read,
    cannot_write,
    limited_lines,
    line_too_long,
    write_whole,
)
from harness.core.plan import LEAGUE, Plan
from harness.core.records import LAYOUT, GameRecord, Value, with_sum
from harness.executors.base import Played
from harness.plugins.entrants import BotInfo
from harness.runs.reader import (
    BATCH_LINES,
    GAMES,
    UNREADABLE,
    ReadCursor,
    RecordDigest,
    RecordLine,
    count_lines,
    followed,
    is_rated_by_deal,
    read_lines,
    sorted_lines,
)

# Files that survive a crash: replaced atomically, or appended to line by line by one process at a time.


LOCK = "lock"
MAX_LOCK_BYTES = 20
"""A lock file has the id of the process that holds it."""
SYNC_EVERY = 1.0
"""Interval between two calls of fsync: a power failure loses at most this much."""


def digest_of_file(folder: Folder, name: str) -> str:
    """Return the digest of a file, "" if it does not exist; raises StoreError if it is not a regular file."""
    whole = sha256()
    try:
        with folder.open_to_read(name) as file:
            # A file of records may have any size, but then it has lines: one that has none may be a huge hole.
            has_lines = os.fstat(file.fileno()).st_size > MAX_DATA_BYTES
            for chunk in limited_lines(file) if has_lines else iter(lambda: file.read(1 << 18), b""):
                whole.update(chunk)
    except FileNotFoundError:
        return ""
    except OSError as error:
        raise cannot_read(folder.path / name, error) from error
    return f"sha256:{whole.hexdigest()}"


def stopped_error(folder: Path, error: StoreError) -> StoreError:
    """Return the error for a run, or a league, that cannot be written further, from that of the file."""
    why = f"{error} What was recorded so far is safe."
    for league in (folder, folder.parent.parent):  # an era of a league is two levels below it
        if (league / "journal.jsonl").exists():
            return StoreError(why, fix="resume-league", league=str(league))
    return StoreError(why, fix="resume-folder", folder=str(folder))


class RecordFile:
    """games.jsonl or notes.jsonl, open for appending. An incomplete last line is removed when it is opened."""

    def __init__(self, folder: Folder, name: str, summed: bool = False, create: bool = False) -> None:
        """With `summed`, each line gets a checksum."""
        self.path, self.summed, self._folder = folder.path / name, summed, folder
        self.warnings: list[str] = []
        try:
            self._fd = folder.open_to_append(name, create)
            # A killed process may have left an incomplete line, and the next line would be appended to it.
            size = os.fstat(self._fd).st_size
            self._end = self._whole_lines(size)
        except OSError as error:
            raise cannot_write(self.path, error) from error
        if self._end < size:
            os.ftruncate(self._fd, self._end)
            self.warnings.append(f"{self.path}: a torn last line of {size - self._end} bytes was dropped.")
        self._synced = monotonic()

    def _whole_lines(self, size: int) -> int:
        """Return where the last complete line ends."""
        at = size
        while at > 0:
            if size - at > MAX_LINE_BYTES:
                raise line_too_long()
            step = min(65536, at)
            os.lseek(self._fd, at - step, os.SEEK_SET)  # O_APPEND writes at the end whatever the offset
            newline = os.read(self._fd, step).rfind(b"\n")
            if newline >= 0:
                return at - step + newline + 1
            at -= step
        return 0

    def append(self, lines: Sequence[bytes]) -> Sequence[bytes]:
        """Append these lines and return them as they were written; if that fails, the file is left without them."""
        lines = list(map(with_sum, lines)) if self.summed else lines
        data = b"\n".join([*lines, b""])
        try:
            # One call as a rule: a reader, or a crash, finds whole lines and at most one incomplete line at the end.
            written = os.write(self._fd, data)
            while written < len(data):
                written += os.write(self._fd, data[written:])
            self._end += written
            if monotonic() - self._synced > SYNC_EVERY:
                self._sync()
        except OSError as error:
            # Nothing of these lines stays: half a line in the middle of the file would make the run unreadable.
            os.ftruncate(self._fd, self._end)
            raise self._failed(error) from error
        return lines

    def _failed(self, error: OSError) -> StoreError:
        return stopped_error(self.path.parent, cannot_write(self.path, error))

    def _sync(self) -> None:
        os.fsync(self._fd)
        self._synced = monotonic()
        # The system lets us write to a deleted file, and all further records would be lost without an error.
        if not _is_at(self._folder, self.path.name, self._fd):
            raise StoreError(f"{self.path} was moved or deleted while the run was being played.")

    def close(self) -> None:
        """Flush everything to the disk and close the file."""
        try:
            os.fsync(self._fd)
        except OSError as error:
            raise self._failed(error) from error
        finally:
            os.close(self._fd)


@contextmanager
def lock(folder: Folder) -> Iterator[None]:
    """Keep other processes from writing to a run. The system releases the lock when this process ends, even by a crash.

    A record lock belongs to one process: children do not inherit it, so none of them can hold it longer than we do.
    """
    try:
        import fcntl
    except ImportError:  # no such locks on this system
        yield
        return
    while True:
        try:
            descriptor = folder.open_to_append(LOCK, create=True)
        except OSError as error:
            raise cannot_write(folder.path / LOCK, error) from error
        try:
            try:
                fcntl.lockf(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                owner = os.pread(descriptor, 32, 0).decode(errors="replace").strip()
                raise StoreError(f"{folder.path} is being written by another process ({owner or 'unknown'}).") from None
            if not _is_at(folder, LOCK, descriptor):
                continue  # its last owner deleted the file after we opened it and before we locked it
            with suppress(OSError):  # on a full disk the lock is held without the name of its owner
                os.ftruncate(descriptor, 0)
                os.pwrite(descriptor, str(os.getpid()).encode(), 0)
            yield
            folder.remove(LOCK)  # while the lock is held: another process may have opened this file already
            return
        finally:
            os.close(descriptor)


def _is_at(folder: Folder, name: str, descriptor: int) -> bool:
    """Return whether the open file is the one that has this name."""
    try:
        return folder.stat(name).st_ino == os.fstat(descriptor).st_ino
    except FileNotFoundError:
        return False


def write_derived(folder: Folder, files: Mapping[str, bytes]) -> None:
    """Write files that are derived from the records; an error says that the records are safe and how to continue."""
    try:
        for name, data in files.items():
            write_whole(folder, name, data)
    except StoreError as error:
        raise stopped_error(folder.path, error) from error


# The run folder: run.json has the request, games.jsonl a line for each match, notes.jsonl what bots noted in it.
# Everything else is derived from them.


RUN, NOTES = "run.json", "notes.jsonl"
LOGS = "logs"
SIGNATURE = "signature.json"
"""The folder for what sandboxed bots print."""


class RunInfo(msgspec.Struct, frozen=True):
    """The content of run.json."""

    arena: str
    plan: Plan
    entrants: tuple[BotInfo, ...]
    files: dict[str, str]
    """Digest -> content of the files that options of games and bots refer to."""
    limits: dict[str, Value]
    """Limits and isolation of bots, as in the file; `limits_of_run` converts them to BotLimits."""
    command: str
    machine: dict[str, str]
    started: str
    finished: str = ""
    records: str = ""
    """The digest of all records in schedule order, if the run is complete."""
    notes: str = ""
    """The digest of notes.jsonl, if the run is complete and a bot has noted something."""
    forced: tuple[str, ...] = ()
    """What had changed each time the run was continued with --force."""
    extended: tuple[str, ...] = ()
    """The commands that extended it, in order."""
    ends: tuple[str, ...] = ()
    """When it was finished before it was extended: claims allow for the results having been looked at each time."""
    layout: int = LAYOUT

    @property
    def end(self) -> int:
        """How often the run has ended; 0 while matches are missing."""
        return len(self.ends) + 1 if self.finished else 0


def now() -> str:
    """Return the current time in the format of run.json."""
    return datetime.now(UTC).isoformat(timespec="seconds")


class _Layout(msgspec.Struct):
    layout: int


if TYPE_CHECKING:
    from harness.runs.standings import PlayedCounts

Seen = Callable[[GameRecord, bytes], object]

encode = msgspec.json.Encoder().encode
_layout_decoder = msgspec.json.Decoder(_Layout)
_info_decoder = msgspec.json.Decoder(RunInfo)
_notes_decoder = msgspec.json.Decoder(MatchNotes)
LISTED = 20
"""Matches that are listed when a match does not exist."""


class RunFolder:
    """A run folder, from `RunFolder.create` or `RunFolder.open`; records are appended as matches end."""

    def __init__(self, folder: Path | Folder, info: RunInfo) -> None:
        self.files = folder if isinstance(folder, Folder) else Folder(folder)
        """Opens its files."""
        self.folder, self.info = self.files.path, info
        self.warnings: list[str] = []
        self.title = self.folder.name
        """Its name on pages and in messages."""
        if info.plan.format == LEAGUE.name:
            self.title = f"{self.folder.absolute().parent.parent.name}, era {self.folder.name}"
        self.merged = self.several = False
        """Whether several folders are read together, and whether these are not parts of one run."""
        self.fresh = False
        """Whether it was created by this object and has no matches yet."""
        self.played: PlayedCounts | None = None
        """Ratings of all records, if this process played them; the leaderboard is then made without reading."""
        self._records: RecordFile | None = None
        self._notes: RecordFile | None = None

    @classmethod
    def create(cls, folder: Path | Folder, info: RunInfo) -> RunFolder:
        """Return a new run folder; raises StoreError if the folder is not empty."""
        run = cls(folder, info)
        # Folders above it may be links. Another user may have prepared this one, to have files written elsewhere.
        if run.folder.is_symlink():
            raise StoreError(f"{run.folder} is a link, and a new run gets a new folder.", fix="other-name")
        try:
            if run.files.has_file(RUN):
                raise StoreError(f"{run.folder} already holds a run.", fix="run-exists", folder=str(run.folder))
            names = run.files.make().names()
            if not all(_is_left_at_start(run.files, name) for name in names):
                raise StoreError(f"{run.folder} is not empty and is not a run folder.", fix="other-name")
            if GAMES not in names:  # first: a folder with run.json always has games.jsonl
                run.files.write(GAMES, b"")
            run._write_info()
        except OSError as error:
            raise cannot_write(run.folder, error) from error
        run.fresh = True
        return run

    def discard(self) -> None:
        """Delete the run folder if no match was played in it."""
        if self.fresh and not self.size():
            for name in (RUN, GAMES):
                self.files.remove(name)
            with suppress(OSError):  # it contains other files
                self.folder.rmdir()

    @classmethod
    def open(cls, folder: Path | Folder) -> RunFolder:
        """Return an existing run folder; raises StoreError if it cannot be read."""
        files = folder if isinstance(folder, Folder) else Folder(folder)
        path = files.path / RUN
        try:
            data = files.read(RUN)
            layout = _layout_decoder.decode(data).layout
            if layout != LAYOUT:
                raise StoreError(f"{path} has layout {layout}; this arena reads layout {LAYOUT}.")
            return cls(files, _info_decoder.decode(data))
        except FileNotFoundError:
            there = "has no run.json: it is not a run folder" if files.path.is_dir() else "does not exist"
            raise StoreError(f"{files.path} {there}.") from None
        except OSError as error:
            raise cannot_read(path, error) from error
        except UNREADABLE as error:
            raise StoreError(f"{path} was not written by arena: {error}.") from error

    def _write_info(self) -> None:
        data = msgspec.json.format(encode(self.info), indent=2) + b"\n"
        if len(data) > MAX_TEXT_BYTES:  # it could not be read again
            raise StoreError(f"{self.folder / RUN} would have more than {MAX_TEXT_BYTES:,} bytes.")
        write_whole(self.files, RUN, data)

    def _rewrite_info(self, **changes: object) -> None:
        """Change fields of run.json."""
        info = msgspec.structs.replace(self.info, **changes)
        # Ratings of the matches played so far are those of the old plan: another plan may rate in another order.
        self.played = self.played if info.plan == self.info.plan else None
        # `info` stays equal to the file, even if the file cannot be written.
        before, self.info = self.info, info
        try:
            self._write_info()
        except StoreError as error:
            self.info = before
            raise stopped_error(self.folder, error) from error

    def lines(self, cursor: ReadCursor | None = None) -> Iterator[RecordLine]:
        """Yield the complete lines of games.jsonl, or those after a cursor."""
        lines, size = (cursor.lines, cursor.size) if cursor else (0, 0)
        found = read_lines(self.files, lines, size, self.warnings)
        return followed(found, "records", lambda: count_lines(self.files, size))

    def records(self, damaged: list[str] | None = None, seen: Seen = lambda *_: None) -> Iterator[GameRecord]:
        """Yield all records in file order.

        A damaged line raises StoreError, or is left out with a sentence in `damaged`. `seen` gets each record and its
        line.
        """
        return self._decoded(RecordLine.record, damaged, seen)

    def results(self, damaged: list[str] | None = None, seen: Seen = lambda *_: None) -> Iterator[GameRecord]:
        """Yield all records without their actions; see `records`."""
        return self._decoded(RecordLine.result, damaged, seen)

    def _decoded(
        self, decode: Callable[[RecordLine], GameRecord], damaged: list[str] | None, seen: Seen
    ) -> Iterator[GameRecord]:
        lines = self.lines()
        while batch := list(islice(lines, BATCH_LINES)):
            records = []
            for line in batch:
                try:
                    records.append(decode(line))
                except StoreError as error:
                    if damaged is None:
                        raise
                    damaged.append(str(error))
                else:
                    seen(records[-1], line.data)
            yield from records

    def ordered(self) -> Iterator[GameRecord] | None:
        """Return all results deal by deal if the run is rated in that order; None if it is rated in schedule order."""
        if not is_rated_by_deal(self.info.plan):
            return None
        return (line.result() for _, line in sorted_lines([self], by_deal=True))

    def split(self, records: Iterable[GameRecord]) -> list[tuple[RunFolder, list[GameRecord]]]:
        """Return these records grouped by run."""
        return [(self, list(records))]

    def parts(self) -> Sequence[RunInfo]:
        """Return the content of run.json of each run that is read here."""
        return [self.info]

    def size(self) -> int:
        """Return the bytes of all records."""
        return self.files.stat(GAMES).st_size

    def digest(self) -> str:
        """Return the digest of all records, read again."""
        digest = RecordDigest()
        for line in self.lines():
            line.check_sum()
            digest.add_line(line.decode_place().index, line.data)
        return digest.text()

    def ends_whole(self) -> bool:
        """Return whether games.jsonl ends with a line break. If not, a match was being written, or something was added
        to a complete run that other programs may read as a record."""
        try:
            with self.files.open_to_read(GAMES) as file:
                size = file.seek(0, SEEK_END)
                file.seek(max(0, size - 1))
                return file.read(1) in (b"", b"\n")
        except OSError as error:
            raise cannot_read(self.folder / GAMES, error) from error

    def record(self, match: str | int) -> GameRecord:
        """Return the record of a match, by its id or its place in the schedule."""
        wanted = str(match)
        first: list[str] = []
        last: deque[str] = deque(maxlen=LISTED // 2)
        for line in self.lines():
            result = line.result()
            if wanted in (result.id, str(result.index)):
                return line.record()
            if len(first) < LISTED:
                first.append(result.id)
            else:
                last.append(result.id)
        shown = [*first[: LISTED // 2], *last] if len(last) == last.maxlen else [*first, *last]
        raise UnknownName(f"match of {self.folder}", wanted, shown)

    def chosen(self, ids: Collection[str]) -> dict[str, GameRecord]:
        """Return the records of these matches by id, without those that do not exist."""
        found: dict[str, GameRecord] = {}
        # How Arena writes an id: most lines need not be decoded.
        begins = tuple(b'{"id":' + encode(name) + b"," for name in ids)
        for line in self.lines():
            if line.data.startswith(begins):
                record = line.record()
                found[record.id] = record
        # Another program may have written the fields in another order.
        if len(found) < len(set(ids)):
            found |= {record.id: record for record in self.records() if record.id in ids}
        return found

    def notes(self, match: str) -> tuple[DecisionNotes, ...]:
        """Return what bots noted in a match, the last time if it was played again."""
        # A match that was being written when the process died was played again, and noted again: the last line counts.
        found: tuple[DecisionNotes, ...] = ()
        for noted in self.all_notes():
            found = noted.notes if noted.match == match else found
        return found

    def all_notes(self) -> Iterator[MatchNotes]:
        """Yield what bots noted, match by match, in file order."""
        path = self.folder / NOTES
        try:
            with self.files.open_to_read(NOTES) as file:
                for number, line in enumerate(limited_lines(file), 1):
                    if not line.endswith(b"\n"):
                        return  # incomplete: its match has no record and is played again
                    try:
                        yield _notes_decoder.decode(line)
                    except UNREADABLE as error:
                        what = f"holds no notes: {error}. Take that line out."
                        raise StoreError(f"{path}, line {number}, {what}") from error
        except FileNotFoundError:
            return
        except OSError as error:
            raise cannot_read(path, error) from error

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Lock the folder and open its files, so that records can be appended."""
        with lock(self.files):
            self._records = RecordFile(self.files, GAMES, summed=True)
            self.warnings += self._records.warnings
            try:
                yield
            finally:
                for file in filter(None, (self._notes, self._records)):
                    file.close()
                self._records = self._notes = None

    def append(self, record: GameRecord, notes: bytes = b"") -> None:
        """Append a record, and the notes of its match."""
        self.append_all([Played(record, encode(record), notes)])

    def append_all(self, played: Sequence[Played]) -> Sequence[bytes]:
        """Append records and notes, and return the lines of the records as they were written.

        The lines are passed to the system at once, so they survive the death of this process. Notes come first: a match
        without a record is played again, and its notes are written again.
        """
        assert self._records is not None, "records are appended within writing()"
        notes = [each.notes for each in played if each.notes]
        if notes:
            self._open_notes().append(notes)
        return self._records.append([each.line for each in played])

    def force(self, changes: Sequence[str]) -> None:
        """Record what had changed when the run was continued: not all of its records are of the same bots or rules."""
        new = tuple(change for change in changes if change not in self.info.forced)
        if new:
            self._rewrite_info(forced=(*self.info.forced, *new))

    def _open_notes(self) -> RecordFile:
        """Return notes.jsonl, created with the first note."""
        if self._notes is None:
            try:
                self._notes = RecordFile(self.files, NOTES, create=True)
            except StoreError as error:
                raise stopped_error(self.folder, error) from error
            self.warnings += self._notes.warnings
        return self._notes

    def finish(self, when: str, digest: RecordDigest | None = None) -> None:
        """Record that the schedule is complete, and the digests of records and notes; without the `digest` of all
        records they are read again."""
        records = digest.text() if digest else self.digest()
        self._rewrite_info(finished=when, records=records, notes=digest_of_file(self.files, NOTES))

    def extend(self, plan: Plan, **more: object) -> None:
        """Replace the plan by one that begins with the matches of the run; `more` has other fields of run.json."""
        with lock(self.files):
            if RunFolder.open(self.files).info != self.info:
                raise StoreError(f"{self.folder / RUN} was changed by another process just now; try again.")
            # The new plan clears the digest, and with it the proof that these records are those of the finished run.
            if self.info.finished and self.info.records != self.digest():
                raise StoreError(
                    f"{self.folder / GAMES}: these are not the records that the run was finished with, so it is not "
                    f"extended; arena verify {self.folder} has details."
                )
            ends = (*self.info.ends, self.info.finished) if self.info.finished else self.info.ends
            self._rewrite_info(plan=plan, finished="", records="", notes="", ends=ends, **more)

    def admit(self, plan: Plan, entrants: tuple[BotInfo, ...], files: dict[str, str]) -> None:
        """Set the bots that play in an era of a league."""
        if (plan, entrants, files) != (self.info.plan, self.info.entrants, self.info.files):
            self._rewrite_info(plan=plan, entrants=entrants, files=files)

    def go_on(self, plan: Plan) -> None:
        """Replace the plan while this process is writing to the run."""
        self._rewrite_info(plan=plan, finished="", records="", notes="")


def find(results: Path, name: str) -> Path:
    """Return the folder of a run, given by path or by name."""
    for folder in (Path(name), results / name):
        if (folder / RUN).exists():
            return folder
    known = sorted(path.parent.name for path in results.glob(f"*/{RUN}"))
    if Path(name).exists():
        raise StoreError(f"{name} is not a run folder: it has no {RUN}.")
    listed = f" Runs in {results}: {', '.join(known)}." if known else f" There are no runs in {results}."
    raise StoreError(f"There is no run {name!r}.{listed}")


def refuse_era(run: RunFolder, command: str) -> None:
    """Raise UsageError if the run is an era of a league; `command` is that of the league to use instead."""
    if run.info.plan.format == LEAGUE.name:
        why = f"{run.folder} is an era of a league, which is played, verified and signed as a whole."
        league = os.path.relpath(run.folder.absolute().parent.parent)
        raise UsageError(why, fix="league-command", command=command, league=league)


def _is_left_at_start(folder: Folder, name: str) -> bool:
    """Return whether a run that was killed at its start may have left this file."""
    return name.endswith(PART) or (name == GAMES and folder.stat(name).st_size == 0)
