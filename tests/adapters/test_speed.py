"""The script that measures the adapters' speed still plays what it measures."""

from __future__ import annotations

import pytest

from docs.examples.games.liars_dice import LiarsDice

gymnasium = pytest.importorskip("gymnasium", reason="needs Gymnasium: pip install 'arena-harness[gymnasium]'")
pytest.importorskip("pettingzoo", reason="needs PettingZoo: pip install 'arena-harness[pettingzoo]'")

from harness.adapters import pettingzoo as arena_zoo
from tests.adapters import speed


def test_each_loop_makes_steps():
    for seeded in (True, False):
        for make in (arena_zoo.env, arena_zoo.ArenaEnv):
            assert speed.agent_by_agent(make(LiarsDice, 3), seeded)(0.001) > 0
    envs = gymnasium.vector.SyncVectorEnv([lambda: gymnasium.make(speed.NAME, game="el-paso", opponents=["random"])])
    assert speed.in_processes(envs)(0.001) > 0
    assert speed.encoding_share(LiarsDice.configure(), 3, "generic", 0.001) > 0


def test_pairs_are_compared():
    assert speed.compare(lambda _seconds: 6.0, lambda _seconds: 3.0, pairs=3, seconds=0.0) == "2.00 (2.00 to 2.00)"
