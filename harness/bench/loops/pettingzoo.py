"""PettingZoo's loop: a classic environment, agent by agent, an action from the mask of what is legal."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from importlib.metadata import version
from random import Random

import numpy


def prepare(workload: str) -> Callable[[int], int]:
    """An environment by its module, as in "leduc_holdem_v4"; its deals continue from one match to the next."""
    env = import_module(f"pettingzoo.classic.{workload}").env()
    env.reset(seed=1)

    def match(seed: int) -> int:
        random, choices = Random(seed).random, 0
        env.reset()
        for _ in env.agent_iter():
            observation, _, terminated, truncated, _ = env.last()
            if terminated or truncated:
                env.step(None)
                continue
            legal = numpy.flatnonzero(observation["action_mask"])
            choices += len(legal) > 1
            env.step(int(legal[int(random() * len(legal))]))
        return choices

    return match


def versions() -> dict[str, str]:
    """Of what is measured, and of what deals its cards."""
    return {"pettingzoo": version("pettingzoo"), "rlcard": version("rlcard")}
