"""What a plugin offers must be what it says: each check raises PluginError with what to mend."""

from __future__ import annotations

import re
from collections.abc import Iterable
from inspect import isabstract
from typing import Any, get_args

from harness.core.bot import Bot, kebab
from harness.core.errors import PluginError
from harness.core.format import Format
from harness.core.game import Game
from harness.core.types import Option, OptionKind

_NAME = re.compile(r"[^\s:,=/\\|<>\x00-\x1f\x7f]{1,300}")


def check_bot_class(cls: Any) -> None:
    """A bot is a subclass of harness.Bot with a choose() method and a name that can be typed."""
    if not (isinstance(cls, type) and issubclass(cls, Bot)):
        raise PluginError(f"arena_bots() offers {cls!r}, which is not a subclass of harness.Bot.")
    if cls.choose is Bot.choose:
        raise PluginError(f"bot {cls.__name__} has no choose() method.")
    name: object = cls.name
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise PluginError(
            f"bot {cls.__name__} is called {name!r}: a name has no spaces, colons, commas, equals signs, "
            f"slashes, bars or angle brackets, like {kebab(cls.__name__)!r}."
        )
    if isinstance(cls.games, str):
        raise PluginError(f'bot {cls.name}: games is a string; write games = ("{cls.games}",).')
    _check_options(f"bot {cls.name}", cls.options)


def check_game_class(cls: Any) -> None:
    """A game is a complete subclass of harness.Game that says what it is."""
    if not (isinstance(cls, type) and issubclass(cls, Game)):
        raise PluginError(f"arena_games() offers {cls!r}, which is not a subclass of harness.Game.")
    if isabstract(cls):
        missing = ", ".join(sorted(cls.__abstractmethods__))
        raise PluginError(f"game {cls.__name__} does not define {missing}.")
    for attribute in ("name", "title", "version", "min_players", "max_players", "view_type"):
        if not hasattr(cls, attribute):
            raise PluginError(f"game {cls.__name__} does not say its {attribute}.")
    if not _NAME.fullmatch(str(cls.name)):
        raise PluginError(f"game {cls.__name__} is called {cls.name!r}: choose a name like {kebab(cls.__name__)!r}.")
    _check_options(f"game {cls.name}", cls.options)


def check_format(offered: Any) -> None:
    """A format is a harness.Format with a name that can be typed."""
    if not isinstance(offered, Format):
        raise PluginError(f"arena_formats() offers {offered!r}, which is not a harness.Format.")
    if not _NAME.fullmatch(offered.name):
        raise PluginError(f"a format is called {offered.name!r}: choose a plain word.")
    _check_options(f"format {offered.name}", offered.options)


def _check_options(owner: str, options: Iterable[Option]) -> None:
    for option in options:
        if option.kind not in get_args(OptionKind):
            kinds = ", ".join(get_args(OptionKind))
            raise PluginError(f"{owner}: option {option.name} is of kind {option.kind!r}; choose from: {kinds}.")
