"""A file that asks for a run: TOML, with the fields of a RunRequest for keys. Whatever is wrong is told with its line.

Paths in it count from its folder, so that it can be moved together with its bots.
"""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from harness.core.errors import ArenaError, UnknownName, UsageError
from harness.plugins.bot_spec import LIST, moved_file, named, relocated
from harness.plugins.entrants import BotEntry
from harness.plugins.loading import NAME
from harness.plugins.trust import stranger_behind
from harness.runs.file_places import FilePlaces, KeyPath, Place
from harness.runs.request import RunRequest, check_field
from harness.runs.store import RUN, RunFolder
from harness.runs.toml_places import places_in

_AT = re.compile(r" \(at (?:line (\d+), column (\d+)|end of document)\)$")
BOT_KEYS = ("name", "bot", "options", "team", "author")
"""What can be said of one bot."""
COMMAND = "cmd:"
"""What stands before a program."""
LISTS = ("games", "bots", "candidates")


def asked_in(path: Path) -> dict[str, Any]:
    """The fields of a RunRequest that a TOML file gives, or a run: its folder, or its run.json."""
    if path.name == RUN or path.is_dir():
        from harness.runs.run_again import fields_of_run

        return fields_of_run(run_at(path))
    return _EventFile(path).fields()


def run_at(path: Path) -> RunFolder:
    """The run in a folder, or that of a run.json."""
    return RunFolder.open(path.parent if path.name == RUN else path)


class _LocatedError(UsageError):
    """It says already where it happened."""


class _EventFile:
    """A file that is being read."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            text = path.read_text(encoding="utf-8-sig")
        except FileNotFoundError:
            hint = "" if path.suffix == ".toml" else " Bots are named with --bot, games with --game."
            raise UsageError(f"There is no file {path}: it would be a TOML file that asks for a run.{hint}") from None
        except (OSError, UnicodeDecodeError) as error:
            raise UsageError(f"Cannot read {path}: {error}.") from error
        try:
            self.data = tomllib.loads(text)
            self.there = places_in(text)
        except tomllib.TOMLDecodeError as error:
            raise UsageError(_not_toml(path, text, str(error))) from error
        except RecursionError:
            raise UsageError(f"{path} has brackets within brackets without end.") from None
        self.places: dict[KeyPath, Place] = {}
        """Of what is read, as the request counts it."""
        folder = path.parent
        here = folder.resolve() == Path.cwd()
        self.start = folder
        self.move: Callable[[str], str] | None = None if here else lambda place: joined(folder, place)

    @contextmanager
    def reading(self, *keys: str | int) -> Iterator[None]:
        """Whatever is wrong inside of this is told with the place of these keys."""
        try:
            yield
        except _LocatedError:
            raise
        except ArenaError as error:
            place = next(self.there[keys[:end]] for end in range(len(keys), 0, -1) if keys[:end] in self.there)
            raise _LocatedError(f"{place.of(self.path)} {error}") from error

    def fields(self) -> dict[str, Any]:
        """All that it says, as fields of a RunRequest."""
        names = dict(zip(RunRequest.__struct_encode_fields__, RunRequest.__struct_fields__, strict=True))
        del names["file"]
        read: dict[str, Any] = {}
        for key, value in self.data.items():
            with self.reading(key):
                if key not in names:
                    raise UnknownName("key", key, names)
            field = names[key]
            self.places[(field,)] = self.there[(key,)]
            read[field] = self._field(field, key, value)
        left_out = self._left_out() if read.get("isolate") == "off" else ""
        if left_out:
            del read["isolate"]
        read["file"] = FilePlaces(str(self.path), dict(read), self.places, left_out)
        return read

    def _left_out(self) -> str:
        """Why it is not for this file to say that bots play with our rights; empty if it is one's own."""
        stranger = stranger_behind([self.path])
        if not stranger:
            return ""
        where = self.there[("isolate",)].of(self.path)
        return f"{where} isolate = 'off' does not count, for {stranger}; type --isolate=off if you trust its bots."

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
            check_field(field, value, key)
        if field in ("results", "cluster") and self.move is not None and value:
            return self.move(value) if field == "results" else moved_file(value, self.start, self.move)
        return value

    def _list(self, field: str, items: list[Any]) -> tuple[str, ...]:
        """Names of games, or candidates."""
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
        """A list of texts or tables; or a table of names."""
        found: list[str | BotEntry] = []
        for number, item in value.items() if isinstance(value, dict) else enumerate(value):
            keys = ("bots", number)
            with self.reading(*keys):
                if not isinstance(item, str | dict):
                    raise UsageError(f"A bot is a text, or a table with {', '.join(BOT_KEYS)}; not {item!r}.")
            if isinstance(number, str) and isinstance(item, dict) and "name" in item:
                with self.reading(*keys, "name"):
                    raise UsageError(f"The bot is called {number} already: leave out one of the two names.")
            name = {"name": number} if isinstance(number, str) else {}
            self._take(
                "bots", found, self._bot({**name, **({"bot": item} if isinstance(item, str) else item)}, keys), keys
            )
        return tuple(found)

    def _bot(self, table: dict[str, Any], keys: KeyPath) -> list[str | BotEntry]:
        """What one entry enters: one bot, or those of a list."""
        for key, value in table.items():
            with self.reading(*keys, key):
                if key not in BOT_KEYS:
                    raise UnknownName("key of a bot", key, BOT_KEYS)
                if not isinstance(value, dict if key == "options" else str):
                    what = "a table of names and values" if key == "options" else "a text"
                    raise UsageError(f"The {key} of a bot is {what}, not {value!r}.")
                if key in ("team", "author"):
                    BotEntry("", str(value))
        with self.reading(*keys):
            if not table.get("bot"):
                raise UsageError("Which bot is it? Say so: bot = 'NAME', a file, a folder, or 'cmd:COMMAND'.")
            options = self._options(table.get("options", {}), keys)
            texts = self._moved(self._typed(table["bot"], table.get("name", ""), options))
            team, author = table.get("team", ""), table.get("author", "")
            return [BotEntry(one, team, author) if team or author else one for one in texts]

    def _options(self, options: Mapping[str, Any], keys: KeyPath) -> str:
        """The options of a bot, as they are typed."""
        values = []
        for name in options:
            value = self._option(options[name], *keys, "options", name, moving=False)
            with self.reading(*keys, "options", name):
                if not NAME.fullmatch(name) or "," in str(value):
                    raise UsageError(f"The option {name} cannot be {value!r}: names and values have no commas.")
            values.append(f"{name}={str(value).lower() if isinstance(value, bool) else value}")
        return ",".join(values)

    def _typed(self, text: str, name: str, options: str) -> str:
        """What would be typed for a bot of this name, with these options."""
        if name and not NAME.fullmatch(name):
            raise UsageError(f"{name!r} cannot be the name of a bot: no spaces, colons, commas, slashes or bars.")
        if name and text.startswith(LIST):
            raise UsageError(f"{text!r} lists several bots, which cannot all be called {name}.")
        if options and text.startswith(COMMAND) and name:
            return f"{name}:{options}={text}"
        if options and (COMMAND in text or text.startswith(LIST)):
            raise UsageError(
                f"{text!r} takes no table of options: a program needs a name for that, a list has them in its lines."
            )
        if options:
            alias, rest = named(text, self.start)
            joint = "," if ":" in rest.replace("::", "") else ":"
            text = f"{alias}={rest}{joint}{options}" if alias else f"{rest}{joint}{options}"
        return f"{name}={text}" if name else text

    def _moved(self, text: str) -> list[str]:
        return [text] if self.move is None else relocated(text, self.start, self.move)

    def _option(self, value: Any, *keys: str | int, moving: bool = True) -> Any:
        """The value of an option of games or bots."""
        with self.reading(*keys):
            if not isinstance(value, bool | int | float | str):
                raise UsageError(f"The option {keys[-1]} is a text, a number, true or false, not {value!r}.")
        if keys[:-1] == ("options",):
            self.places[keys] = self.there[keys]
        if self.move is None or not moving or not isinstance(value, str):
            return value
        return moved_file(value, self.start, self.move)


def joined(folder: Path, place: str) -> str:
    """A path that counts from a folder, as it is written from here; without detours, where that is the same place."""
    whole = os.path.join(folder, place)  # noqa: PTH118 - a slash at the end stays
    plain = os.path.normpath(whole)
    return plain if os.path.realpath(plain) == os.path.realpath(whole) else whole


def _not_toml(path: Path, text: str, said: str) -> str:
    """What the reader says, with the place before it."""
    at = _AT.search(said)
    end = Place(text.count("\n") + 1, len(text) - text.rfind("\n"))
    place = Place(int(at[1]), int(at[2])) if at and at[1] else end
    return f"{place.of(path)} this is not TOML: {_AT.sub('', said)}."
