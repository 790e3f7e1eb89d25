"""How long a run will take, from a few of its matches."""

from __future__ import annotations

from itertools import islice
from time import perf_counter

from harness.executors.jobs import Roster
from harness.match.referee import play
from harness.schedule import Schedule

MOST_MATCHES = 12
MOST_SECONDS = 5.0


def seconds_per_match(schedule: Schedule, roster: Roster) -> float:
    """How long a match of this schedule takes on one core, from a few of them; at least one is played."""
    specs = list(islice(schedule.simulated(), 2000))
    step = max(1, len(specs) // MOST_MATCHES)
    spent, played = 0.0, 0
    try:
        for spec in specs[::step]:
            seats = roster.seats(spec)  # starts the processes of bots that have their own: not part of a match
            began = perf_counter()
            play(spec, roster.games[spec.game], seats)
            spent, played = spent + perf_counter() - began, played + 1
            if spent > MOST_SECONDS:
                break
    finally:
        roster.close()
    return spent / played
