"""Matches worth watching: close ones, upsets, faults, the best and the worst match of each bot."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest

from harness.core.records import GameRecord
from harness.ratings.counts import GameCounts

EACH = 2
"""Matches of each game and reason that a report shows."""
KEPT = {"close": 200, "upset": 100, "fault": 100, "best": 1, "worst": 1}
"""Reasons, and how many matches of each are remembered: of a game, or of each bot for its best and worst."""
SETTLED = 10
"""Matches after which a bot's skill is known well enough to call its defeat an upset."""
MAX_FAILED = 1000
"""Bots and kinds of fault that are remembered."""
CLOSE = 0.1
"""Margin up to which a match counts as close."""

Candidate = tuple[float, int, str]
"""Sort key of a match (the smallest is the most remarkable), its place in the schedule, its id."""


@dataclass(frozen=True, slots=True)
class Pick:
    """A match to be shown, and the reason: a key of `KEPT`."""

    match: str
    reason: str


def margin(scores: Sequence[int]) -> float:
    """Return how far the first was ahead of the second, as a share of the first's score; 1 for a single seat."""
    if len(scores) < 2:
        return 1.0
    first, second = sorted(scores, reverse=True)[:2]
    return (first - second) / max(1, abs(first))


def closeness(share: float) -> str:
    """Return how close a match with this margin was, in words that do not give away who won."""
    if share <= 0.05:  # also a tie at the top, which would give away a part of the result
        return "very close"
    return "close" if share <= CLOSE else "clear" if share <= 0.3 else "one-sided"


@dataclass(slots=True)
class Picks:
    """Selects matches worth watching from all matches of a run, in bounded memory."""

    _best: dict[tuple[str, str, str], list[Candidate]] = field(default_factory=dict)
    """Game, reason and bot ("" for all bots) -> the most remarkable matches."""
    _failed: set[tuple[str, str, str]] = field(default_factory=set)

    def add(self, record: GameRecord, before: GameCounts | None, skills: Mapping[str, float]) -> None:
        """Add a match; `before` has the counts of its game without it, `skills` those of an earlier fit."""
        if record.faults:
            for fault in record.faults:
                how = record.game, record.seats[fault.seat], fault.kind
                if fault.kind != "disqualified" and how not in self._failed and len(self._failed) < MAX_FAILED:
                    self._failed.add(how)  # one match per bot and kind of fault: the others would look the same
                    self._keep(record, "fault", 0.0)
            return
        if len(record.scores) > 1:
            self._keep(record, "close", margin(record.scores))
            for bot, score in zip(record.seats, record.scores, strict=True):
                self._keep(record, "best", -score, bot)
                self._keep(record, "worst", score, bot)
        gap = _upset(record, before, skills)
        if gap > 0:
            self._keep(record, "upset", -gap)

    def _keep(self, record: GameRecord, reason: str, value: float, bot: str = "") -> None:
        key = record.game, reason, bot
        best = self._best.get(key)
        if best is None:
            best = self._best[key] = []
        elif len(best) == KEPT[reason]:
            worst = best[-1]
            if value > worst[0] or (value == worst[0] and record.index >= worst[1]):
                return
        best.append((value, record.index, record.id))
        best.sort()
        del best[KEPT[reason] :]

    def chosen(self) -> Iterator[Pick]:
        """Yield the matches for a report, each once: the best of every game and reason, then the second best."""
        seen = set()
        groups = [(reason, best) for (_, reason, bot), best in sorted(self._best.items()) if not bot]
        for place in range(EACH):
            for reason, best in groups:
                if place < len(best) and best[place][2] not in seen:
                    seen.add(best[place][2])
                    yield Pick(best[place][2], reason)

    def ranked(self, game: str) -> dict[str, list[str]]:
        """Return the matches of a game that are worth watching, the most remarkable first, each with its reasons."""
        streams: dict[str, list[Candidate]] = {reason: [] for reason in KEPT}
        for (title, reason, _), best in sorted(self._best.items()):
            if title == game:
                streams[reason] += [one for one in best if reason != "close" or one[0] <= CLOSE or one is best[0]]
        for found in streams.values():
            found.sort()
        reasons: dict[str, list[str]] = {}
        for row in zip_longest(*streams.values()):
            for reason, candidate in zip(streams, row, strict=True):
                if candidate is not None:
                    given = reasons.setdefault(candidate[2], [])
                    given += [reason] if reason not in given else []
        return reasons


def _upset(record: GameRecord, before: GameCounts | None, skills: Mapping[str, float]) -> float:
    """Return by how much the best bot is better than the winner; 0 without a single winner or with too few matches."""
    if before is None or record.ranks.count(1) != 1:
        return 0.0
    totals = before.totals
    for bot in record.seats:
        if bot not in skills or totals[bot].matches < SETTLED:
            return 0.0
    return max([skills[bot] for bot in record.seats]) - skills[record.seats[record.ranks.index(1)]]
