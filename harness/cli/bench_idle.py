"""What `arena bench --idle` prints."""

from __future__ import annotations

import json
from collections.abc import Sequence

import click
from tabulate import tabulate


def show_idle(games: Sequence[str], as_json: bool) -> None:
    """How much of the time of many nodes each format leaves idle, in simulated runs."""
    from harness.bench.idle_time import CORES, measure_idle

    click.echo(f"Simulating runs of {', '.join(games)} on nodes of {CORES} cores ...", err=True)
    measured = measure_idle(games)
    if as_json:
        shown = {
            case: {many: share._asdict() for many, share in by_nodes.items()} for case, by_nodes in measured.items()
        }
        click.echo(json.dumps(shown, indent=2))
        return
    nodes = list(next(iter(measured.values())))
    rows = [
        [
            case,
            f"{shares[nodes[0]].matches:,.0f}",
            *(f"{each.live:.1%} ({each.in_step:.1%})" for each in shares.values()),
        ]
        for case, shares in measured.items()
    ]
    headers = ["idle (with games in step)", "matches", *(f"{many} nodes" for many in nodes)]
    align = ["left", *["right"] * (len(nodes) + 1)]
    click.echo(tabulate(rows, headers=headers, disable_numparse=True, colalign=align))
