"""How quickly matches end in workers: how much work each has before it, and how long what has ended may gather."""

from __future__ import annotations

from harness.core.types import GameRecord

AHEAD = 0.1
"""Seconds of work that a worker has waiting: its pauses between two batches are nothing beside it."""
MOST_AHEAD = 500
GATHER = 0.02
"""Seconds for which matches that have ended gather at most, and..."""
HANDFUL = 20
"""...how many may, before the parent takes them in: to wake up for each quick match costs more than the match does."""
PATIENCE = 0.1
"""Seconds for which what has ended waits at most to be looked at, many together: this process has little to do at a
time, and what is done after a sleep is slow. A short run, or a round, does not wait."""
MATCH_TIME, ENGINE_TIME = 1e-4, 1e-5
"""Seconds that the engine and the referee take for a match, and for a decision, about."""
RECENT = 0.05
"""The part that the latest match has in the mean, once there are many: bots differ, and a schedule has them in turn."""


class MatchPace:
    """What a match takes in a pool of so many workers, about, by those that were played."""

    def __init__(self, workers: int, work_ahead: float = AHEAD, most_ahead: int = MOST_AHEAD, trust: int = 1) -> None:
        """`work_ahead` is the seconds of work that each has before it, `most_ahead` how many matches at most; `trust`
        is how many times as many as it has played a worker may be given at first."""
        self.workers, self.work_ahead, self.most_ahead, self.trust = workers, work_ahead, most_ahead, trust
        self.seconds, self.matches = AHEAD, 0

    def add(self, record: GameRecord) -> None:
        """Takes in one more match."""
        spent = sum(record.time) + MATCH_TIME + ENGINE_TIME * len(record.actions)
        self.matches += 1
        self.seconds += max(RECENT, 1 / self.matches) * (spent - self.seconds)

    @property
    def ahead(self) -> int:
        """How many matches a worker has before it. The first ones say little of those to come, so few at first: a
        short run is for all workers."""
        tried = self.trust * self.matches // (2 * self.workers)
        return max(1, min(self.most_ahead, tried, int(self.work_ahead / self.seconds)))

    @property
    def patience(self) -> float:
        """Seconds for which what has ended waits to be looked at; the more was played, the more comes together."""
        return min(PATIENCE, PATIENCE * self.matches / MOST_AHEAD)

    def gathering(self, least: int) -> float:
        """Seconds to wait for a handful of matches to end; 0 if they take their time, or if a worker with the `least`
        before it, so many, might run out of work meanwhile."""
        if self.seconds > GATHER or least * self.seconds < 2 * GATHER:
            return 0.0
        return min(GATHER, HANDFUL * self.seconds / self.workers)
