"""Play matches one after the other in this process: for debuggers, and as the reference for other executors."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterable, Iterator
from typing import Self

from harness.core.bot import DecisionNotes, encode_notes
from harness.executors.base import Executor, ExecutorSettings, Job, Keep, Played, Roster, discard, encode
from harness.executors.retry import play_with_retry
from harness.match.faults import NO_LIMITS, Limits
from harness.match.stdio import SHOWN, BotLogs, capturing_output


class SerialExecutor(Executor):
    """An executor without workers. A bot that never returns hangs it, and one that kills its process ends the run."""

    def __init__(
        self,
        roster: Roster,
        limits: Limits = NO_LIMITS,
        should_stop: Callable[[], bool] = lambda: False,
        audit: Callable[[], None] | None = None,
        logs: BotLogs = SHOWN,
    ) -> None:
        """`audit` is called after each answer of a bot; what it raises ends the match and is not a fault of any bot."""
        super().__init__(roster, should_stop)
        self.limits, self.audit, self.logs = limits, audit, logs

    @classmethod
    def open(cls, roster: Roster, settings: ExecutorSettings, should_stop: Callable[[], bool]) -> Self:
        """Return the executor for a run without workers."""
        logs = BotLogs(settings.logs, settings.show_output)
        return cls(roster, settings.times, should_stop, getattr(should_stop, "audit", None), logs)

    def __exit__(self, *_error: object) -> None:
        super().__exit__()
        gc.collect()  # run finalizers of bots in reference cycles: the command line skips this at exit

    def run(self, jobs: Iterable[Job], keep: Keep = discard) -> Iterator[Played]:
        """Play these matches in order."""
        for job in jobs:
            if self.should_stop():
                return
            notes: list[DecisionNotes] = []
            with capturing_output(job.spec, self.logs) as status:
                record = play_with_retry(job, self.roster, self.limits, status, self.audit, notes)
            if getattr(self.should_stop, "abandoned", False):
                return  # the user quit a debugger during the match, so its record is worthless
            played = Played(record, encode(record), encode_notes(job.spec.id, notes) if notes else b"")
            keep([played])
            yield played
