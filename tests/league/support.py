"""Leagues for tests: small bots in files, and the commands that people type."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import msgspec

from harness.core.records import GameRecord
from tests.support.waiting import PATIENCE, wait_for

ARENA = Path(sys.executable).with_name("arena")
BOT = '''"""Version {version} of {name}."""
from harness import Bot

class Leaver(Bot):
    name = "{name}"
    games = ("el-paso",)

    def choose(self, view, actions):
        if view.phase == "answer":
            return actions[view.stars >= {stars}]
        return self.rng.choice(actions)
'''
PROGRAM = """import json, sys
for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello":
        print(json.dumps({"type": "hello", "protocol": 1, "name": "prog", "games": ["el-paso"]}), flush=True)
    elif message["type"] == "choose":
        print(json.dumps({"type": "choice", "id": message["id"], "code": message["legal"][0]}), flush=True)
    elif message["type"] != "bye":
        print(json.dumps({"type": "ready", "id": message["id"]}), flush=True)
"""
"""A bot in another process that takes the first action."""


def write_bot(name: str, version: int = 1, stars: int = 3) -> Path:
    """A bot in a file, which leaves a town at so many stars."""
    path = Path(f"{name}.py")
    path.write_text(BOT.format(name=name, version=version, stars=stars))
    return path


def recorded(folder: Path, era: int = 1) -> int:
    """Whole lines of an era's records."""
    path = folder / "eras" / str(era) / "games.jsonl"
    return path.read_bytes().count(b"\n") if path.exists() else 0


def records(folder: Path, era: int = 1) -> dict[str, GameRecord]:
    """The records of an era without timing; each is there once."""
    lines = (folder / "eras" / str(era) / "games.jsonl").read_bytes().splitlines()
    found = [msgspec.json.decode(line, type=GameRecord) for line in lines]
    assert len({record.id for record in found}) == len(found)
    return {record.id: record.without_timing() for record in found}


def started(folder: object, *args: object) -> subprocess.Popen[bytes]:
    """A league that is being played, in a process group of its own."""
    command = [ARENA, "league", "run", *map(str, args), "--league", str(folder)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)


def killed_at(folder: Path, total: int, era: int, *args: object) -> None:
    """Plays until so many records are there, and kills the runner with all its workers then."""
    with started(folder, *args) as process:
        wait_for(lambda: recorded(folder, era) >= total or process.poll() is not None, "some records", 10 * PATIENCE)
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


def tear(path: Path) -> None:
    """Leaves half a line at the end of a file, as a power cut does."""
    with path.open("ab") as file:
        file.write(b'{"number":99,"id":"el-pa')
