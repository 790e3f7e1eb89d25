"""Plays a run for a person who waits: says who is confined, shows progress, and listens to Ctrl-C."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from harness.executors.jobs import HERE, ClusterChoice
from harness.output.confinement_text import tell_confinement
from harness.output.terminal import at_terminal
from harness.runs.fault_groups import FaultGroups
from harness.runs.run_setup import RunSetup
from harness.runs.store import RunFolder
from harness.runs.tournament import play_run


def play_watched(
    run: RunFolder,
    setup: RunSetup,
    limits: Mapping[str, Any],
    workers: int | None,
    quiet: bool,
    cluster: ClusterChoice = HERE,
    softly: bool = False,
) -> tuple[bool, FaultGroups]:
    """Plays what is missing of a run; whether it is complete now, and the faults of its bots. `softly` is for a
    notebook, whose process goes on after Ctrl-C."""
    tell_confinement(setup.entrants, limits["isolate"], quiet, run, here=not cluster.address)
    with at_terminal("matches", setup.schedule, quiet, workers, softly) as (stop, progress):
        complete = play_run(
            run,
            setup,
            limits,
            workers,
            stop,
            progress.seen,
            progress.resumed,
            progress.disqualified,
            cluster,
            progress.playing,
        )
    return complete, progress.faults
