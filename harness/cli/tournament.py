"""arena tournament."""

from __future__ import annotations

import json
import sys
from contextlib import redirect_stdout
from pathlib import Path
from shlex import join
from typing import TYPE_CHECKING, Any

import click

from harness.cli.options import (
    EVENT,
    RUN,
    check_table_options,
    chosen_cluster,
    given,
    layout,
    load_plugins,
    make_ready,
    note,
    request_options,
    resumed,
    table_options,
    tell_faults,
)

if TYPE_CHECKING:
    from harness.core.options import BotLimits
    from harness.match.faults import FaultGroups
    from harness.plugins.registry import Registry
    from harness.runs.request import RunRequest
    from harness.runs.setup import RunSetup
    from harness.runs.store import RunFolder

FIXED = {
    "games": "game", "options": "option", "players": "players", "seed": "seed", "goal": "goal",
    "until_separated": "until-separated", "name": "name", "save": "save",
}  # fmt: skip
"""What a run is: a resumed one has it already."""
MORE = ("deals", "bots", "candidates", "format")
"""What a resumed one can get more of."""


@click.command("tournament", short_help="Let bots play against each other and rate them.")
@click.argument("event", type=EVENT, required=False, metavar="[FILE]")
@request_options()
@click.option(
    "--goal",
    metavar="GOAL",
    help="What a ladder finds out: best, order (default), or newcomer, the place of each --candidate.",
)
@click.option(
    "--until-separated",
    type=float,
    metavar="P",
    help="A ladder stops when its goal is reached with this probability, however often one looks.",
)
@click.option(
    "--save",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Write what is asked for to this TOML file, and play nothing.",
)
@click.option(
    "--resume",
    type=RUN,
    metavar="RUN",
    help="Continue the run in this folder; with --deals, --bot (and --candidate), or --format swiss:rounds=N, let it "
    "have more of them, where its format allows.",
)
@click.option(
    "--force",
    is_flag=True,
    help="With --resume: go on although bots or rules have changed. With --save: replace a file.",
)
@click.option(
    "--dry-run",
    is_flag=True,
    help="Print the schedule's size and balance, and the time it will take by a few trial matches; record nothing.",
)
@table_options
@click.option("--json", "as_json", is_flag=True, help="Print leaderboard and outcome as JSON.")
@click.option("--quiet", "-q", is_flag=True, help="No progress and no notes.")
def command(**asked: Any) -> None:
    """Let bots play against each other and rate them.

    Every table of bots plays each deal once in every rotation of its seats, so that nobody is lucky in the draw.
    Records go to a folder under results/ as matches end; Ctrl-C loses nothing, --resume goes on.

    FILE is a TOML file that asks for all of this; options count instead of what it says. It may also be the folder of a
    run, or its run.json: then the same is played once more.

    \b
    arena tournament
    arena tournament --game el-paso --deals 50 --seed 7 --name first
    arena tournament --game el-paso --option edition=nl --players 3
    arena tournament --bot skittish --bot skittish:stars=3 --bot my_bot.py
    arena tournament --bot v1=old/my_bot.py --bot v2=my_bot.py --bot @rivals.txt
    arena tournament --format ladder --goal best --until-separated 0.95
    arena tournament --format ladder --goal newcomer --candidate outlaw
    arena tournament --game el-paso --bot my_bot.py --bot outlaw --save event.toml
    arena tournament event.toml --deals 2
    arena tournament results/first --save event.toml
    arena tournament --deals 500 --cluster tcp://10.0.0.1:8786
    arena tournament --resume results/first
    arena tournament --resume results/first --deals 40
    arena tournament --resume results/first --bot late.py
    """
    from harness.output.progress import play_watched
    from harness.runs.setup import create_run, seeded

    check_table_options(asked["table_format"], asked["columns"])
    if asked["resume"]:
        workers, strict, cluster = asked["workers"], asked["strict"], chosen_cluster(asked)
        make_ready(workers, asked["threads"], elsewhere=bool(cluster.address))
        run, setup, limits = _resume(asked)
    else:
        request = _request(asked)
        cluster = request.on_cluster
        make_ready(0 if asked["dry_run"] else request.workers, request.threads, request, bool(cluster.address))
        registry = load_plugins(request.strict, request.isolate)
        if request.file is None and asked["event"]:
            request = _again(Path(asked["event"]), request, registry, asked)
        if asked["save"]:
            _save(request, registry, asked)
            if not asked["dry_run"]:
                return None
        if asked["dry_run"]:
            from harness.runs.setup import prepare

            return _dry_run(prepare(request, registry), request)
        drawn = [] if request.seed is not None else ["--seed", str((request := seeded(request)).seed)]
        run, setup = create_run(request, registry, join(["arena", *sys.argv[1:], *drawn]))
        limits, workers, strict = request.limits, request.workers, request.strict
        for warning in setup.warnings:
            note(f"Warning: {warning}")
    complete, faults = play_watched(run, setup, limits, workers, asked["quiet"], cluster)
    _show(run, setup, complete, faults, asked)
    if not complete or (faults.total and strict):
        click.get_current_context().exit(1)
    return None


def _request(asked: dict[str, Any]) -> RunRequest:
    from harness.runs.request import RunRequest

    fields: dict[str, Any] = {}
    if asked["event"]:
        from harness.runs.config_file import asked_in

        fields = asked_in(Path(asked["event"]))
    typed = given(asked)
    fields |= typed | ({"options": fields.get("options", {}) | typed["options"]} if "options" in typed else {})
    for option in ("goal", "until_separated"):
        if asked[option] is not None:
            with_options = fields.get("format", "round-robin")
            joint = "," if ":" in with_options else ":"
            fields["format"] = f"{with_options}{joint}{option.replace('_', '-')}={asked[option]}"
    return RunRequest(**fields)


def _again(event: Path, request: RunRequest, registry: Registry, asked: dict[str, Any]) -> RunRequest:
    """The request that was made of a run, in few words; refused if that run cannot be asked for."""
    from harness.runs.config_file import run_at
    from harness.runs.extend import request_of_run, without_defaults

    for change in request_of_run(run_at(event), registry)[1]:
        note(f"Warning: {change}.")
    if not (asked["save"] or asked["quiet"]):
        note(f"What {event} was asked for is played once more; --resume would continue it.")
    return without_defaults(request, registry)


def _save(request: RunRequest, registry: Registry, asked: dict[str, Any]) -> None:
    """Writes the file, once it is known that it can be played."""
    from harness.runs.setup import prepare

    prepare(request, registry)
    request.save(asked["save"], asked["force"])
    if not asked["quiet"]:
        note(f"Written: {asked['save']}. Play it: arena tournament {asked['save']}")


def _resume(asked: dict[str, Any]) -> tuple[RunFolder, RunSetup, BotLimits]:
    from harness.runs.setup import reopen

    if asked["dry_run"]:
        raise click.UsageError("--dry-run is for a run that has not begun; leave out --resume.")
    fixed = [asked["event"]] if asked["event"] else []
    fixed += [f"--{option}" for key, option in FIXED.items() if asked[key] not in (None, ())]
    if fixed:
        raise click.UsageError(
            f"--resume continues a run as it was asked for, or with more deals and bots; leave out {', '.join(fixed)}."
        )
    run, limits = resumed(asked)
    registry = load_plugins(asked["strict"], limits.isolate)
    if not (more := given(asked, *MORE)):
        return run, reopen(run, registry, asked["force"]), limits
    from harness.runs.extend import RunExtension, extend_run

    setup, told = extend_run(run, registry, RunExtension(**more), join(["arena", *sys.argv[1:]]), asked["force"])
    for sentence in () if asked["quiet"] else told:
        note(sentence)
    return run, setup, limits


def _show(run: RunFolder, setup: RunSetup, complete: bool, faults: FaultGroups, asked: dict[str, Any]) -> None:
    from harness.output.leaderboard import leaderboard_tables, write_leaderboard
    from harness.output.outcome import DATA, write_outcome
    from harness.output.tables import text_of
    from harness.output.text import fault_fields

    boards, outcome = write_leaderboard(run), write_outcome(run, setup.schedule)
    table_format = "json" if asked["as_json"] else asked["table_format"]
    scores = {name: game.score_text for name, game in setup.roster.games.items()} if table_format == "simple" else {}
    tables = leaderboard_tables(boards, asked["columns"], scores, table_format != "csv", run.info.entrants)
    if asked["as_json"]:
        data = {table.title: table.rows for table in tables}
        told = {"run": str(run.folder), "complete": complete, **fault_fields(faults), "tables": data}
        click.echo(json.dumps(told | {"outcome": outcome.fields()}, indent=2))
    else:
        click.echo(text_of(tables, table_format, layout(asked["wide"], asked["columns"])))
        if outcome.has_results and table_format not in DATA:
            click.echo("\n" + outcome.text(table_format, notes=False))
    for warning in dict.fromkeys(run.warnings):
        if warning not in setup.warnings:  # those were told before
            note(f"Warning: {warning}")
    if not complete:
        note(f"Not complete. Continue with: arena tournament --resume {run.folder}")
    if asked["quiet"]:
        return
    note("")
    for game, said in outcome.items() if complete else ():
        if said.note:
            note(f"{game}: {said.note}")
    tell_faults(run, faults)
    note(f"Records and leaderboard: {run.folder}")


def _dry_run(setup: RunSetup, request: RunRequest) -> None:
    from harness.executors.base import default_workers, isolated
    from harness.match.stdio import no_breakpoints
    from harness.output.columns import about, duration
    from harness.output.tables import grid_text
    from harness.output.text import tell_confinement
    from harness.runs.setup import balance_tables, report, seconds_per_match

    workers = max(1, default_workers() if request.workers is None else request.workers)
    tell_confinement(setup.entrants, request.isolate)
    total = setup.schedule.count()
    tables = balance_tables(report(setup.schedule))
    click.echo("\n\n".join(f"{table.title}\n\n{grid_text(table)}" for table in tables))
    click.echo("\nMatches" + (": as many as the results ask for" if total is None else f": {total:,}"))
    with redirect_stdout(sys.stderr), no_breakpoints():
        each = seconds_per_match(setup.schedule, isolated(setup.roster, request.limits))
    line = f"A match takes about {duration(each)}"
    if total is not None and request.cluster:
        line += f"; all of them {about(total * each)} on one core"
    elif total is not None:
        line += f"; all of them {about(total * each / workers)} with {workers} workers"
    click.echo(line + ".")
