"""arena publish."""

from __future__ import annotations

from pathlib import Path

import click

from harness.cli.parameter_types import RUN
from harness.cli.shared import load_plugins, note, open_folder, open_together, results_option, without_option


@click.command("publish", short_help="Make a web site of runs.")
@click.argument("runs", type=RUN, nargs=-1, required=True)
@click.option(
    "--to",
    type=click.Path(path_type=Path, file_okay=False),
    required=True,
    help="The folder of the site; runs that are there already stay.",
)
@click.option(
    "--url", metavar="BASE", help="Where the site will be, for links in its feed; kept for the next time.", default=""
)
@click.option("--together", metavar="NAME", help="Rate these runs together, and publish them as one of this name.")
@without_option
@results_option
def command(
    runs: tuple[str, ...], to: Path, url: str, together: str | None, left_out: tuple[str, ...], results: Path
) -> None:
    """Make a web site of RUNS, ready for any web host: leaderboards, a page for each run and bot, a feed, badges, data.

    Publishing again adds runs and keeps the old ones; a run that was published before is brought up to date.

    \b
    arena publish my-run --to site
    arena publish monday tuesday --to site
    arena publish monday tuesday --together week --to site
    arena publish my-run --to site --without cheater
    arena publish my-run --to site --url https://example.org/arena/
    """
    from harness.output.pages import publish

    if together is not None:
        if not together.strip(". ") or any(c in "/\\" or not c.isprintable() for c in together):
            raise click.UsageError(f"{together!r} cannot be the name of a page.")
        opened = [open_together(results, runs, together, besides=left_out)]
    else:
        opened = [open_folder(results, run) for run in runs]
    for problem in publish(opened, load_plugins(), to, left_out, url):
        note(f"Warning: {problem}")
    click.echo(to / "index.html")
