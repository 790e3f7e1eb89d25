"""The members of a league: versions of bots after the entries of its journal, and who may be seated in each round."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from harness.core.errors import UnknownName
from harness.core.plan import GamePlan
from harness.league.journal import BotJoined, JournalEntry

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

    def add_version(self, entry: BotJoined) -> None:
        """Add a version that joins."""
        member = self.members[entry.name] = Member(entry)
        self._by_bot.setdefault(entry.bot, []).append(member)

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
