"""arena verify."""

from __future__ import annotations

from pathlib import Path

import click

from harness.cli.parameter_types import RUN
from harness.cli.shared import load_plugins, note, open_folder, results_option
from harness.output.terminal import Progress

SHOWN = 20


@click.command("verify", short_help="Play the records of a run again and compare.")
@click.argument("runs", type=RUN, nargs=-1, required=True)
@click.option("--sample", type=click.IntRange(min=1), help="Play only about this many records again, evenly spread.")
@results_option
def command(runs: tuple[str, ...], sample: int | None, results: Path) -> None:
    """Play the records of a run again and compare scores, ranks and legality of every action.

    With more than one run, also compare them with the first, timing aside. Ends with exit code 1 if anything
    does not fit.

    \b
    arena verify my-run
    arena verify my-run --sample 100
    arena verify run-a run-b
    """
    from harness.runs.verify import check_run, differences

    registry = load_plugins()
    opened = [open_folder(results, name) for name in runs]
    bad = 0
    for run in opened:
        with Progress("verify", None) as progress:
            found = check_run(run, registry, sample, progress.step)
        for warning in run.warnings:
            note(f"Warning: {warning}")
        verdict = "all fit" if not found.problems else f"{len(found.problems)} problems"
        missing = f", {found.missing} of the schedule are missing" if found.missing else ""
        click.echo(f"{run.folder}: {found.records} records, {found.replayed} played again: {verdict}{missing}.")
        bad += _list(found.problems)
    for run in opened[1:]:
        unlike = differences(opened[0], run)
        same = f"differs from {opened[0].folder} in {len(unlike)} records" if unlike else f"equals {opened[0].folder}"
        click.echo(f"{run.folder}: {same}, timing aside.")
        bad += _list(unlike)
    if bad:
        click.get_current_context().exit(1)


def _list(problems: list[str]) -> int:
    for problem in problems[:SHOWN]:
        click.echo(f"  {problem}")
    if len(problems) > SHOWN:
        click.echo(f"  and {len(problems) - SHOWN} more")
    return len(problems)
