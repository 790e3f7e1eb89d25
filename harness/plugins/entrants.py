"""What plays: the entrants of a run, and the text that names one."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Collection, Container, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from glob import glob, has_magic
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, Protocol

from msgspec import Struct

from harness.core.bot import Bot
from harness.core.errors import BadOption, UsageError
from harness.core.game import Game
from harness.core.options import resolve
from harness.core.records import Value

# Entrants: a bot with its options, as it is named on the command line, in records and on leaderboards.


LONGEST_TEXT = 100
"""Characters of a team's or an author's name."""


@dataclass(frozen=True, slots=True)
class Entrant:
    """One participant: two entries of one bot with different options are two entrants."""

    name: str
    """Canonical: the bot's name, and the options that differ from the defaults in the order they are declared."""
    spec: str
    """What to type to enter it again: the name, with the file before it for a bot in a file."""
    bot: type[Bot]
    settings: Mapping[str, Value]
    source: str
    """Where the bot comes from: a package or a file."""
    version: str
    """What it says of itself, or its package does; the digest where nobody says anything."""
    digest: str = field(default="", kw_only=True)
    """What it is: of its source and of what it consults."""
    sources: Mapping[str, bytes] = field(default_factory=dict, kw_only=True, repr=False, compare=False)
    """The texts of a bot in a file, as it was loaded: an author may edit them while a run goes on."""
    contents: Mapping[str, str] = field(default_factory=dict, kw_only=True, repr=False, compare=False)
    """The texts of files that its options name, by digest."""
    untrusted: str = field(default="", kw_only=True, compare=False)
    """Why it is confined unless somebody says that it need not be; empty for one's own."""
    team: str = field(default="", kw_only=True, compare=False)
    author: str = field(default="", kw_only=True, compare=False)
    consulted: tuple[type[Bot], ...] = field(default=(), kw_only=True)
    """Other bots that its options name: it plays what they play, too."""
    isolated: ClassVar[bool] = False
    """Whether it plays in a process of its own, so that what it does to its process is nobody else's business."""

    @property
    def own_digest(self) -> str:
        """Of its source alone, without what it consults."""
        return self.digest.partition(",")[0]

    @property
    def info(self) -> BotInfo:
        """Return what is recorded about it."""
        return BotInfo(self.name, self.spec, self.source, self.version, self.digest, self.team, self.author)

    def consulting(self, name: str, digest: str) -> Entrant:
        """The entrant, known also by a bot that it consults, unless that is of the same source."""
        return self if digest in self.digest else replace(self, digest=f"{self.digest}, {name} {digest}")

    def plays(self, game: str) -> bool:
        """Whether it plays this game."""
        return all(not bot.games or game in bot.games for bot in (self.bot, *self.consulted))

    def warm_up(self, seats: int = 1, deal: Hashable = None) -> None:
        """Makes ready for a match of this deal with so many seats of this entrant, before any clock runs."""

    def start_afresh(self) -> None:
        """Plays its next match in no process that has played before, if it has processes of its own."""

    def close(self) -> None:
        """Lets go of what it holds: a bot of this process holds nothing."""

    def seat(self, game: Game[Any], seat: int, players: int, seed: int) -> Bot:
        """A bot object for one seat of one match, not yet started."""
        bot = self.bot().seated(game, seat, players, seed, self.settings)
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


@dataclass(frozen=True, slots=True)
class BotEntry:
    """A bot with what is to be told of it: its team, and who wrote it."""

    bot: Any
    """The bot, as it could stand here alone (see BotLike)."""
    team: str = ""
    author: str = ""

    def __post_init__(self) -> None:
        for text in (self.team, self.author):
            if not _can_be_told(text):
                raise UsageError(
                    f"The team or author of a bot is a text of at most {LONGEST_TEXT} characters in one line, without "
                    f"bars and angle brackets, not {text!r}."
                )


def _can_be_told(text: object) -> bool:
    """Whether tables and pages can show it as it is."""
    return isinstance(text, str) and len(text) <= LONGEST_TEXT and text.isprintable() and not {*"|<>"} & {*text}


class OutsideBots(Protocol):
    """The way to bots outside this process: programs, and Python files that are not to be loaded in it.

    It is given to a Registry by whoever can start processes.
    """

    def loads_here(self, untrusted: str) -> bool:
        """Whether a Python file is loaded in this process; if not, `bots_in` asks it in a process of its own.

        `untrusted` says why it is somebody else's; it is empty for one's own.
        """

    def enter_command(self, text: str, name: str, options: str, command: str) -> Entrant:
        """An entrant for a program; `text` is what was typed in all, `name` may be empty."""

    def bots_in(self, path: str) -> list[type[Bot]]:
        """The bots of a Python file, as they describe themselves; none of its code runs in this process."""


def split_options(text: str, rest: str) -> dict[str, str]:
    """`"iterations=500,depth=3"` -> `{"iterations": "500", "depth": "3"}`; `text` is what was typed in all."""
    options: dict[str, str] = {}
    for part in filter(None, rest.split(",")):
        key, equals, value = part.partition("=")
        if not equals or not key:
            raise BadOption(f"In {text!r}, {part!r} is not an option: write NAME:key=value,key=value.")
        if key in options:
            raise BadOption(f"In {text!r} the option {key} is set twice.")
        options[key] = value
    return options


def enter(
    bot: type[Bot],
    options: Mapping[str, object],
    where: str,
    source: str,
    version: str,
    digest: str = "",
    kept: Mapping[str, str] | None = None,
) -> Entrant:
    """An entrant for this bot with these options; `where` stands before its name in what names it again.

    `kept` has the texts of files that the options name by digest, as records do.
    """
    settings, contents = resolve(bot.name, bot.options, options, kept)
    changed = [f"{o.name}={settings[o.name]}" for o in bot.options if settings[o.name] != o.default]
    name = bot.name + (":" + ",".join(changed) if changed else "")
    return Entrant(name, where + name, bot, settings, source, version, digest=digest, contents=contents)


def called(entrant: Entrant, alias: str) -> Entrant:
    """The entrant under a name that somebody gave it."""
    return replace(entrant, name=alias, spec=f"{alias}={entrant.spec.removeprefix(f'{entrant.name}=')}")


def told_apart(entrants: list[Entrant]) -> list[Entrant]:
    """The entrants, with names of their own for bots in files that are called like another: `old.sprinter`."""
    bots: dict[str, dict[type[Bot], Entrant]] = {}
    for entrant in entrants:
        bots.setdefault(entrant.name, {})[entrant.bot] = entrant
    apart = {name: _names_apart(alike) for name, alike in bots.items() if len(alike) > 1}
    names = [apart.get(entrant.name, {}).get(entrant.bot, entrant.name) for entrant in entrants]
    return [
        entrant if name == entrant.name else called(entrant, name)
        for entrant, name in zip(entrants, names, strict=True)
    ]


def _names_apart(alike: Mapping[type[Bot], Entrant]) -> dict[type[Bot], str]:
    """Names for entrants of one name: with as many of the folders that they are in as it takes."""
    folders = {bot: _folders(one.source) if one.sources else [] for bot, one in alike.items()}
    names = {bot: one.name for bot, one in alike.items()}
    for depth in range(1, max(map(len, folders.values())) + 1):
        names = {bot: ".".join([*folders[bot][-depth:], one.name]) for bot, one in alike.items()}
        if len(set(names.values())) == len(names):
            return names
    file = [bot for bot, one in alike.items() if one.sources and not folders[bot]]
    return {**names, **{bot: f"{names[bot]}.py" for bot in file}}  # one that is installed keeps its name


def _folders(source: str) -> list[str]:
    """The folders that a file is in, below the current one if it is below it, as parts of a name."""
    place = Path(source).resolve().parent
    below = place.relative_to(Path.cwd()) if place.is_relative_to(Path.cwd()) else place
    return [re.sub(r"[^\w.-]+", "-", part) for part in below.parts if part != below.anchor]


def check_distinct(entrants: list[Entrant]) -> None:
    """Refuses two entrants of one name: their results could not be told apart."""
    seen: set[str] = set()
    for entrant in entrants:
        if entrant.name in seen:
            plain = entrant.spec.removeprefix(f"{entrant.name}=")
            raise UsageError(
                f"{entrant.name} is entered twice; give the second one a name of its own (v2={plain}, from Python "
                f"('v2', bot)) or other options (bot:key=value)."
            )
        seen.add(entrant.name)


def unknown_games(bots: Iterable[tuple[str, type[Bot]]], games: Collection[str]) -> list[str]:
    """A sentence for each entry in the `games` of these bots, given with their names, that is not among `games`.

    It may be a slip of the pen, or a game that is not installed here.
    """
    found = []
    for name, bot in bots:
        for game in bot.games:
            if game not in games:
                near = get_close_matches(game, sorted(games), n=1)
                hint = f" Did you mean {near[0]!r}?" if near else ""
                found.append(f"{name} says that it plays {game!r}, which is not installed.{hint}")
    return found


# What is typed for a bot, taken apart: a name of one's own, where the bot is, and its options.


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
