"""What `arena bench` says when it compares."""

from __future__ import annotations

import json
import sys

import pytest

from tests.support.cli import arena

SHORT = ("bench", "--game", "el-paso", "--seconds", 0.3, "--repeat", 3)


def test_arena_compared_with_itself_has_similar_speed_and_plays_the_same_matches():
    done = arena(*SHORT, "--against-python", sys.executable, "--json")
    [row] = json.loads(done.stdout)
    assert "play different matches" not in done.stderr
    ratio = row["speed"]["ratio"]
    assert ratio["low"] <= ratio["median"] <= ratio["high"]
    assert 0.2 < ratio["median"] < 5
    assert row["theirs"] == row["ours"]


def test_two_arena_installations_are_compared_in_a_table():
    table = arena(*SHORT, "--against-python", sys.executable).stdout
    heading, _, line, *rest = table.splitlines()
    assert heading.split() == ["decisions/s", "here", "there", "ratio"]
    assert line.startswith("el-paso ")
    assert [text.split(":")[0] for text in rest if text] == ["here", "there"]


def test_an_interpreter_without_arena_gives_an_error_message(tmp_path):
    python = tmp_path / "python"
    python.write_text(f'#!/bin/sh\nexec {sys.executable} -S "$@"\n')  # no site: nothing is installed there
    python.chmod(0o755)
    told = arena(*SHORT, "--against-python", python, code=2).stderr
    assert "No module named 'harness'" in told


def test_the_speed_of_a_bot_is_by_processor_time(tmp_path):
    bot = "import time\nfrom harness import Bot\n\nclass Waits(Bot):\n    def choose(self, view, actions):\n"
    (tmp_path / "waits.py").write_text(f"{bot}        time.sleep(0.001)\n        return actions[0]\n")
    found = json.loads(arena(*SHORT[:-2], "--bot", "waits.py", "--bot", "random", "--json").stdout)["el-paso"]
    assert found["waits, decisions/s"] > 1000, "more than the clock allows"
    assert found["random, decisions/s"] > found["waits, decisions/s"]


def test_long_runs_are_not_made_if_pages_cannot_be_made(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert "pip install 'arena-harness[report]'" in arena("bench", "--records", 1000, code=2).stderr


def test_the_shares_of_the_time_of_a_match_sum_to_one():
    [found] = json.loads(arena(*SHORT, "--shares", "--json").stdout)
    assert sum(found["shares"].values()) == pytest.approx(1)
    assert set(found["shares"]) == {"steps", "legal lists", "luck", "views", "referee and bot"}
    assert found["unit"] == "microseconds"
    assert found["whole"] > 0
