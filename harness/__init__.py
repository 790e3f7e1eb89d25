"""Arena: tournaments for bots at hidden-information board games.

This is what plugin authors import; everything else in `harness` is internal. Names load on first use, so
importing `harness` costs next to nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from harness._version import VERSION as __version__  # noqa: N811 - the name that Python looks for
    from harness.bot import Bot
    from harness.chance import Chance
    from harness.components import bundled, read_components
    from harness.errors import ArenaError, BadComponents, BadOption, IllegalAction, UsageError
    from harness.game import NOBODY, Action, Game, State, View
    from harness.hookspecs import hookimpl
    from harness.plugins import bot_named
    from harness.types import Event, GameRecord, MatchSpec, Option, ranks_of

__all__ = [
    "NOBODY",
    "Action",
    "ArenaError",
    "BadComponents",
    "BadOption",
    "Bot",
    "Chance",
    "Event",
    "Game",
    "GameRecord",
    "IllegalAction",
    "MatchSpec",
    "Option",
    "State",
    "UsageError",
    "View",
    "__version__",
    "bot_named",
    "bundled",
    "hookimpl",
    "ranks_of",
    "read_components",
]

_HOME = {
    "NOBODY": "game",
    "Action": "game",
    "ArenaError": "errors",
    "BadComponents": "errors",
    "BadOption": "errors",
    "Bot": "bot",
    "Chance": "chance",
    "Event": "types",
    "Game": "game",
    "GameRecord": "types",
    "IllegalAction": "errors",
    "MatchSpec": "types",
    "Option": "types",
    "State": "game",
    "UsageError": "errors",
    "View": "game",
    "bot_named": "plugins",
    "bundled": "components",
    "hookimpl": "hookspecs",
    "ranks_of": "types",
    "read_components": "components",
}


def __getattr__(name: str) -> object:
    if name == "__version__":
        from harness._version import VERSION

        return VERSION
    if name not in _HOME:
        raise AttributeError(f"module 'harness' has no attribute {name!r}")
    value: object = getattr(import_module(f"harness.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
