"""Disks that are full and files that are damaged: one sentence, an exit code, and no way to lose what was played."""

from __future__ import annotations

import errno
import os
import random
import shutil
from pathlib import Path

import pytest

from harness.runs import store
from tests.support.cli import arena

FOLDER = Path("results/a")
NOTER = """
from harness import Bot

class Noter(Bot):
    def choose(self, view, actions):
        self.note(len(actions))
        return actions[0]
"""
FIELD = ("--game", "el-paso", "--bot", "noter.py", "--bot", "random", "--deals", 1, "--seed", 5, "--workers", 0, "-q")


@pytest.fixture(autouse=True)
def _noter():
    Path("noter.py").write_text(NOTER)


def fill_the_disk(patch, file, after=0):
    """From now on nothing can be written to files of this name, once so much was written to them."""
    forced, write, written = os.fsync, os.write, [0]

    def path_of(descriptor):
        return Path(f"/proc/self/fd/{descriptor}").readlink().name

    def check(descriptor):
        if path_of(descriptor).startswith(file):
            written[0] += 1
            if written[0] > after:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def full_fsync(descriptor):
        check(descriptor)
        forced(descriptor)

    def full_write(descriptor, data):
        check(descriptor)
        return write(descriptor, data)

    patch.setattr(store.os, "fsync", full_fsync)
    patch.setattr(store.os, "write", full_write)


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="asks the system which file is written")
@pytest.mark.parametrize(
    ("file", "after"),
    [("run.json", 0), ("run.json", 1), ("notes.jsonl", 0), ("notes.jsonl", 1), ("games.jsonl", 1), ("games.jsonl", 2),
     ("leaderboard.md", 0), ("leaderboard.json", 0), ("leaderboard.csv", 0)],
)  # fmt: skip
def test_a_full_disk_is_reported_for_every_file_and_the_run_can_be_resumed(file, after):
    with pytest.MonkeyPatch.context() as patch:
        fill_the_disk(patch, file, after)
        said = arena("tournament", *FIELD, "--name", "a", code=2).stderr
    assert f"results/a/{file}: No space left on device." in said
    if after or file != "run.json":
        assert "What was recorded so far is safe. Fix the problem and continue with --resume results/a" in said
        arena("tournament", "--resume", "a", "--workers", 0, "-q")
    else:
        arena("tournament", *FIELD, "--name", "a")
    assert not list(FOLDER.glob("*.part"))
    arena("verify", "a")
    assert (FOLDER / "leaderboard.csv").exists()


def test_a_lock_works_even_if_its_owner_cannot_be_written(monkeypatch):
    def full(*_args):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(store.os, "pwrite", full)
    arena("tournament", *FIELD, "--name", "a")


@pytest.mark.parametrize(
    ("file", "commands"),
    [
        ("run.json", (("tournament", "--resume", "a", "--workers", 0, "-q"), ("verify", "a"))),
        ("notes.jsonl", (("replay", "a", 0),)),
        ("leaderboard.json", (("leaderboard", "a"), ("tournament", "--resume", "a", "--workers", 0, "-q"))),
    ],
)
def test_a_changed_byte_in_any_file_never_causes_a_traceback(file, commands):
    from click.testing import CliRunner

    from harness.cli.main import main

    arena("tournament", *FIELD, "--name", "a")
    shutil.copytree(FOLDER, "kept")
    whole, rng = (FOLDER / file).read_bytes(), random.Random(file)
    for number in range(40):
        bad = bytearray(whole)
        at = rng.randrange(len(whole))
        bad[at] = rng.choice(b'019"{}[],:-e.\n tfn' if number % 2 else bytes(range(256)))
        for command in commands:
            shutil.copytree("kept", FOLDER, dirs_exist_ok=True)
            (FOLDER / file).write_bytes(bad)
            done = CliRunner().invoke(main, [str(word) for word in command])
            assert done.exception is None or isinstance(done.exception, SystemExit), (command, at, bad[at])
            if done.exit_code == 2:
                assert done.stderr.count("Error: ") == 1


def test_a_match_of_a_game_that_is_not_in_the_run_is_refused():
    arena("tournament", *FIELD, "--name", "a")
    path = FOLDER / "run.json"
    path.write_text(path.read_text().replace('"name": "el-paso"', '"name": "x-pasch"'))
    for command in (("replay", "a", 0), ("ask", "random", "a", 0), ("verify", "a"), ("tournament", "--resume", "a")):
        arena(*command, code=2)
