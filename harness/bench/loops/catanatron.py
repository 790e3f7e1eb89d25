"""Catanatron's loop: four random players at its own table, each given the whole game, as it gives it to bots."""

from __future__ import annotations

from collections.abc import Callable
from importlib.metadata import version
from random import Random
from typing import Any

from catanatron import Color, Game, RandomPlayer


def prepare(_workload: str) -> Callable[[int], int]:
    """The base game, to the end."""

    def match(seed: int) -> int:
        random, choices = Random(seed).random, 0

        def decide(_player: Any, _game: Any, actions: Any) -> Any:
            nonlocal choices
            choices += len(actions) > 1
            return actions[int(random() * len(actions))]

        Game([RandomPlayer(color) for color in Color], seed=seed).play(decide_fn=decide)
        return choices

    return match


def versions() -> dict[str, str]:
    """Of what is measured."""
    return {"catanatron": version("catanatron")}
