"""arena tournament."""

from __future__ import annotations

import json
import sys
from contextlib import redirect_stdout
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from harness.cli.common import load_plugins, note, parse_options, results_option, strict_option
from harness.cli.progress import Progress
from harness.cli.signals import Stopper

if TYPE_CHECKING:
    from harness.store import Run
    from harness.tournament import Setup
    from harness.types import GameRecord


@click.command("tournament", short_help="Let bots play against each other and rate them.")
@click.option("--game", "games", multiple=True, help="A game to play; may be repeated. Default: all.")
@click.option(
    "--bot", "bots", multiple=True, metavar="BOT", help="A bot: NAME, NAME:key=value or a file.py. Default: all."
)
@click.option(
    "--option", "options", multiple=True, metavar="KEY=VALUE", help="An option of the games, e.g. edition=nl."
)
@click.option("--players", type=int, help="Bots at a table. Default: up to 4, as the game and the field allow.")
@click.option(
    "--deals", type=int, default=10, show_default=True, help="Deals; every table plays each in every seating."
)
@click.option(
    "--seed", type=click.IntRange(min=0, max=2**63), default=1, show_default=True, help="The luck of the run."
)
@click.option("--name", help="Name of the run's folder. Default: the time.")
@click.option("--resume", type=click.Path(path_type=Path), help="Continue the run in this folder.")
@click.option(
    "--move-time", type=float, default=0.0, help="Seconds a bot may take for one decision. Default: no limit."
)
@click.option("--table-format", "-f", default="simple", show_default=True, help="github, csv, html, latex ...")
@click.option("--json", "as_json", is_flag=True, help="Print the leaderboard as JSON.")
@click.option("--quiet", "-q", is_flag=True, help="No progress and no notes.")
@strict_option
@results_option
def command(**asked: Any) -> None:
    """Let bots play against each other and rate them.

    Every table of bots plays each deal once in every rotation of its seats, so that nobody is lucky in the draw.
    Records go to a folder under results/ as matches end; Ctrl-C loses nothing, --resume goes on.

    \b
    arena tournament
    arena tournament --game el-paso --deals 50 --seed 7 --name first
    arena tournament --game el-paso --option edition=nl --players 3
    arena tournament --bot skittish --bot skittish:stars=3 --bot my_bot.py
    arena tournament --resume results/first
    """
    from harness.tables import FORMATS, render
    from harness.tournament import write_leaderboard

    if asked["table_format"] not in FORMATS:
        raise click.UsageError(f"Unknown table format {asked['table_format']!r}; choose from: {', '.join(FORMATS)}.")
    if asked["move_time"] < 0:
        raise click.UsageError("--move-time is a number of seconds, not negative.")
    run, setup = _resume(asked) if asked["resume"] else _new(asked)
    # What bots print goes to stderr: stdout belongs to the leaderboard.
    with redirect_stdout(sys.stderr):
        complete, faults = _play(run, setup, asked)
    rated = write_leaderboard(run)
    for warning in run.warnings:
        note(f"Warning: {warning}")
    if asked["as_json"]:
        tables = json.loads(render(rated, "json"))
        click.echo(
            json.dumps({"run": str(run.folder), "complete": complete, "faults": faults, "tables": tables}, indent=2)
        )
    else:
        click.echo(render(rated, asked["table_format"]))
    if not asked["quiet"]:
        _closing_notes(run, complete, faults)
    if faults and asked["strict"]:
        click.get_current_context().exit(1)


def _new(asked: dict[str, Any]) -> tuple[Run, Setup]:
    from harness.store import Run
    from harness.tournament import info_for, prepare

    registry = load_plugins(asked["strict"])
    options = parse_options(asked["options"])
    setup = prepare(registry, asked["games"], asked["bots"], options, asked["players"], asked["deals"], asked["seed"])
    name = asked["name"] or datetime.now().astimezone().strftime("%Y-%m-%d-%H%M%S")
    if not name.strip() or name in (".", "..") or any(c in name for c in "/\\\0"):
        raise click.UsageError(f"{name!r} cannot be the name of a folder; --results says where runs are kept.")
    command = " ".join(["arena", *map(_quoted, sys.argv[1:])])
    return Run.create(asked["results"] / name, info_for(setup, command)), setup


def _resume(asked: dict[str, Any]) -> tuple[Run, Setup]:
    from harness.store import find
    from harness.tournament import reopen

    given = [f"--{key}" for key in ("games", "bots", "options", "players", "name") if asked[key]]
    if given:
        raise click.UsageError(f"--resume continues a run as it was asked for; leave out {', '.join(given)}.")
    return reopen(find(asked["results"], str(asked["resume"])), load_plugins(asked["strict"]))


def _play(run: Run, setup: Setup, asked: dict[str, Any]) -> tuple[bool, int]:
    from harness.referee import Limits
    from harness.schedule import count
    from harness.tournament import play

    limits = Limits(move_time=asked["move_time"])
    with Stopper() as stopper, Progress("matches", count(setup.plan), asked["quiet"]) as progress:

        def seen(record: GameRecord) -> None:
            progress.step(len(record.faults))

        complete = play(run, setup, limits, seen, lambda: stopper.stopped)
    return complete, progress.faults


def _closing_notes(run: Run, complete: bool, faults: int) -> None:
    note("")
    if faults:
        note(f"{faults} faults: 'arena replay {run.folder} MATCH' shows what a bot said; see games.jsonl.")
    if complete:
        note(f"Records and leaderboard: {run.folder}")
    else:
        note(f"Stopped early. Continue with: arena tournament --resume {run.folder}")


def _quoted(word: str) -> str:
    from shlex import quote

    return quote(word)
