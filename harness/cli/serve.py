"""arena serve."""

from __future__ import annotations

from pathlib import Path

import click

from harness.cli.parameter_types import RUN
from harness.cli.shared import load_plugins, note, results_option

PORT = 8420


@click.command("serve", short_help="Show a run, or all of them, in a browser while it goes on.")
@click.argument("run", type=RUN, required=False, metavar="[RUN|LEAGUE]")
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to serve at; 0.0.0.0 is all of them.")
@click.option(
    "--port", type=click.IntRange(0, 65535), default=PORT, show_default=True, help="The port; 0 is any that is free."
)
@results_option
def command(run: str | None, host: str, port: int, results: Path) -> None:
    """Show a RUN or a league in a browser while it goes on: standings, progress, newest results, faults, and any match
    again. Without a RUN, all runs of the folder of results.

    It reads the run's files and never writes; the run itself is played by another process, or was played before.
    What is still secret is not sent: see docs/live-page.md.

    \b
    arena serve my-run
    arena serve                                all runs of results/
    arena serve my-run --port 0                at any port that is free
    arena serve my-run --host 0.0.0.0          for everybody who can reach this machine
    """
    from harness.output.league_live import LeagueTables
    from harness.serve import serve_runs

    serve_runs(results, run, load_plugins(), (host, port), _began, LeagueTables())


def _began(what: str, where: str) -> None:
    note(f"Serving {what} at {where} (Ctrl-C ends it)")
