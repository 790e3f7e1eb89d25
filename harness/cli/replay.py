"""arena replay."""

from __future__ import annotations

import sys
from pathlib import Path

import click
import msgspec

from harness.cli.parameter_types import RUN
from harness.cli.shared import load_plugins, open_folder, results_option
from harness.core.errors import UnknownName
from harness.core.types import GameRecord
from harness.runs.store import RunFolder


@click.command("replay", short_help="Step through a match, or print it.")
@click.argument("run", type=RUN)
@click.argument("match")
@click.option(
    "--json", "as_json", is_flag=True, help="Everything that happened, one JSON object a line (docs/replay.md)."
)
@click.option("--all", "print_all", is_flag=True, help="Print the whole match, also at a terminal.")
@click.option("--seat", type=int, help="Step: see what this seat saw. Print: show its table at each of its decisions.")
@results_option
def command(run: str, match: str, as_json: bool, print_all: bool, seat: int | None, results: Path) -> None:
    """Step through a MATCH of a RUN, or print it in words.

    At a terminal, step forward and back, jump to a decision and look at what a seat saw; ? lists the commands.
    Anywhere else, or with --all, the whole match is printed.

    \b
    arena replay my-run el-paso-3.1.2
    arena replay my-run el-paso-3.1.2 --seat 0 --all
    arena replay my-run el-paso-3.1.2 --json | jq 'select(.type == "choice")'
    """
    from harness.match.narration import tell_match
    from harness.match.replay import stream
    from harness.play.console import Console
    from harness.play.stepper import Stepper
    from harness.runs.run_setup import configure_run

    opened = open_folder(results, run)
    record = _find(opened, match)
    game = configure_run(opened, load_plugins())[record.game]
    if seat is not None and not 0 <= seat < len(record.seats):
        raise click.UsageError(f"{record.id} has seats 0 to {len(record.seats) - 1}, not {seat}.")
    console = Console(sys.stdin, sys.stdout)
    if as_json:
        for line in stream(game, record):
            click.echo(msgspec.json.encode(line))
    elif print_all or not (sys.stdin.isatty() and sys.stdout.isatty()):
        for told in tell_match(game, record, seat):
            console.say(told)
    else:
        Stepper(console, game, record, seat).run()


def _find(run: RunFolder, match: str) -> GameRecord:
    ids = []
    for record in run.records():
        if match in (record.id, str(record.index)):
            return record
        ids.append(record.id)
    shown = ids if len(ids) <= 20 else [*ids[:10], *ids[-10:]]
    raise UnknownName(f"match of {run.folder}", match, shown)
