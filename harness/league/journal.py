"""The journal of a league: who joined, left and changed what and when, a line each; nothing in it is ever changed."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal
from zlib import crc32

import msgspec

from harness.core.errors import StoreError, UsageError
from harness.core.format import GamePlan
from harness.core.types import Value
from harness.runs.run_files import SUM_SIZE, SUMMED, RecordFile, cannot_write

JOURNAL = "journal.jsonl"
What = Literal["era", "joined", "retired", "banned", "readmitted", "rests", "returns", "seen", "void"]
ABOUT_BOTS: tuple[What, ...] = ("joined", "retired", "banned", "readmitted", "rests", "returns")
"""Entries that change who plays."""


class JournalEntry(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """One line of the journal."""

    number: int = 0
    """Its place, from 1 on; written by the journal."""
    at: str = ""
    what: What
    bot: str = ""
    """Whom it is about, without a version."""
    version: int = 0
    """Which of its versions; 0 is all of them."""
    reason: str = ""
    spec: str = ""
    """Of who joins: what to type to enter it, with a file's place in the snapshot."""
    snapshot: str = ""
    """The folder of its files below `bots`; empty for a package or a program."""
    source: str = ""
    declared: str = ""
    """The version that it says it has."""
    digest: str = ""
    games: tuple[str, ...] = ()
    """The games that it plays; none is any."""
    files: dict[str, str] = {}
    """Digest -> content of files that its options name."""
    stranger: str = ""
    """Why it is not one's own, if it is not: so it stays, though its snapshot is."""
    team: str = ""
    author: str = ""
    era: int = 0
    """The era that begins, or of which something is said."""
    plans: tuple[GamePlan, ...] = ()
    """Of an era that begins: its games, rules and options."""
    limits: dict[str, Value] = {}
    round: int = 0
    """From this round of its era on the entries up to `upto` count."""
    upto: int = 0
    size: int = 0
    """Matches of each of these rounds."""
    match: str = ""
    """A match that could not be played, through no fault of a bot that could be told."""

    def plays(self, game: str) -> bool:
        """Whether who joined by this entry plays a game."""
        return not self.games or game in self.games

    @property
    def name(self) -> str:
        """The entrant that it is about, or the bot if it is about all of its versions."""
        return f"{self.bot}@{self.version}" if self.version else self.bot


_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(JournalEntry).decode


class Journal:
    """A journal file: read as a whole, and added to by one process at a time, for the moment that takes."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / JOURNAL
        self.entries: list[JournalEntry] = []
        self.warnings: list[str] = []
        self._size = 0

    def read(self) -> Sequence[JournalEntry]:
        """All entries; those that were read before are not read again."""
        try:
            with self.path.open("rb") as file:
                file.seek(self._size)
                for line in file:
                    if not line.endswith(b"\n"):
                        break  # torn, or being written: it counts when it is whole
                    self.entries.append(self._entry(line[:-1]))
                    self._size += len(line)
        except FileNotFoundError:
            raise StoreError(f"{self.path} is missing: the league's folder is damaged.") from None
        except OSError as error:
            raise StoreError(f"Cannot read {self.path}: {error.strerror or error}.") from error
        return self.entries

    def grown(self) -> bool:
        """Whether something was added since it was read."""
        try:
            return self.path.stat().st_size > self._size
        except OSError:
            return True  # reading it says what is wrong

    def _entry(self, line: bytes) -> JournalEntry:
        number = len(self.entries) + 1
        where = f"{self.path}, line {number},"
        if not line.endswith(SUMMED % crc32(line[:-SUM_SIZE])):
            raise StoreError(f"{where} is not as it was written: its checksum does not fit. Put it back as it was.")
        try:
            entry = _decode(line)
        except (msgspec.MsgspecError, UnicodeDecodeError) as error:
            raise StoreError(f"{where} is no entry of a journal: {error}.") from error
        if entry.number != number:
            raise StoreError(f"{where} says that it is entry {entry.number}: lines were taken out, or put in.")
        return entry

    @contextmanager
    def adding(self) -> Iterator[JournalAdder]:
        """While it is entered nobody else adds: what is decided by the entries holds until it is written."""
        try:
            self.path.touch()
        except OSError as error:
            raise cannot_write(self.path, error) from error
        with _alone(self.path):
            file = RecordFile(self.path, summed=True)
            try:
                self.warnings += file.warnings
                self.read()
                yield JournalAdder(self, file)
            finally:
                file.close()

    def add(self, *entries: JournalEntry) -> None:
        """Adds these entries."""
        with self.adding() as adder:
            adder.add(*entries)


class JournalAdder:
    """Adds to a journal that nobody else is adding to."""

    def __init__(self, journal: Journal, file: RecordFile) -> None:
        self._journal, self._file = journal, file

    def add(self, *entries: JournalEntry) -> None:
        """Writes these entries, with their numbers and the time."""
        first = len(self._journal.entries) + 1
        now = datetime.now(UTC).isoformat(timespec="seconds")
        told = [msgspec.structs.replace(one, number=first + n, at=now) for n, one in enumerate(entries)]
        try:
            lines = [_encode(one) for one in told]
            for line in lines:
                _decode(line)  # what cannot be read again is not written
        except (msgspec.MsgspecError, UnicodeError, TypeError) as error:
            raise UsageError(f"That cannot stand in a journal: {error}.") from error
        self._file.append(lines)
        self._journal.read()


@contextmanager
def _alone(path: Path) -> Iterator[None]:
    """Waits until nobody else adds to the file; given up by itself if this process dies."""
    try:
        import fcntl
    except ImportError:  # no such locks on this system
        yield
        return
    descriptor = os.open(path, os.O_RDWR)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
