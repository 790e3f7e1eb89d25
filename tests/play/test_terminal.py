"""Whole games at a pseudo-terminal, with wrong input, Ctrl-D and Ctrl-C on the way."""

from __future__ import annotations

import os
import re
import signal
from pathlib import Path

import msgspec
import pytest

from harness.core.records import GameRecord
from harness.plugins.registry import load
from tests.play.support import sit_down
from tests.play.terminal import BACKSPACE, CTRL_C, CTRL_D, CTRL_U, terminal
from tests.support.cli import arena
from tests.support.waiting import wait_for

TABLES = {
    "el-paso": ("skittish", "diehard"),
    "gnadenlos": ("miser", "debtor"),
    "x-pasch": ("founder", "raider"),
}


def bots(game: str) -> list[str]:
    return [word for name in TABLES[game] for word in ("--bot", name)]


def records(run: str) -> list[GameRecord]:
    lines = Path("results", run, "games.jsonl").read_bytes().splitlines()
    return [msgspec.json.decode(line, type=GameRecord) for line in lines]


def undisturbed(game: str, seat: int) -> GameRecord:
    """The same match, played in one go."""
    sit_down("play", game, *bots(game), "--seed", 5, "--seat", seat, "--name", "undisturbed", lines=["1!"] * 500)
    [record] = records("undisturbed")
    return record


@pytest.mark.parametrize("game", TABLES)
def test_a_whole_game_with_wrong_input_ctrl_d_and_ctrl_c(game):
    seat = 1
    with terminal("play", game, *bots(game), "--seed", 5, "--seat", seat, "--name", "a") as person:
        greeting = person.read()
        assert f"seat {seat}: human (you)" in greeting
        first, second = (re.findall(rf"^ +{n}  (.*?)(?:   |$)", greeting, re.MULTILINE)[-1] for n in (1, 2))
        assert "no choice number 99" in person.type("99")
        assert "is not a choice here" in person.type("castle")
        assert "Type a number from 1 to" in person.type("")
        assert "nothing to take back" in person.type("undo")
        assert "Enter plays it, undo takes it back>" in person.type(second)
        assert "Taken back:" in person.type("undo")
        assert "would choose" in person.type("hint")
        helped = person.type("?")
        assert "until then it does not count" in " ".join(helped.split())
        assert {"el-paso": "EP-", "gnadenlos": "GN-", "x-pasch": "XP-"}[game] in helped
        person.type(first)
        assert "\nChoose (" in person.type("")
        person.choose()
        person.press(CTRL_D)
        assert person.end() == 0
        assert "Your match is saved. Continue with: arena play --resume results/a" in person.seen
    assert records("a") == []

    with terminal("play", "--resume", "a") as person:
        assert "Your 2 choices so far are replayed" in person.read()
        person.choose()
        person.press("pl" + CTRL_C)
        assert person.end() == 130
        assert "Your match is saved." in person.seen

    with terminal("play", "--resume", "a") as person:
        assert "Your 3 choices so far are replayed" in person.read()
        last = person.play_on()
        assert person.end() == 0
    [record] = records("a")
    score = load().game(game).configure().score_text(record.scores[seat])
    assert f"human (you): {score}" in " ".join(last.split())
    assert "\x1b" not in person.seen
    assert not Path("results/a/unfinished.json").exists()
    assert record.seats[seat] == "human"
    assert not record.faults
    assert record.without_timing() == undisturbed(game, seat).without_timing()
    assert "1 records, 1 played again: all fit" in arena("verify", "a").stdout
    assert "human" in arena("leaderboard", "a").stdout
    assert f"seat {seat}: human" in arena("replay", "a", record.id).stdout


def test_a_person_is_asked_only_if_there_is_a_choice():
    with terminal("play", "x-pasch", *bots("x-pasch"), "--seed", 2, "--name", "a") as person:
        person.read()
        person.play_on()
        assert person.end() == 0
    [record] = records("a")
    asked = person.seen.split("\nChoose (")[1:]
    assert len(asked) == record.decisions[0]
    assert all("\n  1  " in part or "\n   1  " in part for part in asked)
    assert all("2  " in part for part in asked)


def test_one_key_plays_a_choice_and_words_can_be_edited():
    with terminal("play", "el-paso", *bots("el-paso"), "--seed", 5, "--name", "a") as person:
        first = re.findall(r"^ +1  (.*)$", person.read(), re.MULTILINE)[-1]
        # The wrong letters are erased: one by one, then the whole line.
        person.press("x" + BACKSPACE + first[:2] + "qq" + CTRL_U)
        assert "Enter plays it" in person.type(first)
        assert "Choose (" in person.type("")
        person.press("1")
        assert "Choose (" in person.read()
        person.press(CTRL_D)
        assert person.end() == 0
    with terminal("play", "--resume", "a") as person:
        assert "Your 2 choices so far are replayed" in person.read()
        person.press(CTRL_D)
        person.end()


def test_a_killed_terminal_loses_no_choice():
    with terminal("play", "el-paso", *bots("el-paso"), "--seed", 5, "--name", "a") as person:
        person.read()
        person.choose(3)
        person.choose(2)
        os.kill(person.process.pid, signal.SIGKILL)
        person.end()
    with terminal("play", "--resume", "a") as person:
        assert "Your 2 choices so far are replayed" in person.read()
        person.press(CTRL_D)
        assert person.end() == 0


def test_quitting_before_the_first_choice_saves_nothing():
    for keys, code in ((CTRL_D, 0), (CTRL_C, 130), ("quit\n", 0)):
        with terminal("play", "el-paso", "--name", "a") as person:
            person.read()
            person.press(keys)
            assert person.end() == code
            assert "nothing is saved" in person.seen
        assert not Path("results/a").exists()


SLOW = """
from pathlib import Path
from time import sleep
from harness import Bot
class Slow(Bot):
    def choose(self, view, actions):
        Path("thinking").touch()
        while not Path("enough").exists():
            sleep(0.02)
        return actions[0]
"""


def wait_until_it_thinks() -> None:
    wait_for(Path("thinking").exists, "the bot is asked")


def think(person) -> None:
    """Makes the first choice, so that the slow bot begins to think, and waits for that."""
    person.read()
    person.press_choice()
    wait_until_it_thinks()


def test_ctrl_c_while_a_bot_thinks_lets_it_finish_and_saves_the_match():
    Path("slow.py").write_text(SLOW)
    with terminal("play", "el-paso", "--bot", "slow.py", "--name", "a", "--seed", 1) as person:
        think(person)
        person.press(CTRL_C)
        person.read("Waiting for a bot")
        Path("enough").touch()
        assert person.end() == 130
        assert "Your match is saved" in person.seen


def test_ctrl_c_during_a_hint_cancels_only_the_hint():
    Path("slow.py").write_text(SLOW)
    with terminal("play", "el-paso", "--bot", "skittish", "--hint-bot", "slow.py", "--name", "a") as person:
        person.read()
        person.press("hint\n")
        wait_until_it_thinks()
        person.press(CTRL_C)
        assert "No hint: slow was interrupted." in person.read()
        person.choose()
        person.press(CTRL_D)
        assert person.end() == 0


def test_ctrl_c_twice_quits_even_if_a_bot_never_returns():
    Path("slow.py").write_text(SLOW)
    with terminal("play", "el-paso", "--bot", "slow.py", "--name", "a", "--seed", 1) as person:
        think(person)
        person.press(CTRL_C)
        person.read("once more")
        person.press(CTRL_C)
        assert person.end() == 130
    assert Path("results/a/unfinished.json").exists()


def test_replay_is_interactive_only_at_a_terminal():
    command = ("tournament", "--game", "el-paso", "--deals", 1, "--bot", "skittish", "--bot", "diehard", "--workers", 0)
    arena(*command, "--name", "a")
    record = next(record for record in records("a") if record.id == "el-paso-1.1.1")
    with terminal("replay", "a", record.id) as person:
        assert f"{len(record.actions)} decisions." in person.read()
        first = person.seen
        assert "Decision 1 " in person.type("")
        assert "Decision 0 " in person.type("back")
        assert "This is the first decision." in person.type("back")
        assert "Decision 7 " in person.type("7")
        assert f"Decisions go from 0 to {len(record.actions) - 1}" in person.type("5000")
        assert "As skittish saw it" in person.type("table 1")
        assert "not a command here" in person.type("jump")
        assert "what seat N saw" in person.type("?")
        ending = person.type("end")
        assert f"{record.seats[0]}: {record.scores[0]}" in ending
        assert "This is the end" in person.type("next")
        person.press(CTRL_D)
        assert person.end() == 0
    assert "seat 0: " in first
    with terminal("replay", "a", record.id) as person:
        person.read()
        person.press(CTRL_C)
        assert person.end() == 0
    with terminal("replay", "a", record.id, "--all") as person:
        assert person.end() == 0
        assert "Ended: finished" in person.seen
