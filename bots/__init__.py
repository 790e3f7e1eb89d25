"""The bundled bots, one in each file. They use only what a plugin of another package could use."""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules

from harness import Bot, hookimpl


@hookimpl
def arena_bots() -> list[type[Bot]]:
    """Return every bot in this folder."""
    modules = [import_module(f"{__name__}.{module.name}") for module in iter_modules(__path__)]
    return [
        cls
        for module in modules
        for cls in vars(module).values()
        if isinstance(cls, type) and issubclass(cls, Bot) and cls.__module__ == module.__name__
    ]
