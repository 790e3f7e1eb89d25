"""What is typed for a bot, taken apart: a name of one's own, where the bot is, and its options."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Container, Iterator
from glob import glob, has_magic
from pathlib import Path
from typing import NamedTuple

from harness.core.errors import UsageError
from harness.plugins.entrants import split_options

_COMMAND = re.compile(r"(?:([^\s:,=/\\]{1,300})(?::(.*?))?=)?cmd:(.*)", re.DOTALL)
_ALIAS = re.compile(r"([^\s:,=/\\|<>@][^\s:,=/\\|<>]{0,299})=(.+)", re.DOTALL)
_PLACE = re.compile(r"(.+?)(?:::([^:]+))?(?::(?!:)(.*))?", re.DOTALL)
_FILE = re.compile(r"(.+?\.py)(?:::([^:]+))?(?::(?!:)(.*))?", re.DOTALL)
_COMMENT = re.compile(r"\s+#.*")
LIST = "@"
"""What stands before a file that lists bots, one a line."""
DEEPEST = 10
"""Lists that may name lists."""


class BotSpec(NamedTuple):
    """One thing that was typed: a program, a place with bots in it, or the name of an installed bot."""

    text: str
    """All of it."""
    alias: str = ""
    """The name that the entrant is to have; its own one if empty."""
    command: str | None = None
    """What starts a program."""
    place: str = ""
    """A file or folder."""
    bot: str = ""
    """Which one of the place, all if empty; without a place the name of an installed one."""
    options: str = ""

    @property
    def settings(self) -> dict[str, str]:
        """The options by name."""
        return split_options(self.text, self.options)


def bot_specs(text: str, installed: Container[str], depth: int = 0) -> Iterator[BotSpec]:
    """Takes apart what was typed: `sprinter:stars=4`, `v1=old/sprinter.py::sprinter`, `bots/`, `bots/*.py`,
    `@list.txt`, `name:key=value=cmd:node bot.js`."""
    if text.startswith(LIST):
        for line in _lines(text[len(LIST) :], depth):
            yield from bot_specs(line, installed, depth + 1)
        return
    command = _COMMAND.fullmatch(text)
    if command:
        yield BotSpec(text, command[1] or "", command=command[3], options=command[2] or "")
        return
    alias, rest = named(text)
    before, equals, _ = rest.partition(":")[0].partition("=")
    if equals and not Path(rest).exists():
        raise UsageError(
            f"In {text!r}, {before!r} cannot be a name: write NAME=BOT with one name that has no spaces, colons, "
            f"commas, slashes or bars."
        )
    place = _place(rest, installed)
    if place is None:
        name, _, options = rest.partition(":")
        yield BotSpec(text, alias, bot=name, options=options)
        return
    where, bot, options = place[1], place[2] or "", place[3] or ""
    if not has_magic(where) or Path(where).exists():
        yield BotSpec(text, alias, place=where, bot=bot, options=options)
        return
    found = sorted(path for path in glob(where, recursive=True) if is_place(path))  # noqa: PTH207 - any pattern
    if not found:
        raise UsageError(f"{text!r}: no Python file and no folder is called like that.")
    if alias and len(found) > 1:
        raise UsageError(f"{text!r} is {len(found)} files, which cannot all be called {alias}.")
    for path in found:
        yield BotSpec(text, alias, place=path, bot=bot, options=options)


def _place(text: str, installed: Container[str]) -> re.Match[str] | None:
    """The parts of a text that names a file, a folder or a pattern of them."""
    in_file = _FILE.fullmatch(text)
    if in_file:
        return in_file
    place = _PLACE.fullmatch(text)
    if place and place[1] not in installed and (Path(place[1]).is_dir() or has_magic(place[1])):
        return place
    return None


def is_place(path: str) -> bool:
    """Whether bots may be there: a Python file that is not private, nor a test; or a folder."""
    name = Path(path).name
    if Path(path).is_dir():
        return not name.startswith((".", "__pycache__"))
    return name.endswith(".py") and not name.startswith(("_", ".", "test_", "conftest"))


def files_in(folder: str) -> list[str]:
    """The places with bots in a folder: itself, if it is a package, or its files."""
    if (Path(folder) / "__init__.py").is_file():
        return [folder]
    return [str(file) for file in sorted(Path(folder).glob("*.py")) if is_place(str(file))]


def _lines(path: str, depth: int) -> list[str]:
    if depth >= DEEPEST:
        raise UsageError(f"{path}: lists name each other without end.")
    try:
        lines = [line.strip() for line in Path(path).read_text(encoding="utf-8").splitlines()]
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"Cannot read the list of bots {path}: {error}.") from error
    found = [line if "cmd:" in line else _COMMENT.sub("", line) for line in lines if line and not line.startswith("#")]
    if not found:
        raise UsageError(f"{path} lists no bot: write one a line, as behind --bot.")
    return found


def relocated(text: str, start: Path, move: Callable[[str], str], depth: int = 0) -> list[str]:
    """What was typed, with each path in it moved: paths count from `start`, and `move` says what to write for one.

    Lists are written out, for their lines count from the same place as they do. A folder is taken for one if there is a
    slash in it, and a word of a command or a value of an option if there is a file of that name.
    """
    if text.startswith(LIST):
        lines = _lines(str(start / text[len(LIST) :]), depth)
        return [one for line in lines for one in relocated(line, start, move, depth + 1)]
    command = _COMMAND.fullmatch(text)
    if command:
        begin = command.start(3)
        return [text[:begin] + _moved_command(text[begin:], start, move)]
    alias, rest = named(text, start)
    place = _FILE.fullmatch(rest) or _PLACE.fullmatch(rest)
    if place and (place[1].endswith(".py") or "/" in place[1] or has_magic(place[1])):
        where, options = move(place[1]), place[3] or ""
        is_folder = place[1].endswith("/") or not ("/" in where or where.endswith(".py") or has_magic(where))
        bot = (f"{where.rstrip('/')}/" if is_folder else where) + (f"::{place[2]}" if place[2] else "")
    else:
        bot, _, options = rest.partition(":")
    moved = ",".join(_moved_option(option, start, move) for option in options.split(","))
    return [(f"{alias}=" if alias else "") + bot + (f":{moved}" if moved else "")]


def named(text: str, start: Path = Path()) -> tuple[str, str]:
    """The name of its own before a bot that is no command, empty if there is none, and the rest."""
    found = _ALIAS.fullmatch(text) if not (start / text).exists() and not _COMMAND.fullmatch(text) else None
    return (found[1], found[2]) if found else ("", text)


def moved_file(value: str, start: Path, move: Callable[[str], str]) -> str:
    """The same for the value of an option, which may be anything: one that looks like a file, and is one, is moved."""
    return move(value) if ("/" in value or "." in value) and (start / value).is_file() else value


def _moved_option(option: str, start: Path, move: Callable[[str], str]) -> str:
    key, equals, value = option.partition("=")
    return key + equals + moved_file(value, start, move)


def _moved_command(command: str, start: Path, move: Callable[[str], str]) -> str:
    try:
        words = shlex.split(command)
    except ValueError:
        return command  # whoever enters it says what is wrong
    moved = [
        move(word) if ("/" in word or number) and word and (start / word).exists() else word
        for number, word in enumerate(words)
    ]
    if moved == words:
        return command
    program = moved[0] if moved[0] == words[0] or "/" in moved[0] else f"./{moved[0]}"
    return shlex.join([program, *moved[1:]])
