"""The names that a shell completes: games, bots, formats, runs, files; and a cache of the installed ones."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from time import time_ns
from zlib import crc32

import click
import msgspec
from click.shell_completion import CompletionItem
from msgspec import Struct

from harness._version import VERSION
from harness.core.files import Folder, UserCache
from harness.core.records import Option

# The functions that `CompletedName` calls, by its `offers`: each returns the items that begin with an incomplete text.


RUN_FILE = "run.json"
OWN_NAME = re.compile(r"[^\s:,=/\\]+=")
"""Prefix that gives a bot another name: `v2=`."""
PLAIN = re.compile(r"(?!-)[\w.,:=/@%+~-]+")
"""Texts that no shell acts on. Names of runs, of their bots and of files may come from other people, and a shell may
insert them as they are: `x$(command)` would be executed with the line."""

Items = list[CompletionItem]


def games(_ctx: click.Context, incomplete: str) -> Items:
    """Return the installed games."""
    return _starting(incomplete, {name: game.about for name, game in installed_names().games.items()})


def formats(_ctx: click.Context, incomplete: str) -> Items:
    """Return the installed formats; after a colon, their options: `swiss:rounds=5`."""
    installed = installed_names()
    name, colon, rest = incomplete.partition(":")
    if colon:
        return _with_options(f"{name}:", rest, installed.formats[name].options, installed)
    return _starting(incomplete, {name: each.about for name, each in installed.formats.items()})


def bots(_ctx: click.Context, incomplete: str) -> Items:
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


def runs(ctx: click.Context, incomplete: str) -> Items:
    """Return the runs, the newest first; folders if no run fits, since the run may be elsewhere."""
    runs = sorted(_results(ctx).glob(f"*/{RUN_FILE}"), key=lambda path: path.stat().st_mtime, reverse=True)
    return _starting(incomplete, {path.parent.name: "" for path in runs}) or _folders("", incomplete)


def config_files(_ctx: click.Context, incomplete: str) -> Items:
    """Return the TOML files in the folder, and its subfolders, which may be runs."""
    files = [CompletionItem(path) for path in _paths_from(incomplete) if path.endswith(".toml")]
    return [*files, *_folders("", incomplete)]


def entrants(ctx: click.Context, incomplete: str) -> Items:
    """Return the bots of the run that precedes the parameter on the command line."""
    named = ctx.params.get("run") or (ctx.params.get("runs") or ctx.args)[0]
    run = str(named)  # in ctx.args if click stopped at the option whose value is missing
    for folder in (Path(run), _results(ctx) / run):
        if (folder / RUN_FILE).exists():
            asked = json.loads(Folder(folder).read(RUN_FILE))
            return _starting(incomplete, {entrant["name"]: "" for entrant in asked["entrants"]})
    return []


def _starting(incomplete: str, texts: Mapping[str, str]) -> Items:
    """Return the texts that begin with the incomplete one, with their help."""
    fitting = [text for text in texts if text.startswith(incomplete) and PLAIN.fullmatch(text)]
    return [CompletionItem(text, help=texts[text] or None) for text in fitting]


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
    found = [each for each in there if each.startswith(name) and (name or not each.startswith("."))]
    return [f"{parent}{each}" for each in found if PLAIN.fullmatch(each)]


# Cache of the names of plugins: users wait for every completion, and loading all plugins takes too long for that.
#
# A cache file is valid until one of its sources changes: the loaded modules, their folders, or a folder of sys.path.


CACHE = UserCache("names")
MAX_FILES = 8
"""There is one for each Python and search path, and the oldest are deleted."""
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
        kept = msgspec.json.decode(CACHE.read(_name_of_file()), type=CachedNames)
        if kept.python == python and kept.marks and all(_mark(path) == at for path, at in kept.marks.items()):
            return kept.names
    began = time_ns()
    names, whole = _find()
    marks = _marks()
    # A broken plugin is not among the loaded modules, so a fix of it would not invalidate the cache. A file that was
    # modified while it was being loaded may have been read in its old version.
    if whole and all(mark and mark[0] < began for mark in marks.values()):
        CACHE.write(_name_of_file(), msgspec.json.encode(CachedNames(python, marks, names)), MAX_FILES)
    return names


def _name_of_file() -> str:
    """Return the name of the cache file for this Python and its search path."""
    return f"names-{crc32(repr((sys.executable, sys.path)).encode()):08x}.json"


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
