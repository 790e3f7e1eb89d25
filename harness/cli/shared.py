"""What several commands share: loading plugins with warnings, finding runs, options that mean the same everywhere."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, get_args

import click

from harness.cli.parameter_types import ENTRANT
from harness.core.errors import UnknownName
from harness.core.types import Isolation

if TYPE_CHECKING:
    from harness.executors.jobs import ClusterChoice
    from harness.output.columns import ScoreText
    from harness.output.screen import Layout
    from harness.plugins.registry import Registry
    from harness.runs.fault_groups import FaultGroups
    from harness.runs.request import RunRequest
    from harness.runs.store import RunFolder

F = TypeVar("F", bound=Callable[..., Any])

results_option = click.option(
    "--results",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path("results"),
    show_default=True,
    envvar="ARENA_RESULTS",
    show_envvar=True,
    help="The folder that holds runs.",
)
league_option = click.option(
    "--league",
    "-L",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path(),
    envvar="ARENA_LEAGUE",
    show_envvar=True,
    help="The folder of the league.  [default: the current one]",
)
strict_option = click.option(
    "--strict",
    is_flag=True,
    default=None,
    help="Fail when a plugin is broken or a bot commits a fault, instead of warning.",
)
seed_option = click.option(
    "--seed", type=click.IntRange(min=0, max=2**128 - 1), help="The luck of the run. Default: drawn, and kept."
)
without_option = click.option(
    "--without", "left_out", type=ENTRANT, multiple=True, metavar="BOT", help="Leave out all matches of this bot."
)
options_option = click.option(
    "--option", "options", multiple=True, metavar="KEY=VALUE", help="An option of the games, e.g. edition=nl."
)


def isolate_option(text: str, default: Isolation | None = None) -> Callable[[F], F]:
    """--isolate, which may stand alone."""
    return click.option(
        "--isolate",
        type=click.Choice(get_args(Isolation)),
        is_flag=False,
        flag_value="on",
        default=default,
        help=text,
    )


class Seconds(click.FloatRange):
    """A number of seconds, which is a number."""

    def __init__(self) -> None:
        super().__init__(min=0)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Refuses nan, with which no comparison is true."""
        seconds = float(super().convert(value, param, ctx))
        if isnan(seconds):
            self.fail("nan is not a number of seconds.", param, ctx)
        return seconds


def playing_options(command: F) -> F:
    """Adds --workers, --cluster, --move-time, --memory, --isolate and other ways of playing to a command."""
    for option in reversed(
        (
            click.option(
                "--workers",
                type=click.IntRange(min=0, max=1024),
                help="Processes that play; 0 plays in this one, where breakpoint() works. Default: "
                "ARENA_WORKERS in the environment, or one for each core; on a cluster, one for each thread of a node.",
            ),
            click.option(
                "--cluster",
                metavar="CLUSTER",
                help="Play on the nodes of a Dask cluster: a scheduler's address (tcp://10.0.0.1:8786) or file, "
                "local:4 for four workers on this machine, or module:function, which returns a cluster.",
            ),
            click.option(
                "--ship",
                is_flag=True,
                default=None,
                help="With --cluster: send arena and the packages of its games and bots along, instead of finding the "
                "same ones installed on each node.",
            ),
            click.option(
                "--move-time",
                type=Seconds(),
                help="Seconds (wall clock) a bot may take for one decision; 0 is no limit. "
                "Default: 10, and no limit with --workers 0.",
            ),
            click.option(
                "--game-time",
                type=Seconds(),
                help="Seconds a bot may take for a whole match. Default: no limit.",
            ),
            click.option(
                "--clock",
                type=click.Choice(["fair", "wall"]),
                help="fair plays a match again, once, if an answer came late but took little processor time; wall is "
                "the hard line. Default: fair.",
            ),
            click.option(
                "--memory",
                type=click.IntRange(min=0),
                help="Megabytes of memory a worker, or an isolated bot, may use; 0 is no limit. Default: 4096.",
            ),
            click.option(
                "--threads",
                type=click.IntRange(min=0),
                help="Threads of OpenMP, BLAS or torch in a worker, or in an isolated bot; 0 is as many as they like. "
                "Default: 1.",
            ),
            isolate_option(
                "Run bots in processes without rights: all (on), none (off), or programs and other people's files "
                "(auto, the default). strict is on with a new process for each match, and refuses what this machine "
                "cannot enforce: see arena doctor.",
            ),
            click.option(
                "--keep-processes",
                is_flag=True,
                default=None,
                help="Let programs that are slow to start play on, in matches of other deals, instead of starting one "
                "for each match.",
            ),
            click.option(
                "--ponder",
                is_flag=True,
                default=None,
                help="Let bots in processes of their own think while others are asked.",
            ),
        )
    ):
        command = option(command)
    return command


def table_options(command: F) -> F:
    """Adds --table-format, --wide and --columns to a command."""
    for option in reversed(
        (
            click.option(
                "--table-format", "-f", default="simple", show_default=True, help="github, csv, json, html, latex ..."
            ),
            click.option(
                "--wide", is_flag=True, help="Every column, and names in full. Default: what fits the terminal."
            ),
            click.option(
                "--columns",
                default="",
                metavar="A,B,C",
                callback=lambda _context, _option, text: tuple(name for name in text.split(",") if name.strip()),
                help="These columns of the leaderboard, in this order.",
            ),
        )
    ):
        command = option(command)
    return command


def check_table_options(table_format: str, columns: Sequence[str]) -> None:
    """Refuses formats and columns that do not exist, before anything is played."""
    from harness.output import FORMATS
    from harness.output.columns import chosen_columns

    if table_format not in FORMATS:
        raise UnknownName("table format", table_format, FORMATS)
    chosen_columns(columns)


def layout(wide: bool, columns: Sequence[str] = ()) -> Layout:
    """How tables are laid out on this terminal: columns that were asked for are all shown."""
    from harness.output.screen import screen

    return screen(wide or bool(columns))


def make_ready(
    workers: int | None, threads: int | None, request: RunRequest | None = None, elsewhere: bool = False
) -> None:
    """Before any bot is loaded: begins with the workers, or sets the threads of bots that play in this process. What
    is known of the `request` by then is done first, once for all workers. If they play `elsewhere` there are none."""
    if elsewhere:
        return
    import os

    from harness.executors.jobs import expect_workers
    from harness.executors.threads import thread_variables

    if workers == 0:
        os.environ.update(thread_variables(1 if threads is None else threads))
    elif request is not None:
        from harness.runs.run_setup import configure_early

        configure_early(request.games, request.options)
    expect_workers(workers, clean=True)


def chosen_cluster(asked: dict[str, Any]) -> ClusterChoice:
    """Where a run that is continued, or a comparison, is played."""
    from harness.runs.request import RunRequest

    return RunRequest(**given(asked, "workers", "cluster", "ship")).on_cluster


def note(text: str) -> None:
    """Something for the person at the terminal; stdout stays free for results."""
    click.echo(text, err=True)


def tell_faults(run: RunFolder, faults: FaultGroups) -> None:
    """Each bot that failed, and what to type to see why."""
    from harness.output.fault_text import commands, fault_lines

    if faults:
        specs = {entrant.name: entrant.spec for entrant in run.info.entrants}
        move_time = float(run.info.limits.get("move_time", 0.0))
        for line in fault_lines(faults, commands(run.folder, specs, move_time)):
            note(line)
        note(f"\nAll of them: arena matches {run.folder} --faults\n")


def load_plugins(strict: bool = False, isolate: Isolation = "auto") -> Registry:
    """What is installed, with a warning for each broken plugin, or an error under --strict.

    Bots that are to be confined, being named by a file or a command, are asked what they are in processes of their own.
    """
    from harness.runs.run_setup import installed

    registry = installed(isolate, strict)
    for problem in registry.problems:
        note(f"Warning: {problem}")
    return registry


def open_folder(results: Path, name: str) -> RunFolder:
    """The run that was named on the command line."""
    from harness.runs.store import RunFolder, find

    return RunFolder.open(find(results, name))


def open_together(results: Path, names: Sequence[str], name: str = "", besides: Sequence[str] = ()) -> RunFolder:
    """The run that was named on the command line, or several to be read as one; `name` is what to call them, and bots
    that will be left out (`besides`) need not be the same in all."""
    opened = [open_folder(results, each) for each in names]
    if len(opened) == 1 and not name:
        return opened[0]
    from harness.runs.merged_runs import merge

    return merge(opened, name, besides)


def score_texts(run: RunFolder) -> dict[str, ScoreText]:
    """Scores in the words of those games of a run that are installed; nothing is said about the others."""
    from harness.output.pages import installed_games
    from harness.runs.run_setup import installed

    games, _ = installed_games(run, installed("off"))
    return {name: game.score_text for name, game in games.items()}


def resumed(asked: dict[str, Any]) -> tuple[RunFolder, dict[str, Any]]:
    """The run that --resume names, and its limits; other ones are refused without --force, unless they confine more."""
    from harness.runs.run_setup import is_weaker, isolation_of_run, limits_of_run

    run = open_folder(asked["results"], str(asked["resume"]))
    kept = limits_of_run(run)
    other = [key for key in kept if asked.get(key) not in (None, kept[key])]
    if "isolate" in other and not is_weaker(asked["isolate"], kept["isolate"]):
        other.remove("isolate")
    if other and not asked["force"]:
        told = ", ".join(f"--{key.replace('_', '-')} {kept[key]}" for key in other)
        raise click.UsageError(f"The run was begun with {told}; leave that as it is, or use --force.")
    kept["isolate"] = isolation_of_run(run)
    return run, {key: kept[key] if asked.get(key) is None else asked[key] for key in kept}


def parse_options(pairs: tuple[str, ...]) -> dict[str, str]:
    """`("edition=nl",)` -> `{"edition": "nl"}`."""
    options = {}
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not equals or not key:
            raise click.UsageError(f"{pair!r} is not an option of a game: write --option key=value.")
        options[key] = value
    return options


def given(asked: dict[str, Any], *names: str) -> dict[str, Any]:
    """The options among these that were given, for a RunRequest: what was not given is left to its defaults."""
    found = {name: asked[name] for name in names if asked.get(name) not in (None, (), {})}
    if found.get("options"):
        found["options"] = parse_options(found["options"])
    return found
