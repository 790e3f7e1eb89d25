"""Writes what was asked for as a TOML file that asks for it again."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from msgspec.structs import fields

from harness.core.errors import StoreError, UsageError
from harness.plugins.bot_spec import moved_file, named, relocated
from harness.plugins.entrants import BotEntry
from harness.runs.request import RunRequest
from harness.runs.run_files import write_whole

FIRST = ("games", "format", "players", "deals", "seed", "candidates")
"""What a run is, before how it is played."""
TABLES = ("bots", "options", "file")
"""What is written in a way of its own."""
COMMENT = "# Asks for a run. Play it: arena tournament {name}"
_BARE = re.compile(r"[A-Za-z0-9_-]+")


def write_event(request: RunRequest, path: Path, force: bool = False, comment: str = COMMENT) -> None:
    """Writes the file, with a comment on top; refuses to replace one unless told to."""
    text = event_text(request, path, comment)
    if path.exists() and not force:
        raise UsageError(
            f"{path} exists already: choose another name, or replace it with --force (from Python: force)."
        )
    if not path.parent.is_dir():
        raise StoreError(f"Cannot write {path}: there is no folder {path.parent}.")
    try:
        data = text.encode()
    except UnicodeEncodeError as error:
        raise UsageError(f"Cannot write {path}: it would name something that is no text ({error}).") from None
    write_whole(path, data)


def event_text(request: RunRequest, path: Path, comment: str = COMMENT) -> str:
    """What a file at this place says to ask for the same: all that differs from the defaults, with paths as they are
    seen from its folder."""
    plain, names = RunRequest(), {each.name: each.encode_name for each in fields(RunRequest)}
    order = [*FIRST, *(name for name in names if name not in (*FIRST, *TABLES))]
    seen = _Seen(path.parent)
    told = {name: getattr(request, name) for name in order if getattr(request, name) != getattr(plain, name)}
    for name, place in (("results", seen.move), ("cluster", seen.file)):
        if name in told:
            told[name] = place(str(told[name]))
    if "candidates" in told:
        told["candidates"] = [text for one in told["candidates"] for text in seen.bot(one)]
    lines = [f"{names[name]} = {_value(value)}" for name, value in told.items()]
    entries = list(seen.entries(request.bots))
    simple = all(list(entry) == ["bot"] for entry in entries)
    if entries and simple:
        listed = "".join(f"    {_value(entry['bot'])},\n" for entry in entries)
        lines.insert(1 if "games" in told else 0, f"bots = [\n{listed}]")
    blocks = [_table("[[bots]]", entry) for entry in entries if not simple]
    if request.options:
        blocks.append(_table("[options]", {key: seen.file(value) for key, value in request.options.items()}))
    return "\n\n".join(["\n".join([comment.format(name=path.name), *lines]), *blocks]) + "\n"


class _Seen:
    """Paths as they are seen from a folder, where they counted from the current one."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder.resolve()
        self.here = self.folder == Path.cwd()

    def move(self, place: str) -> str:
        return place if self.here or Path(place).is_absolute() else os.path.relpath(place, self.folder)

    def file(self, value: Any) -> Any:
        return moved_file(value, Path(), self.move) if isinstance(value, str) else value

    def bot(self, bot: Any) -> list[str]:
        if isinstance(bot, tuple):
            bot = f"{bot[0]}={bot[1]}" if isinstance(bot[1], str) else bot[1]
        if not isinstance(bot, str):
            shown = getattr(bot, "__name__", type(bot).__name__)
            raise UsageError(
                f"{shown} was typed in Python, and a file cannot name it: put it into a .py file, and name that."
            )
        return [bot] if self.here else relocated(bot, Path(), self.move)

    def entries(self, bots: Iterable[Any]) -> Iterator[dict[str, str]]:
        """What a table for each bot says."""
        for bot in bots:
            entry = bot if isinstance(bot, BotEntry) else BotEntry(bot)
            told = {key: text for key, text in (("team", entry.team), ("author", entry.author)) if text}
            for text in self.bot(entry.bot):
                name, rest = named(text) if told else ("", text)
                yield {**({"name": name} if name else {}), "bot": rest, **told}


def _table(head: str, values: Mapping[str, Any]) -> str:
    return "\n".join([head, *(f"{_key(key)} = {_value(value)}" for key, value in values.items())])


def _key(key: str) -> str:
    return key if _BARE.fullmatch(key) else _value(key)


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_value, value))}]"
    # JSON's escapes are TOML's, but for one character that TOML wants escaped
    return json.dumps(str(value), ensure_ascii=False).replace("\x7f", "\\u007f")
