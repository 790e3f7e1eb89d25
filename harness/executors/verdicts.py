"""Who is to blame when a worker dies in the middle of a match."""

from __future__ import annotations

import signal
from typing import NamedTuple

import msgspec

from harness.core.types import Fault
from harness.executors.jobs import Job

PATIENCE = 10
"""Deaths in one match, at ever other places, after which the seat that was asked most often is blamed."""
OUR_PATIENCE = 10
"""Deaths in one match with no bot being asked, after which the match is given up."""


class DeathVerdict(NamedTuple):
    """How to play the match now (None: not at all), and what happened in a few words."""

    job: Job | None
    what: str


class Verdicts:
    """Remembers the deaths of matches that are not finished yet."""

    def __init__(self) -> None:
        self._deaths: dict[str, list[tuple[int | None, int]]] = {}
        self._late: set[tuple[str, int]] = set()
        """Matches and seats that were late without doing much."""

    def played(self, match: str) -> None:
        """The match has been finished: its deaths are history."""
        if self._deaths:
            self._deaths.pop(match, None)

    def after_death(
        self, job: Job, seat: int | None, decision: int, overdue: bool, code: int | None, idle: bool = False
    ) -> DeathVerdict:
        """A death is blamed if the replay dies at the same seat and decision; a bot that was overdue, at once.

        But if its worker was `idle` all that time, and not thinking, it must be overdue once more.
        """
        again = msgspec.structs.replace(job, again=True)
        if overdue and seat is not None:
            if idle and (job.spec.id, seat) not in self._late:
                self._late.add((job.spec.id, seat))
                return DeathVerdict(again, "overdue, but hardly any processor time was used; played again")
            detail = "did not return in time; its process was killed"
            return DeathVerdict(self._forfeit(again, Fault(seat, "timeout", decision, detail)), "overdue")
        deaths = self._deaths.setdefault(job.spec.id, [])
        repeated = (seat, decision) in deaths
        deaths.append((seat, decision))
        cause = _cause(code)
        asked = [where[0] for where in deaths if where[0] is not None]
        if len(deaths) - len(asked) > OUR_PATIENCE:
            return DeathVerdict(None, f"died {len(deaths)} times, mostly with no bot being asked ({cause}); given up")
        if seat is None:
            return DeathVerdict(again, f"died with no bot being asked ({cause}); played again")
        if repeated:
            fault = Fault(seat, "crash", decision, f"its process died twice at this decision: {cause}")
            return DeathVerdict(self._forfeit(again, fault), f"crash ({cause})")
        if len(deaths) >= PATIENCE:
            likely = max(asked, key=asked.count)
            fault = Fault(likely, "crash", 0, f"its process died in {len(deaths)} plays of this match: {cause}")
            return DeathVerdict(self._forfeit(again, fault), f"crash ({cause})")
        return DeathVerdict(again, f"died ({cause}); played again")

    def _forfeit(self, job: Job, fault: Fault) -> Job:
        """The seat plays at random from this decision on, or from an earlier one that it was blamed for."""
        self._deaths[job.spec.id] = []
        others = tuple(f for f in job.forfeits if f.seat != fault.seat)
        earlier = [f for f in job.forfeits if f.seat == fault.seat]
        if earlier:  # blamed before, and yet it was asked: it is not the same from play to play
            fault = Fault(fault.seat, fault.kind, 0, fault.detail)
        return msgspec.structs.replace(job, forfeits=(*others, fault))


def _cause(code: int | None) -> str:
    if code is None:
        return "unknown"
    if code < 0:
        try:
            return signal.Signals(-code).name
        except ValueError:
            return f"signal {-code}"
    return f"exit code {code}"
