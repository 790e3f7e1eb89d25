"""Memory stays flat: engines over many games, a pool and its workers over many matches."""

from __future__ import annotations

import gc
import os
from pathlib import Path

import pytest

from harness.core.records import MatchSpec
from harness.executors.base import Job, Roster
from harness.executors.pool import LocalPool
from harness.match.faults import NO_LIMITS
from harness.match.referee import play
from tests.support.games import REGISTRY, label, variants

[RANDOM] = REGISTRY.entrants(["random"])
PAGE = os.sysconf("SC_PAGE_SIZE")
ALLOWED = 4e6
"""Bytes by which a process may grow after its warm-up."""


def resident(pid: int | str = "self") -> int:
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * PAGE


def jobs(game, count):
    names = ("random",) * game.min_players
    for i in range(count):
        yield Job(MatchSpec(f"m{i}", i, "s", game.name, dict(game.settings), i, names))


def soak_engine(game, warm_up, games):
    for number, job in enumerate(jobs(game, warm_up + games)):
        play(job.spec, game, [RANDOM] * len(job.spec.seats))
        if number == warm_up:
            gc.collect()
            before = resident()
    gc.collect()
    assert resident() - before < ALLOWED


def soak_pool(matches):
    [game] = [game for game in variants() if label(game) == "el-paso-nl"]
    table = Roster({game.name: game}, {"random": RANDOM})
    with LocalPool(table, NO_LIMITS, 2) as pool:
        before = {}
        for number, _ in enumerate(pool.run(jobs(game, matches + 1000))):
            if number == 1000:
                before = {pid: resident(pid) for pid in ("self", *(worker.pid for worker in pool._workers.values()))}
        after = {pid: resident(pid) for pid in before}
    assert len(before) == 3
    assert all(after[pid] - before[pid] < ALLOWED for pid in before), (before, after)


@pytest.mark.parametrize("game", variants(), ids=label)
def test_an_engine_does_not_leak_memory(game):
    soak_engine(game, 60, 250)


@pytest.mark.slow
@pytest.mark.parametrize("game", variants(), ids=label)
def test_an_engine_does_not_leak_memory_in_20000_games(game):
    soak_engine(game, 1000, 20_000)


def test_a_pool_does_not_leak_memory():
    soak_pool(3000)


@pytest.mark.slow
def test_a_pool_does_not_leak_memory_in_100000_matches():
    soak_pool(99_000)
