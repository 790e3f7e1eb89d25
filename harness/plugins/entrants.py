"""Bots: a reference to one (BotRef), the bot that plays (Entrant), the data in its records (BotInfo)."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Callable, Collection, Container, Hashable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from glob import glob, has_magic
from pathlib import Path
from typing import Any, ClassVar, Protocol, TypeAlias

from msgspec import Struct

from harness.core.bot import Bot
from harness.core.errors import BadOption, UsageError
from harness.core.files import UnreadableFile, read_regular_file
from harness.core.game import Game
from harness.core.options import resolve
from harness.core.records import Isolation, Option, Value

# Entrants: bots with their options, under the names that they have in records and on leaderboards.


MAX_TEAM_CHARS = 100
"""Characters of a team's or an author's name."""


class BotDescription(Struct, frozen=True):
    """A bot's declarations, without its class: the bot plays in another process, or its file is loaded there."""

    name: str
    version: str
    games: tuple[str, ...]
    options: tuple[Option, ...]
    doc: str
    files: tuple[str, ...] = ()

    @classmethod
    def of_bot(cls, bot: DescribedBot) -> BotDescription:
        """Return the description of a bot."""
        if isinstance(bot, BotDescription):
            return bot
        games, options, files = tuple(bot.games), tuple(bot.options), tuple(bot.files)
        return cls(bot.name, bot.version, games, options, bot.__doc__ or "", files)


DescribedBot: TypeAlias = type[Bot] | BotDescription
"""The class of a bot, or its description if this process does not load it."""


@dataclass(frozen=True, slots=True)
class Entrant:
    """A bot that plays: one bot entered with two sets of options is two entrants."""

    name: str
    """Canonical: the bot's name, and the options that differ from the defaults in the order they are declared."""
    ref: BotRef
    """Enters it again: with the file for a bot in a file, and with all options that differ from their defaults."""
    bot: DescribedBot
    settings: Mapping[str, Value]
    source: str
    """Where the bot comes from: a package or a file."""
    version: str
    """Declared by the bot or its package; otherwise the digest."""
    digest: str = field(default="", kw_only=True)
    """Of its source, and of the bots that it consults."""
    sources: Mapping[str, bytes] = field(default_factory=dict, kw_only=True, repr=False, compare=False)
    """The texts of a bot in a file, as they were loaded: its author may edit the file during a run."""
    contents: Mapping[str, str] = field(default_factory=dict, kw_only=True, repr=False, compare=False)
    """The texts of files that its options name, by digest."""
    untrusted: str = field(default="", kw_only=True, compare=False)
    """Why it is sandboxed by default; empty if it is trusted."""
    team: str = field(default="", kw_only=True, compare=False)
    author: str = field(default="", kw_only=True, compare=False)
    consulted: tuple[type[Bot], ...] = field(default=(), kw_only=True)
    """Other bots that its options name: it plays only games that they all play."""
    isolated: ClassVar[bool] = False
    """Whether it plays in a separate process, so that it can do no harm in this one."""

    @property
    def own_digest(self) -> str:
        """Return the digest of its source alone, without the bots that it consults."""
        return self.digest.partition(",")[0]

    @property
    def cls(self) -> type[Bot]:
        """Return the class of a bot that is loaded in this process."""
        assert isinstance(self.bot, type), f"{self.name} is loaded in another process"
        return self.bot

    @property
    def spec(self) -> str:
        """Return what to type to enter it again."""
        return str(self.ref)

    @property
    def info(self) -> BotInfo:
        """Return what is recorded about it."""
        return BotInfo(self.name, self.spec, self.source, self.version, self.digest, self.team, self.author)

    def plays(self, game: str) -> bool:
        """Return whether it plays this game."""
        return all(not bot.games or game in bot.games for bot in (self.bot, *self.consulted))

    def refusal(self, game: Game[Any] | type[Game[Any]]) -> str:
        """Return why it does not play this game, in a sentence."""
        others = [bot for bot in self.consulted if bot.games and game.name not in bot.games]
        why = f": {others[0].name}, which it consults, plays only {' and '.join(others[0].games)}" if others else ""
        return f"{self.name} does not play {game.title}{why}."

    def warm_up(self, seats: int = 1, deal: Hashable = None) -> None:
        """Get ready for a match of this deal in which it has `seats` seats, before any clock runs."""

    def start_afresh(self) -> None:
        """Play the next match in new processes, if it plays in separate ones."""

    def close(self) -> None:
        """Release what it holds; a bot of this process holds nothing."""

    def seat(self, game: Game[Any], seat: int, players: int, seed: int) -> Bot:
        """Return a bot object for one seat of one match, not yet started."""
        bot = self.cls().seated(game, seat, players, seed, self.settings)
        if self.contents:
            bot._contents = self.contents
        return bot


class BotInfo(Struct, frozen=True):
    """What run.json records about an entrant."""

    name: str
    spec: str
    """What to type to enter it again."""
    source: str
    version: str
    digest: str
    team: str = ""
    author: str = ""

    @property
    def ref(self) -> BotRef:
        """Return the reference that enters it again."""
        return BotRef.parse(self.spec, recorded=True)


@dataclass(frozen=True, slots=True)
class BotEntry:
    """A bot with its team and its author."""

    bot: Any
    """Anything that refers to a bot (see BotLike)."""
    team: str = ""
    author: str = ""

    def __post_init__(self) -> None:
        texts: tuple[object, ...] = (self.team, self.author)
        for text in texts:
            # Tables and pages show it as it is.
            if not isinstance(text, str) or len(text) > MAX_TEAM_CHARS or not text.isprintable() or {*"|<>"} & {*text}:
                raise UsageError(
                    f"The team or author of a bot is a string of at most {MAX_TEAM_CHARS} characters in one line, "
                    f"without bars and angle brackets, not {text!r}."
                )


def is_confined(untrusted: str, isolate: Isolation) -> bool:
    """Return whether a bot is sandboxed; `untrusted` is the reason why it is not trusted, or empty."""
    return isolate in ("on", "strict") or (isolate != "off" and bool(untrusted))


class RemoteLoader(Protocol):
    """Enters bots outside this process: programs, and Python files that this process must not load.

    A Registry gets one from code that can start processes.
    """

    def loads_here(self, untrusted: str) -> bool:
        """Return whether this process loads a Python file; if not, `bots_in` describes its bots.

        `untrusted` is the reason why the file is not trusted, or empty.
        """

    def enter_command(self, ref: BotRef) -> Entrant:
        """Return an entrant for a program."""

    def bots_in(self, path: str) -> list[BotDescription]:
        """Return descriptions of the bots in a Python file; none of its code runs in this process."""


def enter(
    bot: DescribedBot,
    options: Mapping[str, object],
    place: str,
    source: str,
    version: str,
    digest: str = "",
    kept: Mapping[str, str] | None = None,
) -> Entrant:
    """Return an entrant for this bot with these options; `place` is the file that it is in, if it is not installed.

    `kept` has the texts of files that the options name by digest, as records do.
    """
    settings, contents = resolve(bot.name, bot.options, options, kept)
    # Only options that differ from their defaults are in the name, so that both ways to type a default are one entrant.
    changed = ",".join(f"{o.name}={settings[o.name]}" for o in bot.options if settings[o.name] != o.default)
    ref = BotRef(place=place, bot=bot.name, options=changed)
    name = str(replace(ref, place=""))
    return Entrant(name, ref, bot, settings, source, version, digest=digest, contents=contents)


def renamed(entrant: Entrant, alias: str) -> Entrant:
    """Return the entrant under another name."""
    return replace(entrant, name=alias, ref=replace(entrant.ref.unnamed, alias=alias))


def disambiguate(entrants: list[Entrant]) -> list[Entrant]:
    """Return the entrants; bots in files that share a name get one by their file or folder: `s2`, `old.sprinter`."""
    bots: dict[str, dict[tuple[str, str], Entrant]] = {}
    # The same bot or the same typed name twice is not disambiguated: it is a mistake, which `check_distinct` reports.
    for entrant in entrants:
        if not entrant.ref.alias:
            bots.setdefault(entrant.name, {})[entrant.source, entrant.bot.name] = entrant
    taken = {entrant.name for entrant in entrants}
    apart = {name: _names_apart(alike, taken - {name}) for name, alike in bots.items() if len(alike) > 1}
    names = [
        one.name if one.ref.alias else apart.get(one.name, {}).get((one.source, one.bot.name), one.name)
        for one in entrants
    ]
    return [
        entrant if name == entrant.name else renamed(entrant, name)
        for entrant, name in zip(entrants, names, strict=True)
    ]


def _names_apart(alike: Mapping[tuple[str, str], Entrant], taken: set[str]) -> dict[tuple[str, str], str]:
    """Return different names for entrants of one name: the names of their files, or as many of their folders as needed
    before the name or, if that is not enough, before the name of the file."""
    folders = {bot: _folders(one.source) if one.sources else [] for bot, one in alike.items()}
    own = {bot: one.name for bot, one in alike.items()}
    files = {bot: _file_name(one) if one.sources else one.name for bot, one in alike.items()}
    depths = range(1, max(map(len, folders.values())) + 1)
    for ends, depth in ((files, 0), *[(own, depth) for depth in depths], *[(files, depth) for depth in depths]):
        names = {
            bot: ".".join([*folders[bot][-depth:], _as_alias(end)]) if depth and folders[bot] else end
            for bot, end in ends.items()
        }
        if len(set(names.values()) - taken) == len(names):
            return names
    file = [bot for bot, one in alike.items() if one.sources and not folders[bot]]
    return {**own, **{bot: f"{own[bot]}.py" for bot in file}}  # an installed bot keeps its name


def _file_name(entrant: Entrant) -> str:
    """Return a name by the file, with the options that the entrant's name has."""
    return _as_alias(Path(entrant.source).stem + entrant.name.removeprefix(entrant.bot.name))


def _as_alias(text: str) -> str:
    """Return the text without characters that would end the name of an entrant: `s2:stars=4` -> `s2-stars-4`."""
    return re.sub(r"[^\w.-]+", "-", text)


def _folders(source: str) -> list[str]:
    """Return the folders of a file as parts of a name, starting below the current folder if it is in there."""
    place = Path(source).resolve().parent
    below = place.relative_to(Path.cwd()) if place.is_relative_to(Path.cwd()) else place
    return [_as_alias(part) for part in below.parts if part != below.anchor]


def check_distinct(entrants: list[Entrant]) -> None:
    """Raise UsageError if two entrants have one name: their results would be mixed."""
    seen: set[str] = set()
    for entrant in entrants:
        if entrant.name in seen:
            raise UsageError(
                f"{entrant.name} is entered twice; give the second one another name (v2={entrant.ref.unnamed}, from "
                f"Python ('v2', bot)) or other options (bot:key=value)."
            )
        seen.add(entrant.name)


def unknown_games(bots: Iterable[tuple[str, DescribedBot]], games: Collection[str]) -> list[str]:
    """Return a sentence for each game that one of these bots, given with their names, declares and `games` lacks.

    It may be misspelled, or not installed.
    """
    found = []
    for name, bot in bots:
        for game in bot.games:
            if game not in games:
                near = get_close_matches(game, sorted(games), n=1)
                hint = f" Did you mean {near[0]!r}?" if near else ""
                found.append(f"{name} says that it plays {game!r}, which is not installed.{hint}")
    return found


# References to bots, as users type them, parsed once.


# Tried in this order. A command may contain anything, so it comes first: NAME:key=value=cmd:COMMAND. A file ends at its
# first ".py", because the options behind it may name paths, too; a folder has no such end. In
# ismcts:guide=sprinter.py the file belongs to an option.
_COMMAND = re.compile(r"(?:([^\s:,=/\\]{1,300})(?::(.*?))?=)?cmd:(.*)", re.DOTALL)
_ALIAS = re.compile(r"([^\s:,=/\\|<>@][^\s:,=/\\|<>]{0,299})=(.+)", re.DOTALL)
_WITH_OPTIONS = re.compile(r"([^:=/\\]+)(?:::([^:]+))?:(?!:)([^:=/\\]+=.*)", re.DOTALL)
_PLACE = re.compile(r"(.+?)(?:::([^:]+))?(?::(?!:)(.*))?", re.DOTALL)
_FILE = re.compile(r"(.+?\.py)(?:::([^:]+))?(?::(?!:)(.*))?", re.DOTALL)
_COMMENT = re.compile(r"\s+#.*")
COMMAND_PREFIX = "cmd:"
LIST_PREFIX = "@"
"""Stands before a file that lists bots, one per line."""
MAX_LIST_DEPTH = 10
"""Lists may name other lists, up to this depth."""
MAX_LIST_BYTES = 1_000_000


@dataclass(frozen=True, slots=True)
class BotRef:
    """A reference to a bot, as it is typed: an installed bot, a file or folder, or a program.

    `str(ref)` is the text to type for it.
    """

    alias: str = ""
    """The name that the entrant gets; empty: the bot's own name."""
    command: str | None = None
    """The command that starts a program."""
    place: str = ""
    """File, folder or pattern of them."""
    bot: str = ""
    """The bot in `place`, empty for all of them; without a place, the name of an installed bot."""
    options: str = ""
    """As typed: `key=value,key=value`."""

    @classmethod
    def parse(
        cls, text: str, installed: Container[str] | None = None, start: Path = Path(), recorded: bool = False
    ) -> BotRef:
        """Return the reference that a string stands for; relative paths are relative to `start`.

        With `installed`, the names of installed bots, the text may also name a folder without a slash. A `recorded`
        text is the `str()` of a reference to one bot, so it is not a pattern, whatever letters the bot's name has.
        """
        if command := _COMMAND.fullmatch(text):
            return cls(alias=command[1] or "", command=command[3], options=command[2] or "")
        name, rest = "", text
        # A file may have = in its name. Texts of records come here, too, and os.path.exists raises for none of them.
        if (alias := _ALIAS.fullmatch(text)) and not os.path.exists(start / text):  # noqa: PTH110
            name, rest = alias[1], alias[2]
        found = _WITH_OPTIONS.fullmatch(rest) or _FILE.fullmatch(rest) or _PLACE.fullmatch(rest)
        if found is None:
            return cls(name, bot=rest)
        where, bot, options = found[1], found[2] or "", found[3] or ""
        if where.endswith(".py") or bot or "/" in where:
            return cls(name, place=where, bot=bot, options=options)
        if not recorded and has_magic(where) and (installed is None or where not in installed):
            return cls(name, place=where, options=options)
        # Without `installed` a bare word is a bot's name: a folder of that name may exist by chance.
        if installed is not None and where not in installed and (start / where).is_dir():
            return cls(name, place=where, options=options)
        return cls(name, bot=where, options=options)

    def __str__(self) -> str:
        options = f":{self.options}" if self.options else ""
        if self.command is not None:
            return (f"{self.alias}{options}=" if self.alias else "") + COMMAND_PREFIX + self.command
        alias = f"{self.alias}=" if self.alias else ""
        return f"{alias}{self.place}{'::' if self.place and self.bot else ''}{self.bot}{options}"

    @property
    def settings(self) -> dict[str, str]:
        """Return the options by name."""
        return split_options(str(self), self.options)

    @property
    def unnamed(self) -> BotRef:
        """Return the reference without the name that it gives to the entrant."""
        # The options of a program are part of its name: they have no other place before "cmd:".
        return replace(self, alias="", options="" if self.command is not None else self.options)

    @property
    def bare(self) -> str:
        """Return the text without the alias and without folders: equal for copies of a bot in two places."""
        if self.command is None:
            return str(replace(self, alias="", place=""))
        try:
            return shlex.join(Path(word).name or word for word in shlex.split(self.command))
        except ValueError:
            return self.command

    def file_words(self) -> Iterator[str]:
        """Yield what may name files besides the place of the bot: values of options, and words of a command."""
        words = [pair.partition("=")[2] for pair in self.options.split(",")]
        if self.command is not None:
            with suppress(ValueError):  # an error is reported when the bot is entered
                first, *rest = shlex.split(self.command) or [""]
                # The first word is a path only if it has a slash: otherwise it is looked up in PATH.
                words += [first] if "/" in first else []
                words += [part for word in rest for part in (word, word.partition("=")[2])]
        yield from filter(None, words)

    def moved(self, start: Path, move: Callable[[str], str]) -> BotRef:
        """Return the reference with each path in it replaced by `move(path)`; paths are relative to `start`.

        A word of a command or the value of an option is a path if there is a file of that name.
        """
        if self.command is not None:
            return replace(self, command=_moved_command(self.command, start, move))
        place = self.place
        if place:
            where = move(place)
            # A folder gets a slash at the end: a bare word would be the name of an installed bot.
            is_folder = place.endswith("/") or not ("/" in where or where.endswith(".py") or has_magic(where))
            place = f"{where.rstrip('/')}/" if is_folder else where
        pairs = (option.partition("=") for option in self.options.split(","))
        options = ",".join(key + equals + moved_file(value, start, move) for key, equals, value in pairs)
        return replace(self, place=place, options=options)


def split_options(text: str, rest: str) -> dict[str, str]:
    """`"iterations=500,depth=3"` -> `{"iterations": "500", "depth": "3"}`; `text` is the whole text, for messages."""
    options: dict[str, str] = {}
    for part in filter(None, rest.split(",")):
        key, equals, value = part.partition("=")
        if not equals or not key:
            raise BadOption(f"In {text!r}, {part!r} is not an option: write NAME:key=value,key=value.")
        if key in options:
            raise BadOption(f"In {text!r} the option {key} is set twice.")
        options[key] = value
    return options


def parse_bots(text: str, installed: Container[str] | None) -> Iterator[BotRef]:
    """Yield the bots that a string refers to; lists and patterns refer to several bots.

    `sprinter:stars=4`, `v1=old/sprinter.py::sprinter`, `bots/`, `bots/*.py`, `@list.txt`,
    `name:key=value=cmd:node bot.js`. A folder without a slash is one only with the names of `installed` bots.
    """
    for line in listed_texts(text, Path()):
        if "\0" in line:
            raise UsageError(f"{line!r} names no bot: it has a null byte.")
        ref = BotRef.parse(line, installed)
        where = ref.place or ref.bot
        if "=" in where and not Path(where).exists():
            raise UsageError(
                f"In {line!r}, {where.partition('=')[0]!r} cannot be a name: write NAME=BOT with one name that has no "
                f"spaces, colons, commas, slashes or bars."
            )
        if not has_magic(ref.place) or Path(ref.place).exists():
            yield ref
            continue
        found = sorted(path for path in glob(ref.place, recursive=True) if is_place(path))  # noqa: PTH207 - any pattern
        if not found:
            raise UsageError(f"{line!r}: no Python file or folder has a matching name.")
        if ref.alias and len(found) > 1:
            raise UsageError(f"{line!r} is {len(found)} files, which cannot all be called {ref.alias}.")
        for path in found:
            yield replace(ref, place=path)


def relocated(text: str, start: Path, move: Callable[[str], str], installed: Container[str]) -> list[str]:
    """Return the reference with all its paths moved (see `BotRef.moved`), as a user would type it; lists are
    expanded."""
    return [str(BotRef.parse(line, installed, start).moved(start, move)) for line in listed_texts(text, start)]


def listed_texts(
    text: str, start: Path, check: Callable[[str], None] = lambda _path: None, depth: int = 0
) -> Iterator[str]:
    """Yield the text, or the lines of the list that it names; paths in a list are relative to `start`, too.

    `check` is called with the path of each list before it is read.
    """
    if not text.startswith(LIST_PREFIX):
        yield text
        return
    path = str(start / text[len(LIST_PREFIX) :])
    if depth >= MAX_LIST_DEPTH:
        raise UsageError(f"{path}: lists name each other without end.")
    check(text[len(LIST_PREFIX) :])
    try:
        lines = [line.strip() for line in read_regular_file(Path(path), MAX_LIST_BYTES).decode().splitlines()]
    except (UnreadableFile, UnicodeDecodeError) as error:
        raise UsageError(f"Cannot read the list of bots {path}: {error}.") from error
    found = [line for line in lines if line and not line.startswith("#")]
    if not found:
        raise UsageError(f"{path} lists no bot: write one per line, like the names of bots elsewhere.")
    for line in found:  # a command may contain #
        plain = line if COMMAND_PREFIX in line else _COMMENT.sub("", line)
        yield from listed_texts(plain, start, check, depth + 1)


def files_of_pattern(start: Path, place: str) -> list[str]:
    """Return the paths below `start` that a pattern matches; the place itself if it is not a pattern."""
    return glob(place, root_dir=start, recursive=True) if has_magic(place) else [place]  # noqa: PTH207 - any pattern


def is_place(path: str) -> bool:
    """Return whether bots may be there: a Python file that is neither private nor a test, or a folder."""
    name = Path(path).name
    if Path(path).is_dir():
        return not name.startswith((".", "__pycache__"))
    return name.endswith(".py") and not name.startswith(("_", ".", "test_", "conftest"))


def files_in(folder: str) -> list[str]:
    """Return the places with bots in a folder: itself if it is a package, otherwise its files."""
    if (Path(folder) / "__init__.py").is_file():
        return [folder]
    return [str(file) for file in sorted(Path(folder).glob("*.py")) if is_place(str(file))]


def moved_file(value: str, start: Path, move: Callable[[str], str]) -> str:
    """Return the value of an option, moved if it looks like a file and is one."""
    return move(value) if ("/" in value or "." in value) and (start / value).is_file() else value


def joined(folder: Path, place: str) -> str:
    """Return a path that is relative to `folder` as seen from the current folder.

    It is normalized (`a/../b` becomes `b`) unless links would make that a different file.
    """
    whole = os.path.join(folder, place)  # noqa: PTH118 - a slash at the end stays
    plain = os.path.normpath(whole)
    return plain if os.path.realpath(plain) == os.path.realpath(whole) else whole


def _moved_command(command: str, start: Path, move: Callable[[str], str]) -> str:
    try:
        words = shlex.split(command)
    except ValueError:
        return command  # an error is reported when the bot is entered
    # The first word is a path only if it has a slash: otherwise it is looked up in PATH.
    moved = [
        move(word) if ("/" in word or number) and word and (start / word).exists() else word
        for number, word in enumerate(words)
    ]
    if moved == words:
        return command
    program = moved[0] if moved[0] == words[0] or "/" in moved[0] else f"./{moved[0]}"
    return shlex.join([program, *moved[1:]])
