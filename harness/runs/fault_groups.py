"""Faults that have one cause, counted together: what terminal, pages and notebooks say about bots that fail."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from harness.core.types import Fault, GameRecord
from harness.match.faults import cause_of

MOST_GROUPS = 60
"""Causes that are told apart; bots that fail in ever new ways do not fill the memory."""
EXAMPLES = 3


@dataclass(frozen=True, slots=True, order=True)
class FaultExample:
    """One fault of a group; the first of two is the one that comes first in the schedule."""

    index: int
    """The match's place in the schedule."""
    match: str
    seat: int
    decision: int
    detail: str = field(compare=False)
    """What the bot said."""


@dataclass(slots=True)
class FaultGroup:
    """Faults of one bot in one game that have one cause."""

    bot: str
    game: str
    kind: str
    cause: str
    """Exception and line, phase of an illegal action, how a process ended: not what the bot said."""
    count: int = 0
    examples: list[FaultExample] = field(default_factory=list)
    """The first ones, by the schedule."""

    @property
    def first(self) -> FaultExample:
        """The first one, by the schedule: the same whatever the number of workers."""
        return self.examples[0]

    def add(self, record: GameRecord, fault: Fault) -> None:
        """Counts one more."""
        self.count += 1
        if len(self.examples) < EXAMPLES or record.index < self.examples[-1].index:
            one = FaultExample(record.index, record.id, fault.seat, fault.decision, fault.detail)
            self.examples = sorted([*self.examples, one])[:EXAMPLES]


class FaultGroups:
    """Takes in matches in any order, in bounded memory. To be disqualified is no fault: it is counted apart."""

    def __init__(self, most: int = MOST_GROUPS) -> None:
        self.most = most
        self.by_bot: Counter[str] = Counter()
        """How many faults each bot has, whatever their causes."""
        self.matches = 0
        """Matches with a fault."""
        self.disqualified: dict[str, str] = {}
        """Why a bot was disqualified, by its name: a sentence without its subject."""
        self.lost: Counter[str] = Counter()
        """Matches that bots lost without playing, being disqualified."""
        self.more = 0
        """Faults of causes past `most`."""
        self._groups: dict[tuple[str, str, str, str], FaultGroup] = {}

    @property
    def total(self) -> int:
        """All faults."""
        return self.by_bot.total()

    def add(self, record: GameRecord) -> None:
        """Takes in one match."""
        if not record.faults:
            return
        self.matches += bool(record.failures)
        for fault in record.faults:
            bot = record.seats[fault.seat]
            if fault.kind == "disqualified":
                self.disqualified.setdefault(bot, fault.detail)
                self.lost[bot] += 1
            else:
                self.by_bot[bot] += 1
                self._count(record, fault, bot)

    def _count(self, record: GameRecord, fault: Fault, bot: str) -> None:
        key = bot, record.game, fault.kind, cause_of(fault)
        group = self._groups.get(key)
        if group is None:
            if len(self._groups) == self.most:
                self.more += 1
                return
            group = self._groups[key] = FaultGroup(*key)
        group.add(record, fault)

    def __iter__(self) -> Iterator[FaultGroup]:
        return iter(self.groups())

    def __len__(self) -> int:
        return len(self._groups)

    def __repr__(self) -> str:
        told = [f"{group.bot}: {group.cause}, {group.count} in {group.game}" for group in self]
        return "\n".join([*told, *(f"{bot} was {why}" for bot, why in self.disqualified.items())]) or "No faults."

    def groups(self) -> list[FaultGroup]:
        """The groups: the bot that failed most often first, and of each bot the most frequent cause first."""
        return sorted(
            self._groups.values(),
            key=lambda group: (-self.by_bot[group.bot], group.bot, -group.count, group.first, group.cause),
        )
