"""Who is in a league: what the entries of its journal come to."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal

from harness.core.errors import UnknownName
from harness.league.journal import JournalEntry

Standing = Literal["plays", "opponent", "rests", "retired", "banned"]
"""The newest version plays on, older ones are kept as opponents; who rests cannot be entered at present."""
_VERSION = re.compile(r"(.+)@([1-9][0-9]*)")


@dataclass(slots=True)
class Member:
    """One version of a bot."""

    entry: JournalEntry
    """By which it joined."""
    retired: bool = False
    banned: bool = False
    rests: bool = False
    reason: str = ""
    """Why it is not matched."""

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
    """All versions that have joined, in the order in which they did."""

    members: dict[str, Member] = field(default_factory=dict)
    _by_bot: dict[str, list[Member]] = field(default_factory=dict)

    @classmethod
    def after(cls, entries: Iterable[JournalEntry]) -> Membership:
        """Who is in after these entries."""
        found = cls()
        for entry in entries:
            found.take(entry)
        return found

    def take(self, entry: JournalEntry) -> None:
        """Lets one more entry count."""
        if entry.what == "joined":
            member = self.members[entry.name] = Member(entry)
            self._by_bot.setdefault(entry.bot, []).append(member)
            return
        for member in self.versions(entry.bot):
            if entry.version not in (0, member.entry.version):
                continue
            if entry.what == "retired":
                member.retired, member.reason = True, entry.reason
            elif entry.what == "banned":
                member.banned, member.reason = True, entry.reason
            elif entry.what == "readmitted":
                member.retired = member.banned = False
                member.reason = ""
            elif entry.what == "rests":
                member.rests, member.reason = True, entry.reason
            elif entry.what == "returns":
                member.rests, member.reason = False, ""

    def versions(self, bot: str) -> list[Member]:
        """The versions of a bot, oldest first."""
        return self._by_bot.get(bot, [])

    def bots(self) -> list[str]:
        """All bots, by name."""
        return sorted(self._by_bot)

    def newest(self, bot: str) -> Member | None:
        """The version that plays on; None if all have left."""
        return next((member for member in reversed(self.versions(bot)) if member.active), None)

    def named(self, text: str) -> list[Member]:
        """Whom somebody means: a bot with all its versions, or one of them (`sprinter@2`)."""
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
        """Whose matches do not count."""
        return frozenset(name for name, member in self.members.items() if member.banned)

    def seekers(self, game: str) -> list[str]:
        """The newest versions of all bots that play a game: those that are to be known."""
        chosen = {member.name for bot in self.bots() if (member := self.newest(bot)) is not None}
        return [name for name in self._active(game) if name in chosen]

    def opponents(self, game: str) -> list[str]:
        """Older versions that are kept as opponents."""
        seeking = set(self.seekers(game))
        return [name for name in self._active(game) if name not in seeking]

    def _active(self, game: str) -> list[str]:
        return sorted(name for name, one in self.members.items() if one.active and one.entry.plays(game))

    def entered(self, game: str) -> tuple[str, ...]:
        """Everybody who ever joined and plays a game, in the order of joining."""
        return tuple(name for name, one in self.members.items() if one.entry.plays(game))

    def standing(self, name: str) -> Standing:
        """How a version stands."""
        member = self.members[name]
        if member.banned:
            return "banned"
        if member.retired:
            return "retired"
        if member.rests:
            return "rests"
        return "plays" if self.newest(member.entry.bot) is member else "opponent"


def split_version(name: str) -> tuple[str, int]:
    """`sprinter@3` as the bot and the number of its version; 0 if there is none."""
    found = _VERSION.fullmatch(name)
    return (found[1], int(found[2])) if found else (name, 0)
