"""Entrants: a bot with its options, as it is named on the command line, in records and on leaderboards."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any, ClassVar, Protocol

from harness.core.bot import Bot
from harness.core.errors import BadOption, UsageError
from harness.core.game import Game
from harness.core.options import resolve
from harness.core.types import Value


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
    consulted: tuple[type[Bot], ...] = field(default=(), kw_only=True)
    """Other bots that its options name: it plays what they play, too."""
    isolated: ClassVar[bool] = False
    """Whether it plays in a process of its own, so that what it does to its process is nobody else's business."""

    def plays(self, game: str) -> bool:
        """Whether it plays this game."""
        return all(not bot.games or game in bot.games for bot in (self.bot, *self.consulted))

    def warm_up(self, seats: int = 1) -> None:
        """Makes ready for a match with so many seats of this entrant, before anybody looks at the clock."""

    def close(self) -> None:
        """Lets go of what it holds: a bot of this process holds nothing."""

    def seat(self, game: Game[Any], seat: int, players: int, seed: int) -> Bot:
        """A bot object for one seat of one match, not yet started."""
        return self.bot().seated(game, seat, players, seed, self.settings)


class OutsideBots(Protocol):
    """The way to bots outside this process: programs, and Python files that are not to be loaded in it.

    It is given to a Registry by whoever can start processes.
    """

    @property
    def loads_files_here(self) -> bool:
        """Whether Python files are loaded in this process; if not, `bots_in` asks each in a process of its own."""

    def enter_command(self, text: str, name: str, options: str, command: str) -> Entrant:
        """An entrant for a program; `text` is what was typed in all, `name` may be empty."""

    def bots_in(self, path: str) -> dict[str, type[Bot]]:
        """The bots of a Python file by name, as they describe themselves; none of its code runs in this process."""


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


def enter(bot: type[Bot], options: Mapping[str, object], where: str, source: str, version: str) -> Entrant:
    """An entrant for this bot with these options; `where` stands before its name in what names it again."""
    settings, _ = resolve(bot.name, bot.options, options)
    changed = [f"{o.name}={settings[o.name]}" for o in bot.options if settings[o.name] != o.default]
    name = bot.name + (":" + ",".join(changed) if changed else "")
    return Entrant(name, where + name, bot, settings, source, version)


def check_distinct(entrants: list[Entrant]) -> None:
    """Refuses two entrants of one name: their results could not be told apart."""
    seen: set[str] = set()
    for entrant in entrants:
        if entrant.name in seen:
            raise UsageError(f"{entrant.name} is entered twice; give the second one other options (bot:key=value).")
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
