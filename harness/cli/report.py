"""arena report."""

from __future__ import annotations

from pathlib import Path

import click

from harness.cli.parameter_types import RUN
from harness.cli.shared import load_plugins, note, open_together, results_option, without_option


@click.command("report", short_help="Make one HTML page of a run: tables, charts, replays.")
@click.argument("runs", type=RUN, nargs=-1, required=True)
@click.option("--match", "matches", multiple=True, metavar="ID", help="Show this match in the replay viewer too.")
@click.option(
    "--replays",
    type=click.IntRange(min=0),
    help="Choose at most so many matches for the viewer: close ones, upsets, faults.  [default: two of each and game]",
)
@click.option(
    "--to",
    type=click.Path(path_type=Path, dir_okay=False),
    help="The file to write.  [default: report.html in the run's folder; several runs have none]",
)
@without_option
@results_option
def command(
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
    from harness.output.pages import check_left_out, format_results, installed_games, write_report

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
