"""A run is extended and killed in the middle: what was asked for is in its run.json, and --resume alone goes on."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import msgspec

from tests.e2e.test_survival import run, start, wait_while_it_runs
from tests.support.run_folders import records, table, written

FIELD = ["--game", "el-paso", "--game", "x-pasch", "--bot", "random", "--bot", "skittish", "--bot", "diehard",
         "--bot", "founder", "--bot", "raider", "--seed", 5, "--players", 3, "--workers", 2]  # fmt: skip


def test_a_killed_extension_of_a_run_resumes_and_ends_like_an_undisturbed_one():
    for name in ("a", "b"):
        assert run(*FIELD, "--deals", 4, "--name", name)[0] == 0
    more = ["--deals", 20, "--bot", "skittish:stars=3", "--bot", "hustler"]
    assert run("--resume", "b", *more)[0] == 0

    before = records("a")
    extending = start("--resume", "a", *more, "--workers", 1)
    wait_while_it_runs(extending, lambda: written("a") > len(before) + 20, "new matches are on disk")
    os.killpg(extending.pid, signal.SIGKILL)
    extending.communicate()
    halfway = records("a")
    asked = msgspec.json.decode(Path("results/a/run.json").read_bytes())
    assert asked["plan"]["deals"] == 20
    assert asked["finished"] == ""
    assert {name: one for name, one in halfway.items() if name in before} == before
    assert len(before) < len(halfway) < len(records("b"))

    code, _, said = run("--resume", "a")
    assert code == 0
    assert "is extended" not in said
    assert records("a") == records("b")
    assert table("a") == table("b")
