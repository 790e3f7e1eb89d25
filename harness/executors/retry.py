"""Decide which bot is to blame for a lost match, and when a match is played again."""

from __future__ import annotations

import signal
from collections.abc import Callable, MutableSequence
from typing import NamedTuple

import msgspec

from harness.core.bot import DecisionNotes
from harness.core.records import Fault, GameRecord
from harness.executors.base import Job, Roster
from harness.match.faults import Limits
from harness.match.referee import play

# Crash attribution: the pool's workers. A worker can die because of the bot that it was asking, or because memory ran
# out or a user killed it. A replay of the same match makes the same decisions, so a bot's own crash happens again at
# the same seat and decision, and an accident does not.


MAX_ATTEMPTS = 10
"""Crashes of one match at different decisions before the seat that was asked most often is blamed."""
MAX_UNEXPLAINED_CRASHES = 10
"""Crashes of one match while no bot was being asked before the match is given up."""


class CrashVerdict(NamedTuple):
    """The job to play next (None: give the match up), and what happened in a few words."""

    job: Job | None
    what: str


class CrashTracker:
    """Counts crashes of unfinished matches and decides which seat forfeits."""

    def __init__(self) -> None:
        self._crashes: dict[str, list[tuple[int | None, int]]] = {}
        self._overdue_once: set[tuple[str, int]] = set()
        """Matches and seats that were overdue once while their worker used hardly any processor time."""

    def forget_match(self, match: str) -> None:
        """Forget the crashes of a finished match."""
        if self._crashes:
            self._crashes.pop(match, None)

    def record_crash(
        self, job: Job, seat: int | None, decision: int, overdue: bool, code: int | None, idle: bool = False
    ) -> CrashVerdict:
        """Return how to continue after a worker died.

        A crash is blamed when the replay dies at the same seat and decision. A bot that was overdue is blamed at once,
        except when its worker was `idle` all the time: then the machine may have been suspended or overloaded, and the
        bot must be overdue once more.
        """
        again = msgspec.structs.replace(job, again=True)
        if overdue and seat is not None:
            if idle and (job.spec.id, seat) not in self._overdue_once:
                self._overdue_once.add((job.spec.id, seat))
                return CrashVerdict(again, "overdue, but hardly any processor time was used; played again")
            # At once, unlike a crash: a replay would hang again and cost the time limit once more.
            detail = "did not return in time; its process was killed"
            return CrashVerdict(self._forfeit(again, Fault(seat, "timeout", decision, detail)), "overdue")
        crashes = self._crashes.setdefault(job.spec.id, [])
        repeated = (seat, decision) in crashes
        crashes.append((seat, decision))
        cause = _exit_reason(code)
        asked = [place[0] for place in crashes if place[0] is not None]
        # Without a bot to blame, replaying forever would hang the run: the match is reported as given up.
        if len(crashes) - len(asked) > MAX_UNEXPLAINED_CRASHES:
            return CrashVerdict(None, f"died {len(crashes)} times, mostly with no bot being asked ({cause}); given up")
        if seat is None:
            return CrashVerdict(again, f"died with no bot being asked ({cause}); played again")
        # A replay makes the same decisions, so an accident hardly hits the same one twice.
        if repeated:
            fault = Fault(seat, "crash", decision, f"its process died twice at this decision: {cause}")
            return CrashVerdict(self._forfeit(again, fault), f"crash ({cause})")
        if len(crashes) >= MAX_ATTEMPTS:
            # The bot is not deterministic or corrupts memory: it dies somewhere else each time.
            likely = max(asked, key=asked.count)
            fault = Fault(likely, "crash", 0, f"its process died in {len(crashes)} plays of this match: {cause}")
            return CrashVerdict(self._forfeit(again, fault), f"crash ({cause})")
        return CrashVerdict(again, f"died ({cause}); played again")

    def _forfeit(self, job: Job, fault: Fault) -> Job:
        """Return the job with this seat playing at random from the decision of its fault on."""
        # Start counting again: the remaining seats must not inherit the crashes of the one that was blamed.
        self._crashes[job.spec.id] = []
        others = tuple(f for f in job.forfeits if f.seat != fault.seat)
        earlier = [f for f in job.forfeits if f.seat == fault.seat]
        # It was blamed before and was still asked, so it plays differently each time: it forfeits from the start.
        if earlier:
            fault = Fault(fault.seat, fault.kind, 0, fault.detail)
        return msgspec.structs.replace(job, forfeits=(*others, fault))


def _exit_reason(code: int | None) -> str:
    if code is None:
        return "unknown"
    if code < 0:
        try:
            return signal.Signals(-code).name
        except ValueError:
            return f"signal {-code}"
    return f"exit code {code}"


# Retry in one process: isolated bots, whose process can die or answer late while the worker survives.
#
# A bot's process dies because of the bot, or because memory is short or a user kills it. An answer is late because the
# bot thinks too long, or because the machine is busy. So a fault that may have an outside cause counts only if it
# happens again in a replay from the start, in fresh processes.


def play_with_retry(
    job: Job,
    roster: Roster,
    limits: Limits,
    status: MutableSequence[float] | memoryview[float] | None,
    audit: Callable[[], None] | None,
    notes: list[DecisionNotes],
) -> GameRecord:
    """Return the record of the first play in which every fault is certain: it has no possible outside cause, or it has
    happened before at the same place."""
    spec = job.spec
    seen: set[tuple[int, str, int | None]] = set()
    for _ in range(MAX_ATTEMPTS):
        notes.clear()
        doubts: list[Fault] = []
        seats = roster.seats(spec)
        record = play(spec, roster.games[spec.game], seats, limits, job.forfeits, status, audit, notes, doubts)
        if not doubts:
            break
        # A crash has an exact place. How long an answer takes varies, so a timeout may repeat at another decision.
        keys = {(each.seat, each.kind, None if each.kind == "timeout" else each.decision) for each in doubts}
        # Every doubtful fault has happened before, so none of them is an accident.
        if keys <= seen:
            break
        seen |= keys
        # A process that was kept from an earlier match may carry the cause of the fault, so none plays the replay.
        for fault in doubts:
            seats[fault.seat].start_afresh()
    return record
