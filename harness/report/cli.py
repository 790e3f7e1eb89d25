"""arena report and arena publish."""

from __future__ import annotations

from pathlib import Path

import click

from harness.cli.options import RUN, load_plugins, note, open_folder, open_together, results_option, without_option

# arena report.


@click.command("report", short_help="Make one HTML page of a run: tables, charts, replays.")
@click.argument("runs", type=RUN, nargs=-1, required=True)
@click.option("--match", "matches", multiple=True, metavar="ID", help="Show this match in the replay viewer too.")
@click.option(
    "--replays",
    type=click.IntRange(min=0),
    metavar="N",
    help="Choose at most N matches for the viewer: close ones, upsets, faults.  [default: two of each and game]",
)
@click.option(
    "--to",
    type=click.Path(path_type=Path, dir_okay=False),
    help="The file to write.  [default: report.html in the run's folder; several runs have none]",
)
@without_option
@results_option
def report_command(
    runs: tuple[str, ...],
    matches: tuple[str, ...],
    replays: int | None,
    to: Path | None,
    left_out: tuple[str, ...],
    results: Path,
) -> None:
    """Make one HTML page of a run that needs nothing else: no network, no other file. Several RUNS are rated together.

    \b
    arena report my-run
    arena report my-run --match el-paso-3.1.2 --to el-paso.html
    arena report my-run --without cheater
    arena report monday tuesday --match monday/el-paso-3.1.2 --to week.html
    """
    from harness.output.outcome import format_results
    from harness.report import check_left_out, write_report
    from harness.runs.setup import installed_games

    opened = open_together(results, runs, besides=left_out)
    if to is None and len(runs) > 1:
        raise click.UsageError("Several runs have no folder in common: say where the page goes with --to FILE.")
    registry = load_plugins()
    check_left_out([opened], left_out)
    games, problems = installed_games(opened, registry)
    outcomes, more = (None, []) if left_out else format_results(opened, registry)
    place = to or opened.folder / "report.html"
    path = write_report(opened, games, place, matches, replays, outcomes, left_out, registry.formats)
    for warning in [*problems, *more, *opened.warnings]:
        note(f"Warning: {warning}")
    click.echo(path)


# arena publish.


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
def publish_command(
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
    from harness.report import publish

    if together is not None:
        if not together.strip(". ") or any(c in "/\\" or not c.isprintable() for c in together):
            raise click.UsageError(f"{together!r} cannot be the name of a page.")
        opened = [open_together(results, runs, together, besides=left_out)]
    else:
        opened = [open_folder(results, run) for run in runs]
    for problem in publish(opened, load_plugins(), to, left_out, url):
        note(f"Warning: {problem}")
    click.echo(to / "index.html")
