"""Native pools get one thread in a worker and in an isolated bot, unless the run says otherwise."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from tests.support.cli import arena

TELLS = """
import os
import numpy as np
import harness

np.ones((300, 300)) @ np.ones((300, 300))  # so that the pool has its threads

class Tells(harness.Bot):
    games = ("el-paso",)
    def choose(self, view, actions):
        self.note([os.environ.get("OMP_NUM_THREADS"), len(os.listdir("/proc/self/task"))])
        return actions[0]
"""


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="needs /proc to count threads")
@pytest.mark.parametrize("isolate", ["off", "on"])
@pytest.mark.parametrize("threads", [None, 2])
def test_bots_get_the_number_of_threads_of_the_run(tmp_path, monkeypatch, threads, isolate):
    monkeypatch.chdir(tmp_path)
    Path("tells.py").write_text(TELLS)
    chosen = [] if threads is None else ["--threads", threads]
    arena("tournament", "--game", "el-paso", "--bot", "tells.py", "--bot", "random", "--deals", 1, "--seed", 1,
          "--workers", 1, "--isolate", isolate, "--name", "a", "--strict", *chosen)  # fmt: skip
    lines = Path("results/a/notes.jsonl").read_text().splitlines()
    told = [said for line in lines for note in json.loads(line)["notes"] for said in note["said"]]
    expected = 1 if threads is None else min(threads, os.cpu_count() or 1)
    assert {tuple(said) for said in told} == {(str(threads or 1), expected)}
