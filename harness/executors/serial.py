"""Play matches one after the other in this process: for debuggers, and as the reference for other executors."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterable, Iterator
from typing import ClassVar, Self

from harness.core.bot import DecisionNotes, encode_notes
from harness.executors.base import ExecutorSettings, Job, Keep, Played, Roster, WorkerLoss, discard, encode
from harness.executors.retry import play_with_retry
from harness.match.faults import NO_LIMITS, Limits
from harness.match.stdio import printing_to_stderr


class SerialExecutor:
    """An executor without workers. A bot that never returns hangs it, and one that kills its process ends the run."""

    elsewhere: ClassVar[bool] = False

    def __init__(
        self,
        roster: Roster,
        limits: Limits = NO_LIMITS,
        should_stop: Callable[[], bool] = lambda: False,
        audit: Callable[[], None] | None = None,
    ) -> None:
        """`audit` is called after each answer of a bot; what it raises ends the match and is not a fault of any bot."""
        self.audit = audit
        self.tell: Callable[[str], None] = lambda _sentence: None
        self.losses: list[WorkerLoss] = []
        self.given_up: list[str] = []
        self.roster, self.limits, self.should_stop = roster, limits, should_stop

    @classmethod
    def open(cls, roster: Roster, settings: ExecutorSettings, should_stop: Callable[[], bool]) -> Self:
        """Return the executor for a run without workers."""
        return cls(roster, settings.limits, should_stop, getattr(should_stop, "audit", None))

    def status(self) -> str:
        """Return an empty string: there is nothing to add."""
        return ""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.roster.close()
        gc.collect()  # run finalizers of bots in reference cycles: the command line skips this at exit

    def run(self, jobs: Iterable[Job], keep: Keep = discard) -> Iterator[Played]:
        """Play these matches in order."""
        roster, limits = self.roster, self.limits
        for job in jobs:
            if self.should_stop():
                return
            spec = job.spec
            notes: list[DecisionNotes] = []
            with printing_to_stderr(spec) as status:
                record = play_with_retry(job, roster, limits, status, self.audit, notes)
            if getattr(self.should_stop, "abandoned", False):
                return  # the user quit a debugger during the match, so its record is worthless
            played = Played(record, encode(record), encode_notes(spec.id, notes) if notes else b"")
            keep([played])
            yield played
