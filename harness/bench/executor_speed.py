"""What executors cost: matches a second in a bare loop, in the serial executor, and in worker processes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter, process_time
from typing import Any

from harness.bench.engine_speed import UNIFORM
from harness.core.game import Game
from harness.core.types import MatchSpec
from harness.executors import Executor, Job, Roster
from harness.executors.jobs import Lines
from harness.executors.local import LocalPool
from harness.executors.serial import SerialExecutor
from harness.match.referee import play
from harness.match.time_limits import NO_LIMITS
from harness.runs.run_files import RecordFile
from harness.runs.store import GAMES

ROUNDS = 3
"""Each way is measured this often in turn, and its best round counts: a disturbance slows one round, not all."""


def measure_executors(game: Game[Any], players: int, workers: int, seconds: float) -> dict[str, float]:
    """Matches a second of each way to play, with random bots, and the ratios that matter."""
    roster = Roster({game.name: game}, {"uniform": UNIFORM})
    share = seconds / ROUNDS / 4
    best = dict.fromkeys(("bare", "serial", "one", "many"), 0.0)
    parent, each = 1.0, 0.0
    for _ in range(ROUNDS):
        best["bare"] = max(best["bare"], _bare(game, players, share))
        best["serial"] = max(best["serial"], executor_rate(SerialExecutor(roster), game, players, share)[0])
        with LocalPool(roster, NO_LIMITS, 1) as one:
            best["one"] = max(best["one"], executor_rate(one, game, players, share)[0])
        with LocalPool(roster, NO_LIMITS, workers) as many:
            rate, used = executor_rate(many, game, players, share)
        if rate > best["many"]:
            best["many"], parent, each = rate, used, 1e6 * used / rate
    return {
        "bare referee, matches/s": best["bare"],
        "serial executor, matches/s": best["serial"],
        "1 worker, matches/s": best["one"],
        f"{workers} workers, matches/s": best["many"],
        "serial executor against bare": best["serial"] / best["bare"],
        f"{workers} workers against 1": best["many"] / best["one"],
        "parent's share of a core": parent,
        "parent's microseconds a match": each,
    }


def bench_jobs(game: Game[Any], players: int, bot: str = "uniform") -> Iterator[Job]:
    """Matches without end, of this bot with itself."""
    settings, seats = dict(game.settings), (bot,) * players
    number = 0
    while True:
        number += 1
        yield Job(MatchSpec.single(f"bench-{number}", game.name, settings, number, seats, index=number))


def _bare(game: Game[Any], players: int, seconds: float) -> float:
    jobs = bench_jobs(game, players)
    began = perf_counter()
    played = _until(lambda: play(next(jobs).spec, game, [UNIFORM] * players), seconds)
    return played / (perf_counter() - began)


def executor_rate(
    executor: Executor, game: Game[Any], players: int, seconds: float, bot: str = "uniform", warm: float | None = None
) -> tuple[float, float]:
    """Matches a second once it is under way (for `warm` seconds, or a quarter of the time), written to a file as in a
    run, and the share of a core that this process used meanwhile."""
    with TemporaryDirectory() as folder:
        path, kept = Path(folder) / GAMES, count()
        path.touch()
        file = RecordFile(path, summed=True)

        def keep(lines: Lines) -> None:
            file.append(line for line, _ in lines)
            for _ in lines:
                next(kept)

        running = executor.run(bench_jobs(game, players, bot), keep)
        _until(running.__next__, seconds / 4 if warm is None else warm)
        first, began, used = next(kept), perf_counter(), process_time()
        _until(running.__next__, seconds)
        spent, used = perf_counter() - began, process_time() - used
        file.close()
    return (next(kept) - first) / spent, used / spent


def _until(step: Callable[[], object], seconds: float) -> int:
    began, steps = perf_counter(), 0
    while perf_counter() - began < seconds:
        step()
        steps += 1
    return steps
