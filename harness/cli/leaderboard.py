"""arena leaderboard."""

from __future__ import annotations

from pathlib import Path

import click

from harness.cli.common import note, open_run, results_option
from harness.errors import UnknownName


@click.command("leaderboard", short_help="Print the leaderboard of a run.")
@click.argument("run")
@click.option("--game", help="Only this game's table.")
@click.option("--table-format", "-f", default="simple", show_default=True, help="github, csv, json, html, latex ...")
@results_option
def command(run: str, game: str | None, table_format: str, results: Path) -> None:
    """Print the leaderboard of a RUN, rebuilt from its records.

    \b
    arena leaderboard my-run
    arena leaderboard results/my-run --table-format github
    arena leaderboard my-run -f csv > table.csv
    """
    from harness.ratings import books
    from harness.tables import render

    opened = open_run(results, run)
    rated = books(opened.records())
    for warning in opened.warnings:
        note(f"Warning: {warning}")
    if game is not None:
        if game not in rated:
            raise UnknownName("game of this run", game, rated)
        rated = {game: rated[game]}
    if not rated:
        note(f"{opened.folder} has no finished match yet.")
    click.echo(render(rated, table_format))
