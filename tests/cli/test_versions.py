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


def test_two_bot_files_with_the_same_name_can_be_compared():
    said = arena("compare", "sprinter.py", "old/sprinter.py", "--game", "el-paso", "--seed", 1, "--most", 4).stdout
    assert "el-paso (sprinter, old.sprinter)" in said
    Path("before.py").write_text(Path("old/sprinter.py").read_text())
    said = arena("compare", "sprinter.py", "before.py", "--game", "el-paso", "--seed", 1, "--most", 4).stdout
    assert "el-paso (sprinter, before)" in said


def test_bots_come_from_a_list_file_and_the_candidate_may_be_a_file_or_a_name():
    Path("field.txt").write_text("# rivals\nrandom\nold/sprinter.py\n")
    bots = ("--bot", "@field.txt", "--bot", "sprinter.py", "--players", 2, "--format", "gauntlet")
    for candidate in ("old/sprinter.py", "old.sprinter"):
        records = played(f"g-{len(candidate)}", *bots, "--candidate", candidate)
        assert all("old.sprinter" in record.seats for record in records.values())


def test_a_broken_file_in_a_bot_folder_is_reported_and_skipped():
    Path("old/broken.py").write_text("raise SystemExit\n")
    bots = ("tournament", "--game", "el-paso", "--bot", "old", "--bot", "random", "--deals", 1)
    said = arena(*bots).stderr
    assert said.count("Warning: old/broken.py cannot be loaded: SystemExit") == 1
    assert "old/broken.py cannot be loaded" in arena(*bots, "--strict", code=2).stderr


def test_a_source_change_under_the_same_declared_version_is_detected_on_resume():
    write("sprinter.py", "0", 'version = "1"')
    played("a", "--bot", "sprinter.py", "--bot", "random")
    games = Path("results/a/games.jsonl")
    games.write_bytes(games.read_bytes().splitlines(keepends=True)[0])
    write("sprinter.py", "-1", 'version = "1"')
    said = arena("tournament", "--resume", "a", code=2).stderr
    assert "the source of the bot sprinter has been changed" in said
    arena("tournament", "--resume", "a", "--force")
    said = arena("verify", "a", code=1).stdout
    assert "Not all of its records may be of the same bots" in said
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


def test_workers_use_the_bot_source_from_the_start_of_the_run():
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


def test_a_bots_table_in_a_config_file_names_the_bots():
    Path("run.toml").write_text(
        'games = ["el-paso"]\ndeals = 1\nseed = 1\nname = "a"\nplayers = 2\n'
        '[bots]\nv1 = "old/sprinter.py"\nv2 = "sprinter.py"\n'
    )
    arena("tournament", "run.toml")
    seats = {name for record in RunFolder.open(Path("results/a")).records() for name in record.seats}
    assert seats == {"v1", "v2"}


def test_bot_data_changed_during_a_run_is_reported():
    Path("weights.txt").write_text("1")
    Path("reads.py").write_text(
        "from pathlib import Path\nimport harness\nWEIGHTS = Path(__file__).with_name('weights.txt')\n"
        "class Reads(harness.Bot):\n    games, files = ('el-paso',), ('weights.txt',)\n"
        "    def start(self): WEIGHTS.write_text('2')\n"
        "    def choose(self, view, actions): return actions[0]\n"
    )
    result = arena(
        "tournament", "--game", "el-paso", "--bot", "reads.py", "--bot", "random", "--deals", 1, "--name", "a"
    )
    assert "the data of the bot reads was changed during the run" in result.stderr
    assert "the data of the bot reads was changed" in arena("verify", "a", code=1).stdout


PACKAGE = """
import os
import harness

class Fickle(harness.Bot):
    games = ("el-paso",)
    def choose(self, view, actions):
        self.note("{text}")
        if view.town == 2:
            os._exit(1)
        return actions[0]

@harness.hookimpl
def arena_bots():
    return [Fickle]
"""


def test_a_replacement_worker_does_not_load_an_edited_package(tmp_path, monkeypatch):
    """A worker that replaces another would play the new text under the old name."""
    from harness.core.records import MatchSpec
    from harness.executors.base import Job, Roster
    from harness.executors.pool import LocalPool
    from harness.match.faults import NO_LIMITS
    from harness.plugins.registry import load

    Path("fickle_bot.py").write_text(PACKAGE.format(text="old"))
    monkeypatch.syspath_prepend(str(tmp_path))
    import fickle_bot  # an editable install is found like this

    registry = load()
    registry.add(fickle_bot, "fickle-bot", "1")
    game = registry.game("el-paso").configure()
    entrants = registry.entrants(["fickle", "random"])
    specs = [MatchSpec(f"m{i}", i, f"s{i}", "el-paso", dict(game.settings), i, ("fickle", "random")) for i in range(3)]
    noted = b""
    with LocalPool(Roster({"el-paso": game}, {e.name: e for e in entrants}), NO_LIMITS, 1) as pool:
        for played in pool.run(map(Job, specs)):
            noted += played.notes
            Path("fickle_bot.py").write_text(PACKAGE.format(text="new"))
    assert b"new" not in noted
    sys.modules.pop("fickle_bot")


def test_the_suggested_ask_command_of_a_crashing_bot_terminates():
    Path("bad.py").write_text(
        "import os, time, harness\nclass Bad(harness.Bot):\n    games = ('el-paso',)\n"
        "    def choose(self, view, actions):\n        if view.town == 1: os._exit(3)\n        return actions[0]\n"
    )
    said = arena("tournament", "--game", "el-paso", "--bot", "bad.py", "--bot", "random", "--deals", 1, "--name", "a")
    [command] = [line for line in said.stderr.splitlines() if "once fixed:" in line]
    words = command.split("once fixed:")[1].split()
    assert words[-2:] == ["--isolate", "on"]
    assert "its process ended: exit code 3" in arena(*words[1:], code=1).stdout
