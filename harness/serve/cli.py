"""arena serve."""

from __future__ import annotations

from pathlib import Path

import click

from harness.cli.options import RUN, load_plugins, note, results_option
from harness.core.errors import UsageError
from harness.serve.live_run import named_place, places_in

PORT = 8420
NEEDED = ("jinja2", "markupsafe", "starlette", "uvicorn")


@click.command("serve")
@click.argument("run", type=RUN, required=False, metavar="[RUN|LEAGUE]")
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to serve at; 0.0.0.0 is all of them.")
@click.option(
    "--port", type=click.IntRange(0, 65535), default=PORT, show_default=True, help="The port; 0 is any that is free."
)
@results_option
def command(run: str | None, host: str, port: int, results: Path) -> None:
    """Show a RUN or a league in a browser while it is played: standings, progress, newest results, faults, and any
    match again. Without a RUN, all runs of the folder of results.

    It reads the run's files and never writes; the run itself is played by another process, or was played before.
    What is still secret is not sent: see docs/live-page.md.

    \b
    arena serve my-run
    arena serve                                all runs of results/
    arena serve my-run --port 0                at any port that is free
    arena serve my-run --host 0.0.0.0          for everybody who can reach this machine
    """
    try:
        # Needs libraries of the extra [serve].
        from harness.serve.app import LivePages, address_of, live_app, open_socket, run_server
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] not in NEEDED:
            raise
        raise UsageError(
            f"The live page is served with {error.name}, which is not installed: pip install 'arena-harness[serve]'."
        ) from error
    from harness.league.standings import LeagueTables  # loads the league, which `arena serve --help` does not need

    registry, tables = load_plugins(), LeagueTables()
    if run is None:
        places_in(results)  # fails at once if there is no such folder
        pages = LivePages(lambda: places_in(results, tables), registry)
    else:
        place = named_place(results, run, tables)
        pages = LivePages(lambda: {place.name: place}, registry, place.name)
    with open_socket(host, port) as socket:
        what = f"the runs of {results}" if run is None else place.name
        note(f"Serving {what} at {address_of(socket)} (Ctrl-C ends it)")
        run_server(live_app(pages, host), socket, pages.end)
