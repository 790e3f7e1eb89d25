"""arena replay."""

from __future__ import annotations

import sys
from pathlib import Path

import click
import msgspec

from harness.cli.parameter_types import RUN
from harness.cli.shared import load_plugins, open_folder, results_option


@click.command("replay", short_help="Step through a match, or print it.")
@click.argument("run", type=RUN)
@click.argument("match")
@click.option(
    "--json", "as_json", is_flag=True, help="Everything that happened, one JSON object a line (docs/replay.md)."
)
@click.option("--all", "print_all", is_flag=True, help="Print the whole match, also at a terminal.")
@click.option(
    "--seat",
    type=int,
    help="Step: see what this seat saw. Print: show its table at each of its decisions; with --json its view.",
)
@results_option
def command(run: str, match: str, as_json: bool, print_all: bool, seat: int | None, results: Path) -> None:
    """Step through a MATCH of a RUN, or print it in words.

    At a terminal, step forward and back, jump to a decision and look at what a seat saw; ? lists the commands.
    Anywhere else, or with --all, the whole match is printed. What bots noted about their decisions is shown with them.

    \b
    arena replay my-run el-paso-3.1.2
    arena replay my-run el-paso-3.1.2 --seat 0 --all
    arena replay my-run el-paso-3.1.2 --json | jq 'select(.type == "choice")'
    arena replay my-run el-paso-3.1.2 --json --seat 0 | jq 'select(.view).view'
    """
    from harness.match.narration import tell_match
    from harness.match.replay import stream
    from harness.play.console import Console
    from harness.play.stepper import Stepper
    from harness.runs.run_setup import game_of

    opened = open_folder(results, run)
    record = opened.record(match)
    game = game_of(opened, load_plugins(), record)
    if seat is not None and not 0 <= seat < len(record.seats):
        raise click.UsageError(f"{record.id} has seats 0 to {len(record.seats) - 1}, not {seat}.")
    notes = opened.notes(record.id)
    console = Console(sys.stdin, sys.stdout)
    if as_json:
        for line in stream(game, record, notes, seat):
            click.echo(msgspec.json.encode(line))
    elif print_all or not (sys.stdin.isatty() and sys.stdout.isatty()):
        for told in tell_match(game, record, seat, notes):
            console.say(told)
    else:
        Stepper(console, game, record, seat, notes).run()
