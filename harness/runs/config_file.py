"""Config files: TOML whose keys are the fields of a RunRequest, read with the line and column of each key, and written.

Paths are relative to the folder of the file, so that it can be moved together with its bots. The file may come from
anyone, and its owner does not say where it came from: it cannot run code in this process, turn isolation off, or name
files outside its folder.
"""

from __future__ import annotations

import dataclasses
import json
import os
import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from glob import has_magic
from pathlib import Path
from typing import Any

from harness.core.action import MAX_TOML_BYTES, parse_toml
from harness.core.errors import ArenaError, StoreError, UnknownName, UsageError
from harness.core.files import UnreadableFile, link_leading_out, read_regular_file, write_named_file
from harness.core.options import SIZES, RunOptions, run_options
from harness.plugins.discovery import NAME
from harness.plugins.entrants import (
    COMMAND_PREFIX,
    LIST_PREFIX,
    BotEntry,
    BotRef,
    files_of_pattern,
    joined,
    listed_texts,
    moved_file,
    relocated,
)
from harness.plugins.registry import load
from harness.runs.toml_places import KeyPath, Place, places_in


@dataclass(frozen=True, slots=True, eq=False)
class FilePlaces:
    """The config file or run.json of a request: its values, and the line and column of each in a config file."""

    path: str
    given: Mapping[str, Any] = dataclasses.field(repr=False)
    """Values in the file, by field of the request."""
    places: Mapping[KeyPath, Place] = dataclasses.field(repr=False)
    """Places of fields and of their items; an item is found by its index in the request or by its key."""
    left_out: str = ""
    """Warning that `isolate = 'off'` was ignored, which only a user can ask for; empty if nothing was ignored."""

    def names(self, request: object, field: str) -> bool:
        """Return whether the value that the request has for this field comes from the file."""
        return field in self.given and self._is_from_here(getattr(request, field), field, ())

    def blame(self, error: ArenaError, request: object, name: str, *item: str | int) -> None:
        """Prefix the message of an error with the place of the field or item that it is about.

        The error stays as it is if the request has another value than the file: an option of the command line, for
        example, replaces what the file says.
        """
        # An item without a place, such as a missing key, gets that of its field.
        place = self.places.get((name, *item)) or self.places.get((name,))
        if place is not None and self._is_from_here(getattr(request, name), name, item):
            error.args = (f"{place.prefix(self.path)} {error}",)

    def _is_from_here(self, asked: Any, name: str, item: KeyPath) -> bool:
        given = self.given.get(name)
        if name == "options" and item and isinstance(given, Mapping):
            return item[0] in given and bool(given[item[0]] == asked.get(item[0]))
        return bool(given == asked)


# Reading. Errors name the line and column.


_AT = re.compile(r" \(at (?:line (\d+), column (\d+)|end of document)\)$")
BOT_KEYS = ("name", "bot", "options", "team", "author")
"""Keys of the table of a bot."""
LISTS = ("games", "bots", "candidates")
LOCAL_CLUSTER = re.compile(r"local:\d{1,6}")


def read_config_file(path: Path) -> dict[str, Any]:
    """Return the fields of the RunRequest in a TOML file."""
    return _ConfigFile(path).fields()


class _LocatedError(UsageError):
    """An error whose message already has the line and column."""


class _ConfigFile:
    """A config file that is being read."""

    def __init__(self, path: Path) -> None:
        self.path = path
        if not os.path.exists(path):  # noqa: PTH110 - Path.exists raises for names that are too long
            raise UsageError(
                f"There is no config file {path}.",
                fix="" if path.suffix == ".toml" else "event-file",
            )
        try:
            text = read_regular_file(path, MAX_TOML_BYTES).decode("utf-8-sig")
        except (UnreadableFile, UnicodeDecodeError) as error:
            raise UsageError(f"Cannot read {path}: {error}.") from error
        text = text.replace("\r\n", "\n")
        try:
            self.data = parse_toml(text)
            self.there = places_in(text)
        except tomllib.TOMLDecodeError as error:
            raise UsageError(_not_toml(path, text, str(error))) from error
        except RecursionError:
            raise UsageError(f"{path} has too many brackets inside each other.") from None
        self.places: dict[KeyPath, Place] = {}
        """Places of fields and items by their index in the request, which is not always that in the file."""
        folder = path.parent
        # Paths in a file of the current folder stay exactly as they were typed.
        here = folder.resolve() == Path.cwd()
        self.start = folder
        self.move: Callable[[str], str] | None = None if here else lambda place: joined(folder, place)

    @contextmanager
    def reading(self, *keys: str | int) -> Iterator[None]:
        """Prefix errors raised in this block with the place of these keys."""
        try:
            yield
        except _LocatedError:
            raise  # an inner block has already added a more exact place
        except ArenaError as error:
            # The longest known part of the path: a missing key has no place, but the table around it has.
            place = next(self.there[keys[:end]] for end in range(len(keys), 0, -1) if keys[:end] in self.there)
            raise _LocatedError(f"{place.prefix(self.path)} {error}", error.fix, **error.data) from error

    def fields(self) -> dict[str, Any]:
        """Return the content of the file as fields of a RunRequest."""
        names = {option.key: option.name for option in run_options(RunOptions).values()}
        read: dict[str, Any] = {}
        for key, value in self.data.items():
            with self.reading(key):
                if key not in names:
                    raise UnknownName("key", key, names)
            field = names[key]
            self.places[(field,)] = self.there[(key,)]
            read[field] = self._field(field, key, value)
        left_out = ""
        if read.get("isolate") == "off":
            del read["isolate"]
            where = self.there[("isolate",)].prefix(self.path)
            left_out = f"{where} isolate = 'off' is ignored: a file cannot turn isolation off."
        read["file"] = FilePlaces(str(self.path), dict(read), self.places, left_out)
        return read

    def _field(self, field: str, key: str, value: Any) -> Any:
        if field == "bots" and isinstance(value, dict | list):
            return self._bots(value)
        if field == "options" and isinstance(value, dict):
            return {name: self._option(value[name], "options", name) for name in value}
        with self.reading(key):
            if field in LISTS:
                if not isinstance(value, list):
                    raise UsageError(f"{key} is a list of names, not {value!r}.")
                return self._list(field, value)
            run_options(RunOptions)[field].check(value, key)
            if field == "cluster" and value and not LOCAL_CLUSTER.fullmatch(value):
                # A function would run in this process, and so would what the scheduler of another user sends.
                raise UsageError(
                    f"A config file can only ask for a cluster on this machine (local:4), not for {value!r}.",
                    fix="file-cluster",
                )
            if field == "results":
                self._check_inside(value)
        return self.move(value) if field == "results" and self.move is not None else value

    def _list(self, field: str, items: list[Any]) -> tuple[str, ...]:
        """Return the items of a list of games or candidates."""
        found: list[str] = []
        for number, item in enumerate(items):
            with self.reading(field, number):
                if not isinstance(item, str):
                    raise UsageError(f"{field} is a list of names, and {item!r} is none.")
                self._take(field, found, [item] if field == "games" else self._moved(item), (field, number))
        return tuple(found)

    def _take(self, field: str, found: list[Any], items: list[Any], keys: KeyPath) -> None:
        for item in items:
            self.places[(field, len(found))] = self.there.get((*keys, "bot")) or self.there[keys]
            found.append(item)

    def _bots(self, value: dict[str, Any] | list[Any]) -> tuple[str | BotEntry, ...]:
        """Return the bots of a list of strings or tables, or of a table with a key for each name."""
        found: list[str | BotEntry] = []
        for number, item in value.items() if isinstance(value, dict) else enumerate(value):
            keys = ("bots", number)
            with self.reading(*keys):
                if not isinstance(item, str | dict):
                    raise UsageError(f"A bot is a string, or a table with {', '.join(BOT_KEYS)}; not {item!r}.")
            if isinstance(number, str) and isinstance(item, dict) and "name" in item:
                with self.reading(*keys, "name"):
                    raise UsageError(f"The bot is called {number} already: leave out one of the two names.")
            name = {"name": number} if isinstance(number, str) else {}
            self._take(
                "bots", found, self._bot({**name, **({"bot": item} if isinstance(item, str) else item)}, keys), keys
            )
        return tuple(found)

    def _bot(self, table: dict[str, Any], keys: KeyPath) -> list[str | BotEntry]:
        """Return what one entry stands for: one bot, or several if it names a list of bots."""
        for key, value in table.items():
            with self.reading(*keys, key):
                if key not in BOT_KEYS:
                    raise UnknownName("key of a bot", key, BOT_KEYS)
                if not isinstance(value, dict if key == "options" else str):
                    what = "a table of names and values" if key == "options" else "a string"
                    raise UsageError(f"The {key} of a bot is {what}, not {value!r}.")
                if key in ("team", "author"):
                    BotEntry("", str(value))  # only to check the value while the place of its key is known
        with self.reading(*keys):
            if not table.get("bot"):
                raise UsageError("The key bot is missing: bot = 'NAME', a file, a folder, or 'cmd:COMMAND'.")
            options = self._options(table.get("options", {}), keys)
            texts = self._moved(self._typed(table["bot"], table.get("name", ""), options))
            team, author = table.get("team", ""), table.get("author", "")
            return [BotEntry(one, team, author) if team or author else one for one in texts]

    def _options(self, options: Mapping[str, Any], keys: KeyPath) -> str:
        """Return the options of a bot in the form of the command line: `key=value,key=value`."""
        values = []
        for name in options:
            value = self._option(options[name], *keys, "options", name, moving=False)
            with self.reading(*keys, "options", name):
                if not NAME.fullmatch(name) or "," in str(value):
                    raise UsageError(f"The option {name} cannot be {value!r}: names and values have no commas.")
            values.append(f"{name}={str(value).lower() if isinstance(value, bool) else value}")
        return ",".join(values)

    def _typed(self, text: str, name: str, options: str) -> str:
        """Return what a user would type on the command line for a bot with this name and these options."""
        if name and not NAME.fullmatch(name):
            raise UsageError(f"{name!r} cannot be the name of a bot: no spaces, colons, commas, slashes or bars.")
        if name and text.startswith(LIST_PREFIX):
            raise UsageError(f"{text!r} lists several bots, which cannot all be called {name}.")
        if options and text.startswith(COMMAND_PREFIX) and name:
            return f"{name}:{options}={text}"
        if options and (COMMAND_PREFIX in text or text.startswith(LIST_PREFIX)):
            raise UsageError(
                f"{text!r} cannot have a table of options: give a program a name as well, and write the options of "
                f"listed bots into the list."
            )
        if options:
            ref = BotRef.parse(text, start=self.start)
            text = str(dataclasses.replace(ref, options=",".join(filter(None, (ref.options, options)))))
        return f"{name}={text}" if name else text

    def _moved(self, text: str) -> list[str]:
        """Return the bots that a string names, one or the lines of a list; all their files are below the folder."""
        found = []
        for line in listed_texts(text, self.start, self._check_inside):
            ref = BotRef.parse(line, start=self.start)
            for place in self._matches(ref.place) if ref.place else ():
                self._check_inside(place)
            for word in ref.file_words():
                self._check_word(word)
            found.append(line if self.move is None else str(ref.moved(self.start, self.move)))
        return found

    def _matches(self, place: str) -> list[str]:
        """Return the paths that a pattern matches; raise UsageError if expanding it would search outside the folder."""
        parts = Path(place).parts
        first = next((number for number, part in enumerate(parts) if has_magic(part)), len(parts))
        if first < len(parts):
            self._check_inside(".." if ".." in parts[first:] else str(Path(*parts[:first])))
        return files_of_pattern(self.start, place)

    def _check_word(self, word: str) -> None:
        """Raise UsageError if a word names something outside the folder; a word that names nothing is fine."""
        if os.path.lexists(self.start / word):
            self._check_inside(word)
        elif os.path.lexists(word):  # what is not in the folder of the file would be found from the current folder
            self._check_inside(str(Path.cwd() / word))

    def _check_inside(self, place: str) -> None:
        """Raise UsageError if a path leads out of the folder of the file, by itself or by a link in it, or to a hidden
        file."""
        whole, home = self.start / place, self.start.resolve()
        try:
            there = whole.resolve()
            outside = "" if there.is_relative_to(home) else place
            # A bot's modules are those beside the file that a link leads to.
            for one in (whole, there) if whole.is_symlink() else (whole,):
                outside = outside or link_leading_out(one if one.is_dir() else one.parent, home)
            # The folder may be the user's home, with keys and passwords.
            if not outside and there.is_file() and re.search(r"(^|/)\.", there.relative_to(home).as_posix()):
                raise UsageError(f"{place} is a hidden file, which a config file cannot name.", fix="file-hidden")
        except (OSError, ValueError, RuntimeError) as error:  # a loop of links, or no valid name
            raise UsageError(f"Cannot read {place!r}: {error}.") from error
        if outside:
            raise UsageError(
                f"{outside} is outside the folder of {self.path}: a config file can only name files below its folder.",
                fix="file-outside",
            )

    def _option(self, value: Any, *keys: str | int, moving: bool = True) -> Any:
        """Check and return the value of an option of a game or a bot.

        With `moving`, a path of a file is made relative to the current folder. For bots, `_moved` does that later.
        """
        with self.reading(*keys):
            if not isinstance(value, bool | int | float | str):
                raise UsageError(f"The option {keys[-1]} is a string, a number, true or false, not {value!r}.")
            if isinstance(value, str):
                self._check_word(value)
        if keys[:-1] == ("options",):
            self.places[keys] = self.there[keys]
        if self.move is None or not moving or not isinstance(value, str):
            return value
        return moved_file(value, self.start, self.move)


def _not_toml(path: Path, text: str, said: str) -> str:
    """Return the message of tomllib in our form, with the place first."""
    # The place is taken from the message because TOMLDecodeError has no attributes for it in Python 3.11.
    at = _AT.search(said)
    end = Place(text.count("\n") + 1, len(text) - text.rfind("\n"))
    place = Place(int(at[1]), int(at[2])) if at and at[1] else end
    return f"{place.prefix(path)} this is not TOML: {_AT.sub('', said)}."


# Writing.


FIRST = ("games", "format", "players", *SIZES, "seed", "candidates")
"""Fields that are written first: they say what the run is. The others say how it is played."""
TABLES = ("bots", "options")
"""Fields that are written separately, as a list of bots or as tables."""
COMMENT = "# Asks for a run. Play it: arena tournament {name}"
_BARE = re.compile(r"[A-Za-z0-9_-]+")


def write_config_file(request: RunOptions, path: Path, force: bool = False, comment: str = COMMENT) -> None:
    """Write a request to a TOML file that starts with a comment.

    Raise UsageError if the file exists and `force` is not set, or if the request cannot be written as TOML.
    """
    if path.exists() and not force:
        raise UsageError(f"{path} exists already.", fix="overwrite")
    if not path.parent.is_dir():
        raise StoreError(f"Cannot write {path}: there is no folder {path.parent}.")
    try:
        data = config_text(request, path, comment).encode()
    except UnicodeEncodeError as error:
        raise UsageError(f"Cannot write {path}: a name or path in it is not valid Unicode ({error}).") from None
    write_named_file(path, data)


def only_typed(request: RunOptions) -> list[str]:
    """Return the fields of a request whose values no config file can have: they are typed for each run."""
    cluster = request.cluster and not LOCAL_CLUSTER.fullmatch(request.cluster)
    return [name for name, only in (("isolate", request.isolate == "off"), ("cluster", cluster)) if only]


def config_text(request: RunOptions, path: Path, comment: str = COMMENT) -> str:
    """Return the text of a TOML file with this request: all fields that differ from their defaults.

    Relative paths are rewritten so that they are relative to the folder of the file.
    """
    plain, names = RunOptions(), {name: option.key for name, option in run_options(RunOptions).items()}
    order = [*FIRST, *(name for name in names if name not in (*FIRST, *TABLES))]
    mover = _PathMover(path.parent)
    values = {name: getattr(request, name) for name in order if getattr(request, name) != getattr(plain, name)}
    for name in only_typed(request):
        del values[name]
    if "results" in values:
        values["results"] = mover.move(str(values["results"]))
    if "candidates" in values:
        values["candidates"] = [text for one in values["candidates"] for text in mover.bot(one)]
    lines = [f"{names[name]} = {_value(value)}" for name, value in values.items()]
    entries = list(mover.entries(request.bots))
    simple = all(list(entry) == ["bot"] for entry in entries)
    if entries and simple:
        listed = "".join(f"    {_value(entry['bot'])},\n" for entry in entries)
        lines.insert(1 if "games" in values else 0, f"bots = [\n{listed}]")
    # Tables come last: in TOML, a key after the header of a table belongs to that table.
    blocks = [_table("[[bots]]", entry) for entry in entries if not simple]
    if request.options:
        blocks.append(_table("[options]", {key: mover.file(value) for key, value in request.options.items()}))
    return "\n\n".join(["\n".join([comment.format(name=path.name), *lines]), *blocks]) + "\n"


class _PathMover:
    """Rewrites paths that are relative to the current folder so that they are relative to another one."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder.resolve()
        self.here = self.folder == Path.cwd()
        self.installed = load().bots

    def move(self, place: str) -> str:
        if not Path(place).resolve().is_relative_to(self.folder):
            raise UsageError(
                f"{place} is outside the folder {self.folder}: a config file can only name files below its folder.",
                fix="save-above",
            )
        return place if self.here or Path(place).is_absolute() else os.path.relpath(place, self.folder)

    def file(self, value: Any) -> Any:
        return moved_file(value, Path(), self.move) if isinstance(value, str) else value

    def bot(self, bot: Any) -> list[str]:
        if isinstance(bot, tuple):
            bot = f"{bot[0]}={bot[1]}" if isinstance(bot[1], str) else bot[1]
        if not isinstance(bot, str):
            shown = getattr(bot, "__name__", type(bot).__name__)
            raise UsageError(
                f"{shown} is a Python object, which no config file can name: put it into a .py file, and name that."
            )
        moved = relocated(bot, Path(), self.move, self.installed)
        # In a file a bare word is the name of an installed bot, so a folder gets a slash.
        return moved if not self.here or BotRef.parse(bot, self.installed) != BotRef.parse(bot) else [bot]

    def entries(self, bots: Iterable[Any]) -> Iterator[dict[str, str]]:
        """Yield the content of one `[[bots]]` table for each bot."""
        for bot in bots:
            entry = bot if isinstance(bot, BotEntry) else BotEntry(bot)
            people = {key: text for key, text in (("team", entry.team), ("author", entry.author)) if text}
            for text in self.bot(entry.bot):
                ref = BotRef.parse(text)
                named = bool(people and ref.alias) and ref.command is None
                yield {**({"name": ref.alias} if named else {}), "bot": str(ref.unnamed) if named else text, **people}


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
    # JSON escapes are valid in TOML, but TOML also requires DEL to be escaped.
    return json.dumps(str(value), ensure_ascii=False).replace("\x7f", "\\u007f")
