"""Shell completion, and the cache of installed names that makes it fast."""

from __future__ import annotations

import json
import os
import sys
from contextlib import suppress
from pathlib import Path, PurePath
from time import time_ns
from typing import TYPE_CHECKING, Any, NamedTuple
from zlib import crc32

import click
from click.shell_completion import (
    BashComplete,
    CompletionItem,
    FishComplete,
    ShellComplete,
    ZshComplete,
    add_completion_class,
    split_arg_string,
)

from harness._version import VERSION

if TYPE_CHECKING:
    from collections.abc import Iterable

    from harness.core.records import Option


# Completion for bash, which splits `v2=sprinter.py` and `ismcts:guide=outlaw` into several words.
#
# click uses the words of bash, so these names would be split. Here the line itself is parsed, and the part of the word
# that bash regards as complete is removed from the answer.


SCRIPT = """\
%(complete_func)s() {
    local kind value
    COMPREPLY=()
    while IFS=, read -r kind value; do
        [[ $kind == open ]] && compopt -o nospace
        [[ $value ]] && COMPREPLY+=("$value")
    done < <(export ARENA_LINE="${COMP_LINE:0:$COMP_POINT}" ARENA_WORD="$2"
             %(complete_var)s=bash_complete "$1" 2>/dev/null)
}
complete -o nosort -F %(complete_func)s %(prog_name)s
"""


@add_completion_class
class WholeWords(BashComplete):
    """Completes words between spaces. Items marked `open` can be continued, so no space is added after them."""

    source_template = SCRIPT

    def get_completion_args(self) -> tuple[list[str], str]:
        """Return the words before the cursor, and the incomplete word."""
        line = os.environ["ARENA_LINE"]
        words = split_arg_string(line)
        return (words[1:], "") if line[-1:].isspace() else (words[1:-1], words[-1])

    def get_completions(self, args: list[str], incomplete: str) -> list[CompletionItem]:
        """Return the completions, with folders listed: bash would offer them only if nothing else fits."""
        found: list[CompletionItem[Any]] = []
        for item in super().get_completions(args, incomplete):
            found += _folders(str(item.value)) if item.type == "dir" else [item]
        return found

    def format_completion(self, item: CompletionItem[Any]) -> str:
        """Return a line for the script: the kind of the item, and the text that replaces the current word of bash."""
        _, incomplete = self.get_completion_args()
        if incomplete.startswith("-"):  # --bot=sprinter: only the value is completed
            incomplete = incomplete.partition("=")[2]
        aside = incomplete.removesuffix(os.environ["ARENA_WORD"]) if os.environ["ARENA_WORD"] else incomplete
        return f"{'open' if item.open else 'plain'},{str(item.value).removeprefix(aside)}"


def _folders(typed: str) -> list[CompletionItem]:
    from harness.cli.options import beside

    return [CompletionItem(f"{path}/", open=True) for path in beside(typed) if Path(path).expanduser().is_dir()]


# arena completion.


SHELLS: dict[str, type[ShellComplete]] = {"bash": WholeWords, "zsh": ZshComplete, "fish": FishComplete}


@click.command("completion", short_help="Print what makes a shell complete arena's commands and names.")
@click.argument("shell", type=click.Choice(list(SHELLS)), required=False)
def command(shell: str | None) -> None:
    """Print a script for SHELL that completes commands, options, bots, games, formats and runs.

    SHELL is bash, zsh or fish; by default the one that you use. The first example is for the current terminal, the
    others are permanent:

    \b
    eval "$(arena completion bash)"
    arena completion bash >> ~/.bashrc
    arena completion zsh >> ~/.zshrc
    arena completion fish > ~/.config/fish/completions/arena.fish
    """
    from harness.cli import COMPLETE_VARIABLE
    from harness.cli.main import main

    chosen = shell or PurePath(os.environ.get("SHELL", "")).name
    if chosen not in SHELLS:
        raise click.UsageError(f"Which shell? Choose from: {', '.join(SHELLS)}.")
    click.echo(SHELLS[chosen](main, {}, "arena", COMPLETE_VARIABLE).source(), nl=False)


# Cache of the names of plugins: users wait for every completion, and loading all plugins takes too long for that.
#
# A cache file is valid until one of its sources changes: the loaded modules, their folders, or a folder of sys.path.


KEPT = 8
"""Maximum number of cache files; there is one for each Python and search path, and the oldest are deleted."""
STANDARD = Path(os.__file__).parent
"""Folder of the standard library, which is not checked: it changes only with the version of Python."""


class ShownOption(NamedTuple):
    """An option of a bot or a format."""

    name: str
    help: str
    kind: str
    choices: list[Any]


class ShownName(NamedTuple):
    """A game, a bot or a format."""

    about: str
    options: list[ShownOption]


class InstalledNames(NamedTuple):
    """Installed games, bots and formats by name."""

    games: dict[str, ShownName]
    bots: dict[str, ShownName]
    formats: dict[str, ShownName]


def installed_names() -> InstalledNames:
    """Return the installed names, from the cache if it is still valid."""
    python = [sys.version, VERSION, *sys.path]
    with suppress(Exception):  # missing, damaged or not ours: build it again
        kept = json.loads(_own(_place()))
        if kept["python"] == python and kept["marks"] and all(_mark(path) == at for path, at in kept["marks"].items()):
            return InstalledNames(*({name: _shown(*one) for name, one in names.items()} for names in kept["names"]))
    began = time_ns()
    names, whole = _find()
    marks = _marks()
    # A broken plugin is not among the loaded modules, so a fix of it would not invalidate the cache. A file that was
    # modified while it was being loaded may have been read in its old version.
    if whole and all(mark and mark[0] < began for mark in marks.values()):
        with suppress(OSError, RuntimeError):  # no writable place: the next completion loads plugins again
            _keep(_place(), {"python": python, "marks": marks, "names": names})
    return names


def _own(place: Path) -> bytes:
    """Return the contents of a file; raise PermissionError if another user owns it or can write to it."""
    # Its texts end up on the user's command line. The open file is checked: its path could be replaced after a check.
    with place.open("rb") as file:
        found = os.fstat(file.fileno())
        if hasattr(os, "geteuid") and (found.st_uid != os.geteuid() or found.st_mode & 0o022):
            raise PermissionError
        return file.read()


def _keep(place: Path, names: dict[str, Any]) -> None:
    place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    part = place.with_suffix(f".{os.getpid()}")
    # Written under another name first: another shell may be reading the cache.
    part.write_text(json.dumps(names), encoding="utf-8")
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
    from harness.plugins.registry import load

    registry = load()
    names = InstalledNames(
        {name: ShownName(offer.cls.title, []) for name, offer in registry.games.items()},
        {name: _shown(_first_line(offer.cls), _fields(offer.cls.options)) for name, offer in registry.bots.items()},
        {name: _shown(each.summary, _fields(each.options)) for name, each in registry.formats.items()},
    )
    return names, not registry.problems


def _fields(options: Iterable[Option]) -> list[tuple[Any, ...]]:
    return [(option.name, option.help, option.kind, list(option.choices)) for option in options]


def _shown(about: str, options: Iterable[Iterable[Any]]) -> ShownName:
    return ShownName(about, [ShownOption(*option) for option in options])


def _first_line(cls: type) -> str:
    """Return the first line of the docstring of a class."""
    return (cls.__doc__ or "").strip().partition("\n")[0]


def _marks() -> dict[str, list[int]]:
    """Return the marks of all files and folders that the names come from, by path."""
    files = [file for module in list(sys.modules.values()) if (file := getattr(module, "__file__", None))]
    loaded = [Path(file) for file in files if _may_change(Path(file))]
    places = {*map(str, loaded), *(str(path.parent) for path in loaded), *filter(os.path.isdir, sys.path)}
    return {place: _mark(place) for place in sorted(places)}


def _may_change(file: Path) -> bool:
    return not file.is_relative_to(STANDARD) or "site-packages" in file.parts


def _mark(path: str) -> list[int]:
    """Return the modification time and the size of a file or folder; an empty list if there is none."""
    try:
        found = os.stat(path)  # noqa: PTH116 - called for a hundred files while a user waits
    except OSError:
        return []
    return [found.st_mtime_ns, found.st_size]
