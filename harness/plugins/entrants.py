"""Entrants: a bot with its options, as it is named on the command line, in records and on leaderboards."""

from __future__ import annotations

import re
from collections.abc import Collection, Hashable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any, ClassVar, Protocol

from harness.core.bot import Bot
from harness.core.errors import BadOption, UsageError
from harness.core.game import Game
from harness.core.options import resolve
from harness.core.types import Value

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
    stranger: str = field(default="", kw_only=True, compare=False)
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

    def loads_here(self, stranger: str) -> bool:
        """Whether a Python file is loaded in this process; if not, `bots_in` asks it in a process of its own.

        `stranger` says why it is somebody else's; it is empty for one's own.
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
