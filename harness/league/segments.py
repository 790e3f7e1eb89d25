"""The rounds of an era: how many tables each has, and which entries of the journal count in it.

A round is planned by what was known two rounds before, so that one is always ready while the last one is being
finished. Who may be seated changes between rounds only, and the journal notes from which round on.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from harness.core.format import GamePlan
from harness.league.journal import JournalEntry
from harness.league.members import Membership

LEAST_TABLES, MOST_TABLES = 4, 64
"""Tables of each game in a round: as many as seat everybody once, between these."""
REMEMBERED = 3
"""Segments whose members are held in memory."""


class Field(NamedTuple):
    """Who may be seated in a game."""

    seekers: tuple[str, ...]
    """The newest versions, which are to be known."""
    opponents: tuple[str, ...]
    """Older versions, kept as opponents."""
    tables: int
    """Tables of each round; none if there are too few bots for one."""


class Seated(NamedTuple):
    """Who may be seated in the rounds of a segment."""

    membership: Membership
    fields: Mapping[str, Field]
    """By game."""

    @classmethod
    def after(cls, entries: Sequence[JournalEntry], plans: Sequence[GamePlan]) -> Seated:
        """Those who are in after these entries."""
        membership = Membership.after(entries)
        return cls(membership, {plan.name: _field(membership, plan) for plan in plans})

    @property
    def size(self) -> int:
        """Matches of each round."""
        return sum(field.tables for field in self.fields.values())


def _field(membership: Membership, plan: GamePlan) -> Field:
    seekers, others = membership.seekers(plan.name), membership.opponents(plan.name)
    active = len(seekers) + len(others)
    enough = bool(seekers) and active >= plan.players
    tables = min(MOST_TABLES, max(LEAST_TABLES, active // plan.players)) if enough else 0
    return Field(tuple(seekers), tuple(others), tables)


class Segment(NamedTuple):
    """Rounds in which the same bots may be seated."""

    first: int
    """Its first round."""
    place: int
    """The place of its first match in the schedule."""
    size: int
    """Matches of each round."""
    upto: int
    """Entries of the journal that count."""


class Segments:
    """The segments of an era, first to last."""

    def __init__(self, era: int, plans: Sequence[GamePlan], entries: Sequence[JournalEntry]) -> None:
        """Those that the journal tells of; `entries` may grow."""
        self._plans, self._entries = plans, entries
        self._segments: list[Segment] = []
        self._seated: dict[int, Seated] = {}
        for entry in entries:
            if entry.what == "seen" and entry.era == era:
                self.begin(entry.round, entry.upto, entry.size)

    def begin(self, first: int, upto: int, size: int) -> None:
        """From this round on so many entries count, and each round has so many matches."""
        before = self._segments[-1] if self._segments else None
        place = before.place + (first - before.first) * before.size if before else 0
        if before is not None and before.first == first:
            self._segments.pop()
        self._segments.append(Segment(first, place, size, upto))

    def __bool__(self) -> bool:
        return bool(self._segments)

    @property
    def last(self) -> Segment:
        """The newest one."""
        return self._segments[-1]

    @property
    def upto(self) -> int:
        """Entries that count in the newest one."""
        return self._segments[-1].upto if self._segments else 0

    def at(self, round_: int) -> Segment:
        """The segment that a round is in."""
        return self._segments[bisect_right(self._segments, round_, key=lambda segment: segment.first) - 1]

    def start(self, round_: int) -> int:
        """The place of the first match of a round in the schedule."""
        segment = self.at(round_)
        return segment.place + (round_ - segment.first) * segment.size

    def seated(self, segment: Segment) -> Seated:
        """Who may be seated in a segment."""
        found = self._seated.get(segment.upto)
        if found is None:
            found = self.after(segment.upto)
            while len(self._seated) >= REMEMBERED:
                self._seated.pop(next(iter(self._seated)))
            self._seated[segment.upto] = found
        return found

    def active_since(self, round_: int) -> set[str]:
        """Who may have been seated from a round on."""
        if not self._segments:
            return set()
        first = self.at(round_).first
        open_ = [self.seated(segment) for segment in self._segments if segment.first >= first]
        return {name for seated in open_ for name, member in seated.membership.members.items() if member.active}

    def after(self, upto: int) -> Seated:
        """Who may be seated once so many entries count."""
        return Seated.after(self._entries[:upto], self._plans)
