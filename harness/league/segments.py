"""The rounds of an era: how many tables each has, and which entries of the journal count in it.

A round is planned by what was known two rounds before, so that one is always ready while the last one is being
finished. Who may be seated changes between rounds only, and the journal notes from which round on.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from harness.core.format import GamePlan
from harness.league.journal import JournalEntry
from harness.league.members import Membership

LEAST_TABLES, MOST_TABLES = 4, 64
"""Tables of each game in a round: as many as seat everybody once, between these."""


class Field(NamedTuple):
    """Who may be seated in a game."""

    seekers: tuple[str, ...]
    """The newest versions, which are to be known."""
    opponents: tuple[str, ...]
    """Older versions, kept as opponents."""
    tables: int
    """Tables of each round; none if there are too few bots for one."""


@dataclass(frozen=True, slots=True)
class Segment:
    """Rounds in which the same bots may be seated."""

    first: int
    """Its first round."""
    index: int
    """The place of its first match in the schedule."""
    membership: Membership = field(repr=False)
    fields: Mapping[str, Field] = field(repr=False)
    """Game -> who may be seated, and at how many tables of each round."""

    @property
    def size(self) -> int:
        """Matches of each round."""
        return sum(each.tables for each in self.fields.values())


class Segments:
    """The segments of an era, first to last."""

    def __init__(self, plans: Sequence[GamePlan]) -> None:
        self._plans = plans
        self._segments: list[Segment] = []
        self.upto = 0
        """Entries that count in the last one."""

    @classmethod
    def of(cls, era: int, plans: Sequence[GamePlan], entries: Sequence[JournalEntry]) -> Segments:
        """Those that a journal tells of an era."""
        found, membership, taken = cls(plans), Membership(), 0
        for entry in entries:
            if entry.what == "seen" and entry.era == era:
                for each in entries[taken : entry.upto]:
                    membership.take(each)
                taken = max(taken, entry.upto)
                found.begin(entry.round, membership.copy(), entry.upto)
        return found

    def begin(self, first: int, membership: Membership, upto: int) -> None:
        """From this round on these may be seated."""
        before = self._segments[-1] if self._segments else None
        index = before.index + (first - before.first) * before.size if before else 0
        if before is not None and before.first == first:
            self._segments.pop()
        self._segments.append(Segment(first, index, membership, self._fields(membership)))
        self.upto = upto

    def _fields(self, membership: Membership) -> dict[str, Field]:
        fields = {}
        for plan in self._plans:
            seekers, others = membership.seekers(plan.name), membership.opponents(plan.name)
            active = len(seekers) + len(others)
            enough = bool(seekers) and active >= plan.players
            tables = min(MOST_TABLES, max(LEAST_TABLES, active // plan.players)) if enough else 0
            fields[plan.name] = Field(tuple(seekers), tuple(others), tables)
        return fields

    def __bool__(self) -> bool:
        return bool(self._segments)

    @property
    def last(self) -> Segment:
        """The newest one."""
        return self._segments[-1]

    def at(self, round_: int) -> Segment:
        """The segment that a round is in."""
        return self._segments[bisect_right([segment.first for segment in self._segments], round_) - 1]

    def start(self, round_: int) -> int:
        """The place of the first match of a round in the schedule."""
        segment = self.at(round_)
        return segment.index + (round_ - segment.first) * segment.size

    def round_of(self, index: int) -> int:
        """The round that a place of the schedule is in."""
        able = [segment for segment in self._segments if segment.size]
        segment = able[max(0, bisect_right([one.index for one in able], index) - 1)]
        return segment.first + (index - segment.index) // segment.size
