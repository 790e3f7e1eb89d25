"""Everything that is installed, by name: games, bots, formats; entrants for what is typed; fillers for empty seats."""

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
from harness.plugins.discovery import NAME, PluginContents, check_bot, checked, installed_plugins, plugin_contents
from harness.plugins.entrants import (
    BotEntry,
    BotRef,
    Entrant,
    RemoteLoader,
    disambiguate,
    enter,
    files_in,
    parse_bots,
    renamed,
)
from harness.plugins.features import FORMATS, WEBHOOK, Formats, load_object
from harness.plugins.hooks import ListenerPlugin
from harness.plugins.snapshots import declared_in
from harness.plugins.trust import untrusted_folder_reason, untrusted_reason

# The registry: bots, games and formats that are installed, by name; and entrants for bots that are typed.


@dataclass(frozen=True, slots=True)
class Registration:
    """A bot or a game, and where it comes from."""

    cls: Any
    """Its class; a BotDescription if this process does not load it."""
    source: str
    version: str
    digest: str = ""
    """Of the source; empty: computed when it is needed."""
    sources: Mapping[str, bytes] = field(default_factory=dict, repr=False)
    """The texts of a bot in a file."""
    untrusted: str = ""
    """Why a file is untrusted; empty if it is trusted."""

    @property
    def source_digest(self) -> str:
        """Return the digest of the source."""
        return self.digest or class_digest(self.cls)


@dataclass(slots=True)
class Registry:
    """The installed games, bots and formats. `problems` has a sentence for each plugin that cannot be used."""

    games: dict[str, Registration] = field(default_factory=dict)
    bots: dict[str, Registration] = field(default_factory=dict)
    formats: Formats = field(default_factory=Formats)
    files: dict[str, dict[str, Registration]] = field(default_factory=dict)
    """The bots of files, by path and name."""
    problems: list[str] = field(default_factory=list)
    listeners: list[ListenerPlugin] = field(default_factory=list)
    """The plugins that get events."""
    outside: RemoteLoader | None = None
    """Enters programs, and files that this process must not load; None: programs are refused, files are loaded here."""
    contents: Mapping[str, str] | None = field(default=None, repr=False)
    """To enter the bots of a run again: the texts of files that options name by digest. No other files are read."""
    untrusted: str = ""
    """Why files are untrusted even if their owner is trusted: a league copies other users' files, for example."""

    def game(self, name: str) -> type[Game[Any]]:
        """Return the game of this name."""
        if name not in self.games:
            raise UnknownName("game", name, self.games)
        cls: type[Game[Any]] = self.games[name].cls
        return cls

    def entrants(self, bots: Iterable[Any]) -> list[Entrant]:
        """Return entrants for what was typed (see `parse_bots`), references to bots, classes of bots, objects of them,
        and functions; each may be in a pair `(name, bot)`, and the bot of a BotEntry.

        Bots in files that have the same name are named by their files or folders.
        """
        return disambiguate([entrant for bot in bots for entrant in self._enter(bot)])

    def entrant(self, bot: Any) -> Entrant:
        """Return the entrant for a reference to one bot; raises UsageError if it refers to several."""
        found = self.entrants([bot])
        if len(found) > 1:
            raise UsageError(f"{bot} has {len(found)} bots; say which: {', '.join(one.spec for one in found)}.")
        return found[0]

    def for_names_in(self, file: str) -> Registry:
        """Return a registry for bots that a file names: Python files are untrusted then.

        The owner of a file does not say where it comes from: one that came in an archive belongs to the user who
        unpacked it. `problems` are reported to the caller of both registries.
        """
        return replace(self, files={}, untrusted=f"named by {file}")  # `files` may have some that were typed

    def enter_as_installed(self, bot: Any) -> None:
        """Register a class or a function, or a pair of a name and one, as if it were installed."""
        alias, what = bot if isinstance(bot, tuple) else ("", bot)
        entrant = _enter_object(what)
        self.bots[alias or entrant.bot.name] = Registration(
            entrant.bot, entrant.source, entrant.version, entrant.digest
        )

    def _enter(self, bot: Any) -> list[Entrant]:
        if isinstance(bot, str):
            # In a file a bare word is the name of an installed bot. As a folder it would be one of the current folder,
            # or a link that leads anywhere: only texts with a slash were checked when the file was read.
            refs = list(parse_bots(bot, None if self.untrusted else self.bots))
            return [entrant for ref in refs for entrant in self._enter_ref(ref)]
        if isinstance(bot, BotRef):
            return self._enter_ref(bot)
        if isinstance(bot, BotEntry):
            return [replace(entrant, team=bot.team, author=bot.author) for entrant in self._enter(bot.bot)]
        if not isinstance(bot, tuple):
            return [_enter_object(bot)]
        alias, what = bot
        if not isinstance(alias, str) or not NAME.fullmatch(alias):
            raise UsageError(f"{alias!r} cannot be the name of an entrant: no spaces, colons, commas, slashes or bars.")
        entrant = _rename_single(alias, self._enter(what))
        # No text can enter a class or a function again, so its reference is only a name.
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
            digest = offer.source_digest
            entered = [enter(offer.cls, ref.settings, "", offer.source, offer.version, digest, self.contents)]
        entered = [self._consulting(entrant) for entrant in entered]
        return [_rename_single(ref.alias, entered)] if ref.alias else entered

    def _enter_place(self, ref: BotRef) -> list[Entrant]:
        """Return the bots of a file or folder; in a folder, files without bots are skipped and broken ones reported."""
        place = ref.place
        if not place.endswith(".py") and not Path(place).exists():
            raise UsageError(f"There is no file and no folder {place}.")
        files = files_in(place) if Path(place).is_dir() else [place]
        bots: dict[tuple[str, str], Registration] = {}
        for file in files:
            try:
                if file not in self.files:
                    self.files[file] = bots_of_file(file, self.outside, self.untrusted)
                bots |= {(file, name): offer for name, offer in self.files[file].items()}
            except PluginError as error:
                if file == place:
                    raise
                self.problems.append(str(error))
        if not bots and Path(place).is_file():
            raise PluginError(f"{place} defines no bot: write a subclass of harness.Bot with a choose() method in it.")
        if not bots and (Path(place) / "__init__.py").is_file():
            raise PluginError(
                f"{place} is a package, and its __init__.py defines and imports no bot: import the class there "
                f"(from .module import MyBot), or enter the file that defines it."
            )
        if not bots:
            raise PluginError(
                f"The folder {place} has no Python file in it that defines a bot. (The laws of a game are checked by "
                f"its own tests: python -m pytest {place}.)"
            )
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
        """Return the entrant with the bots that it consults; those that its options name must be installed."""
        options = [option.name for option in entrant.bot.options if option.kind == "bot"]
        names = [str(entrant.settings[option]) for option in options if entrant.settings[option]]
        for name in names:
            if name.endswith(".py"):
                raise UsageError(
                    f"{entrant.name}: {name} is a file, and {options[0]} names an installed bot. Package your bot "
                    f"and install it (docs/bots.md)."
                )
            if name not in self.bots:
                raise UnknownName(f"installed bot in {entrant.name!r}:", name, self.bots)
            offer = self.bots[name]
            # A package that consults its own bots has one version for both.
            known = entrant.source == offer.source
            version = entrant.version if known else f"{entrant.version}, {name} {offer.version}"
            entrant = replace(entrant, consulted=(*entrant.consulted, offer.cls), version=version)
        for name in (*names, *(consulted_in(entrant.sources) if entrant.sources else ())):
            # A bot with the same source is in the digest already.
            if name in self.bots and (digest := self.bots[name].source_digest) not in entrant.digest:
                entrant = replace(entrant, digest=f"{entrant.digest}, {name} {digest}")
        return entrant

    def add(self, plugin: ModuleType, source: str, version: str) -> None:
        """Add what a plugin module offers; what is wrong with it is added to `problems`."""
        self._add_contents(source, version, plugin_contents(plugin, source))

    def _add_contents(self, source: str, version: str, offered: PluginContents) -> None:
        self.problems += offered.problems
        if offered.listener is not None:
            self.listeners.append(ListenerPlugin(source, offered.listener))
        # The first one keeps its name. Arena's own come first, so no plugin can replace a bundled bot or game.
        for what, taken, classes in (("game", self.games, offered.games), ("bot", self.bots, offered.bots)):
            for cls in classes:
                if cls.name in taken:
                    self.problems.append(
                        f"Plugin {source}: its {what} {cls.name!r} is skipped, {taken[cls.name].source} has that name "
                        f"already; rename it."
                    )
                else:
                    taken[cls.name] = Registration(cls, source, getattr(cls, "version", "") or version)
        for each in offered.formats:
            if each.name in self.formats:
                self.problems.append(f"Plugin {source}: its format {each.name!r} is skipped, there is one already.")
            else:
                self.formats[each.name] = each


def bots_of_file(path: str, outside: RemoteLoader | None = None, untrusted: str = "") -> dict[str, Registration]:
    """Return the bots of a file or package by name. They are loaded here unless `outside` must describe them."""
    # The files are read once: what is loaded, digested and copied is the same, even if they change meanwhile.
    sources = sources_of(path, bool(untrusted))
    reason = ""
    if outside is not None:
        file = bot_file(path)
        loaded = [file.parent / name for name in (*sources, *declared_in(path, sources))]
        reason = untrusted_reason([Path(path), *loaded]) or untrusted_folder_reason(file) or untrusted
    if outside is None or outside.loads_here(reason):
        offered = plugin_contents(load_file(path, sources), path)
    else:
        offered = checked(path, bots=outside.bots_in(path))
    # Unlike an installed plugin, a file was named by the user: a bot that is left out silently would be a surprise.
    if offered.problems:
        raise PluginError(" ".join(offered.problems))
    bots: dict[str, Registration] = {}
    for cls in offered.bots:
        if cls.name in bots:
            raise PluginError(f"{path} has two bots that are called {cls.name}: rename one.")
        digest = file_digest(path, sources, cls.files)
        bots[cls.name] = Registration(cls, path, cls.version or digest, digest, sources, reason)
    return bots


def _enter_object(bot: Any) -> Entrant:
    """Return an entrant for a class, an object of one, or a function `(view, actions) -> action`."""
    if isinstance(bot, Bot) and vars(bot):
        kept = ", ".join(vars(bot))
        raise UsageError(f"{bot!r} has set {kept}, but each match gets a new object: give options, or a class.")
    cls: Any = bot if isinstance(bot, type) else type(bot) if isinstance(bot, Bot) else function_bot(bot)
    check_bot(cls)
    digest = class_digest(cls) if isinstance(bot, type | Bot) else source_digest(bot)
    return enter(cls, {}, "", cls.__module__, cls.version or digest, digest)


def _rename_single(alias: str, entered: list[Entrant]) -> Entrant:
    """Return the only entrant under this name; raises UsageError if there are several."""
    if len(entered) > 1:
        names = ", ".join(entrant.spec for entrant in entered)
        raise UsageError(f"{alias} would be the name of {len(entered)} bots; say which one it is: {names}.")
    return renamed(entered[0], alias)


def load() -> Registry:
    """Return a registry of all installed plugins: Arena's own first, then the others by name."""
    # A copy, to which plugins add their formats. Copying `data` does not load the bundled ones.
    registry = Registry(formats=Formats(FORMATS.data))
    for plugin in installed_plugins():
        registry._add_contents(*plugin)
    if os.environ.get("ARENA_WEBHOOK"):
        try:
            registry.listeners.append(ListenerPlugin("webhook", load_object(WEBHOOK).from_environment(os.environ)))
        except UsageError as error:
            registry.problems.append(str(error))
    if not registry.games:
        raise PluginError("No game is installed: install arena itself (pip install .), its games come as plugins.")
    return registry


def bot_named(name: str) -> type[Bot]:
    """Return the class of an installed bot, for bots that consult other bots."""
    bots = _installed().bots
    if name not in bots:
        raise UnknownName("bot", name, bots)
    cls: type[Bot] = bots[name].cls
    return cls


_installed = cache(load)


# Filler bots: they are seated where a table has more seats than bots were entered.


LAST_FILLER = "random"
"""The weakest opponent: seated after all others that are as quick."""


def filler_bots(registry: Registry, game: str, count: int, taken: Collection[str] = ()) -> list[str]:
    """Return `count` bots to enter for a game besides those `taken` (names of entrants); the same ones each time.

    Quick ones come before slow ones, and those made for the game before those for any game. If these are too few, they
    are entered again under other names: `random-2=random`.
    """
    names = list(islice(_in_order(registry, game, taken), count))
    if len(names) < count:
        raise UsageError(f"No installed bot plays {game}, so the table cannot be filled.", fix="bots")
    return names


def _in_order(registry: Registry, game: str, taken: Collection[str]) -> Iterator[str]:
    def suits(name: str) -> tuple[bool, bool, bool, str]:
        bot = registry.bots[name].cls
        return not bot.by_default, not bot.games, name == LAST_FILLER, name

    ranked = sorted((n for n, offer in registry.bots.items() if game in (offer.cls.games or (game,))), key=suits)
    yield from (name for name in ranked if name not in taken)
    # Copies of quick bots only: the user did not ask for these opponents, so they must not cost time.
    quick = [name for name in ranked if registry.bots[name].cls.by_default] or ranked
    for number in numbers(2) if quick else ():
        again = ((f"{name}-{number}", name) for name in quick)
        yield from (f"{own}={name}" for own, name in again if own not in taken)
