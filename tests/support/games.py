"""Every installed game with every variant worth testing on its own."""

from __future__ import annotations

from itertools import product
from typing import Any

from harness import Game
from harness.plugins.registry import load

REGISTRY = load()


def variants() -> list[Game[Any]]:
    """Each game with each combination of those of its options that have choices."""
    found = []
    for _, offer in sorted(REGISTRY.games.items()):
        choices = [[(option.name, value) for value in option.choices] for option in offer.cls.options if option.choices]
        found += [offer.cls.configure(dict(settings)) for settings in product(*choices)]
    return found


def label(game: Game[Any]) -> str:
    """`el-paso-nl`."""
    chosen = [str(game.settings[option.name]) for option in game.options if option.choices]
    return "-".join([game.name, *chosen])
