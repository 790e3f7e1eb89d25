"""arena tournament."""

from __future__ import annotations

import json
import sys
from contextlib import redirect_stdout
from dataclasses import replace
from pathlib import Path
from shlex import join
from typing import TYPE_CHECKING, Any

import click

from harness.cli.playing import entrants_for, executor_for, limits_asked, playing_options, seed_asked
from harness.cli.progress import Progress, clock
from harness.cli.shared import load_plugins, note, parse_options, results_option, run_folder, strict_option
from harness.cli.signals import Stopper

if TYPE_CHECKING:
    from harness.executors import Executor
    from harness.runs.run_setup import RunSetup
    from harness.runs.store import RunFolder

DEALS = 10
FIXED = {
    "games": "game", "bots": "bot", "options": "option", "players": "players", "deals": "deals", "seed": "seed",
    "format": "format", "candidates": "candidate", "rounds": "rounds", "tables": "tables",
    "until_separated": "until-separated", "max_matches": "max-matches", "name": "name",
}  # fmt: skip
"""What a run is: a resumed one has it already."""


@click.command("tournament", short_help="Let bots play against each other and rate them.")
@click.option("--game", "games", multiple=True, help="A game to play; may be repeated. Default: all.")
@click.option(
    "--bot",
    "bots",
    multiple=True,
    metavar="BOT",
    help="A bot: NAME, NAME:key=value, a file.py or cmd:COMMAND. Default: all quick ones.",
)
@click.option(
    "--option", "options", multiple=True, metavar="KEY=VALUE", help="An option of the games, e.g. edition=nl."
)
@click.option("--players", type=int, help="Bots at a table. Default: up to 4, as the game and the field allow.")
@click.option("--deals", type=int, help=f"Deals; every table plays each in every seating. Default: {DEALS}.")
@click.option("--seed", type=click.IntRange(min=0, max=2**63), help="The luck of the run. Default: drawn, and kept.")
@click.option("--format", "format", help="round-robin (default), gauntlet, swiss, knockout or ladder: docs/formats.md.")
@click.option(
    "--candidate", "candidates", multiple=True, metavar="BOT", help="Whom a gauntlet is about; may be repeated."
)
@click.option("--rounds", type=click.IntRange(min=1), help="Rounds of a swiss.")
@click.option(
    "--tables",
    type=click.IntRange(min=1),
    help="Tables of a deal (round-robin), of the field (gauntlet), of a round (ladder).",
)
@click.option(
    "--until-separated",
    type=float,
    metavar="P",
    help="A ladder stops when neighbours are told apart with this probability.",
)
@click.option("--max-matches", type=click.IntRange(min=1), help="A ladder plays no more matches of one game than this.")
@click.option("--max-faults", type=click.IntRange(min=1), help="Disqualify a bot after so many faults. Default: never.")
@click.option("--name", help="Name of the run's folder. Default: the time.")
@click.option("--resume", type=click.Path(path_type=Path), metavar="RUN", help="Continue the run in this folder.")
@click.option("--force", is_flag=True, help="With --resume: go on although bots or rules have changed.")
@click.option(
    "--dry-run",
    is_flag=True,
    help="Print the schedule's size and balance, and the time it will take by a few trial matches; record nothing.",
)
@playing_options
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
    arena tournament --format ladder --until-separated 0.95
    arena tournament --resume results/first
    """
    from harness.output import FORMATS

    if asked["table_format"] not in FORMATS:
        raise click.UsageError(f"Unknown table format {asked['table_format']!r}; choose from: {', '.join(FORMATS)}.")
    if asked["dry_run"]:
        if asked["resume"]:
            raise click.UsageError("--dry-run is for a run that has not begun; leave out --resume.")
        asked |= limits_asked(asked) | {"seed": seed_asked(asked)}
        _dry_run(_setup(asked), asked)
        return
    run, setup = _resume(asked) if asked["resume"] else _new(asked)
    # What bots print goes to stderr: stdout belongs to the leaderboard.
    with redirect_stdout(sys.stderr):
        complete, faults = _play(run, setup, asked)
    _show(run, setup, complete, faults, asked)
    if not complete or (faults and asked["strict"]):
        click.get_current_context().exit(1)


def _setup(asked: dict[str, Any]) -> RunSetup:
    from harness.runs.run_setup import prepare

    registry = load_plugins(asked["strict"], asked["isolate"])
    own = ("format", "rounds", "tables", "until_separated", "max_matches")
    settings = {key: asked[key] for key in own if asked[key] is not None}
    if asked["candidates"]:
        settings["candidates"] = tuple(entrant.name for entrant in registry.entrants(asked["candidates"]))
    return prepare(
        registry,
        asked["games"],
        asked["bots"],
        parse_options(asked["options"]),
        asked["players"],
        DEALS if asked["deals"] is None else asked["deals"],
        asked["seed"],
        **settings,
    )


def _new(asked: dict[str, Any]) -> tuple[RunFolder, RunSetup]:
    from harness.runs.run_setup import info_for
    from harness.runs.store import RunFolder

    words = ["arena", *sys.argv[1:]]
    if asked["seed"] is None:
        asked["seed"] = seed_asked(asked)
        words += ["--seed", str(asked["seed"])]
    asked |= limits_asked(asked)
    setup = _setup(asked)
    folder = run_folder(asked["results"], asked["name"])
    return RunFolder.create(folder, info_for(setup, join(words), limits_asked(asked))), setup


def _resume(asked: dict[str, Any]) -> tuple[RunFolder, RunSetup]:
    from harness.runs.run_setup import reopen
    from harness.runs.store import RunFolder, find

    given = [f"--{option}" for key, option in FIXED.items() if asked[key] not in (None, ())]
    if given:
        raise click.UsageError(f"--resume continues a run as it was asked for; leave out {', '.join(given)}.")
    folder = find(asked["results"], str(asked["resume"]))
    kept = {**limits_asked({}), **RunFolder.open(folder).info.limits}
    other = [key for key in kept if asked[key] not in (None, kept[key])]
    if other and not asked["force"]:
        told = ", ".join(f"--{key.replace('_', '-')} {kept[key]}" for key in other)
        raise click.UsageError(f"The run was begun with {told}; leave that as it is, or use --force.")
    asked |= {key: kept[key] for key in kept if asked[key] is None}
    return reopen(folder, load_plugins(asked["strict"], asked["isolate"]), asked["force"])


def _play(run: RunFolder, setup: RunSetup, asked: dict[str, Any]) -> tuple[bool, int]:
    from harness.runs.tournament import Tournament
    from harness.schedule import count

    with Stopper() as stopper, Progress("matches", count(setup.plan), asked["quiet"]) as progress:
        tournament = Tournament(run, setup, asked["max_faults"], progress.seen, progress.resumed)
        with executor_for(setup.table, asked, lambda: stopper.stopped, run.folder / "logs") as executor:
            complete = tournament.play(executor)
        _tell_incidents(run, executor)
    return complete, progress.faults


def _tell_incidents(run: RunFolder, executor: Executor) -> None:
    from harness.executors import LocalPool

    if isinstance(executor, LocalPool):
        ours = [loss for loss in executor.losses if loss.seat is None]
        run.warnings += [f"a worker was lost in {loss.match}: it {loss.what}." for loss in ours[:10]]
        if executor.given_up:
            listed = ", ".join(executor.given_up[:10])
            run.warnings.append(f"could not be played, through no fault of a bot that could be told: {listed}.")


def _show(run: RunFolder, setup: RunSetup, complete: bool, faults: int, asked: dict[str, Any]) -> None:
    from harness.output import render
    from harness.runs.tournament import write_leaderboard
    from harness.schedule import outcomes

    rated = write_leaderboard(run)
    if asked["as_json"]:
        tables = json.loads(render(rated, "json"))
        click.echo(
            json.dumps({"run": str(run.folder), "complete": complete, "faults": faults, "tables": tables}, indent=2)
        )
    else:
        click.echo(render(rated, asked["table_format"]))
    for warning in dict.fromkeys(run.warnings):
        note(f"Warning: {warning}")
    if not complete:
        note(f"Not complete. Continue with: arena tournament --resume {run.folder}")
    if asked["quiet"]:
        return
    note("")
    for game, outcome in outcomes(setup.plan, run.records()).items() if complete else ():
        if outcome.note:
            note(f"{game}: {outcome.note}")
    if faults:
        note(f"{faults} faults: 'arena replay {run.folder} MATCH' shows what a bot said; see games.jsonl.")
    note(f"Records and leaderboard: {run.folder}")


def _dry_run(setup: RunSetup, asked: dict[str, Any]) -> None:
    from harness.executors import default_workers
    from harness.runs.estimate import seconds_per_match
    from harness.schedule import count
    from harness.schedule.balance import report, text

    total = count(setup.plan)
    click.echo(text(report(setup.plan)))
    click.echo(
        f"\n{'Matches' if total is not None else 'Matches: as many as the results ask for'}"
        + (f": {total:,}" if total is not None else "")
    )
    with redirect_stdout(sys.stderr):
        each = seconds_per_match(replace(setup, entrants=entrants_for(setup.table, asked)))
    workers = max(1, default_workers() if asked["workers"] is None else asked["workers"])
    line = f"A match takes about {1000 * each:.3g} ms"
    if total is not None:
        line += f"; all of them about {clock(total * each / workers)} with {workers} workers"
    click.echo(line + ".")
