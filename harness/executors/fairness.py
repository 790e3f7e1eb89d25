"""Plays a match so that nobody is blamed for what may have come from outside: it must happen again.

A process dies when its bot kills it, and also when memory is short or somebody kills it; an answer is late when its bot
thinks too long, and also when the machine is busy. So what might be nobody's fault is tried once more, from the start
of the match and in fresh processes, as the pool does with workers that die (`verdicts`).
"""

from __future__ import annotations

from collections.abc import Callable, MutableSequence

from harness.core.notes import DecisionNotes
from harness.core.types import Fault, GameRecord
from harness.executors.jobs import Job, Roster
from harness.executors.verdicts import PATIENCE
from harness.match.referee import play
from harness.match.time_limits import Limits


def play_fairly(
    job: Job,
    roster: Roster,
    limits: Limits,
    status: MutableSequence[float] | memoryview[float] | None,
    audit: Callable[[], None] | None,
    notes: list[DecisionNotes],
) -> GameRecord:
    """The record of the first play in which every fault is the bot's own, or has happened before at the same place."""
    spec = job.spec
    game, seen = roster.games[spec.game], set[tuple[object, ...]]()
    for _ in range(PATIENCE):
        notes.clear()
        doubts: list[Fault] = []
        record = play(spec, game, roster.seats(spec), limits, job.forfeits, status, audit, notes, doubts)
        places = {_place(fault) for fault in doubts}
        if places <= seen:
            break
        seen |= places
        for fault in doubts:
            roster.entrants[spec.seats[fault.seat]].start_afresh()
    return record


def _place(fault: Fault) -> tuple[object, ...]:
    """A death counts when it comes again at the same decision, lateness when it comes again in the same match."""
    return (fault.seat, fault.kind) if fault.kind == "timeout" else (fault.seat, fault.kind, fault.decision)
