"""RLCard's loop: an environment, whose step gives what the next seat may know."""

from __future__ import annotations

from collections.abc import Callable
from importlib.metadata import version
from random import Random

import rlcard


def prepare(workload: str) -> Callable[[int], int]:
    """An environment by its name, as in "uno"; its deals continue from one match to the next."""
    env = rlcard.make(workload, {"seed": 1})

    def match(seed: int) -> int:
        random, choices = Random(seed).random, 0
        state, _ = env.reset()
        while not env.is_over():
            legal = list(state["legal_actions"])
            choices += len(legal) > 1
            state, _ = env.step(legal[int(random() * len(legal))])
        return choices

    return match


def versions() -> dict[str, str]:
    """Of what is measured."""
    return {"rlcard": version("rlcard")}
