"""Plays matches one after the other in this process: for debuggers, and as the measure of the others."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterable, Iterator
from typing import ClassVar, Self

from harness.core.notes import DecisionNotes, encode_notes
from harness.executors.fairness import play_fairly
from harness.executors.jobs import ExecutorSettings, Job, Keep, Played, Roster, WorkerLoss, encode, let_go
from harness.match.bot_prints import printing_to_stderr
from harness.match.time_limits import NO_LIMITS, Limits


class SerialExecutor:
    """No workers. A bot that never returns hangs it, and one that kills its process ends it."""

    elsewhere: ClassVar[bool] = False

    def __init__(
        self,
        roster: Roster,
        limits: Limits = NO_LIMITS,
        should_stop: Callable[[], bool] = lambda: False,
        audit: Callable[[], None] | None = None,
    ) -> None:
        """`audit` is called after each answer of a bot; what it raises ends the match, and is nobody's fault."""
        self.audit = audit
        self.tell: Callable[[str], None] = lambda _sentence: None
        self.losses: list[WorkerLoss] = []
        self.given_up: list[str] = []
        self.roster, self.limits, self.should_stop = roster, limits, should_stop

    @classmethod
    def open(cls, roster: Roster, settings: ExecutorSettings, should_stop: Callable[[], bool]) -> Self:
        """The executor that a run asks for when it wants no workers."""
        return cls(roster, settings.limits, should_stop, getattr(should_stop, "audit", None))

    def status(self) -> str:
        """Nothing: who plays is known."""
        return ""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.roster.close()
        gc.collect()  # bots that are parts of a circle have their end: the command line does not look for them any more

    def run(self, jobs: Iterable[Job], keep: Keep = let_go) -> Iterator[Played]:
        """Plays these matches in order."""
        roster, limits = self.roster, self.limits
        for job in jobs:
            if self.should_stop():
                return
            spec = job.spec
            notes: list[DecisionNotes] = []
            with printing_to_stderr(spec) as status:
                record = play_fairly(job, roster, limits, status, self.audit, notes)
            if getattr(self.should_stop, "abandoned", False):
                return  # somebody left a debugger in the middle of it
            line, noted = encode(record), encode_notes(spec.id, notes) if notes else b""
            keep([(line, noted)])
            yield Played(record, line, noted)
