"""Arena: tournaments for bots at hidden-information board games.

This is what plugin authors import; everything else in `harness` is internal. Names load on first use, so
importing `harness` costs next to nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from harness._version import VERSION as __version__  # noqa: N811 - the name that Python looks for
    from harness.core.bot import Bot
    from harness.core.chance import Chance
    from harness.core.components import bundled, read_components
    from harness.core.errors import ArenaError, BadComponents, BadOption, IllegalAction, UsageError
    from harness.core.game import NOBODY, Action, Game, State, View
    from harness.core.types import Event, GameRecord, MatchSpec, Option, ranks_of
    from harness.plugins.hooks import hookimpl
    from harness.plugins.registry import bot_named

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
    "NOBODY": "core.game",
    "Action": "core.game",
    "ArenaError": "core.errors",
    "BadComponents": "core.errors",
    "BadOption": "core.errors",
    "Bot": "core.bot",
    "Chance": "core.chance",
    "Event": "core.types",
    "Game": "core.game",
    "GameRecord": "core.types",
    "IllegalAction": "core.errors",
    "MatchSpec": "core.types",
    "Option": "core.types",
    "State": "core.game",
    "UsageError": "core.errors",
    "View": "core.game",
    "bot_named": "plugins.registry",
    "bundled": "core.components",
    "hookimpl": "plugins.hooks",
    "ranks_of": "core.types",
    "read_components": "core.components",
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
