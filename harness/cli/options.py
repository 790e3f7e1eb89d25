"""What several commands share: names with shell completion, options, loading plugins with warnings, opening runs."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import redirect_stderr, suppress
from math import isnan
from pathlib import Path
from time import time_ns
from typing import TYPE_CHECKING, Any, TypeVar
from zlib import crc32

import click
import msgspec
from click.shell_completion import CompletionItem
from msgspec import Struct

from harness._version import VERSION
from harness.core.errors import UnknownName
from harness.core.options import RESULTS, RESULTS_VARIABLE, RunOptions, run_options
from harness.core.records import Isolation, Option, Value

if TYPE_CHECKING:
    from harness.match.faults import FaultGroups
    from harness.output.columns import ScoreText
    from harness.output.tables import Layout
    from harness.plugins.registry import Registry
    from harness.runs.request import RunRequest
    from harness.runs.store import RunFolder

# Parameter types for names (bots, games, formats, runs), with shell completion. The commands check the names, since
# they know more. Users wait for every completion: functions here import what they need when it is needed.


OWN_NAME = re.compile(r"[^\s:,=/\\]+=")
"""Prefix that gives a bot another name: `v2=`."""
RUN_FILE = "run.json"

Items = list[CompletionItem]


class CompletedName(click.types.StringParamType):
    """A string parameter with shell completion."""

    def __init__(self, name: str, offers: Callable[[click.Context, str], Items]) -> None:
        """`offers` returns the items that begin with an incomplete text."""
        self.name, self.offers = name, offers

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> Items:
        """Return the completions; none after an error, for which a shell has no place while a user types."""
        with suppress(Exception), Path(os.devnull).open("w", encoding="utf-8") as nowhere, redirect_stderr(nowhere):
            return self.offers(ctx, incomplete)
        return []


def _games(_ctx: click.Context, incomplete: str) -> Items:
    return _starting(incomplete, {name: game.about for name, game in installed_names().games.items()})


def _formats(_ctx: click.Context, incomplete: str) -> Items:
    """Return the installed formats; after a colon, their options: `swiss:rounds=5`."""
    installed = installed_names()
    name, colon, rest = incomplete.partition(":")
    if colon:
        return _with_options(f"{name}:", rest, installed.formats[name].options, installed)
    return _starting(incomplete, {name: each.about for name, each in installed.formats.items()})


def _bots(_ctx: click.Context, incomplete: str) -> Items:
    """Return the installed bots and the Python files in the folder; after a colon, options of the bot.

    Another name may precede it: `v2=my_bot.py`.
    """
    own = OWN_NAME.match(incomplete)
    before = own.group() if own else ""
    typed = incomplete.removeprefix(before)
    if typed.startswith("cmd:"):
        return []
    name, colon, rest = typed.partition(":")
    installed = installed_names()
    if colon:
        return _with_options(f"{before}{name}:", rest, installed.bots[name].options, installed)
    bots = {f"{before}{name}": bot.about for name, bot in installed.bots.items()}
    files = [CompletionItem(f"{before}{path}") for path in _paths_from(typed) if path.endswith(".py")]
    return [*_starting(incomplete, bots), *files, *_folders(before, typed)]


def _runs(ctx: click.Context, incomplete: str) -> Items:
    """Return the runs, the newest first; folders if no run fits, since the run may be elsewhere."""
    runs = sorted(_results(ctx).glob(f"*/{RUN_FILE}"), key=lambda path: path.stat().st_mtime, reverse=True)
    return _starting(incomplete, {path.parent.name: "" for path in runs}) or _folders("", incomplete)


def _config_files(_ctx: click.Context, incomplete: str) -> Items:
    """Return the TOML files in the folder, and its subfolders, which may be runs."""
    files = [CompletionItem(path) for path in _paths_from(incomplete) if path.endswith(".toml")]
    return [*files, *_folders("", incomplete)]


def _entrants(ctx: click.Context, incomplete: str) -> Items:
    """Return the bots of the run that precedes the parameter on the command line."""
    named = ctx.params.get("run") or (ctx.params.get("runs") or ctx.args)[0]
    run = str(named)  # in ctx.args if click stopped at the option whose value is missing
    for folder in (Path(run), _results(ctx) / run):
        if (folder / RUN_FILE).exists():
            asked = json.loads((folder / RUN_FILE).read_text(encoding="utf-8"))
            return _starting(incomplete, {entrant["name"]: "" for entrant in asked["entrants"]})
    return []


BOT, GAME, FORMAT = CompletedName("bot", _bots), CompletedName("game", _games), CompletedName("format", _formats)
RUN, ENTRANT, EVENT = CompletedName("run", _runs), CompletedName("bot", _entrants), CompletedName("file", _config_files)


def _starting(incomplete: str, texts: Mapping[str, str]) -> Items:
    """Return the texts that begin with the incomplete one, with their help."""
    return [CompletionItem(text, help=told or None) for text, told in texts.items() if text.startswith(incomplete)]


def _with_options(before: str, typed: str, options: Iterable[Option], installed: InstalledNames) -> Items:
    """Return the options after a name that are not set yet, or the values that the last one may have."""
    *done, last = typed.split(",")
    before += "".join(f"{setting}," for setting in done)
    key, equals, _ = last.partition("=")
    if not equals:
        free = [option for option in options if not any(setting.startswith(f"{option.name}=") for setting in done)]
        items = _starting(before + last, {f"{before}{option.name}=": option.help for option in free})
        return [CompletionItem(item.value, help=item.help, open=True) for item in items]
    [option] = [option for option in options if option.name == key]
    if option.kind == "bot":
        values: Iterable[object] = sorted(installed.bots)
    else:
        values = option.choices or (("true", "false") if option.kind == "bool" else ())
    return _starting(before + last, {f"{before}{key}={value}": "" for value in values})


def _folders(before: str, typed: str) -> Items:
    """Return folders to continue a path with. The shell lists them itself unless something precedes the path."""
    found = listed_folders(before, typed)
    return [CompletionItem(typed, type="dir")] if found and not before else found


def listed_folders(before: str, typed: str) -> Items:
    """Return the folders that begin with the typed path, as items that can be continued."""
    paths = [path for path in _paths_from(typed) if Path(path).expanduser().is_dir()]
    return [CompletionItem(f"{before}{path}/", open=True) for path in paths]


def _results(ctx: click.Context) -> Path:
    """Return the folder of results of the command line that is being completed."""
    return Path(ctx.params.get("results") or "results")


def _paths_from(typed: str) -> list[str]:
    """Return the paths that begin with the typed one; hidden files only after a typed dot."""
    folder, _, name = typed.rpartition("/")
    parent = f"{folder}/" if folder or typed.startswith("/") else ""
    there = sorted(path.name for path in Path(parent).expanduser().iterdir())
    return [f"{parent}{each}" for each in there if each.startswith(name) and (name or not each.startswith("."))]


# Cache of the names of plugins: users wait for every completion, and loading all plugins takes too long for that.
#
# A cache file is valid until one of its sources changes: the loaded modules, their folders, or a folder of sys.path.


KEPT = 8
"""Maximum number of cache files; there is one for each Python and search path, and the oldest are deleted."""
STANDARD = Path(os.__file__).parent
"""Folder of the standard library, which is not checked: it changes only with the version of Python."""


class InstalledName(Struct):
    """A game, a bot or a format: a line about it, and its options."""

    about: str
    options: tuple[Option, ...] = ()


class InstalledNames(Struct):
    """Installed games, bots and formats by name."""

    games: dict[str, InstalledName]
    bots: dict[str, InstalledName]
    formats: dict[str, InstalledName]


class CachedNames(Struct):
    """The content of a cache file."""

    python: list[str]
    """The versions of Python and Arena, and the search path."""
    marks: dict[str, list[int]]
    """The mark of each source, by path."""
    names: InstalledNames


def installed_names() -> InstalledNames:
    """Return the installed names, from the cache if it is still valid."""
    python = [sys.version, VERSION, *sys.path]
    with suppress(Exception):  # missing, damaged or not ours: build it again
        kept = msgspec.json.decode(_own(_place()), type=CachedNames)
        if kept.python == python and kept.marks and all(_mark(path) == at for path, at in kept.marks.items()):
            return kept.names
    began = time_ns()
    names, whole = _find()
    marks = _marks()
    # A broken plugin is not among the loaded modules, so a fix of it would not invalidate the cache. A file that was
    # modified while it was being loaded may have been read in its old version.
    if whole and all(mark and mark[0] < began for mark in marks.values()):
        with suppress(OSError, RuntimeError):  # no writable place: the next completion loads plugins again
            _keep(_place(), CachedNames(python, marks, names))
    return names


def _own(place: Path) -> bytes:
    """Return the contents of a file; raise PermissionError if another user owns it or can write to it."""
    # Its texts end up on the user's command line. The open file is checked: its path could be replaced after a check.
    with place.open("rb") as file:
        found = os.fstat(file.fileno())
        if hasattr(os, "geteuid") and (found.st_uid != os.geteuid() or found.st_mode & 0o022):
            raise PermissionError
        return file.read()


def _keep(place: Path, names: CachedNames) -> None:
    place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    part = place.with_suffix(f".{os.getpid()}")
    # Written under another name first: another shell may be reading the cache.
    part.write_bytes(msgspec.json.encode(names))
    part.chmod(0o600)
    part.replace(place)
    for old in sorted(place.parent.glob("names-*"), key=lambda path: _mark(str(path)))[:-KEPT]:
        old.unlink(missing_ok=True)


def _place() -> Path:
    """Return the path of the cache file for this Python and its search path."""
    caches = Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser()
    return caches / "arena" / f"names-{crc32(repr((sys.executable, sys.path)).encode()):08x}.json"


def _find() -> tuple[InstalledNames, bool]:
    """Load all plugins; return their names, and whether all of them could be loaded."""
    from harness.plugins.registry import load  # takes most of the time that the cache saves

    registry = load()
    names = InstalledNames(
        {name: InstalledName(offer.cls.title) for name, offer in registry.games.items()},
        {name: InstalledName(_first_line(offer.cls), offer.cls.options) for name, offer in registry.bots.items()},
        {name: InstalledName(each.summary, each.options) for name, each in registry.formats.items()},
    )
    return names, not registry.problems


def _first_line(cls: type) -> str:
    """Return the first line of the docstring of a class."""
    return (cls.__doc__ or "").strip().partition("\n")[0]


def _marks() -> dict[str, list[int]]:
    """Return the marks of all files and folders that the names come from, by path."""
    files = [file for module in list(sys.modules.values()) if (file := getattr(module, "__file__", None))]
    loaded = [path for path in map(Path, files) if not path.is_relative_to(STANDARD) or "site-packages" in path.parts]
    places = {*map(str, loaded), *(str(path.parent) for path in loaded), *filter(os.path.isdir, sys.path)}
    return {place: _mark(place) for place in sorted(places)}


def _mark(path: str) -> list[int]:
    """Return the modification time and the size of a file or folder; an empty list if there is none."""
    try:
        found = os.stat(path)  # noqa: PTH116 - called for a hundred files while a user waits
    except OSError:
        return []
    return [found.st_mtime_ns, found.st_size]


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
    from harness.executors.base import expect_workers
    from harness.isolation.launch import thread_variables

    if workers == 0:
        # Native libraries read these variables when a bot imports them.
        os.environ.update(thread_variables(1 if threads is None else threads))
    elif request is not None:
        from harness.runs.setup import configure_early

        configure_early(request.games, request.options)
    # The server is forked from this process, which is safe only without the threads and locks of bots.
    expect_workers(workers, clean=True)


def note(text: str) -> None:
    """Print a message to stderr; stdout is for results."""
    click.echo(text, err=True)


def note_warnings(warnings: Iterable[str]) -> None:
    """Print warnings to stderr, each once."""
    for warning in dict.fromkeys(warnings):
        note(f"Warning: {warning}")


def tell_faults(run: RunFolder, faults: FaultGroups) -> None:
    """Print each bot that failed, and what to type to see why."""
    from harness.output.text import commands, fault_lines

    if faults:
        specs = {entrant.name: entrant.spec for entrant in run.info.entrants}
        move_time = float(run.info.limits.get("move_time", 0.0))  # runs of arena play have none
        for line in fault_lines(faults, commands(run.folder, specs, move_time)):
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
