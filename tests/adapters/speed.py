"""How fast the adapters are, as ratios in alternating pairs: python -m tests.adapters.speed

aec: steps of random agents with encoded observations, beside PettingZoo's texas_holdem_v4, which needs
`pip install 'pettingzoo[classic]'`. encoding: its time, divided by that of views and steps in the same random matches.
processes: AsyncVectorEnv with two environments beside one. The first two are seconds of processor time on one core. The
last one is by the clock, because processes play at the same time: it needs a machine that does nothing else.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Callable, Iterator
from importlib import import_module
from itertools import count
from random import Random
from statistics import median
from time import perf_counter, process_time
from typing import Any

import gymnasium
import numpy as np

from harness import Chance, Game, encoding_of
from harness.adapters import pettingzoo as arena_zoo
from harness.plugins.registry import load

GAMES = [offer.cls for _, offer in sorted(load().games.items())]
NAME = "harness.adapters.gymnasium:Arena-v0"
WARM_UP_MATCHES = 100

Loop = Callable[[float], float]
"""Runs for about this many seconds and returns steps a second."""


def compare(ours: Loop, theirs: Loop, pairs: int, seconds: float) -> str:
    """Return how many times as many steps a second ours makes: median, minimum and maximum of the pairs."""
    ours(seconds), theirs(seconds)
    ratios = []
    for number in range(pairs):
        turns = [ours, theirs] if number % 2 else [theirs, ours]
        found = {loop: loop(seconds) for loop in turns}
        ratios.append(found[ours] / found[theirs])
    return f"{median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})"


def agent_by_agent(env: Any, seeded: bool) -> Loop:
    """Random actions from the mask, in the loop that PettingZoo's pages show; `seeded` gives a seed to every match."""
    env.reset(seed=1)
    seeds = count()

    def run(seconds: float) -> float:
        random, steps, began = Random(1).random, 0, process_time()
        while (spent := process_time() - began) < seconds:
            env.reset(seed=next(seeds) if seeded else None)
            for _ in env.agent_iter():
                observation, _, terminated, truncated, _ = env.last()
                if terminated or truncated:
                    env.step(None)
                    continue
                legal = np.flatnonzero(observation["action_mask"])
                env.step(int(legal[int(random() * len(legal))]))
                steps += 1
        return steps / spent

    return run


def encoding_share(game: Game[Any], players: int, name: Any, seconds: float) -> float:
    """Return the time that encoding takes, divided by that of views and steps, in matches that were not seen before."""
    array, rng = encoding_of(game, players, name, scaled=True).array, Random(1)

    def play(codes: list[int], encode: Callable[[Any], Any]) -> float:
        state, began = game.new(players, Chance(deal)), process_time()
        for code in codes:
            if len(state.legal) > 1:
                encode(state.view(state.seat))
            state.step(game.actions[code])
        return process_time() - began

    basis = whole = 0.0
    for deal in count():
        state, codes = game.new(players, Chance(deal)), list[int]()
        while legal := state.legal:
            codes.append(legal[int(rng.random() * len(legal))].code)
            state.step(game.actions[codes[-1]])
        without, with_it = play(codes, id), play(codes, array)
        if deal >= WARM_UP_MATCHES:
            basis, whole = basis + without, whole + with_it
        if whole > seconds:
            return (whole - basis) / basis
    raise AssertionError


def in_processes(envs: Any) -> Loop:
    """Random actions from the masks, in all environments at once; by the clock."""
    _, info = envs.reset(seed=1)
    masks = info["action_mask"]

    def run(seconds: float) -> float:
        nonlocal masks
        random, steps, began = Random(1).random, 0, perf_counter()
        while (spent := perf_counter() - began) < seconds:
            legal = [np.flatnonzero(mask) for mask in masks]
            *_, info = envs.step([int(codes[int(random() * len(codes))]) if len(codes) else 0 for codes in legal])
            masks, steps = info["action_mask"], steps + envs.num_envs
        return steps / spent

    return run


def measure_aec(pairs: int, seconds: float) -> Iterator[str]:
    """Yield how many times as many steps a second our environments make as PettingZoo's poker."""
    poker = import_module("pettingzoo.classic.texas_holdem_v4")
    for seeded in (True, False):
        for form, ours in (("env", arena_zoo.env), ("raw_env", arena_zoo.ArenaEnv)):
            theirs = agent_by_agent(getattr(poker, form)(), seeded)
            for game in GAMES:
                found = compare(agent_by_agent(ours(game, 4), seeded), theirs, pairs, seconds)
                yield f"aec, {form}, {'a' if seeded else 'no'} seed for each match, {game.name}: {found}"


def measure_encoding(_pairs: int, seconds: float) -> Iterator[str]:
    """Yield the time of encoding over that of views and steps."""
    for name in ("compact", "generic"):
        for cls in GAMES:
            for players in range(cls.min_players, cls.max_players + 1):
                found = encoding_share(cls.configure(), players, name, seconds)
                yield f"encoding, {name}, {cls.name}, {players} players: {found:.2f}"


def measure_processes(pairs: int, seconds: float) -> Iterator[str]:
    """Yield how many times as many steps a second two processes make as one."""
    for cls in GAMES:

        def make(game: str = cls.name) -> Any:
            return gymnasium.make(NAME, game=game, opponents=["random", "random"])

        one, two = (gymnasium.vector.AsyncVectorEnv([make] * number) for number in (1, 2))
        yield f"processes, {cls.name}: {compare(in_processes(two), in_processes(one), pairs, seconds)}"
        one.close(), two.close()


MEASURES = {"aec": measure_aec, "encoding": measure_encoding, "processes": measure_processes}


def main() -> None:
    """Print the ratios that are asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", nargs="*", choices=[*MEASURES, []], help="default: all")
    parser.add_argument("--pairs", type=int, default=9)
    parser.add_argument("--seconds", type=float, default=1.0, help="of each loop in each pair")
    asked = parser.parse_args()
    warnings.simplefilter("ignore")  # Gymnasium's about arrays in infos
    for name in asked.what or MEASURES:
        try:
            for line in MEASURES[name](asked.pairs, asked.seconds):
                print(line, flush=True)  # noqa: T201 - a script
        except ImportError as error:
            print(f"{name} is not measured: {error}", file=sys.stderr)  # noqa: T201 - a script


if __name__ == "__main__":
    main()
