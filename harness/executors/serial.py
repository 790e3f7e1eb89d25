"""Plays matches one after the other in this process: for debuggers, and as the measure of the others."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Self

from harness.executors.jobs import Job, Played, Roster, encode
from harness.match.referee import NO_LIMITS, Limits, play


class SerialExecutor:
    """No workers. A bot that never returns hangs it, and one that kills its process ends it."""

    def __init__(
        self, table: Roster, limits: Limits = NO_LIMITS, should_stop: Callable[[], bool] = lambda: False
    ) -> None:
        self.table, self.limits, self.should_stop = table, limits, should_stop

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.table.close()

    def run(self, jobs: Iterable[Job]) -> Iterator[Played]:
        """Plays these matches in order."""
        table, limits = self.table, self.limits
        for job in jobs:
            if self.should_stop():
                return
            spec = job.spec
            record = play(spec, table.games[spec.game], table.seats(spec), limits, job.forfeits)
            yield Played(record, encode(record))
