"""The journal of a league: its events, the members after them, and the round from which each event counts."""

from __future__ import annotations

import os
import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial, reduce
from operator import or_
from pathlib import Path
from typing import Any, ClassVar, Literal, NamedTuple
from zlib import crc32

import msgspec
from msgspec.structs import replace

from harness.core.errors import StoreError, UnknownName, UsageError
from harness.core.files import Folder, cannot_read, cannot_write, limited_lines
from harness.core.options import BotLimits
from harness.core.plan import GamePlan
from harness.core.records import SUMMED
from harness.plugins.entrants import BotDescription
from harness.runs.reader import SUM_SIZE, UNREADABLE
from harness.runs.store import RecordFile

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
        membership.add_member(Member(self))


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


# Members


Standing = Literal["plays", "opponent", "rests", "retired", "banned"]
"""The newest version plays, older ones are kept as opponents; one that rests cannot be loaded at present."""
_VERSION = re.compile(r"(.+)@([1-9][0-9]*)")


@dataclass(slots=True)
class Member:
    """One version of a bot."""

    entry: BotJoined
    retired: bool = False
    banned: bool = False
    rests: bool = False
    reason: str = ""
    """Why it is not seated."""

    @property
    def name(self) -> str:
        """Its name in records."""
        return self.entry.name

    @property
    def active(self) -> bool:
        """Whether it can be seated."""
        return not (self.retired or self.banned or self.rests)


@dataclass(slots=True)
class Membership:
    """All versions that have joined, in that order."""

    members: dict[str, Member] = field(default_factory=dict)
    _by_bot: dict[str, list[Member]] = field(default_factory=dict)

    @classmethod
    def after_entries(cls, entries: Iterable[JournalEntry]) -> Membership:
        """Return the members of a league after these entries."""
        found = cls()
        for entry in entries:
            entry.apply_to_members(found)
        return found

    def add_member(self, member: Member) -> None:
        """Add a version that joins."""
        self.members[member.name] = member
        self._by_bot.setdefault(member.entry.bot, []).append(member)

    def versions(self, bot: str) -> list[Member]:
        """Return the versions of a bot, oldest first."""
        return self._by_bot.get(bot, [])

    def bots(self) -> list[str]:
        """Return all bots, by name."""
        return sorted(self._by_bot)

    def newest(self, bot: str) -> Member | None:
        """Return the newest version that can be seated; None if there is none."""
        return next((member for member in reversed(self.versions(bot)) if member.active), None)

    def find_members(self, text: str) -> list[Member]:
        """Return all versions of a bot (`sprinter`), or one of them (`sprinter@2`)."""
        found = self.versions(text)
        one = _VERSION.fullmatch(text)
        if not found and one:
            found = [member for member in self.versions(one[1]) if member.entry.version == int(one[2])]
            if not found and self.versions(one[1]):
                raise UnknownName(f"version of {one[1]}", text, [each.name for each in self.versions(one[1])])
        if not found:
            raise UnknownName("bot of this league", text, self.bots())
        return found

    @property
    def banned(self) -> frozenset[str]:
        """The versions whose matches do not count."""
        return frozenset(name for name, member in self.members.items() if member.banned)

    def playing(self, game: str) -> list[str]:
        """Return the newest versions of all bots that play a game: those to be rated."""
        chosen = {member.name for bot in self.bots() if (member := self.newest(bot)) is not None}
        return [name for name in self._active(game) if name in chosen]

    def opponents(self, game: str) -> list[str]:
        """Return the older versions that are kept as opponents."""
        playing = set(self.playing(game))
        return [name for name in self._active(game) if name not in playing]

    def _active(self, game: str) -> list[str]:
        return sorted(name for name, one in self.members.items() if one.active and one.entry.plays(game))

    def all_entrants(self, game: str) -> tuple[str, ...]:
        """Return all versions that ever joined and play a game, in the order of joining."""
        return tuple(name for name, one in self.members.items() if one.entry.plays(game))

    def standing(self, name: str) -> Standing:
        """Return whether a version plays, or the reason why it does not."""
        member = self.members[name]
        if member.banned:
            return "banned"
        if member.retired:
            return "retired"
        if member.rests:
            return "rests"
        return "plays" if self.newest(member.entry.bot) is member else "opponent"


def split_version(name: str) -> tuple[str, int]:
    """Return bot and version of a name like `sprinter@3`; the version is 0 if the name has none."""
    found = _VERSION.fullmatch(name)
    return (found[1], int(found[2])) if found else (name, 0)


# Rounds of an era: how many tables each has, and which entries of the journal count in it.
#
# A round is planned from the results up to two rounds before it, so that workers can start it while the round before is
# being finished. The bots that may be seated change only between rounds, and the journal records from which round on.


MIN_ROUND_TABLES, MAX_ROUND_TABLES = 4, 64
"""Limits for the tables of a game in a round: otherwise as many as seat every bot once."""
MAX_CACHED_ROSTERS = 3
"""Rosters are cached, because in a large league each takes as long as reading the journal."""


class GameRoster(NamedTuple):
    """The bots that may be seated in a game."""

    playing: tuple[str, ...]
    """The newest versions, which are to be rated."""
    opponents: tuple[str, ...]
    """Older versions."""
    tables: int
    """Tables of each round; 0 if there are too few bots for one."""


class EpochRoster(NamedTuple):
    """The bots that may be seated in the rounds of an epoch."""

    membership: Membership
    games: Mapping[str, GameRoster]

    @property
    def size(self) -> int:
        """The number of matches of each round."""
        return sum(game.tables for game in self.games.values())


def _game_roster(membership: Membership, plan: GamePlan) -> GameRoster:
    playing, others = membership.playing(plan.name), membership.opponents(plan.name)
    active = len(playing) + len(others)
    enough = bool(playing) and active >= plan.players
    tables = min(MAX_ROUND_TABLES, max(MIN_ROUND_TABLES, active // plan.players)) if enough else 0
    return GameRoster(tuple(playing), tuple(others), tables)


class RosterEpoch(NamedTuple):
    """Successive rounds in which the same bots may be seated."""

    first_round: int
    first_index: int
    """Index of its first match in the schedule."""
    size: int
    """Matches of each round."""
    upto: int
    """Number of journal entries that count."""


class RosterEpochs:
    """The epochs of an era, in order, and the matches that are not played in it."""

    def __init__(self, era: int, plans: Sequence[GamePlan], entries: Sequence[JournalEntry]) -> None:
        """Apply the entries that concern this era; `entries` may grow later."""
        self.era = era
        self.void_matches: dict[str, int] = {}
        self._plans, self._entries = plans, entries
        self._epochs: list[RosterEpoch] = []
        self._rosters: dict[int, EpochRoster] = {}
        for entry in entries:
            entry.apply_to_rounds(self)

    def begin_epoch(self, first_round: int, upto: int, size: int) -> None:
        """Let `upto` entries count from a round on, each round having `size` matches."""
        before = self._epochs[-1] if self._epochs else None
        index = before.first_index + (first_round - before.first_round) * before.size if before else 0
        # A run that was stopped before the first match of its epoch leaves one without rounds.
        if before is not None and before.first_round == first_round:
            self._epochs.pop()
        self._epochs.append(RosterEpoch(first_round, index, size, upto))

    def __bool__(self) -> bool:
        return bool(self._epochs)

    @property
    def last(self) -> RosterEpoch:
        """The newest epoch."""
        return self._epochs[-1]

    @property
    def upto(self) -> int:
        """The number of entries that count in the newest epoch."""
        return self._epochs[-1].upto if self._epochs else 0

    def epoch_at(self, round_: int) -> RosterEpoch:
        """Return the epoch of a round."""
        return self._epochs[bisect_right(self._epochs, round_, key=lambda epoch: epoch.first_round) - 1]

    def first_index(self, round_: int) -> int:
        """Return the index of the first match of a round in the schedule."""
        epoch = self.epoch_at(round_)
        return epoch.first_index + (round_ - epoch.first_round) * epoch.size

    def roster_of(self, epoch: RosterEpoch) -> EpochRoster:
        """Return the bots that may be seated in an epoch."""
        found = self._rosters.get(epoch.upto)
        if found is None:
            found = self.roster_after(epoch.upto)
            while len(self._rosters) >= MAX_CACHED_ROSTERS:
                self._rosters.pop(next(iter(self._rosters)))
            self._rosters[epoch.upto] = found
        return found

    def active_since(self, round_: int) -> set[str]:
        """Return the bots that may have been seated from a round on."""
        if not self._epochs:
            return set()
        first = self.epoch_at(round_).first_round
        rosters = [self.roster_of(epoch) for epoch in self._epochs if epoch.first_round >= first]
        return {name for roster in rosters for name, member in roster.membership.members.items() if member.active}

    def roster_after(self, upto: int) -> EpochRoster:
        """Return the bots that may be seated once `upto` entries count."""
        membership = Membership.after_entries(self._entries[:upto])
        return EpochRoster(membership, {plan.name: _game_roster(membership, plan) for plan in self._plans})
