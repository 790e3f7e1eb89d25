"""Matches of a person on disk: recorded, left, continued, one deal after the other."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest
from click.testing import CliRunner

from harness.cli.main import main
from harness.core.files import Folder
from harness.core.records import GameRecord
from harness.play.session import new_match
from harness.play.terminal import Dialogue
from harness.plugins.registry import Registration, load
from harness.runs.request import RunRequest
from harness.runs.store import lock
from tests.bots.nim import Nim
from tests.play.support import sit_down
from tests.support.cli import arena

EL_PASO = ("play", "el-paso", "--bot", "skittish", "--bot", "diehard", "--seed", "5", "--name", "a")
ALL = ["1!"] * 400


def records() -> list[GameRecord]:
    lines = Path("results/a/games.jsonl").read_bytes().splitlines()
    return [msgspec.json.decode(line, type=GameRecord) for line in lines]


def test_a_match_played_from_a_script_is_a_record_like_any_other():
    said = sit_down(*EL_PASO, lines=ALL)
    [record] = records()
    assert record.seats[0] == "human"
    assert f"human (you): {record.scores[0]}" in said
    assert "played again: all fit" in arena("verify", "a").stdout
    assert "human" in Path("results/a/leaderboard.md").read_text()
    assert json.loads(Path("results/a/run.json").read_text())["finished"]


class Crowd(Nim):
    """A game of a stranger for six, who has written no bot for it."""

    name, title = "crowd", "Crowd"
    min_players = 6


@pytest.mark.parametrize("named", [(), ("random",), ("flat-mc:iterations=3", "random")])
def test_the_table_is_filled_in_a_game_without_its_own_bots(named):
    registry = load()
    registry.games[Crowd.name] = Registration(Crowd, "a stranger", "1")
    saved = new_match(RunRequest(games=(Crowd.name,), bots=named, seed=1, name="a"), registry, 0, "")
    assert saved.match.spec.seats[0] == "human"
    others = saved.match.spec.seats[1:]
    assert len(others) == len(set(others)) == 5  # some of them come twice, under other names
    assert set(named) <= set(others)
    assert all(saved.setup.entrants[name].plays(Crowd.name) for name in others)


def test_resuming_a_finished_match_starts_a_new_deal_at_the_next_seat():
    sit_down(*EL_PASO, lines=ALL)
    for _ in range(3):
        sit_down("play", "--resume", "a", lines=ALL)
    assert [record.seats.index("human") for record in records()] == [0, 1, 2, 0]
    assert len({record.seed for record in records()}) == 4
    assert "4 records, 4 played again: all fit" in arena("verify", "a").stdout
    sit_down("play", "--resume", "a", "--seat", 2, lines=ALL)
    assert records()[-1].seats[2] == "human"


@pytest.mark.parametrize("left_at", [1, 7, 30])
def test_an_interrupted_match_gives_the_same_record_after_resuming(left_at):
    sit_down(*EL_PASO, lines=ALL)
    [whole] = records()
    again = [*EL_PASO[:-1], "b"]
    assert "Your match is saved" in sit_down(*again, lines=ALL[:left_at])
    assert f"Your {left_at} choices" in sit_down("play", "--resume", "b", lines=ALL)
    assert "equals results/a, timing aside" in arena("verify", "a", "b").stdout
    assert whole.faults == ()


def test_the_seat_cannot_be_changed_when_resuming():
    sit_down(*EL_PASO, lines=ALL[:2])
    assert "Leave out --seat." in arena("play", "--resume", "a", "--seat", 1, code=2).stderr


UNRULY = """
from os import urandom
from harness import Bot
class Unruly(Bot):
    def choose(self, view, actions):
        return actions[urandom(1)[0] % len(actions)]
"""


def test_choices_that_are_no_longer_legal_are_asked_for_again():
    Path("unruly.py").write_text(UNRULY)
    sit_down("play", "el-paso", "--bot", "unruly.py", "--seed", 5, "--name", "a", lines=ALL[:40])
    said = sit_down("play", "--resume", "a", lines=ALL)
    assert "A bot played differently this time" in " ".join(said.split())
    assert "played again: all fit" in arena("verify", "a").stdout


def test_a_match_is_not_resumed_with_a_changed_bot():
    Path("unruly.py").write_text(UNRULY)
    sit_down("play", "el-paso", "--bot", "unruly.py", "--seed", 5, "--name", "a", lines=ALL[:2])
    Path("unruly.py").write_text(UNRULY + "# better\n")
    assert "cannot be continued" in arena("play", "--resume", "a", code=2).stderr
    assert "Your match is saved" in sit_down("play", "--resume", "a", "--force", lines=[])


def test_a_crash_between_writing_the_record_and_cleanup_does_no_harm():
    sit_down(*EL_PASO, lines=ALL[:3])
    left = Path("results/a/unfinished.json").read_bytes()
    sit_down("play", "--resume", "a", lines=ALL)
    Path("results/a/unfinished.json").write_bytes(left)
    sit_down("play", "--resume", "a", lines=ALL)
    assert [record.id.split(".")[0] for record in records()] == ["el-paso-1", "el-paso-2"]
    assert "2 records, 2 played again: all fit" in arena("verify", "a").stdout


def test_two_terminals_cannot_play_the_same_match():
    sit_down(*EL_PASO, lines=ALL[:2])
    with lock(Folder(Path("results/a"))):
        # A lock belongs to a process; another one must see it.
        command = [sys.executable, "-c", "from harness.cli.main import main; main()", "play", "--resume", "a"]
        second = subprocess.run(command, capture_output=True, text=True, input="")
    assert second.returncode == 2
    assert "is being written by another process" in second.stderr


def test_an_opponent_that_fails_is_blamed_and_the_match_continues():
    Path("clumsy.py").write_text(
        "from harness import Bot\nclass Clumsy(Bot):\n    def choose(self, view, actions):\n"
        "        print('{garbage')\n        raise RuntimeError('oh no')\n"
    )
    said = sit_down("play", "el-paso", "--bot", "clumsy.py", "--seed", 5, "--name", "a", lines=ALL)
    [record] = records()
    assert [fault.seat for fault in record.faults] == [1]
    assert "Fault of clumsy" in said
    assert record.ranks[0] == 1


def test_a_bug_in_arena_is_not_blamed_on_the_person(monkeypatch):
    def broken(_dialogue, _turn):
        raise RuntimeError("a bug")

    monkeypatch.setattr(Dialogue, "choose", broken)
    result = CliRunner().invoke(main, list(EL_PASO), input="")
    assert isinstance(result.exception, RuntimeError)


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (("play",), "Which game? Choose from: el-paso"),
        (("play", "el-passo"), "Did you mean 'el-paso'?"),
        (("play", "el-paso", "--bot", "skitish"), "Did you mean 'skittish'?"),
        (("play", "el-paso", "--bot", "founder"), "founder does not play el-paso"),
        (("play", "el-paso", "--bot", "random", "--bot", "random"), "random is entered twice"),
        (("play", "el-paso", "--bot", "human"), "Unknown bot 'human'"),
        (("play", "el-paso", "--hint-bot", "founder"), "founder does not play el-paso"),
        (("play", "el-paso", "--hint-bot", "oracle"), "Unknown bot 'oracle'"),
        (("play", "el-paso", "--bot", "random", "--seat", 2), "seats 0 to 1, not 2"),
        (("play", "el-paso", "--option", "edition=fr"), "Choose from: bg, de, nl"),
        (("play", "el-paso", "--name", "a/b"), "cannot be the name of a folder"),
        (("play", "--resume", "nowhere"), "There is no run 'nowhere'."),
        (("play", "el-paso", "--resume", "a", "--seed", 3), "leave out GAME, --seed"),
    ],
)
def test_usage_errors_are_reported_before_anything_is_written(args, said):
    assert said in arena(*args, code=2).stderr
    assert not Path("results").exists()


def test_a_bot_cannot_have_the_name_of_the_person():
    assert "human is entered twice" in arena("play", "el-paso", "--bot", "human=random", code=2).stderr


def test_a_run_of_bots_and_a_damaged_match_cannot_be_resumed():
    arena("tournament", "--game", "el-paso", "--deals", 1, "--bot", "random", "--bot", "skittish", "--workers", 0,
          "--name", "bots")  # fmt: skip
    assert "is a run of bots" in arena("play", "--resume", "bots", code=2).stderr
    sit_down(*EL_PASO, lines=ALL[:2])
    assert "already holds a run" in arena(*EL_PASO, code=2).stderr
    Path("results/a/unfinished.json").write_text("{")
    assert "unfinished.json cannot be read" in arena("play", "--resume", "a", code=2).stderr


def test_a_saved_match_that_another_person_changed_is_refused():
    sit_down(*EL_PASO, lines=ALL[:2])
    saved = Path("results/a/unfinished.json")
    spec = json.loads(saved.read_text())["spec"]
    changes = [{"seats": ["skittish", "diehard"]}, {"seats": ["human"] * 100_000}, {"options": {"edition": "x"}}]
    for change in (*changes, {"game": "x-pasch"}, {"seed": 10**400}, {"id": "\x1b[2J"}):
        saved.write_text(json.dumps({"spec": spec | change, "choices": []}))
        said = arena("play", "--resume", "a", code=2).stderr
        assert "holds no match of this run" in said or "cannot be read" in said
    for damaged in (b'{"a":' + b"[" * 200_000, b'{"spec":{"id":"\xff"}}'):
        saved.write_bytes(damaged)
        assert "unfinished.json cannot be read" in arena("play", "--resume", "a", code=2).stderr
