"""What is installed, by name: bots, games and formats; and entrants for whatever was asked for."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import cache
from types import ModuleType
from typing import Any

from harness.core.bot import Bot, function_bot
from harness.core.errors import PluginError, UnknownName, UsageError
from harness.core.format import Format
from harness.core.game import Game
from harness.plugins.entrants import Entrant, OutsideBots, enter, split_options
from harness.plugins.loading import (
    PluginOffers,
    check_bot_class,
    checked,
    file_version,
    installed_plugins,
    load_file,
    offers_of,
    source_digest,
)

_COMMAND = re.compile(r"(?:([^\s:,=/\\]{1,300})(?::(.*?))?=)?cmd:(.*)", re.DOTALL)
_IN_FILE = re.compile(r"(.+?\.py)(?:::([^:]+))?(?::(?!:)(.*))?")


@dataclass(frozen=True, slots=True)
class Offer:
    """A bot or a game with where it comes from."""

    cls: type[Any]
    source: str
    version: str


@dataclass(slots=True)
class Registry:
    """What is installed. `problems` names every plugin that could not be used, and why."""

    games: dict[str, Offer] = field(default_factory=dict)
    bots: dict[str, Offer] = field(default_factory=dict)
    formats: dict[str, Format] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)
    outside: OutsideBots | None = None
    """The way to programs, and to files that are not to be loaded in this process; without it there are none."""

    def game(self, name: str) -> type[Game[Any]]:
        """The game of this name."""
        if name not in self.games:
            raise UnknownName("game", name, self.games)
        cls: type[Game[Any]] = self.games[name].cls
        return cls

    def entrants(self, bots: Iterable[Any]) -> list[Entrant]:
        """Entrants for what was typed: `bot`, `bot:key=value`, `path/bot.py`, `path/bot.py::bot:key=value`,
        `cmd:node bot.js`, `name:key=value=cmd:node bot.js`; or for classes of bots, objects of them, and functions."""
        return [
            entrant for bot in bots for entrant in (self._enter(bot) if isinstance(bot, str) else [_enter_object(bot)])
        ]

    def enter_as_installed(self, bot: Any) -> None:
        """Lets a class or a function be entered by its name, as if it were installed."""
        entrant = _enter_object(bot)
        self.bots[entrant.bot.name] = Offer(entrant.bot, entrant.source, entrant.version)

    def _enter(self, text: str) -> list[Entrant]:
        command = _COMMAND.fullmatch(text)
        if command:
            if self.outside is None:
                raise UsageError(f"{text!r} is a program, which cannot be entered here: name a bot, or a Python file.")
            return [self.outside.enter_command(text, command[1] or "", command[2] or "", command[3])]
        in_file = _IN_FILE.fullmatch(text)
        if in_file:
            path, name, options = in_file[1], in_file[2], split_options(text, in_file[3] or "")
            return self._enter_file(path, name, options)
        name, _, rest = text.partition(":")
        if name not in self.bots:
            raise UnknownName("bot", name, self.bots)
        offer = self.bots[name]
        return [self._consulting(enter(offer.cls, split_options(text, rest), "", offer.source, offer.version))]

    def _enter_file(self, path: str, name: str | None, options: dict[str, str]) -> list[Entrant]:
        bots = self._bots_in(path)
        if name is not None and name not in bots:
            raise UnknownName(f"bot of {path}", name, bots)
        chosen = {name: bots[name]} if name else bots
        if options and len(chosen) > 1:
            raise UsageError(f"{path} has {len(bots)} bots; say which one the options are for: {path}::NAME:key=value.")
        entered = [enter(o.cls, options, f"{path}::", o.source, o.version) for _, o in sorted(chosen.items())]
        return [self._consulting(entrant) for entrant in entered]

    def _consulting(self, entrant: Entrant) -> Entrant:
        """The entrant with the bots that its options name; whoever is asked must be installed."""
        names = [str(entrant.settings[option.name]) for option in entrant.bot.options if option.kind == "bot"]
        offers = {name: offer for name, offer in self.bots.items() if not offer.source.endswith(".py")}
        for name in filter(None, names):
            if name not in offers:
                raise UnknownName(f"installed bot in {entrant.name!r}:", name, offers)
            offer = offers[name]
            known = entrant.source == offer.source
            version = entrant.version if known else f"{entrant.version}, {name} {offer.version}"
            entrant = replace(entrant, consulted=(*entrant.consulted, offer.cls), version=version)
        return entrant

    def _bots_in(self, path: str) -> dict[str, Offer]:
        """The bots of a file, loaded once."""
        if not any(offer.source == path for offer in self.bots.values()):
            problems = len(self.problems)
            if self.outside is None or self.outside.loads_files_here:
                self.add(load_file(path), path, file_version(path))
            else:
                self._take(checked(path, bots=self.outside.bots_in(path).values()), path, file_version(path))
            if len(self.problems) > problems:
                raise PluginError(" ".join(self.problems[problems:]))
        bots = {name: offer for name, offer in self.bots.items() if offer.source == path}
        if not bots:
            raise PluginError(f"{path} defines no bot: write a subclass of harness.Bot with a choose() method in it.")
        return bots

    def add(self, plugin: ModuleType, source: str, version: str) -> None:
        """Take in what a plugin module offers; what is wrong with it goes to `problems`."""
        self._take(offers_of(plugin, source), source, version)

    def _take(self, offered: PluginOffers, source: str, version: str) -> None:
        self.problems += offered.problems
        for what, taken, classes in (("game", self.games, offered.games), ("bot", self.bots, offered.bots)):
            for cls in classes:
                if cls.name in taken:
                    self.problems.append(
                        f"Plugin {source}: its {what} {cls.name!r} is skipped, {taken[cls.name].source} has that name "
                        f"already; rename it."
                    )
                else:
                    taken[cls.name] = Offer(cls, source, getattr(cls, "version", "") or version)
        for each in offered.formats:
            if each.name in self.formats:
                self.problems.append(f"Plugin {source}: its format {each.name!r} is skipped, there is one already.")
            else:
                self.formats[each.name] = each


def _enter_object(bot: Any) -> Entrant:
    """An entrant for a class, an object of one, or a function `(view, actions) -> action`: what a notebook has."""
    if isinstance(bot, Bot) and vars(bot):
        kept = ", ".join(vars(bot))
        raise UsageError(f"{bot!r} has set {kept}, but each match gets an object of its own: give options, or a class.")
    cls: Any = bot if isinstance(bot, type) else type(bot) if isinstance(bot, Bot) else function_bot(bot)
    check_bot_class(cls)
    return enter(cls, {}, "", cls.__module__, cls.version or source_digest(bot if callable(bot) else cls))


def load() -> Registry:
    """All installed plugins, ours first, then the others by name."""
    registry = Registry()
    for found in installed_plugins():
        registry._take(found.offers, found.source, found.version)
    if not registry.games:
        raise PluginError("No game is installed: install arena itself (pip install .), its games come as plugins.")
    return registry


def bot_named(name: str) -> type[Bot]:
    """The class of an installed bot, for bots that ask other bots."""
    bots = _installed().bots
    if name not in bots:
        raise UnknownName("bot", name, bots)
    cls: type[Bot] = bots[name].cls
    return cls


@cache
def _installed() -> Registry:
    return load()
