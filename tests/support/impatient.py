"""Arena with little patience, so that a test need not wait for a minute until somebody silent is given up.

    python -m tests.support.impatient tournament --cluster ...

A Dask worker takes it with --preload.
"""

from __future__ import annotations

from harness.cluster import agent, nodes

UNHEARD = 1.5
"""Seconds after which a driver plays elsewhere, too, what a silent node has before it."""


def dask_setup(_worker: object) -> None:
    """In a Dask worker that is starting: agents are given up soon."""
    agent.AGENT_TIMEOUT_S, agent.EXIT_TIMEOUT_S = 3.0, 0.5


if __name__ == "__main__":
    from harness.cli import run

    nodes.SILENT_AFTER_S = UNHEARD
    run()
