"""Shell completion, and the cache of installed names that makes it quick."""

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


# Completion for bash, which takes `v2=sprinter.py` and `ismcts:guide=outlaw` for several words each.
#
# click hands over bash's words, so these names would be taken apart. Here the line itself is read, and what bash has
# already put aside of the word is left out of the answer.


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
    """Completes what stands between two spaces; `open` marks what goes on, so that no space follows it."""

    source_template = SCRIPT

    def get_completion_args(self) -> tuple[list[str], str]:
        """The words before the cursor, and the one that is being typed."""
        line = os.environ["ARENA_LINE"]
        words = split_arg_string(line)
        return (words[1:], "") if line[-1:].isspace() else (words[1:-1], words[-1])

    def get_completions(self, args: list[str], incomplete: str) -> list[CompletionItem]:
        """Folders are named here: bash would offer them only where nothing else fits."""
        found: list[CompletionItem[Any]] = []
        for item in super().get_completions(args, incomplete):
            found += _folders(str(item.value)) if item.type == "dir" else [item]
        return found

    def format_completion(self, item: CompletionItem[Any]) -> str:
        """What is to be put in place of what bash takes for the word."""
        _, incomplete = self.get_completion_args()
        if incomplete.startswith("-"):  # --bot=sprinter: the value alone is completed
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

    SHELL is bash, zsh or fish; by default the one that you use. For this terminal, then for good:

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


# The names that plugins bring, as shells complete them: kept in a file, for a shell waits for every completion, and
# to load all plugins takes longer than people like to wait.
#
# The file counts as long as nothing has changed that the names came from: the modules that were loaded, the folders
# that these are in, and those in which Python looks for packages.


KEPT = 8
"""Files of names that are kept: one for each Python and search path; the oldest ones go."""
STANDARD = Path(os.__file__).parent
"""Python's own modules: they change with its version."""


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
    """What is installed, by name."""

    games: dict[str, ShownName]
    bots: dict[str, ShownName]
    formats: dict[str, ShownName]


def installed_names() -> InstalledNames:
    """What is installed: as it was found before, if nothing has changed since, or found now."""
    python = [sys.version, VERSION, *sys.path]
    with suppress(Exception):  # there is none, or it is damaged or another's: it is made anew
        kept = json.loads(_own(_place()))
        if kept["python"] == python and kept["marks"] and all(_mark(path) == at for path, at in kept["marks"].items()):
            return InstalledNames(*({name: _shown(*one) for name, one in names.items()} for names in kept["names"]))
    began = time_ns()
    names, whole = _find()
    marks = _marks()
    # What could not be loaded is not among the modules: nobody would notice when it is mended. Nor what is just edited.
    if whole and all(mark and mark[0] < began for mark in marks.values()):
        with suppress(OSError, RuntimeError):  # nowhere to keep it: the next one finds it again
            _keep(_place(), {"python": python, "marks": marks, "names": names})
    return names


def _own(place: Path) -> bytes:
    """The contents of a file that this user has written, and nobody else can."""
    with place.open("rb") as file:
        found = os.fstat(file.fileno())
        if hasattr(os, "geteuid") and (found.st_uid != os.geteuid() or found.st_mode & 0o022):
            raise PermissionError
        return file.read()


def _keep(place: Path, names: dict[str, Any]) -> None:
    place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    part = place.with_suffix(f".{os.getpid()}")
    part.write_text(json.dumps(names), encoding="utf-8")
    part.chmod(0o600)
    part.replace(place)
    for old in sorted(place.parent.glob("names-*"), key=lambda path: _mark(str(path)))[:-KEPT]:
        old.unlink(missing_ok=True)


def _place() -> Path:
    """A file for each Python and each of its search paths."""
    caches = Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser()
    return caches / "arena" / f"names-{crc32(repr((sys.executable, sys.path)).encode()):08x}.json"


def _find() -> tuple[InstalledNames, bool]:
    """What is installed, and whether all of it could be loaded."""
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
    """What a class says about itself, in short."""
    return (cls.__doc__ or "").strip().partition("\n")[0]


def _marks() -> dict[str, list[int]]:
    """By what is noticed that something has changed."""
    files = [file for module in list(sys.modules.values()) if (file := getattr(module, "__file__", None))]
    loaded = [Path(file) for file in files if _may_change(Path(file))]
    places = {*map(str, loaded), *(str(path.parent) for path in loaded), *filter(os.path.isdir, sys.path)}
    return {place: _mark(place) for place in sorted(places)}


def _may_change(file: Path) -> bool:
    return not file.is_relative_to(STANDARD) or "site-packages" in file.parts


def _mark(path: str) -> list[int]:
    """When a file or a folder was changed, and how large it is."""
    try:
        found = os.stat(path)  # noqa: PTH116 - a hundred of them, while somebody waits
    except OSError:
        return []
    return [found.st_mtime_ns, found.st_size]
