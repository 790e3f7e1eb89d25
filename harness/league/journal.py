"""The journal of a league: its events and the file."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import partial, reduce
from operator import or_
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar
from zlib import crc32

import msgspec
from msgspec.structs import replace

from harness.core.errors import StoreError, UsageError
from harness.core.files import Folder, cannot_read, cannot_write, limited_lines
from harness.core.options import BotLimits
from harness.core.plan import GamePlan
from harness.core.records import SUMMED
from harness.plugins.entrants import BotDescription
from harness.runs.reader import SUM_SIZE, UNREADABLE
from harness.runs.store import RecordFile

if TYPE_CHECKING:
    from harness.league.members import Member, Membership, RosterEpochs

JOURNAL = "journal.jsonl"

# Events. A new one is a class with a tag: its fields, what it changes, and how it is reported.
# Tags, names of fields and their order are those of the file, and never change.


class JournalEntry(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """An event of a league: one line of its journal."""

    number: int = 0
    """Its line, counted from 1; set by the journal, like the time."""
    at: str = ""
    notice: ClassVar[str] = ""
    """Text that `arena league run` prints after the bot's name when the event begins to count."""
    headline: ClassVar[str] = ""
    """Text after the bot's name on the site; an event without it is not published."""

    @property
    def what(self) -> str:
        """The name of the event in the file."""
        return str(self.__struct_config__.tag)

    def apply_to_members(self, membership: Membership) -> None:
        """Apply the event to the members of the league."""

    def apply_to_rounds(self, epochs: RosterEpochs) -> None:
        """Apply the event to the rounds of an era."""


class BotEvent(JournalEntry, frozen=True):
    """An event that changes which bots may be seated: it counts from the next round on."""

    bot: str
    """Name without a version."""
    version: int = 0
    """0 means all versions."""
    effect: ClassVar[Mapping[str, bool]] = {}
    """Flags of each version that the event is about, and their new values."""

    @property
    def name(self) -> str:
        """The name of the version, or of the bot if the event is about all versions."""
        return f"{self.bot}@{self.version}" if self.version else self.bot

    def apply_to_members(self, membership: Membership) -> None:
        """Change each version that the event is about."""
        for member in membership.versions(self.bot):
            if self.version in (0, member.entry.version):
                self.change_member(member)

    def change_member(self, member: Member) -> None:
        """Set the flags of `effect`, and the reason why the version is not seated."""
        for flag, value in self.effect.items():
            setattr(member, flag, value)
        member.reason = getattr(self, "reason", "") if any(self.effect.values()) else ""

    def is_in_force(self, member: Member) -> bool:
        """Return whether the event would change nothing about a version."""
        return all(getattr(member, flag) == value for flag, value in self.effect.items())


class BotJoined(BotEvent, frozen=True, tag_field="what", tag="joined"):
    """A version of a bot joins."""

    spec: str = ""
    """What to type to enter it; the path of a file is relative to the snapshot."""
    snapshot: str = ""
    """Folder of its files below `bots`; empty for a package or a program."""
    source: str = ""
    declared: str = ""
    """The version number that the bot declares."""
    digest: str = ""
    games: tuple[str, ...] = ()
    """The games that it plays; empty means any."""
    files: dict[str, str] = {}
    """Digest -> content of files that its options name."""
    untrusted: str = msgspec.field(default="", name="stranger")
    """Why the bot was untrusted when it joined. It stays so, although the snapshot belongs to the league's owner."""
    team: str = ""
    author: str = ""
    described: BotDescription | None = None
    """What a bot with a snapshot declares: it can be entered again without running any of its code."""
    notice = "plays from now on"
    headline = "joins"

    def plays(self, game: str) -> bool:
        """Return whether the bot plays a game."""
        return not self.games or game in self.games

    def apply_to_members(self, membership: Membership) -> None:
        """Add the version."""
        membership.add_version(self)


class Decision(BotEvent, frozen=True):
    """An event that an organizer, or the limit of faults, decides on."""

    reason: str = ""
    already: ClassVar[str] = ""
    """Text of the error if the decision would change nothing."""


class BotRetired(Decision, frozen=True, tag_field="what", tag="retired"):
    """A bot is no longer seated; its matches count."""

    effect = {"retired": True}
    notice = headline = "is retired"
    already = "is retired already"


class BotBanned(Decision, frozen=True, tag_field="what", tag="banned"):
    """A bot is no longer seated, and none of its matches count."""

    effect = {"banned": True}
    notice = "is banned, its matches no longer count"
    headline = "is banned"
    already = "is banned already"


class BotReadmitted(Decision, frozen=True, tag_field="what", tag="readmitted"):
    """A bot that was retired or banned plays again, and all its matches count."""

    effect = {"retired": False, "banned": False}
    notice = headline = "plays again"
    already = "is neither retired nor banned"


class BotRests(BotEvent, frozen=True, tag_field="what", tag="rests"):
    """A bot cannot be loaded as it joined, and is not seated until it can."""

    reason: str = ""
    effect = {"rests": True}
    notice = "rests"


class BotReturns(BotEvent, frozen=True, tag_field="what", tag="returns"):
    """A bot that rested can be loaded again."""

    effect = {"rests": False}
    notice = "plays again"


class EraBegun(JournalEntry, frozen=True, tag_field="what", tag="era", kw_only=True):
    """Games, rules, options or limits are new: an era begins, with a separate table."""

    reason: str = ""
    """What has changed since the era before."""
    era: int
    plans: tuple[GamePlan, ...] = ()
    limits: BotLimits | None = None


class EntriesSeen(JournalEntry, frozen=True, tag_field="what", tag="seen"):
    """From a round on, the entries up to a number count.

    Without this line it would be unknown, after a crash, with which bots a round had been planned.
    """

    era: int
    round: int
    upto: int
    size: int = 0
    """Matches of each of these rounds."""

    def apply_to_rounds(self, epochs: RosterEpochs) -> None:
        """Begin an epoch, if the era is the right one."""
        if self.era == epochs.era:
            epochs.begin_epoch(self.round, self.upto, self.size)


class MatchVoided(JournalEntry, frozen=True, tag_field="what", tag="void"):
    """A match is not played, and its round is complete without it."""

    era: int
    match: str
    round: int

    def apply_to_rounds(self, epochs: RosterEpochs) -> None:
        """Add the match to those that are not played."""
        if self.era == epochs.era:
            epochs.void_matches[self.match] = self.round


def event_types(base: type[JournalEntry] = JournalEntry) -> Iterator[type[JournalEntry]]:
    """Return all types of events: the subclasses that have a tag."""
    for each in base.__subclasses__():
        if each.__struct_config__.tag is not None:
            yield each
        yield from event_types(each)


# The file


_encode = msgspec.json.Encoder().encode


def line_of(entry: JournalEntry, number: int, at: str) -> bytes:
    """Return an entry as its line, without the checksum."""
    # msgspec writes a tag first, but in the file number and time come before it.
    head, rest = _encode(JournalEntry(number=number, at=at)), _encode(replace(entry, number=0, at=""))
    return head[:-1] + b"," + rest[1:]


class Journal:
    """A journal file: read as a whole, and extended by one process at a time. Lines are never changed."""

    def __init__(self, folder: Path) -> None:
        self.path, self._folder = folder / JOURNAL, Folder(folder)
        self.entries: list[JournalEntry] = []
        self.warnings: list[str] = []
        self._size = 0
        types: Any = reduce(or_, event_types())
        self.decode: msgspec.json.Decoder[JournalEntry] = msgspec.json.Decoder(types)

    def read(self) -> Sequence[JournalEntry]:
        """Return all entries; only lines that were added since the last call are read."""
        try:
            with self._folder.open_to_read(JOURNAL) as file:
                file.seek(self._size)
                for line in limited_lines(file):
                    # Torn by a crash, or being written by another process: it counts once it is complete.
                    if not line.endswith(b"\n"):
                        break
                    self.entries.append(self._parse_line(line[:-1]))
                    self._size += len(line)
        except FileNotFoundError:
            raise StoreError(f"{self.path} is missing: the league's folder is damaged.") from None
        except OSError as error:
            raise cannot_read(self.path, error) from error
        return self.entries

    def has_grown(self) -> bool:
        """Return whether lines were added since the journal was read."""
        try:
            return self._folder.stat(JOURNAL).st_size > self._size
        except OSError:
            return True  # read() reports the problem

    def _parse_line(self, line: bytes) -> JournalEntry:
        number = len(self.entries) + 1
        where = f"Invalid journal entry in {self.path}, line {number}"
        restore = "Restore the file from a backup."
        if not line.endswith(SUMMED % crc32(line[:-SUM_SIZE])):
            raise StoreError(f"{where}: the line was edited, its checksum does not match. {restore}")
        try:
            entry = self.decode.decode(line)
        except UNREADABLE as error:
            raise StoreError(f"{where}: {error}. {restore}") from error
        if entry.number != number:
            raise StoreError(f"{where}: it is numbered {entry.number}, so lines were removed or inserted. {restore}")
        return entry

    @contextmanager
    def lock(self) -> Iterator[Callable[..., None]]:
        """Keep other processes from adding entries, and yield a function that appends entries.

        A decision that is based on the entries is therefore still valid when it is written.
        """
        with _file_lock(self._folder):
            file = RecordFile(self._folder, JOURNAL, summed=True, create=True)
            try:
                self.warnings += file.warnings
                # After locking and opening: others may have added entries, and opening removes a torn last line.
                self.read()
                yield partial(self._append_entries, file)
            finally:
                file.close()

    def add_entries(self, *entries: JournalEntry) -> None:
        """Append entries to the file."""
        with self.lock() as append_entries:
            append_entries(*entries)

    def _append_entries(self, file: RecordFile, *entries: JournalEntry) -> None:
        first = len(self.entries) + 1
        now = datetime.now(UTC).isoformat(timespec="seconds")
        try:
            lines = [line_of(entry, first + n, now) for n, entry in enumerate(entries)]
            for line in lines:
                self.decode.decode(line)  # a line that cannot be read would make the league unusable
        except (msgspec.MsgspecError, UnicodeError, TypeError) as error:
            raise UsageError(f"Invalid journal entry: {error}.") from error
        # One write for all of them: a crash leaves a torn line at most, which is dropped when the file is opened.
        file.append(lines)
        self.read()


@contextmanager
def _file_lock(folder: Folder) -> Iterator[None]:
    """Wait for the lock of the journal; the system releases it if this process dies."""
    try:
        import fcntl
    except ImportError:  # no such locks on this system
        yield
        return
    try:
        descriptor = folder.open_to_append(JOURNAL, create=True)
    except OSError as error:
        raise cannot_write(folder.path / JOURNAL, error) from error
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
