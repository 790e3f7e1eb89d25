"""Options and parameter types that several commands share."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import redirect_stderr, suppress
from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click
from click.shell_completion import CompletionItem
from msgspec import Struct

from harness.core.errors import UnknownName
from harness.core.options import RESULTS, RESULTS_VARIABLE, RunOptions, run_options
from harness.core.records import Isolation

if TYPE_CHECKING:
    from harness.cli.completion import InstalledNames, ShownOption
    from harness.match.faults import FaultGroups
    from harness.output.columns import ScoreText
    from harness.output.tables import Layout
    from harness.plugins.registry import Registry
    from harness.runs.request import RunRequest
    from harness.runs.store import RunFolder


# Names that are typed after commands (bots, games, formats, runs), and what a shell offers to complete them with.
#
# Checking them is left to the commands, which know more. A shell waits for every completion, so this loads plugins
# only where something has changed since they were last asked for their names, and nothing else of arena.


OWN_NAME = re.compile(r"[^\s:,=/\\]+=")
"""What may stand before a bot: a name of one's own."""
RUN_FILE = "run.json"


class CompletedName(click.types.StringParamType):
    """A text that stays as it is typed, and that shells complete."""

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:  # fmt: skip
        """What may stand here; a completion that fails offers nothing, for there is nobody to tell."""
        with suppress(Exception), Path(os.devnull).open("w", encoding="utf-8") as nowhere, redirect_stderr(nowhere):
            return list(self.offers(ctx, incomplete))
        return []

    def offers(self, ctx: click.Context, incomplete: str) -> Iterable[CompletionItem]:
        """What begins with what is there already."""
        raise NotImplementedError


class GameName(CompletedName):
    """An installed game."""

    name = "game"

    def offers(self, ctx: click.Context, incomplete: str) -> Iterable[CompletionItem]:
        """The games that are installed."""
        return starting(incomplete, {name: game.about for name, game in _installed().games.items()})


class FormatName(CompletedName):
    """An installed format, with options in its name."""

    name = "format"

    def offers(self, ctx: click.Context, incomplete: str) -> Iterable[CompletionItem]:
        """The formats that are installed; after a colon their options."""
        installed = _installed()
        name, colon, rest = incomplete.partition(":")
        if colon:
            return with_options(f"{name}:", rest, installed.formats[name].options, installed)
        return starting(incomplete, {name: each.about for name, each in installed.formats.items()})


class BotName(CompletedName):
    """A bot: an installed one, with options in its name, or a file; a name of one's own may stand before it."""

    name = "bot"

    def offers(self, ctx: click.Context, incomplete: str) -> Iterable[CompletionItem]:
        """The bots that are installed and the Python files there are; after a colon options."""
        own = OWN_NAME.match(incomplete)
        before = own.group() if own else ""
        typed = incomplete.removeprefix(before)
        if typed.startswith("cmd:"):
            return []
        name, colon, rest = typed.partition(":")
        installed = _installed()
        if colon:
            return with_options(f"{before}{name}:", rest, installed.bots[name].options, installed)
        bots = {f"{before}{name}": bot.about for name, bot in installed.bots.items()}
        return [*starting(incomplete, bots), *_python_files(before, typed), *folders(before, typed)]


class RunName(CompletedName):
    """A run: by its name in the folder of results, or by its path."""

    name = "run"

    def offers(self, ctx: click.Context, incomplete: str) -> Iterable[CompletionItem]:
        """The runs, the newest first; folders for those who are on the way to one elsewhere."""
        runs = sorted(results_of(ctx).glob(f"*/{RUN_FILE}"), key=lambda path: path.stat().st_mtime, reverse=True)
        return starting(incomplete, {path.parent.name: "" for path in runs}) or folders("", incomplete)


class EventName(CompletedName):
    """A TOML file that asks for a run, or a folder on the way to one."""

    name = "file"

    def offers(self, ctx: click.Context, incomplete: str) -> Iterable[CompletionItem]:
        """The TOML files there are, and the way on through folders."""
        files = [CompletionItem(path) for path in beside(incomplete) if path.endswith(".toml")]
        return [*files, *folders("", incomplete)]


class EntrantName(CompletedName):
    """A bot of the run that was named before."""

    name = "bot"

    def offers(self, ctx: click.Context, incomplete: str) -> Iterable[CompletionItem]:
        """Whoever was entered into it."""
        named = ctx.params.get("run") or (ctx.params.get("runs") or ctx.args)[0]
        run = str(named)  # click stops at the option that wants a value
        for folder in (Path(run), results_of(ctx) / run):
            if (folder / RUN_FILE).exists():
                asked = json.loads((folder / RUN_FILE).read_text(encoding="utf-8"))
                return starting(incomplete, {entrant["name"]: "" for entrant in asked["entrants"]})
        return []


BOT, GAME, FORMAT, RUN, ENTRANT, EVENT = BotName(), GameName(), FormatName(), RunName(), EntrantName(), EventName()


def starting(incomplete: str, texts: Mapping[str, str]) -> list[CompletionItem]:
    """The texts that begin with what is there already, with what they mean."""
    return [CompletionItem(text, help=told or None) for text, told in texts.items() if text.startswith(incomplete)]


def with_options(
    before: str, typed: str, options: Iterable[ShownOption], installed: InstalledNames
) -> list[CompletionItem]:
    """Options behind a name: those that have not been set yet, or what the last one may be."""
    *done, last = typed.split(",")
    before += "".join(f"{setting}," for setting in done)
    key, equals, _ = last.partition("=")
    if not equals:
        free = [option for option in options if not any(setting.startswith(f"{option.name}=") for setting in done)]
        items = starting(before + last, {f"{before}{option.name}=": option.help for option in free})
        return [CompletionItem(item.value, help=item.help, open=True) for item in items]
    [option] = [option for option in options if option.name == key]
    if option.kind == "bot":
        values: Iterable[object] = sorted(installed.bots)
    else:
        values = option.choices or (("true", "false") if option.kind == "bool" else ())
    return starting(before + last, {f"{before}{key}={value}": "" for value in values})


def folders(before: str, typed: str) -> list[CompletionItem]:
    """The way on through folders: the shell's own business, unless something stands before the path."""
    found = [f"{before}{path}/" for path in beside(typed) if Path(path).expanduser().is_dir()]
    if not found:
        return []
    return [CompletionItem(typed, type="dir")] if not before else [CompletionItem(each, open=True) for each in found]


def results_of(ctx: click.Context) -> Path:
    """The folder of results that a command line means."""
    return Path(ctx.params.get("results") or "results")


def _python_files(before: str, typed: str) -> list[CompletionItem]:
    return [CompletionItem(f"{before}{path}") for path in beside(typed) if path.endswith(".py")]


def beside(typed: str) -> list[str]:
    """What a path that is being typed may become; hidden files only for those who have typed the dot."""
    folder, _, name = typed.rpartition("/")
    parent = f"{folder}/" if folder or typed.startswith("/") else ""
    there = sorted(path.name for path in Path(parent).expanduser().iterdir())
    return [f"{parent}{each}" for each in there if each.startswith(name) and (name or not each.startswith("."))]


def _installed() -> InstalledNames:
    from harness.cli.completion import installed_names

    return installed_names()


# What several commands share: loading plugins with warnings, finding runs, options that mean the same everywhere.


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
without_option = click.option(
    "--without", "left_out", type=ENTRANT, multiple=True, metavar="BOT", help="Leave out all matches of this bot."
)


class Seconds(click.FloatRange):
    """A number of seconds, which is a number."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Refuses nan, with which no comparison is true."""
        seconds = float(super().convert(value, param, ctx))
        if isnan(seconds):
            self.fail("nan is not a number of seconds.", param, ctx)
        return seconds


COMPLETED = {each.name: each for each in (BOT, GAME, FORMAT)}
RANGES: Mapping[type, Callable[..., Any]] = {int: click.IntRange, float: Seconds}


def run_option(name: str, text: str = "", of: type[Struct] = RunOptions, **more: Any) -> Callable[[F], F]:
    """Return the click option for an option of a run, with another help text if there is one; without a value it is
    None, which leaves it to a config file or to its default."""
    option = run_options(of)[name]
    if name == "results":
        return results_option  # it has a value always: other commands look for runs there
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
    """Return a decorator that adds all options of a run but those to `omit`, some with help texts of the command."""

    def decorated(command: F) -> F:
        for name in reversed([each.name for each in run_options(of).values() if each.help and each.name not in omit]):
            command = run_option(name, texts.get(name, ""), of)(command)
        return command

    return decorated


strict_option, seed_option, options_option = run_option("strict"), run_option("seed"), run_option("options")


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
    from harness.output.columns import chosen_columns
    from harness.output.tables import FORMATS

    if table_format not in FORMATS:
        raise UnknownName("table format", table_format, FORMATS)
    chosen_columns(columns)


def layout(wide: bool, columns: Sequence[str] = ()) -> Layout:
    """How tables are laid out on this terminal: columns that were asked for are all shown."""
    from harness.output.tables import screen

    return screen(wide or bool(columns), more="--wide")


def make_ready(
    workers: int | None, threads: int | None, request: RunRequest | None = None, elsewhere: bool = False
) -> None:
    """Before any bot is loaded: begins with the workers, or sets the threads of bots that play in this process. What
    is known of the `request` by then is done first, once for all workers. If they play `elsewhere` there are none."""
    if elsewhere:
        return
    import os

    from harness.executors.base import expect_workers
    from harness.isolation.launch import thread_variables

    if workers == 0:
        os.environ.update(thread_variables(1 if threads is None else threads))
    elif request is not None:
        from harness.runs.setup import configure_early

        configure_early(request.games, request.options)
    expect_workers(workers, clean=True)


def note(text: str) -> None:
    """Something for the person at the terminal; stdout stays free for results."""
    click.echo(text, err=True)


def tell_faults(run: RunFolder, faults: FaultGroups) -> None:
    """Each bot that failed, and what to type to see why."""
    from harness.output.text import commands, fault_lines

    if faults:
        specs = {entrant.name: entrant.spec for entrant in run.info.entrants}
        move_time = float(run.info.limits.get("move_time", 0.0))  # a person who plays has no limit
        for line in fault_lines(faults, commands(run.folder, specs, move_time)):
            note(line)
        note(f"\nAll of them: arena matches {run.folder} --faults\n")


def load_plugins(strict: bool = False, isolate: Isolation = "auto") -> Registry:
    """What is installed, with a warning for each broken plugin, or an error under --strict.

    Bots that are to be confined, being named by a file or a command, are asked what they are in processes of their own.
    """
    from harness.runs.setup import installed

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
    from harness.runs.merged import merge

    return merge(opened, name, besides)


def score_texts(run: RunFolder) -> dict[str, ScoreText]:
    """Scores in the words of those games of a run that are installed; nothing is said about the others."""
    from harness.runs.setup import installed, installed_games

    games, _ = installed_games(run, installed("off"))
    return {name: game.score_text for name, game in games.items()}


def parse_options(pairs: tuple[str, ...]) -> dict[str, str]:
    """`("edition=nl",)` -> `{"edition": "nl"}`."""
    options = {}
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not equals or not key:
            raise click.UsageError(f"{pair!r} is not an option of a game: write --option key=value.")
        options[key] = value
    return options


def given(asked: Mapping[str, Any], *names: str) -> dict[str, Any]:
    """Return the options of a run (or these of them) that were typed, for a RunRequest: it has defaults for others."""
    found = {name: asked[name] for name in names or run_options(RunOptions) if asked.get(name) not in (None, (), {})}
    if "options" in found:
        found["options"] = parse_options(found["options"])
    if found.pop("results", None) is not None:  # the environment counts less than a config file
        source = click.get_current_context().get_parameter_source("results")
        if source is click.core.ParameterSource.COMMANDLINE:
            found["results"] = str(asked["results"])
    return found
