"""The `arena tournament` command.

Functions import what they need: shell completion, `arena tournament --help` and a refused command line must not wait
for the referee, ratings and tables (0.35 s).
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from shlex import join
from typing import TYPE_CHECKING, Any

import click

from harness.cli.options import (
    EVENT,
    RUN,
    CommandWithFormats,
    check_table_options,
    given,
    layout,
    load_plugins,
    make_ready,
    note,
    note_warnings,
    open_folder,
    print_faults,
    request_options,
    show,
    table_options,
)
from harness.core.options import BotLimits, run_options

if TYPE_CHECKING:
    from harness.output.outcome import FormatResults
    from harness.plugins.registry import Registry
    from harness.runs.monitor import FaultGroups
    from harness.runs.request import RunRequest
    from harness.runs.setup import RunSetup
    from harness.runs.store import RunFolder

FIXED = {
    "games": "game", "options": "option", "players": "players", "for_": "for", "matches_each": "matches-each",
    "seed": "seed", "goal": "goal",
    "until-separated": "until-separated", "name": "name", "save": "save",
}  # fmt: skip
"""Options that cannot be combined with --resume, by parameter name: a resumed run keeps its values."""
MORE = ("deals", "bots", "candidates", "format")
"""Options that extend a resumed run."""
HOW = ("workers", "threads", "cluster", "ship", "show_output", "strict")
"""Options for how to play a run, which may differ each time it is resumed."""


@click.command("tournament", cls=CommandWithFormats)
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
    help="Stop a ladder when its goal is reached with this confidence, e.g. 0.95, however often Arena checks.",
)
@click.option(
    "--save",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Write these options to this TOML file, and play nothing.",
)
@click.option(
    "--resume",
    type=RUN,
    metavar="RUN",
    help="Continue the run in this folder; with --deals, --bot (and --candidate), or --format swiss:rounds=N, extend "
    "it, if its format allows.",
)
@click.option(
    "--force",
    is_flag=True,
    help="With --resume: continue although bots or rules have changed. With --save: replace a file.",
)
@click.option(
    "--dry-run",
    is_flag=True,
    help="Print the schedule's size and balance, and the time it will take by a few trial matches; record nothing.",
)
@table_options
@click.option("--json", "as_json", is_flag=True, help="Print leaderboard and outcome as JSON.")
@click.option("--quiet", "-q", is_flag=True, help="No progress and no notes.")
def command(
    event: str | None,
    goal: str | None,
    until_separated: float | None,
    save: Path | None,
    resume: str | None,
    force: bool,
    dry_run: bool,
    table_format: str,
    wide: bool,
    columns: tuple[str, ...],
    as_json: bool,
    quiet: bool,
    **options: Any,
) -> None:
    """Let bots play against each other and rate them.

    Every table of bots plays each deal once in every rotation of its seats, so that no bot has an advantage by the
    draw. Each match is recorded in a folder under results/ when it ends: after Ctrl-C, continue with --resume.

    FILE is a TOML file with these options; options on the command line take precedence. It may also be the folder of a
    run, or its run.json, to play the same run again.

    \b
    arena tournament
    arena tournament --game el-paso --deals 50 --seed 7 --name first
    arena tournament --game el-paso --for 2h
    arena tournament --game el-paso --matches-each 100 --dry-run
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
    from harness.output.progress import plan_by_time, play_watched
    from harness.runs.config_file import only_typed
    from harness.runs.request import RunRequest, is_run
    from harness.runs.setup import create_run, prepare, resumed_limits, seeded

    # A mistake in the name of a column must not wait until the last match was played.
    check_table_options(table_format, columns)
    typed = given(options)
    settings = {"goal": goal, "until-separated": until_separated}
    if resume:
        _refuse_fixed(event, dry_run, {**options, **settings, "save": save})
        request = RunRequest(**{name: typed[name] for name in HOW if name in typed})
        make_ready(request.workers, request.threads, elsewhere=bool(request.cluster))  # before plugins are loaded
        run = open_folder(options["results"], resume)
        limits = resumed_limits(run, {name: typed[name] for name in run_options(BotLimits) if name in typed}, force)
        setup = _resume(run, load_plugins(request.strict, limits.isolate), typed, force, quiet)
    else:
        request = _request(event, typed, settings)
        make_ready(request.workers, request.threads, request, bool(request.cluster))
        registry = load_plugins(request.strict, request.isolate)
        if event and is_run(Path(event)):
            request = _again(Path(event), request, registry, quiet=bool(save) or quiet)
        if save:
            prepare(request, registry)  # a request that cannot be played is not written
            request.save(save, force)
            if not quiet:
                typed_again = "".join(f" --{name} {getattr(request, name)}" for name in only_typed(request))
                note(f"Written: {save}. Play it: arena tournament {save}{typed_again}")
        if dry_run:
            return _dry_run(request, registry, quiet)
        if save:
            return None
        # What was drawn or measured is added to the recorded command, so that the command plays the same run.
        fixed = [] if request.seed is not None else ["--seed", str((request := seeded(request)).seed)]
        setup = prepare(request, registry)
        note_warnings(setup.warnings)
        if request.for_ or request.matches_each:
            request, setup = plan_by_time(request, setup, quiet)
            fixed += ["--deals", str(request.deals)]
        run = create_run(request, setup, join(["arena", *_without_size(sys.argv[1:]), *fixed]))
        limits = request.limits
    complete, faults = play_watched(
        run,
        setup,
        limits,
        request.workers,
        quiet,
        request.on_cluster,
        show_output=request.show_output,
        farewell=f"Continue with: arena tournament --resume {run.folder}",
    )
    outcome = _show(run, setup, complete, faults, as_json, table_format, columns, wide)
    _print_notes(run, setup, complete, outcome, faults, quiet)
    if not complete or (faults.total and request.strict):
        click.get_current_context().exit(1)
    return None


def _without_size(words: Sequence[str]) -> list[str]:
    """Return the words of a command line without --for and --matches-each, for which --deals is recorded."""
    planned = ("--for", "--matches-each")
    left = [word for word, before in zip(words, ("", *words), strict=False) if before not in planned]
    return [word for word in left if word.partition("=")[0] not in planned]


def _request(event: str | None, typed: dict[str, Any], settings: Mapping[str, object]) -> RunRequest:
    """Return the request of the file, if there is one; options of the command line take precedence."""
    from harness.runs.request import RunRequest, asked_in, instead

    fields: dict[str, Any] = asked_in(Path(event)) if event else {}
    # Options of games are merged one by one; any other option replaces what the file says.
    fields |= instead(typed) | ({"options": fields.get("options", {}) | typed["options"]} if "options" in typed else {})
    for name, value in settings.items():
        if value is not None:
            with_options = fields.get("format", "round-robin")
            joint = "," if ":" in with_options else ":"
            fields["format"] = f"{with_options}{joint}{name}={value}"
    return RunRequest(**fields)


def _again(event: Path, request: RunRequest, registry: Registry, quiet: bool) -> RunRequest:
    """Return the request that plays the same run, without defaults; raise UsageError if there is none."""
    from harness.runs.request import run_at
    from harness.runs.resume import request_of_run, without_defaults

    _, changes = request_of_run(run_at(event), registry)
    note_warnings(f"{change}." for change in changes)
    if not quiet:
        note(f"The run in {event} is played once more; --resume would continue it.")
    return without_defaults(request, registry)


def _refuse_fixed(event: str | None, dry_run: bool, options: Mapping[str, object]) -> None:
    """Raise UsageError for arguments that cannot be combined with --resume."""
    if dry_run:
        raise click.UsageError("--dry-run is for a run that has not begun; leave out --resume.")
    fixed = [event] if event else []
    fixed += [f"--{name}" for key, name in FIXED.items() if options[key] not in (None, ())]
    if fixed:
        raise click.UsageError(
            f"--resume continues a run with its own options, or with more deals and bots; leave out {', '.join(fixed)}."
        )


def _resume(run: RunFolder, registry: Registry, typed: Mapping[str, Any], force: bool, quiet: bool) -> RunSetup:
    from harness.runs.resume import RunExtension, resume_run

    more = RunExtension(**{name: typed[name] for name in MORE if name in typed})
    setup, sentences = resume_run(run, registry, more, join(["arena", *sys.argv[1:]]), force)
    for sentence in () if quiet else sentences:
        note(sentence)
    return setup


def _show(
    run: RunFolder,
    setup: RunSetup,
    complete: bool,
    faults: FaultGroups,
    as_json: bool,
    table_format: str,
    columns: Sequence[str],
    wide: bool,
) -> FormatResults:
    """Write the results beside the records and print them; return the results of the format itself."""
    from harness.output.leaderboard import leaderboard_tables, write_leaderboard
    from harness.output.outcome import DATA, write_outcome
    from harness.output.tables import text_of
    from harness.output.text import fault_fields

    # Written before it is printed: a closed pipe or Ctrl-C must not leave a run without its table.
    boards, outcome = write_leaderboard(run), write_outcome(run, setup.schedule)
    table_format = "json" if as_json else table_format
    scores = {name: game.score_text for name, game in setup.games.items()} if table_format == "simple" else {}
    tables = leaderboard_tables(boards, columns, scores, table_format != "csv", run.info.entrants)
    if as_json:
        data = {table.title: table.rows for table in tables}
        fields = {"run": str(run.folder), "complete": complete, **fault_fields(faults), "tables": data}
        show(json.dumps(fields | {"outcome": outcome.fields()}, indent=2))
    else:
        parts = [text_of(tables, table_format, layout(wide, columns))]
        if outcome.has_results and table_format not in DATA:
            parts.append(outcome.text(table_format, notes=False))
        click.echo("\n\n".join(reversed(parts) if run.info.plan.pairs_candidates else parts))
    return outcome


def _print_notes(
    run: RunFolder, setup: RunSetup, complete: bool, outcome: FormatResults, faults: FaultGroups, quiet: bool
) -> None:
    # Warnings of the setup were printed before the first match.
    note_warnings([warning for warning in run.warnings if warning not in setup.warnings])
    if not complete:
        note(f"Not complete. Continue with: arena tournament --resume {run.folder}")
    if not quiet:
        note("")
        for game, said in outcome.items() if complete else ():
            if said.note:
                note(f"{game}: {said.note}")
        print_faults(run, faults)
        note(f"Records and leaderboard: {run.folder}")


def _dry_run(request: RunRequest, registry: Registry, quiet: bool) -> None:
    """Print the size and balance of the schedule, and how long it will take."""
    from harness.executors.base import default_workers
    from harness.output.columns import about, duration
    from harness.output.progress import estimate_watched, plan_by_time
    from harness.output.tables import on_screen, screen
    from harness.output.text import warn_about_isolation
    from harness.runs.planning import balance_tables
    from harness.runs.setup import prepare

    setup = prepare(request, registry)
    note_warnings(setup.warnings)
    warn_about_isolation(setup.entrants, request.isolate)
    workers = 1 if request.cluster else default_workers() if request.workers is None else request.workers
    found = estimate_watched(setup, request, quiet)
    _, setup = plan_by_time(request, setup, quiet=True, found=found)
    schedule, total = setup.schedule, setup.schedule.count()
    show(on_screen(list(balance_tables(schedule)), screen(False, "")))
    deals = f", {schedule.plan.deals:,} deals" if request.for_ or request.matches_each else ""
    show("\nMatches" + (": as many as the results require" if total is None else f": {total:,}{deals}"))
    each = max(1, workers) * sum(found.each.values()) / len(found.each)
    line = f"A match takes about {duration(each)}"
    if total is not None:
        where = "on one core" if request.cluster else f"with {workers} worker{'' if workers == 1 else 's'}"
        line += f"; all of them {about(found.seconds(schedule.counts()))} {where}"
    show(line + ".")
