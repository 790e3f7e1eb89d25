"""Everything that is installed: games, bots and formats by name, and filler bots for empty seats."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import count as numbers
from itertools import islice
from pathlib import Path
from types import ModuleType
from typing import Any

from harness.core.bot import Bot, function_bot
from harness.core.errors import PluginError, UnknownName, UsageError
from harness.core.game import Game
from harness.plugins.bot_files import (
    bot_file,
    class_digest,
    consulted_in,
    file_digest,
    load_file,
    source_digest,
    sources_of,
)
from harness.plugins.discovery import NAME, PluginOffers, check_bot, checked, installed_plugins, offers_of
from harness.plugins.entrants import (
    BotEntry,
    BotRef,
    Entrant,
    OutsideBots,
    called,
    enter,
    files_in,
    parse_bots,
    told_apart,
)
from harness.plugins.features import FORMATS, Formats
from harness.plugins.hooks import ListenerPlugin
from harness.plugins.snapshots import declared_in
from harness.plugins.trust import untrusted_folder_reason, untrusted_reason

# What is installed, by name: bots, games and formats; and entrants for whatever was asked for.


@dataclass(frozen=True, slots=True)
class Offer:
    """A bot or a game with where it comes from."""

    cls: Any
    """Its class; a BotDescription if this process does not load it."""
    source: str
    version: str
    digest: str = ""
    """What the source is; worked out when it is asked for if empty."""
    sources: Mapping[str, bytes] = field(default_factory=dict, repr=False)
    """The texts of a file."""
    untrusted: str = ""
    """Why a file is not one's own."""

    @property
    def known_by(self) -> str:
        """The digest of the source."""
        return self.digest or class_digest(self.cls)


@dataclass(slots=True)
class Registry:
    """What is installed. `problems` names every plugin that could not be used, and why."""

    games: dict[str, Offer] = field(default_factory=dict)
    bots: dict[str, Offer] = field(default_factory=dict)
    formats: Formats = field(default_factory=Formats)
    files: dict[str, dict[str, Offer]] = field(default_factory=dict)
    """The bots of files, by path and name."""
    problems: list[str] = field(default_factory=list)
    listeners: list[ListenerPlugin] = field(default_factory=list)
    """The plugins that want to hear of what happens."""
    outside: OutsideBots | None = None
    """The way to programs, and to files that are not to be loaded in this process; without it there are none."""
    contents: Mapping[str, str] | None = field(default=None, repr=False)
    """While the bots of a run are entered again: the texts of files that options name by digest. No others are read."""

    def game(self, name: str) -> type[Game[Any]]:
        """The game of this name."""
        if name not in self.games:
            raise UnknownName("game", name, self.games)
        cls: type[Game[Any]] = self.games[name].cls
        return cls

    def entrants(self, bots: Iterable[Any]) -> list[Entrant]:
        """Return entrants for what was typed (see `parse_bots`), references to bots, classes of bots, objects of them,
        and functions; each may be in a pair `(name, bot)`, and the bot of a BotEntry.

        Bots in files that are called the same are told apart by their folders.
        """
        return told_apart([entrant for bot in bots for entrant in self._enter(bot)])

    def entrant(self, bot: Any) -> Entrant:
        """The one entrant that was asked for."""
        found = self.entrants([bot])
        if len(found) > 1:
            raise UsageError(f"{bot} has {len(found)} bots; say which: {', '.join(one.spec for one in found)}.")
        return found[0]

    def enter_as_installed(self, bot: Any) -> None:
        """Lets a class or a function, or a pair of a name and one, be entered by its name, as if it were installed."""
        alias, what = bot if isinstance(bot, tuple) else ("", bot)
        entrant = _enter_object(what)
        self.bots[alias or entrant.bot.name] = Offer(entrant.bot, entrant.source, entrant.version, entrant.digest)

    def _enter(self, bot: Any) -> list[Entrant]:
        if isinstance(bot, str):
            return [entrant for ref in parse_bots(bot, self.bots) for entrant in self._enter_ref(ref)]
        if isinstance(bot, BotRef):
            return self._enter_ref(bot)
        if isinstance(bot, BotEntry):
            return [replace(entrant, team=bot.team, author=bot.author) for entrant in self._enter(bot.bot)]
        if not isinstance(bot, tuple):
            return [_enter_object(bot)]
        alias, what = bot
        if not isinstance(alias, str) or not NAME.fullmatch(alias):
            raise UsageError(f"{alias!r} cannot be the name of an entrant: no spaces, colons, commas, slashes or bars.")
        entrant = _called(alias, self._enter(what))
        return [entrant if isinstance(what, str | BotRef) else replace(entrant, ref=BotRef(alias, bot=alias))]

    def _enter_ref(self, ref: BotRef) -> list[Entrant]:
        if ref.command is not None:
            if self.outside is None:
                raise UsageError(
                    f"{str(ref)!r} is a program, which cannot be entered here: name a bot, or a Python file."
                )
            return [self.outside.enter_command(ref)]
        if ref.place:
            entered = self._enter_place(ref)
        elif ref.bot not in self.bots:
            raise UnknownName("bot", ref.bot, self.bots)
        else:
            offer = self.bots[ref.bot]
            digest = offer.known_by
            entered = [enter(offer.cls, ref.settings, "", offer.source, offer.version, digest, self.contents)]
        entered = [self._consulting(entrant) for entrant in entered]
        return [_called(ref.alias, entered)] if ref.alias else entered

    def _enter_place(self, ref: BotRef) -> list[Entrant]:
        """The bots of a file or folder. In a folder, files without bots are passed over, and broken ones reported."""
        place = ref.place
        if not place.endswith(".py") and not Path(place).exists():
            raise UsageError(f"There is no file and no folder {place}.")
        files = files_in(place) if Path(place).is_dir() else [place]
        bots: dict[tuple[str, str], Offer] = {}
        for file in files:
            try:
                bots |= {(file, name): offer for name, offer in self._bots_in(file).items()}
            except PluginError as error:
                if file == place:
                    raise
                self.problems.append(str(error))
        if not bots and Path(place).is_file():
            raise PluginError(f"{place} defines no bot: write a subclass of harness.Bot with a choose() method in it.")
        if not bots:
            raise PluginError(f"The folder {place} has no Python file in it that defines a bot.")
        chosen = {where: offer for where, offer in bots.items() if ref.bot in ("", where[1])}
        if not chosen:
            raise UnknownName(f"bot of {place}", ref.bot, [name for _, name in bots])
        if ref.options and len(chosen) > 1:
            raise UsageError(
                f"{place} has {len(chosen)} bots; say which one the options are for: {place}::NAME:key=value."
            )
        return [
            replace(
                enter(offer.cls, ref.settings, file, file, offer.version, offer.digest, self.contents),
                sources=offer.sources,
                untrusted=offer.untrusted,
            )
            for (file, _), offer in sorted(chosen.items())
        ]

    def _consulting(self, entrant: Entrant) -> Entrant:
        """The entrant with the bots that its options name; whoever is asked must be installed."""
        names = [str(entrant.settings[option.name]) for option in entrant.bot.options if option.kind == "bot"]
        for name in filter(None, names):
            if name not in self.bots:
                raise UnknownName(f"installed bot in {entrant.name!r}:", name, self.bots)
            offer = self.bots[name]
            known = entrant.source == offer.source
            version = entrant.version if known else f"{entrant.version}, {name} {offer.version}"
            entrant = replace(entrant, consulted=(*entrant.consulted, offer.cls), version=version)
            entrant = entrant.consulting(name, offer.known_by)
        for name in consulted_in(entrant.sources):
            if name in self.bots:
                entrant = entrant.consulting(name, self.bots[name].known_by)
        return entrant

    def _bots_in(self, path: str) -> dict[str, Offer]:
        """The bots of a file, or of a folder that is a package, loaded once."""
        if path not in self.files:
            self.files[path] = file_offers(path, self.outside)
        return self.files[path]

    def add(self, plugin: ModuleType, source: str, version: str) -> None:
        """Take in what a plugin module offers; what is wrong with it goes to `problems`."""
        self._take(offers_of(plugin, source), source, version, plugin)

    def _take(self, offered: PluginOffers, source: str, version: str, plugin: ModuleType | None) -> None:
        self.problems += offered.problems
        if offered.listens and plugin is not None:
            self.listeners.append(ListenerPlugin(source, plugin))
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


def file_offers(path: str, outside: OutsideBots | None = None) -> dict[str, Offer]:
    """The bots of a file, or of a folder that is a package, by name; loaded here, unless the way outside says no."""
    sources = sources_of(path)
    untrusted = _untrusted_reason(path, sources) if outside else ""
    if outside is None or outside.loads_here(untrusted):
        offered = offers_of(load_file(path, sources), path)
    else:
        offered = checked(path, bots=outside.bots_in(path))
    if offered.problems:
        raise PluginError(" ".join(offered.problems))
    bots: dict[str, Offer] = {}
    for cls in offered.bots:
        if cls.name in bots:
            raise PluginError(f"{path} has two bots that are called {cls.name}: rename one.")
        digest = file_digest(path, sources, cls.files)
        bots[cls.name] = Offer(cls, path, cls.version or digest, digest, sources, untrusted)
    return bots


def _untrusted_reason(path: str, sources: Mapping[str, bytes]) -> str:
    """Why a file, or something that it loads, is somebody else's; empty if all is one's own."""
    file = bot_file(path)
    loaded = [file.parent / name for name in (*sources, *declared_in(path, sources))]
    return untrusted_reason([Path(path), *loaded]) or untrusted_folder_reason(file)


def _enter_object(bot: Any) -> Entrant:
    """An entrant for a class, an object of one, or a function `(view, actions) -> action`: what a notebook has."""
    if isinstance(bot, Bot) and vars(bot):
        kept = ", ".join(vars(bot))
        raise UsageError(f"{bot!r} has set {kept}, but each match gets an object of its own: give options, or a class.")
    cls: Any = bot if isinstance(bot, type) else type(bot) if isinstance(bot, Bot) else function_bot(bot)
    check_bot(cls)
    digest = class_digest(cls) if isinstance(bot, type | Bot) else source_digest(bot)
    return enter(cls, {}, "", cls.__module__, cls.version or digest, digest)


def _called(alias: str, entered: list[Entrant]) -> Entrant:
    """The one entrant that was named."""
    if len(entered) > 1:
        names = ", ".join(entrant.spec for entrant in entered)
        raise UsageError(f"{alias} would be the name of {len(entered)} bots; say which one it is: {names}.")
    return called(entered[0], alias)


def load() -> Registry:
    """All installed plugins, ours first, then the others by name."""
    registry = Registry(formats=Formats(FORMATS.data))
    for found in installed_plugins():
        registry._take(found.offers, found.source, found.version, found.module)
    if os.environ.get("ARENA_WEBHOOK"):
        _add_webhook(registry)
    if not registry.games:
        raise PluginError("No game is installed: install arena itself (pip install .), its games come as plugins.")
    return registry


def _add_webhook(registry: Registry) -> None:
    from harness.plugins.webhook import Webhook

    try:
        registry.listeners.append(ListenerPlugin("webhook", Webhook.from_environment(os.environ)))
    except UsageError as error:
        registry.problems.append(str(error))


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


# House bots: who sits down where a table has more seats than bots were named.


LEAST_LIKED = "random"
"""The bot whom nobody wants to play against: it comes after all others that are as quick."""


def house_bots(registry: Registry, game: str, count: int, taken: Collection[str] = ()) -> list[str]:
    """So many bots to enter for this game besides those `taken` (names of entrants), the same ones each time.

    Quick ones come before slow ones, and those made for the game before those for any game. Where that does not
    fill the table, they come again under names of their own: `random-2=random`. So any game can be filled.
    """
    names = list(islice(_in_order(registry, game, taken), count))
    if len(names) < count:
        raise UsageError(f"No installed bot plays {game}, so nobody can fill the table; name the bots with --bot.")
    return names


def _in_order(registry: Registry, game: str, taken: Collection[str]) -> Iterator[str]:
    def suits(name: str) -> tuple[bool, bool, bool, str]:
        bot = registry.bots[name].cls
        return not bot.by_default, not bot.games, name == LEAST_LIKED, name

    ranked = sorted((n for n, offer in registry.bots.items() if game in (offer.cls.games or (game,))), key=suits)
    yield from (name for name in ranked if name not in taken)
    quick = [name for name in ranked if registry.bots[name].cls.by_default] or ranked
    for number in numbers(2) if quick else ():
        again = ((f"{name}-{number}", name) for name in quick)
        yield from (f"{own}={name}" for own, name in again if own not in taken)
