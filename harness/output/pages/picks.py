"""Which matches are worth looking at: the close ones, the upsets and those in which a bot failed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from harness.core.types import GameRecord
from harness.ratings import Ratings

EACH = 2
"""Matches of each game and reason."""
SETTLED = 10
"""Matches after which a bot's rating is good enough to call its defeat an upset."""

Candidate = tuple[float, int, str]
"""How remarkable a match is (less is more), its place in the schedule, its id."""


@dataclass(frozen=True, slots=True)
class Pick:
    """A match to be shown, and why."""

    match: str
    reason: str


@dataclass(slots=True)
class Picks:
    """Takes in every match and remembers a few."""

    _best: dict[tuple[str, str], list[Candidate]] = field(default_factory=dict)
    _failed: set[tuple[str, str, str]] = field(default_factory=set)

    def add(self, record: GameRecord, before: Ratings | None) -> None:
        """Takes in one match; `before` is the ratings of its game without it."""
        if record.faults:
            for fault in record.faults:
                how = record.game, record.seats[fault.seat], fault.kind
                if fault.kind != "disqualified" and how not in self._failed and len(self._failed) < 1000:
                    self._failed.add(how)  # one match of each bot and kind: a hundred equal crashes teach nothing
                    self._keep(record, "fault", 0.0)
            return
        if len(record.scores) > 1:
            first, second = sorted(record.scores, reverse=True)[:2]
            self._keep(record, "close", (first - second) / max(1, abs(first)))
        gap = _upset(record, before)
        if gap > 0:
            self._keep(record, "upset", -gap)

    def _keep(self, record: GameRecord, reason: str, value: float) -> None:
        best = self._best.setdefault((record.game, reason), [])
        if len(best) == EACH and (value, record.index) >= best[-1][:2]:
            return
        best.append((value, record.index, record.id))
        best.sort()
        del best[EACH:]

    def chosen(self) -> Iterator[Pick]:
        """The matches, each once: the first of every game and reason, then the second ones."""
        seen = set()
        for place in range(EACH):
            for (_, reason), best in sorted(self._best.items()):
                if place < len(best) and best[place][2] not in seen:
                    seen.add(best[place][2])
                    yield Pick(best[place][2], reason)


def _upset(record: GameRecord, before: Ratings | None) -> float:
    """By how much the best bot at the table was rated above the winner; 0 where that cannot be said."""
    if before is None or record.ranks.count(1) != 1:
        return 0.0
    lines = [before.lines.get(name) for name in record.seats]
    skills = [line.mu for line in lines if line is not None and line.matches >= SETTLED]
    if len(skills) < len(lines):
        return 0.0
    return max(skills) - skills[record.ranks.index(1)]
