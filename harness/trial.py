"""A few matches of a plan, played to see how long they take."""

from __future__ import annotations

from itertools import islice
from time import perf_counter

from harness.referee import play
from harness.schedule import rehearse
from harness.setup import Setup

MOST_MATCHES = 12
MOST_SECONDS = 5.0


def seconds_a_match(setup: Setup) -> float:
    """How long a match of this plan takes on one core, from a few of them; at least one is played."""
    specs = list(islice(rehearse(setup.plan), 2000))
    step = max(1, len(specs) // MOST_MATCHES)
    began, played = perf_counter(), 0
    for spec in specs[::step]:
        play(spec, setup.games[spec.game], setup.table.seats(spec))
        played += 1
        if perf_counter() - began > MOST_SECONDS:
            break
    return (perf_counter() - began) / played
