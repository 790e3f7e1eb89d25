"""Notes of bots in runs: beside the records, the same wherever the bot runs, and in every kind of replay."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from harness.runs.store import RunFolder
from tests.support.cli import arena

NOTING = """
from harness import Bot


class Thinker(Bot):
    def choose(self, view, actions):
        self.note("what a choice")
        self.note({actions[0]: len(actions)})
        return actions[0]
"""
PROGRAM = """
import json, sys
for line in sys.stdin:
    message = json.loads(line)
    kind = message["type"]
    if kind == "hello":
        answer = {"type": "hello", "protocol": 1, "name": "thinker", "wants": ["texts"]}
    elif kind == "choose":
        note = ["what a choice", {message["texts"][0]: len(message["legal"])}]
        answer = {"type": "choice", "id": message["id"], "code": message["legal"][0], "note": note}
    elif kind == "bye":
        break
    else:
        answer = {"type": "ready", "id": message["id"]}
    print(json.dumps(answer), flush=True)
"""
FIELD = ("tournament", "--game", "el-paso", "--deals", 1, "--seed", 3, "--bot", "skittish")


@pytest.fixture(autouse=True)
def _bots():
    Path("thinker.py").write_text(NOTING)
    Path("program.py").write_text(PROGRAM)


def noted(name):
    return sorted(Path("results", name, "notes.jsonl").read_text().splitlines())


def test_notes_are_the_same_in_process_in_workers_in_sandboxes_and_from_programs():
    arena(*FIELD, "--bot", "thinker.py", "--workers", 0, "--name", "here")
    arena(*FIELD, "--bot", "thinker.py", "--workers", 2, "--name", "workers")
    arena(*FIELD, "--bot", "thinker.py", "--workers", 1, "--isolate", "--name", "isolated")
    arena(*FIELD, "--bot", "thinker=cmd:python3 program.py", "--workers", 1, "--name", "program")
    assert len(noted("here")) == 2
    assert noted("here") == noted("workers") == noted("isolated") == noted("program")
    arena("verify", "here", "isolated")


def test_a_run_without_notes_has_no_notes_file():
    arena(*FIELD, "--bot", "random", "--workers", 0, "--name", "a")
    assert not Path("results/a/notes.jsonl").exists()
    assert RunFolder.open(Path("results/a")).notes("el-paso-1.1.1") == ()


def test_replays_show_notes_with_their_decisions():
    arena(*FIELD, "--bot", "thinker.py", "--workers", 0, "--name", "a")
    printed = arena("replay", "a", "el-paso-1.1.1").stdout.splitlines()
    at = next(number for number, line in enumerate(printed) if "thinker: " in line)
    assert printed[at + 1] == "      note: what a choice"
    lines = [json.loads(line) for line in arena("replay", "a", "el-paso-1.1.1", "--json").stdout.splitlines()]
    choices = [line for line in lines if line["type"] == "choice" and not line["forced"]]
    thinker = lines[0]["seats"].index("thinker")
    for choice in choices:
        said = ["what a choice", {choice["legal"][0]["text"]: len(choice["legal"])}]
        assert choice.get("notes") == (said if choice["seat"] == thinker else None)


def test_a_match_replayed_after_a_crash_has_its_notes_only_once():
    command = (*FIELD, "--bot", "thinker.py", "--workers", 0, "--name", "a")
    arena(*command)
    folder = Path("results/a")
    whole = noted("a")
    records = (folder / "games.jsonl").read_bytes().splitlines(keepends=True)
    notes = (folder / "notes.jsonl").read_bytes()
    # The second record is lost, its notes are not; those of a third match are torn.
    (folder / "games.jsonl").write_bytes(records[0])
    (folder / "notes.jsonl").write_bytes(notes + b'{"match":"el-paso-9')
    kept = RunFolder.open(folder).notes("el-paso-1.1.2")
    assert kept
    said = arena("tournament", "--resume", "a", "--workers", 0)
    assert "torn last line" in said.stderr
    assert set(noted("a")) == set(whole)
    assert RunFolder.open(folder).notes("el-paso-1.1.2") == kept


def test_an_invalid_notes_file_is_reported_with_the_line():
    arena(*FIELD, "--bot", "thinker.py", "--workers", 0, "--name", "a")
    Path("results/a/notes.jsonl").write_text("nonsense\n")
    assert "notes.jsonl, line 1, holds no notes" in arena("replay", "a", "0", code=2).stderr
