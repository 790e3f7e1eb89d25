"""What `arena bench --start` prints."""

from __future__ import annotations

import json

import click
from tabulate import tabulate


def show_start(as_json: bool) -> None:
    """How long arena takes to start, and to play the shortest run."""
    from harness.bench.start_speed import ROUNDS, measure_start

    click.echo(f"Starting arena {ROUNDS + 1} times in each way ...", err=True)
    measured = measure_start()
    if as_json:
        click.echo(json.dumps(measured, indent=2))
        return
    rows = [[what, *(f"{each[what]:,.0f}" for each in measured.values())] for what in next(iter(measured.values()))]
    click.echo(tabulate(rows, headers=["", *measured], disable_numparse=True, colalign=["left", "right", "right"]))
