"""What executors cost: matches a second in a bare loop, in the serial executor, and in worker processes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from time import perf_counter, process_time
from typing import Any

from harness.bench.engine_speed import UNIFORM
from harness.core.game import Game
from harness.core.types import MatchSpec
from harness.executors import Executor, Job, Roster
from harness.executors.local import LocalPool
from harness.executors.serial import SerialExecutor
from harness.match.referee import NO_LIMITS, play

ROUNDS = 3
"""Each way is measured this often in turn, and its best round counts: a disturbance slows one round, not all."""


def measure_executors(game: Game[Any], players: int, workers: int, seconds: float) -> dict[str, float]:
    """Matches a second of each way to play, with random bots, and the ratios that matter."""
    roster = Roster({game.name: game}, {"uniform": UNIFORM})
    share = seconds / ROUNDS / 4
    best = dict.fromkeys(("bare", "serial", "one", "many"), 0.0)
    parent = 1.0
    for _ in range(ROUNDS):
        best["bare"] = max(best["bare"], _bare(game, players, share))
        best["serial"] = max(best["serial"], _rate(SerialExecutor(roster), game, players, share)[0])
        with LocalPool(roster, NO_LIMITS, 1) as one:
            best["one"] = max(best["one"], _rate(one, game, players, share)[0])
        with LocalPool(roster, NO_LIMITS, workers) as many:
            rate, used = _rate(many, game, players, share)
        if rate > best["many"]:
            best["many"], parent = rate, used
    return {
        "bare referee, matches/s": best["bare"],
        "serial executor, matches/s": best["serial"],
        "1 worker, matches/s": best["one"],
        f"{workers} workers, matches/s": best["many"],
        "serial executor against bare": best["serial"] / best["bare"],
        f"{workers} workers against 1": best["many"] / best["one"],
        "parent's share of a core": parent,
    }


def _jobs(game: Game[Any], players: int) -> Iterator[Job]:
    settings, seats = dict(game.settings), ("uniform",) * players
    number = 0
    while True:
        number += 1
        yield Job(MatchSpec.single(f"bench-{number}", game.name, settings, number, seats, index=number))


def _bare(game: Game[Any], players: int, seconds: float) -> float:
    jobs = _jobs(game, players)
    began = perf_counter()
    played = _until(lambda: play(next(jobs).spec, game, [UNIFORM] * players), seconds)
    return played / (perf_counter() - began)


def _rate(executor: Executor, game: Game[Any], players: int, seconds: float) -> tuple[float, float]:
    """Matches a second once it is under way, and the share of a core that this process used meanwhile."""
    running = executor.run(_jobs(game, players))
    _until(running.__next__, seconds / 4)
    began, used = perf_counter(), process_time()
    played = _until(running.__next__, seconds)
    spent = perf_counter() - began
    return played / spent, (process_time() - used) / spent


def _until(step: Callable[[], object], seconds: float) -> int:
    began, steps = perf_counter(), 0
    while perf_counter() - began < seconds:
        step()
        steps += 1
    return steps
