"""What several commands share: names with shell completion, options, loading plugins with warnings, opening runs."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import redirect_stderr, suppress
from functools import reduce
from itertools import pairwise
from math import isnan
from pathlib import Path
from shlex import join
from typing import TYPE_CHECKING, Any, TypeVar

import click
from click.shell_completion import CompletionItem
from msgspec import Struct

from harness.cli.main import Failure
from harness.core.errors import LINES, UnknownName, printable
from harness.core.options import RESULTS, RESULTS_VARIABLE, RunOptions, run_options
from harness.core.records import Isolation, Value
from harness.plugins.features import COMPLETIONS, load_object

if TYPE_CHECKING:
    from harness.output.columns import ScoreText
    from harness.output.tables import Layout
    from harness.output.text import Hints
    from harness.plugins.registry import Registry
    from harness.runs.monitor import FaultGroup, FaultGroups
    from harness.runs.request import RunRequest
    from harness.runs.store import RunFolder

# Parameter types for names (bots, games, formats, runs), with shell completion. The commands check the names, since
# they know more. Users wait for every completion: functions here import what they need when it is needed, and the
# names are found by a feature that only a completion loads.


class CompletedName(click.types.StringParamType):
    """A string parameter with shell completion."""

    def __init__(self, name: str, offers: str) -> None:
        """`offers` names the function of COMPLETIONS that returns the items which begin with an incomplete text."""
        self.name, self.offers = name, offers

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """Return the completions; none after an error, for which a shell has no place while a user types."""
        with suppress(Exception), Path(os.devnull).open("w", encoding="utf-8") as nowhere, redirect_stderr(nowhere):
            found: list[CompletionItem] = load_object(f"{COMPLETIONS}:{self.offers}")(ctx, incomplete)
            return found
        return []


BOT, GAME, FORMAT = CompletedName("bot", "bots"), CompletedName("game", "games"), CompletedName("format", "formats")
RUN, ENTRANT = CompletedName("run", "runs"), CompletedName("bot", "entrants")
EVENT = CompletedName("file", "config_files")


# Options, plugins and runs.


F = TypeVar("F", bound=Callable[..., Any])

results_option = click.option(
    "--results",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path(RESULTS),
    show_default=True,
    envvar=RESULTS_VARIABLE,
    show_envvar=True,
    help=run_options(RunOptions)["results"].help,
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
key_file_option = click.option(
    "--key",
    type=click.Path(path_type=Path, dir_okay=False),
    help="The file of your key. Default: signing-key.pem in arena's folder of your settings.",
)
without_option = click.option(
    "--without", "left_out", type=ENTRANT, multiple=True, metavar="BOT", help="Leave out all matches of this bot."
)


class Seconds(click.FloatRange):
    """A number of seconds."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Return the number; reject nan, which passes every range check because no comparison with it is true."""
        seconds = float(super().convert(value, param, ctx))
        if isnan(seconds):
            self.fail("nan is not a number of seconds.", param, ctx)
        return seconds


COMPLETED = {each.name: each for each in (BOT, GAME, FORMAT)}
RANGES: Mapping[type, Callable[..., Any]] = {int: click.IntRange, float: Seconds}


def run_option(name: str, text: str = "", of: type[Struct] = RunOptions, **more: Any) -> Callable[[F], F]:
    """Return the click option for an option of a run, with another help text if `text` is given.

    Its default is None, so that the value of a config file, or the default of RunRequest, applies.
    """
    option = run_options(of)[name]
    if name == "results":
        return results_option  # always has a value: other commands look for runs there
    extra = {**option.extra, "default": None, "help": text or option.help, **more}
    several = option.kind in (tuple, dict)
    if completes := extra.pop("completes", ""):
        extra["type"] = COMPLETED[completes]
    elif option.choices:
        extra["type"] = click.Choice(option.choices)
    elif option.kind is bool:
        extra["is_flag"] = True
    elif option.kind in RANGES and (option.minimum, option.maximum) != (None, None):
        extra["type"] = RANGES[option.kind](min=option.minimum, max=option.maximum)
    elif option.kind is str:
        extra = {"metavar": name.upper(), **extra}
    elif option.kind is int:
        extra["type"] = int
    if several:
        extra |= {"multiple": True, "default": ()}
    return click.option(f"--{option.key.removesuffix('s') if several else option.key}", name, **extra)


def request_options(
    omit: Collection[str] = (), of: type[Struct] = RunOptions, **texts: str
) -> Callable[[F], F]:  # fmt: skip
    """Return a decorator that adds the options of a run except those to `omit`; `texts` replace help texts."""

    def decorated(command: F) -> F:
        for name in reversed([each.name for each in run_options(of).values() if each.help and each.name not in omit]):
            command = run_option(name, texts.get(name, ""), of)(command)
        return command

    return decorated


strict_option, seed_option, options_option = run_option("strict"), run_option("seed"), run_option("options")


table_format_option = click.option(
    "--table-format", "-f", default="simple", show_default=True, help="github, csv, json, html, latex ..."
)


def table_options(command: F) -> F:
    """Add --table-format, --wide and --columns to a command."""
    for option in reversed(
        (
            table_format_option,
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


def verify_options(what: str) -> Callable[[F], F]:
    """Return a decorator that adds the options for checking a run or a league with its bots and its signature."""
    options = (
        click.option(
            "--bots", "ask_bots", is_flag=True, help="Ask the bots again, too: compare every decision and every fault."
        ),
        click.option(
            "--isolate",
            type=click.Choice(["off", "on", "strict"]),
            help="With --bots: how to isolate the bots, as in arena tournament. Default: on.",
        ),
        click.option(
            "--workers",
            type=click.IntRange(min=0, max=1024),
            help="With --bots: processes that play; 0 plays in this one. Default: ARENA_WORKERS, or one for each core.",
        ),
        click.option(
            "--key",
            "keys",
            multiple=True,
            metavar="KEY",
            help=f"A public key, or a file of keys: the {what} must be signed by one of them. May be repeated.",
        ),
        click.option("--json", "as_json", is_flag=True, help="Print what was found as JSON."),
    )
    return lambda command: reduce(lambda made, option: option(made), reversed(options), command)


def check_bot_options(ask_bots: bool, isolate: str | None, workers: int | None) -> None:
    """Raise a usage error for options that have no effect without --bots."""
    if not ask_bots and (isolate or workers is not None):
        raise click.UsageError("--isolate and --workers say how bots are asked again; add --bots.")


def check_table_options(table_format: str, columns: Sequence[str]) -> None:
    """Raise UnknownName for unknown table formats and columns; called before anything is played."""
    from harness.output.columns import chosen_columns
    from harness.output.tables import FORMATS

    if table_format not in FORMATS:
        raise UnknownName("table format", table_format, FORMATS)
    chosen_columns(columns)


def layout(wide: bool, columns: Sequence[str] = ()) -> Layout:
    """Return the layout of tables for this terminal; chosen columns are all shown."""
    from harness.output.tables import screen

    return screen(wide or bool(columns), more="--wide")


def make_ready(
    workers: int | None, threads: int | None, request: RunRequest | None = None, elsewhere: bool = False
) -> None:
    """Prepare for bots: start the fork server, or limit the threads of bots that play in this process.

    Call it before any bot is loaded. Games of the `request` are configured first, once for all workers. Nothing
    happens if bots play `elsewhere`, on a cluster.
    """
    if elsewhere:
        return
    if workers == 0:
        from harness.isolation.launch import thread_variables

        # Native libraries read these variables when a bot imports them.
        os.environ.update(thread_variables(1 if threads is None else threads))
        return
    from harness.executors.base import expect_workers

    if request is not None:
        from harness.runs.setup import configure_early

        configure_early(request.games, request.options)
    # The server is forked from this process, which is safe only without the threads and locks of bots.
    expect_workers(workers, clean=True)


def show(text: object) -> None:
    """Print a result to stdout. Texts of a run come from other people, so control characters are removed.

    Tables have none except for our colours: commands print them with click.echo.
    """
    click.echo(printable(str(text), keep=LINES))


def note(text: str) -> None:
    """Print a message to stderr, wrapped to the terminal; stdout is for results."""
    from harness.output.tables import fitted  # loads tabulate (20 ms), which completion does not need

    click.echo(fitted(printable(text, keep=LINES), sys.stderr), err=True)


def say(text: str) -> None:
    """Print sentences of a result to stdout, wrapped to the terminal."""
    from harness.output.tables import fitted  # as in `note`

    show(fitted(text, sys.stdout))


def note_warnings(warnings: Iterable[str]) -> None:
    """Print warnings to stderr, each once."""
    for warning in dict.fromkeys(warnings):
        note(f"Warning: {printable(warning)}")


def fault_commands(run: Path, specs: Mapping[str, str], move_time: float = 0.0) -> Hints:
    """Return the commands that show a fault of this run and ask a fixed bot again; `specs` says how to enter each bot.

    A bot that may hang or end its process is asked in a separate process, within the time limit of the run.
    """
    from harness.match.stdio import log_path
    from harness.runs.store import LOGS

    def hints(group: FaultGroup) -> list[str]:
        first = group.first
        again = ["arena", "ask", specs.get(group.bot, group.bot), str(run), first.match, "--fault"]
        if group.kind == "timeout" and move_time:
            again += ["--move-time", f"{move_time:g}"]
        elif group.kind in ("timeout", "crash", "memory"):
            again += ["--isolate", "on"]
        log = log_path(run / LOGS, group.bot)
        return [
            "the position: " + join(["arena", "replay", str(run), first.match, "--seat", str(first.seat)]),
            "once fixed:   " + join(again),
            *([f"what it printed: {log}"] if log.exists() else []),
        ]

    return hints


def print_faults(run: RunFolder, faults: FaultGroups) -> None:
    """Print each bot that failed, and what to type to see why."""
    from harness.output.text import fault_lines

    if faults:
        specs = {entrant.name: entrant.spec for entrant in run.info.entrants}
        move_time = float(run.info.limits.get("move_time", 0.0))  # runs of arena play have none
        for line in fault_lines(faults, fault_commands(run.folder, specs, move_time)):
            note(line)
        note(f"\nAll of them: arena matches {run.folder} --faults\n")


def load_plugins(strict: bool = False, isolate: Isolation = "auto") -> Registry:
    """Return all installed plugins, and print a warning for each broken one; raise PluginError instead if `strict`.

    Untrusted files and programs that are entered later are inspected in sandboxed processes, as `isolate` says.
    """
    from harness.runs.setup import installed

    registry = installed(isolate, strict)
    note_warnings(registry.problems)
    return registry


class CommandWithFormats(click.Command):
    """Says how to type an option of a format or of a game that was typed like one of the command."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the options; add to the error about an unknown one where it belongs."""
        typed = list(args)  # the parser empties it
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            if belongs := _belongs_to(error.option_name.lstrip("-"), typed):
                raise Failure(f"{error.message} {belongs}", 2) from None
            raise


def _belongs_to(name: str, typed: Sequence[str]) -> str:
    """Return a sentence that says how to give this option of a format or of a game; empty if there is none."""
    registry, words = load_plugins(), [word for each in typed for word in each.split("=", 1)]
    value = next((after for word, after in pairwise(words) if word == f"--{name}"), "VALUE")
    formats = [each for each, known in registry.formats.items() if name in {option.name for option in known.options}]
    if formats:
        first, *others = sorted(formats, key=lambda each: each not in words)
        more = f" ({', '.join(others)} too)" if others else ""
        return f"It is an option of the format {first}{more}: --format {first}:{name}={value}"
    games = [each for each, offer in registry.games.items() if name in {option.name for option in offer.cls.options}]
    return f"It is an option of {', '.join(games)}: --option {name}={value}" if games else ""


def open_folder(results: Path, name: str) -> RunFolder:
    """Return the run with this name or path."""
    from harness.runs.store import RunFolder, find

    return RunFolder.open(find(results, name))


def open_together(results: Path, names: Sequence[str], name: str = "", besides: Sequence[str] = ()) -> RunFolder:
    """Return the run with this name, or several runs as one, called `name`.

    Bots that will be left out (`besides`) need not be the same in all runs.
    """
    opened = [open_folder(results, each) for each in names]
    if len(opened) == 1 and not name:
        return opened[0]
    from harness.runs.merged import merge

    return merge(opened, name, besides)


def score_texts(run: RunFolder) -> dict[str, ScoreText]:
    """Return how the games of a run write scores; games that are not installed are left out without a warning."""
    from harness.runs.setup import installed, installed_games

    games, _ = installed_games(run, installed("off"))
    return {name: game.score_text for name, game in games.items()}


def parse_options(pairs: tuple[str, ...]) -> dict[str, Value]:
    """Return options by name: `("edition=nl",)` gives `{"edition": "nl"}`."""
    options: dict[str, Value] = {}
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not equals or not key:
            raise click.UsageError(f"{pair!r} is not an option of a game: write --option key=value.")
        options[key] = value
    return options


def given(asked: Mapping[str, Any], *names: str) -> dict[str, Any]:
    """Return the fields for a RunRequest: the options of a run (by default all) that have a value."""
    found = {name: asked[name] for name in names or run_options(RunOptions) if asked.get(name) not in (None, (), {})}
    if "options" in found:
        found["options"] = parse_options(found["options"])
    if found.pop("results", None) is not None:  # a config file takes precedence over the environment
        source = click.get_current_context().get_parameter_source("results")
        if source is click.core.ParameterSource.COMMANDLINE:
            found["results"] = str(asked["results"])
    return found
