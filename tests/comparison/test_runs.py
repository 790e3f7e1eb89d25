"""arena compare keeps its matches: a run like any other, that can be continued with more."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import harness
from harness.runs.store import RunFolder
from tests.api.bots import First
from tests.support.cli import arena
from tests.support.waiting import PATIENCE, wait_for

CLOSE = ("compare", "skittish:stars=4", "skittish:stars=5", "--game", "el-paso", "--bot", "random", "--workers", 0)
"""Not told apart by less than 9 matches: no bots are."""

SLOW = """
from time import sleep
from harness import Bot


class Slow(Bot):
    def choose(self, view, actions):
        sleep(0.001)
        return self.rng.choice(actions)
"""
MINE = """
from harness import Bot


class Mine(Bot):
    def choose(self, view, actions):
        return actions[{}]
"""


def records(name):
    return sorted(RunFolder.open(Path("results", name)).records(), key=lambda record: record.index)


def test_a_comparison_is_stored_as_a_normal_run():
    said = arena("compare", "diehard", "random", "--game", "el-paso", "--name", "duel")
    assert "Records and leaderboard: results/duel" in said.stderr
    assert "9 matches with separate deals" in said.stdout
    assert len(records("duel")) == 9
    assert "9" in arena("leaderboard", "duel").stdout
    assert "diehard" in arena("replay", "duel", "el-paso-2.1").stdout
    arena("report", "duel")
    found = arena("verify", "duel")
    assert "9 records, 9 played again" in found.output
    assert Path("results/duel/leaderboard.md").exists()
    again = arena("tournament", "--resume", "duel")  # there is nothing left to do
    assert "el-paso: diehard is better than random at a table of two." in again.stderr
    info = RunFolder.open(Path("results/duel")).info
    assert info.finished
    assert (info.plan.format, info.plan.candidates, info.plan.deals) == ("compare", ("diehard", "random"), 6000)


def test_json_names_the_run_and_its_command_has_the_seed():
    (verdict,) = json.loads(arena("compare", "diehard", "random", "--game", "el-paso", "--json").stdout)
    info = RunFolder.open(Path(verdict["run"])).info
    assert info.command.endswith(f"--seed {verdict['question']['seed']}")


@pytest.mark.parametrize(
    ("more", "played"),
    [((), 3), (("--way", "pairs"), 2), (("--way", "gauntlet"), 2)],
)
def test_extending_a_comparison_gives_the_same_result_as_starting_larger(more, played):
    first = arena(*CLOSE, *more, "--most", 3, "--name", "a").stdout
    assert f"After {played} match" in first
    assert arena("compare", "--resume", "a").stdout == first
    longer = arena("compare", "--resume", "results/a", "--most", 7, "--workers", 1).stdout
    assert longer == arena(*CLOSE, *more, "--most", 7, "--name", "b").stdout
    assert len(records("a")) == 3 * played - 2 * (played == 3)
    arena("verify", "a", "b")


def test_a_finished_comparison_can_be_resumed_for_a_narrower_interval():
    asked = ("compare", "outlaw", "random", "--game", "el-paso", "--most", 20, "--workers", 0, "--json")
    [quick] = json.loads(arena(*asked, "--name", "a").stdout)
    [thorough] = json.loads(arena("compare", "--resume", "a", "--thorough", "--json").stdout)
    assert (quick["matches"], thorough["matches"]) == (9, 20)
    assert quick["answer"] == thorough["answer"] == "better"
    assert thorough["low"] > quick["low"]
    arena(*asked, "--thorough", "--name", "b")
    arena("verify", "a", "b")


def test_comparisons_of_several_games_can_be_extended_and_use_house_bots_where_needed():
    arena("compare", "ismcts:iterations=1", "random", "--most", 1, "--name", "a", "--workers", 0)
    arena("compare", "--resume", "a", "--most", 2, "--workers", 0)
    arena("compare", "ismcts:iterations=1", "random", "--most", 2, "--name", "b", "--workers", 0)
    arena("verify", "a", "b")
    tables = {game.name: game.entrants for game in RunFolder.open(Path("results/a")).info.plan.games}
    assert tables["el-paso"] == ("ismcts:iterations=1", "random")
    assert len(tables["x-pasch"]) == len(tables["gnadenlos"]) == 3
    assert tables["x-pasch"][2] != tables["gnadenlos"][2]  # each made for its game


def test_house_bots_fill_only_missing_seats():
    company = ("--bot", "hustler", "--bot", "random")
    said = arena("compare", "founder", "raider", *company, "--game", "x-pasch", "--most", 1, "--workers", 0).stdout
    assert "x-pasch (founder, raider, hustler, random): 1 match with" in said
    filled = arena("compare", "founder", "raider", "--game", "x-pasch", "--most", 1, "--workers", 0).stdout
    assert "x-pasch (founder, raider, hustler): 1 match with" in filled


def test_ctrl_c_loses_nothing_and_prints_how_to_resume():
    Path("slow.py").write_text(SLOW)
    asked = ("slow.py", "random", "--game", "el-paso", "--seed", "1", "--margin", "0", "--name", "a", "--workers", "1",
             "--most", "150")  # fmt: skip
    process = subprocess.Popen(
        [sys.executable, "-m", "harness", "compare", *asked],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    games = Path("results/a/games.jsonl")
    wait_for(lambda: games.exists() and games.read_bytes().count(b"\n") > 3, "a few matches", 5 * PATIENCE)
    os.kill(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 1, err
    assert "it is not known whether" in out
    assert "Continue with: arena compare --resume results/a" in err
    kept = {record.id for record in records("a")}
    Path("slow.py").write_text(SLOW.replace("sleep(0.001)", "sleep(0)"))
    arena("compare", "--resume", "a", "--force", "--workers", 0)
    assert kept < {record.id for record in records("a")}
    assert "records may be of the same bots and rules: the bot slow" in arena("verify", "a", code=1).stdout


@pytest.mark.parametrize(
    ("args", "said"),
    [
        ((), "Which two bots?"),
        (("diehard",), "Which two bots?"),
        (("--resume", "b"), "Runs in results: a, t."),
        (("--resume", "a", "--most", 1), "it can be raised, but not lowered to 1"),
        (("--resume", "a", "diehard", "random"), "leave out the bots"),
        (("--resume", "a", "--margin", 0, "--way", "pairs", "--game", "el-paso"), "--game, --margin, --way"),
        (("--resume", "a", "--move-time", 3), "started with move_time=0.0"),
        (("--resume", "t"), "is not a comparison. Continue it with: arena tournament --resume"),
        (("diehard", "random", "--game", "el-paso", "--name", "a"), "already holds a run"),
    ],
)
def test_invalid_arguments_are_refused_with_one_sentence(args, said):
    arena(*CLOSE, "--most", 2, "--name", "a")
    arena("tournament", "--game", "el-paso", "--bot", "random", "--bot", "diehard", "--deals", 1, "--name", "t")
    assert said in arena("compare", *args, code=2).stderr


def test_a_comparison_with_a_changed_bot_cannot_be_resumed():
    Path("mine.py").write_text(MINE.format(0))
    arena("compare", "mine.py", "random", "--game", "el-paso", "--most", 2, "--name", "a", "--workers", 0)
    Path("mine.py").write_text(MINE.format(-1))
    assert "cannot be continued: the bot mine" in arena("compare", "--resume", "a", "--most", 3, code=2).stderr
    assert RunFolder.open(Path("results/a")).info.plan.deals == 2


# --- from Python ---------------------------------------------------------------------------------


def test_a_comparison_from_python_has_a_run_and_can_be_extended():
    short = harness.compare(First, "random", games="el-paso", bots=["skittish"], most=2, workers=0, name="a")
    assert len(short.run) == 2
    assert short.run.complete
    assert short.run.verify().problems == []
    assert short.run.replay("el-paso-1.1").bots
    more = harness.compare(First, resume="a", most=3, workers=0)
    assert (more[0].matches, len(more.run)) == (3, 3)
    whole = harness.compare(First, "random", games="el-paso", bots=["skittish"], most=3, workers=0, name="b")
    assert whole[0] == more[0]
    assert harness.open_run("b").info.command.startswith("harness.compare(one=First, other='random', ")


def test_resuming_from_python_refuses_other_options():
    harness.compare("diehard", "random", games="el-paso", most=2, workers=0, name="a")
    for fields in (
        {"games": "el-paso"},
        {"margin": 0.1},
        {"way": "pairs"},
        {"seed": 3},
        {"move_time": 4},
        {"one": "diehard"},
    ):
        with pytest.raises(harness.UsageError, match=r"leave out|which cannot change"):
            harness.compare(resume="a", **fields)
    with pytest.raises(harness.UsageError, match="Which two bots"):
        harness.compare("diehard")
