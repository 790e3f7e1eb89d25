"""A few matches of a plan, played to see how long they take."""

from __future__ import annotations

from itertools import islice
from time import perf_counter

from harness.match.referee import play
from harness.runs.run_setup import RunSetup
from harness.schedule import simulated_schedule

MOST_MATCHES = 12
MOST_SECONDS = 5.0


def seconds_per_match(setup: RunSetup) -> float:
    """How long a match of this plan takes on one core, from a few of them; at least one is played."""
    specs = list(islice(simulated_schedule(setup.plan), 2000))
    step = max(1, len(specs) // MOST_MATCHES)
    table, spent, played = setup.table, 0.0, 0
    try:
        for spec in specs[::step]:
            seats = table.seats(spec)  # starts the processes of bots that have their own: not part of a match
            began = perf_counter()
            play(spec, setup.games[spec.game], seats)
            spent, played = spent + perf_counter() - began, played + 1
            if spent > MOST_SECONDS:
                break
    finally:
        table.close()
    return spent / played
