"""Plays matches one after the other in this process: for debuggers, and as the measure of the others."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Self

from harness.core.notes import DecisionNotes, encode_notes
from harness.executors.fairness import play_fairly
from harness.executors.jobs import ExecutorSettings, Job, Played, Roster, WorkerLoss, encode
from harness.match.bot_prints import printing_to_stderr
from harness.match.referee import NO_LIMITS, Limits


class SerialExecutor:
    """No workers. A bot that never returns hangs it, and one that kills its process ends it."""

    def __init__(
        self,
        roster: Roster,
        limits: Limits = NO_LIMITS,
        should_stop: Callable[[], bool] = lambda: False,
        audit: Callable[[], None] | None = None,
    ) -> None:
        """`audit` is called after each answer of a bot; what it raises ends the match, and is nobody's fault."""
        self.audit = audit
        self.losses: list[WorkerLoss] = []
        self.given_up: list[str] = []
        self.roster, self.limits, self.should_stop = roster, limits, should_stop

    @classmethod
    def open(cls, roster: Roster, settings: ExecutorSettings, should_stop: Callable[[], bool]) -> Self:
        """The executor that a run asks for when it wants no workers."""
        return cls(roster, settings.limits, should_stop, getattr(should_stop, "audit", None))

    @staticmethod
    def serves(settings: ExecutorSettings) -> bool:
        """Whether a run with these settings is for this executor."""
        return settings.workers == 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.roster.close()

    def run(self, jobs: Iterable[Job]) -> Iterator[Played]:
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
            yield Played(record, encode(record), encode_notes(spec.id, notes) if notes else b"")
