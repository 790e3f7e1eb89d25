"""Imports installed plugins and checks their offers. A broken offer becomes a problem, never an exception."""

from __future__ import annotations

import importlib.util
import re
import sys
from collections.abc import Callable, Iterable
from contextlib import redirect_stdout
from inspect import getattr_static, isfunction, signature
from pathlib import Path, PurePosixPath
from types import ModuleType
from typing import TYPE_CHECKING, Any, NamedTuple, get_args

import pluggy

from harness._version import VERSION
from harness.core.bot import Bot, kebab
from harness.core.errors import PluginError, printable, reason_of, safe_repr
from harness.core.game import Game
from harness.core.options import check_defaults
from harness.core.plan import Format
from harness.core.records import Option, OptionKind
from harness.plugins import hooks
from harness.plugins.entrants import BotDescription, DescribedBot

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

DISTRIBUTION = "arena-harness"
NAME = re.compile(r"[^\s:,=/\\|<>\x00-\x1f\x7f]{1,300}")
"""What can be typed for a bot or a game; `is_name` also demands that it is printable."""
MAX_NAME_CHARS = 100
MAX_TEXT_CHARS = 300
"""Of a version, and of the value of an option."""
MAX_DECLARED_ITEMS = 200
"""Games, options, choices of an option and data files that a bot may declare, each."""
MAX_OPTION_NUMBER = 2**63
"""Numbers of options are below it: records cannot hold larger ones."""
MAX_QUOTED_CHARS = 100
HOME = Path(__file__).resolve().parents[2]
"""The folder that contains `harness` and the bundled plugins."""


class PluginContents(NamedTuple):
    """The valid offers of a plugin, and what is wrong with the others."""

    games: list[type[Game[Any]]]
    bots: list[DescribedBot]
    formats: list[Format]
    problems: list[str]
    listener: ModuleType | None = None
    """The plugin itself, if it gets events."""


def installed_plugins() -> list[tuple[str, str, PluginContents]]:
    """Return all installed plugins with their versions and what they offer: the bundled ones first, then the others by
    name.

    A broken one has a problem and nothing else. A bundled one that is missing, or offers nothing, raises PluginError.
    """
    found = []
    origins = [(*_origin(point), point) for point in entry_points(hooks.PROJECT)]
    # Engines before bots, which import them. Others by name: the order must not depend on how pip lists packages,
    # because the first plugin with a name keeps it.
    origins.sort(key=lambda each: (each[0] != DISTRIBUTION, each[2].name != "engines", each[0], each[2].name))
    for source, version, point in origins:
        bundled = source == DISTRIBUTION
        try:
            plugin = _load_plugin(point, source, bundled)
            offers = plugin_contents(plugin, source)
            if bundled and not (offers.games or offers.bots or offers.formats):
                raise _in_the_way(point.module, Path(plugin.__file__) if plugin.__file__ else None)
        except PluginError as error:
            if bundled:
                raise
            offers = PluginContents([], [], [], [str(error)])
        found.append((source, version, offers))
    return found


def entry_points(group: str) -> Iterable[EntryPoint]:
    """Return these entry points of the installed packages."""
    # Not at the top: it takes a tenth of the start of a bot's process, which looks for no plugins.
    import importlib.metadata

    return importlib.metadata.entry_points(group=group)


def _origin(point: EntryPoint) -> tuple[str, str]:
    """Return the distribution of a plugin, and its version."""
    if point.dist is None:
        return point.name, ""
    name = point.dist.name  # read once: each access parses the whole metadata
    return (DISTRIBUTION, VERSION) if name == DISTRIBUTION else (name, point.dist.version)


def _load_plugin(point: EntryPoint, source: str, bundled: bool) -> ModuleType:
    """Import a plugin; raises PluginError if it fails, or if a folder hides a bundled one."""
    if bundled:
        _check_not_shadowed(point.module)
    try:
        with redirect_stdout(sys.stderr):  # what a plugin prints is not our output
            plugin: ModuleType = point.load()
    except BaseException as error:  # importing a plugin may raise anything
        if isinstance(error, KeyboardInterrupt):
            raise
        raise PluginError(f"Plugin {source} cannot be loaded: {reason_of(error)}.") from error
    return plugin


def _check_not_shadowed(module: str) -> None:
    """Raise PluginError if Python finds something else under the name of a bundled package."""
    name = module.partition(".")[0]
    spec = importlib.util.find_spec(name)
    places = [] if spec is None else [spec.origin] if spec.origin else list(spec.submodule_search_locations or ())
    found = [Path(place).resolve() for place in places if place]
    if not any(place.is_relative_to(HOME / name) for place in found):
        raise _in_the_way(name, found[0] if found else None)


def _in_the_way(name: str, found: Path | None) -> PluginError:
    """Return the error for a bundled package that is not found where it should be."""
    if found is None:
        return PluginError(f"Arena's own package {name!r} is missing: install arena again.")
    folder = found.parent if found.name == "__init__.py" else found
    return PluginError(
        f"{folder} hides Arena's own package {name!r}: rename that folder, or "
        f"start arena from another folder and remove that one from PYTHONPATH."
    )


def bots_defined_in(module: ModuleType) -> list[type[Bot]]:
    """Return the bots of a file without hooks: the subclasses of Bot that it defines, or that a package exports."""
    whole = Path(module.__file__ or "").name == "__init__.py"
    return [
        cls
        for cls in vars(module).values()
        if isinstance(cls, type)
        and issubclass(cls, Bot)
        and (cls.__module__ == module.__name__ or (whole and cls.__module__.startswith(f"{module.__name__}.")))
        and cls.choose is not Bot.choose
    ]


def plugin_contents(plugin: ModuleType, source: str) -> PluginContents:
    """Return what a plugin module offers through its hooks; a file without hooks offers the bots that it defines."""
    # A manager for each plugin: an error in a hook is known to come from this one, and does not affect the others.
    manager = pluggy.PluginManager(hooks.PROJECT)
    manager.add_hookspecs(hooks)
    try:
        manager.register(plugin, source)
        manager.check_pending()
        games = [cls for offered in manager.hook.arena_games() for cls in offered]
        bots = [cls for offered in manager.hook.arena_bots() for cls in offered]
        formats = [each for offered in manager.hook.arena_formats() for each in offered]
    except BaseException as error:  # a plugin may raise anything, SystemExit included; it must not end arena
        if isinstance(error, KeyboardInterrupt):
            raise
        return PluginContents([], [], [], [f"Plugin {source} is skipped: {reason_of(error)}."])
    # A plugin with hooks offers exactly what they return: helper classes in the same file are not bots.
    if not any(hasattr(plugin, hook) for hook in hooks.OFFERING):
        bots = bots_defined_in(plugin)
    listens = any(hasattr(plugin, hook) for hook in hooks.LISTENING)
    return checked(source, games, bots, formats)._replace(listener=plugin if listens else None)


def checked(
    source: str, games: Iterable[Any] = (), bots: Iterable[Any] = (), formats: Iterable[Any] = ()
) -> PluginContents:
    """Return these offers without the invalid ones, each of which becomes a problem."""
    found = PluginContents([], [], [], [])
    for check, offered, kept in (
        (check_game_class, games, found.games),
        (check_bot, bots, found.bots),
        (check_format, formats, found.formats),
    ):
        for each in offered:
            try:
                check(each)
            except PluginError as error:
                found.problems.append(f"Plugin {source}: {error}")
            except BaseException as error:  # an offer may be anything, and raise anything when it is looked at
                if isinstance(error, KeyboardInterrupt):
                    raise
                found.problems.append(f"Plugin {source}: {shown(each)} is skipped: {reason_of(error)}.")
            else:
                kept.append(each)
    return found


def check_bot(bot: Any) -> None:
    """Raise PluginError unless this is a bot whose declarations can be displayed and typed.

    A bot is a subclass of harness.Bot with a choose() method, or the description of one in another process: so the
    texts of untrusted bots are checked here, too.
    """
    if not isinstance(bot, BotDescription):
        _check_bot_class(bot)
    if not is_name(bot.name):
        described = isinstance(bot, BotDescription)
        subject, example = ("a bot", "my-bot") if described else (f"bot {bot.__name__}", kebab(bot.__name__))
        raise PluginError(
            f"{subject} is called {shown(bot.name)}: a name has no spaces, "
            f"colons, commas, equals signs, slashes, bars or angle brackets, no invisible characters, and at most "
            f"{MAX_NAME_CHARS} letters, like {example!r}."
        )
    owner = f"bot {bot.name}"
    if bot.version != "" and not is_line(bot.version):
        raise PluginError(f'{owner}: version is {shown(bot.version)}; write a short text, like version = "1.2".')
    if not isinstance(getattr(bot, "by_default", True), bool):
        raise PluginError(f"{owner}: by_default is {shown(bot.by_default)}; write True or False.")
    _check_texts(owner, "games", bot.games, is_name, ("names of games", "el-paso"))
    _check_texts(owner, "files", bot.files, _is_file_name, ("files in its folder", "weights.npz"))
    check_options(owner, bot.options)


def _check_bot_class(cls: Any) -> None:
    if not (isinstance(cls, type) and issubclass(cls, Bot)):
        raise PluginError(f"arena_bots() offers {shown(cls)}, which is not a subclass of harness.Bot.")
    # Not by making an object: a constructor may load a network, and this runs at every start.
    try:
        signature(cls).bind()
    except TypeError:
        raise PluginError(f"bot {cls.__name__} needs arguments: arena makes its objects, without any.") from None
    except ValueError:  # Python does not know what it takes
        pass
    if cls.choose is Bot.choose or not callable(cls.choose):
        raise PluginError(f"bot {cls.__name__} has no choose() method.")
    choose = getattr_static(cls, "choose")
    if isfunction(choose):
        try:
            # Not what a decorator wraps: that may take more arguments than the referee gives.
            takes = signature(choose, follow_wrapped=False)
            takes.bind(None, None, None)
        except TypeError:
            raise PluginError(
                f"bot {cls.__name__}: write def choose(self, view, actions), as it is called, not choose{takes}."
            ) from None


def check_game_class(cls: Any) -> None:
    """Raise PluginError unless this is a complete subclass of harness.Game with valid declarations."""
    if not (isinstance(cls, type) and issubclass(cls, Game)):
        raise PluginError(f"arena_games() offers {shown(cls)}, which is not a subclass of harness.Game.")
    missing = [name for name in ("imagine", "new", "render") if getattr(cls, name) is getattr(Game, name)]
    if missing:
        raise PluginError(f"game {cls.__name__} does not define {', '.join(missing)}.")
    for attribute in ("name", "title", "version", "min_players", "max_players", "view_type"):
        if not hasattr(cls, attribute):
            raise PluginError(f"game {cls.__name__} does not say its {attribute}.")
    if not is_name(cls.name):
        raise PluginError(
            f"game {cls.__name__} is called {shown(cls.name)}: choose a name like {kebab(cls.__name__)!r}."
        )
    owner = f"game {cls.name}"
    for attribute, text in (("title", cls.title), ("version", cls.version)):
        if not is_line(text):
            raise PluginError(f"{owner}: {attribute} is {shown(text)}; write a short text.")
    low, high = cls.min_players, cls.max_players
    if type(low) is not int or type(high) is not int or not 1 <= low <= high:
        raise PluginError(f"{owner} is for {shown(low)} to {shown(high)} players; write two whole numbers from 1 on.")
    check_options(owner, cls.options)


def check_format(offered: Any) -> None:
    """Raise PluginError unless this is a harness.Format with a name that can be typed."""
    if not isinstance(offered, Format):
        raise PluginError(f"arena_formats() offers {shown(offered)}, which is not a harness.Format.")
    if not is_name(offered.name):
        raise PluginError(f"a format is called {shown(offered.name)}: choose a plain word.")
    check_options(f"format {offered.name}", offered.options)


def check_options(owner: str, options: Any) -> None:
    """Raise PluginError for invalid options."""
    if not isinstance(options, tuple | list) or len(options) > MAX_DECLARED_ITEMS:
        raise PluginError(f'{owner}: options is {shown(options)}; write options = (Option("depth", 3, "how far"),).')
    known: set[str] = set()
    for option in options:
        if not isinstance(option, Option):
            raise PluginError(f"{owner}: {shown(option)} among its options is not a harness.Option.")
        if not is_name(option.name):
            raise PluginError(f"{owner}: an option is called {shown(option.name)}: choose a plain word.")
        if option.name in known:
            raise PluginError(f"{owner}: there are two options {option.name}.")
        known.add(option.name)
        if option.kind not in get_args(OptionKind):
            kinds = ", ".join(get_args(OptionKind))
            raise PluginError(f"{owner}: option {option.name} is of kind {shown(option.kind)}; choose from: {kinds}.")
        _check_option(f"{owner}: option {option.name}", option)
    if options:
        check_defaults(owner, options)


def _check_option(owner: str, option: Any) -> None:
    if not isinstance(option.help, str):
        raise PluginError(f"{owner} has the help {shown(option.help)}, which is not text.")
    if not isinstance(option.choices, tuple | list) or len(option.choices) > MAX_DECLARED_ITEMS:
        raise PluginError(f"{owner} has the choices {shown(option.choices)}; write a tuple of a few values.")
    for value in (option.default, *option.choices):
        if not _is_value(value):
            raise PluginError(f"{owner} has {shown(value)} as default or choice; give a number, bool or short text.")
    for bound in (option.minimum, option.maximum):
        if bound is not None and not (_is_value(bound) and isinstance(bound, int | float)):
            raise PluginError(f"{owner} has {shown(bound)} as minimum or maximum, which is not a number.")


def _check_texts(
    owner: str, attribute: str, value: Any, fits: Callable[[object], bool], wanted: tuple[str, str]
) -> None:
    what, example = wanted
    if isinstance(value, str):
        given = value if fits(value) else example
        raise PluginError(f'{owner}: {attribute} is a string; write {attribute} = ("{given}",).')
    if not isinstance(value, tuple | list) or len(value) > MAX_DECLARED_ITEMS or not all(map(fits, value)):
        raise PluginError(f'{owner}: {attribute} is {shown(value)}; name {what}: {attribute} = ("{example}",).')


def is_name(text: object) -> bool:
    """Return whether this can be the name of a bot, a game or an option: it can be typed and printed."""
    return (
        isinstance(text, str)
        and len(text) <= MAX_NAME_CHARS
        and NAME.fullmatch(text) is not None
        and text.isprintable()  # no escapes, no letters without width, none that reverse the others
    )


def is_line(text: object) -> bool:
    """Return whether this is a short line that a table, a page and a terminal can show."""
    return (
        isinstance(text, str)
        and 0 < len(text) <= MAX_TEXT_CHARS
        and text.isprintable()
        and not any(letter in "<>|" for letter in text)
    )


def _is_file_name(text: object) -> bool:
    """Return whether this names a file in the folder of a bot or below it."""
    return (
        isinstance(text, str)
        and is_line(text)
        and "\\" not in text
        and not PurePosixPath(text).is_absolute()
        and ".." not in PurePosixPath(text).parts
    )


def _is_value(value: object) -> bool:
    if isinstance(value, str):
        return len(value) <= MAX_TEXT_CHARS and value.isprintable()
    return isinstance(value, int | float) and abs(value) < MAX_OPTION_NUMBER  # this excludes infinity and nan, too


def shown(thing: object) -> str:
    """Return any object as short printable text for a message."""
    text = safe_repr(thing)
    return printable(text, MAX_QUOTED_CHARS) + ("..." if len(text) > MAX_QUOTED_CHARS else "")
