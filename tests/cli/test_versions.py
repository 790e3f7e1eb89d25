"""Versions of a bot side by side on the command line, and what a run knows about the texts of its bots."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from harness.runs.store import RunFolder
from tests.support.cli import arena
from tests.support.waiting import PATIENCE, wait_for

BOT = """
import harness

class Sprinter(harness.Bot):
    games = ("el-paso",)
    {more}
    def choose(self, view, actions):
        return actions[{choice}]
"""


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "old").mkdir()
    write("sprinter.py", "0")
    write("old/sprinter.py", "-1")
    return tmp_path


def write(path, choice, more="pass"):
    Path(path).write_text(BOT.format(choice=choice, more=more))


def played(name, *args, **options):
    arena("tournament", "--game", "el-paso", "--deals", 1, "--seed", 1, "--name", name, *args, **options)
    return {record.id: record for record in RunFolder.open(Path("results") / name).records()}


def test_versions_play_each_other_in_workers_and_isolated():
    bots = ("--bot", "v1=old/sprinter.py", "--bot", "v2=sprinter.py", "--bot", "v3=skittish:stars=4", "--players", 2)
    plain = [played(f"a{place}", *bots, *place) for place in ((), ("--workers", "0"), ("--isolate", "on"))]
    records = [{key: record.without_timing() for key, record in one.items()} for one in plain]
    assert records[0] == records[1] == records[2]
    assert {name for record in records[0].values() for name in record.seats} == {"v1", "v2", "v3"}
    assert not any(record.faults for record in records[0].values())


def test_two_versions_are_compared_without_further_ado():
    said = arena("compare", "sprinter.py", "old/sprinter.py", "--game", "el-paso", "--seed", 1, "--most", 4).stdout
    assert "el-paso (sprinter, old.sprinter)" in said


def test_a_list_of_a_field_and_the_candidate_of_a_gauntlet():
    Path("field.txt").write_text("# rivals\nrandom\nold/sprinter.py\n")
    bots = ("--bot", "@field.txt", "--bot", "sprinter.py", "--players", 2, "--format", "gauntlet")
    for candidate in ("old/sprinter.py", "old.sprinter"):
        records = played(f"g-{len(candidate)}", *bots, "--candidate", candidate)
        assert all("old.sprinter" in record.seats for record in records.values())


def test_a_bot_that_declares_a_version_cannot_be_rewritten_in_the_middle_of_a_run():
    write("sprinter.py", "0", 'version = "1"')
    played("a", "--bot", "sprinter.py", "--bot", "random")
    games = Path("results/a/games.jsonl")
    games.write_bytes(games.read_bytes().splitlines(keepends=True)[0])
    write("sprinter.py", "-1", 'version = "1"')
    said = arena("tournament", "--resume", "a", code=2).stderr
    assert "the source of the bot sprinter has been changed" in said
    arena("tournament", "--resume", "a", "--force")
    said = arena("verify", "a", code=1).stdout
    assert "It was continued although the source of the bot sprinter has been changed" in said
    assert json.loads(Path("results/a/run.json").read_text())["forced"]


SLOW = """
import time
import harness

class Slow(harness.Bot):
    games = ("el-paso",)
    def choose(self, view, actions):
        time.sleep(0.002)
        return actions[0]

class Killer(harness.Bot):
    games = ("el-paso",)
    def choose(self, view, actions):
        import os
        os._exit(1)
"""


def test_workers_play_what_was_there_when_the_run_began():
    """Also those that begin later, in the place of one that a bot has ended."""
    Path("slow.py").write_text(SLOW)
    run = subprocess.Popen(
        [sys.executable, "-m", "harness", "tournament", "--game", "el-paso", "--bot", "slow.py", "--bot", "random",
         "--deals", "3", "--players", "2", "--seed", "1", "--workers", "1", "--name", "a"],
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip
    games = Path("results/a/games.jsonl")
    wait_for(lambda: games.exists() and games.read_bytes(), "the first match", 5 * PATIENCE)
    Path("slow.py").write_text("raise RuntimeError('edited in the middle of the run')\n")
    try:
        _, err = run.communicate(timeout=10 * PATIENCE)
    finally:
        if run.poll() is None:
            os.killpg(run.pid, signal.SIGKILL)
    assert run.returncode == 0, err
    faults = [fault for record in RunFolder.open(Path("results/a")).records() for fault in record.faults]
    assert {fault.kind for fault in faults} == {"crash"}, "workers were replaced, and nobody loaded the new text"
