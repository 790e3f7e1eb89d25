"""Formats, dry runs, disqualification and continuing by force, from the command line."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
import pytest
from msgspec.structs import replace

from harness.core.records import Fault, GameRecord
from tests.support.cli import arena
from tests.support.forgery import bent, records_of, write_records

FIELD = ("tournament", "--game", "el-paso", "--bot", "random", "--bot", "skittish", "--bot", "diehard",
         "--bot", "skittish:stars=1", "--bot", "skittish:stars=3", "--bot", "skittish:stars=4",
         "--seed", 1)  # fmt: skip


def records(name):
    lines = Path("results", name, "games.jsonl").read_bytes().splitlines()
    return [msgspec.json.decode(line, type=GameRecord) for line in lines]


@pytest.mark.parametrize(
    "asked",
    [
        ("--format", "round-robin:tables=4", "--players", 3),
        ("--format", "gauntlet", "--candidate", "diehard", "--players", 3),
        ("--format", "swiss:rounds=3", "--players", 2),
        ("--format", "knockout", "--players", 2),
        ("--format", "ladder:max-matches=60", "--players", 3),
        ("--format", "ladder:tables=3", "--goal", "best", "--players", 2),
    ],
    ids=lambda asked: asked[1],
)
def test_every_format_can_be_played_verified_and_repeated(asked):
    for name, workers in (("a", 2), ("b", 0)):
        said = arena(*FIELD, *asked, "--deals", 2, "--name", name, "--workers", workers)
        assert "Records and leaderboard" in said.stderr
    assert "equals results/a" in arena("verify", "a", "b").stdout
    seats = {}
    for record in records("a"):
        for seat, bot in enumerate(record.seats):
            seats.setdefault(bot, [0] * len(record.seats))[seat] += 1
    assert all(len(set(counts)) == 1 for counts in seats.values())  # everybody equally often in every seat


def test_the_candidate_plays_every_match_of_a_gauntlet():
    arena(*FIELD, "--format", "gauntlet", "--candidate", "diehard", "--players", 3, "--deals", 1, "--name", "a")
    assert all("diehard" in record.seats for record in records("a"))


def test_a_dry_run_plays_nothing_and_prints_what_would_be_played():
    said = arena(*FIELD, "--players", 3, "--deals", 100, "--dry-run").stdout
    assert "Matches: 6,000" in said
    assert "A match takes about" in said
    assert not Path("results").exists()


def test_a_billion_deals_can_be_planned():
    assert "Matches: 60,000,000,000" in arena(*FIELD, "--players", 3, "--deals", 10**9, "--dry-run").stdout


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (("--format", "siwss"), "Did you mean 'swiss'?"),
        (("--format", "gauntlet"), "candidate"),
        (("--format", "gauntlet", "--candidate", "founder"), "founder"),
        (("--format", "knockout:rounds=3"), "Unknown option of knockout"),
        (("--format", "ladder", "--until-separated", 1.5), "a number from 0 to 1"),
        (("--format", "ladder", "--goal", "bset"), "Did you mean 'best'?"),
        (("--goal", "best"), "Unknown option of round-robin 'goal'"),
        (("--format", "ladder", "--candidate", "diehard"), "for the goal newcomer only"),
        (("--deals", -3), "-3 is not in the range 1<=x"),
        (("--workers", -1), "--workers"),
        (("--game-time", -1), "--game-time"),
        (("--players", 5, "--bot", "random"), "entered twice"),
    ],
)
def test_invalid_plans_are_refused(asked, said):
    assert said in " ".join(arena(*FIELD, *asked, code=2).stderr.split())


def test_a_bot_that_keeps_failing_can_be_disqualified(tmp_path):
    bot = tmp_path / "clumsy.py"
    bot.write_text(
        "from harness import Bot\nclass Clumsy(Bot):\n    def choose(self, view, actions):\n        return None\n"
    )
    command = ("tournament", "--game", "el-paso", "--deals", 5, "--bot", "random", "--bot", bot, "--workers", 0)
    arena(*command, "--max-faults", 3, "--name", "a")
    kinds = [fault.kind for record in records("a") for fault in record.faults]
    assert kinds == ["illegal"] * 3 + ["disqualified"] * 7
    assert "all fit" in arena("verify", "a").stdout


def test_a_run_with_a_changed_bot_is_resumed_only_with_force(tmp_path):
    bot = tmp_path / "mine.py"
    code = (
        "from harness import Bot\nclass Mine(Bot):\n    def choose(self, view, actions):\n        return actions[0]\n"
    )
    bot.write_text(code)
    arena("tournament", "--game", "el-paso", "--deals", 2, "--bot", "random", "--bot", bot, "--name", "a")
    path = Path("results/a/games.jsonl")
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:2]))
    bot.write_text(code + "# better\n")
    refused = arena("tournament", "--resume", "a", code=2).stderr
    assert "the bot mine is version sha256:" in refused
    assert "--force" in refused
    assert "continued although the bot mine" in arena("tournament", "--resume", "a", "--force").stderr
    assert len(records("a")) == 4
    bot.unlink()
    refused = " ".join(arena("tournament", "--resume", "a", code=2).stderr.split())
    assert "Put the file back, or continue from the folder in which the run was begun." in refused


def test_foreign_or_damaged_records_stop_a_resume_before_any_match_is_played():
    arena(*FIELD[:9], "--deals", 2, "--name", "a")
    path = Path("results/a/games.jsonl")
    lines = path.read_bytes().splitlines(keepends=True)
    for bad, said in (
        (lines[0] + lines[0], "is there twice"),
        (bent(lines[0], b'"seed":', b'"seed":1'), "does not belong to this run"),
        (bent(lines[0], b'"id":"el-paso-', b'"id":"chess-'), "does not belong to this run"),
        (lines[0].replace(b'"seed":', b'"seed":1'), "line 1, is not as it was written"),
        (lines[0] + b"{}\n", "line 2, has no checksum"),
    ):
        path.write_bytes(bad)
        assert said in arena("tournament", "--resume", "a", code=2).stderr
        assert path.read_bytes() == bad


def test_several_games_are_played_with_a_legal_number_of_players_each():
    data = json.loads(arena("tournament", "--deals", 1, "--json", "--name", "a").stdout)
    assert data["complete"]
    counts = {record.game: len(record.seats) for record in records("a")}
    assert set(counts) == {"el-paso", "gnadenlos", "x-pasch"}
    assert all(count >= 3 for count in counts.values())
    for game, option in (("gnadenlos", "variant=experienced"), ("x-pasch", "target=60")):
        arena("tournament", "--game", game, "--option", option, "--deals", 1, "--name", game)
        assert all(option.split("=")[1] == str(r.options[option.split("=")[0]]) for r in records(game))
    assert (
        "Choose from: basic, experienced"
        in arena("tournament", "--game", "gnadenlos", "--option", "variant=x", code=2).stderr
    )
    assert "for 3 to 4 players, not 5" in arena("tournament", "--game", "gnadenlos", "--players", 5, code=2).stderr
    assert "a whole number from" in arena("tournament", "--game", "x-pasch", "--option", "target=no", code=2).stderr


def test_the_limits_of_a_run_stay_the_same_on_resume(tmp_path):
    bot = tmp_path / "slow.py"
    bot.write_text(
        "import time\nfrom harness import Bot\nclass Slow(Bot):\n    def choose(self, view, actions):\n"
        "        time.sleep(0.25)\n        return actions[0]\n"
    )
    command = ("tournament", "--game", "el-paso", "--deals", 1, "--bot", "random", "--bot", bot, "--name", "a")
    arena(*command, "--move-time", 0.1)
    assert all(record.faults[0].kind == "timeout" for record in records("a"))
    path = Path("results/a/games.jsonl")
    path.write_bytes(path.read_bytes().splitlines(keepends=True)[0])
    assert "started with move_time=0.1" in arena("tournament", "--resume", "a", "--move-time", 9, code=2).stderr
    arena("tournament", "--resume", "a")
    assert [record.faults[0].kind for record in records("a")] == ["timeout", "timeout"]


def test_a_missing_seed_is_drawn_and_saved(monkeypatch):
    from tests.conftest import draw_seed

    monkeypatch.setattr("harness.runs.setup.draw_seed", draw_seed)
    seeds = set()
    for name in ("a", "b"):
        arena("tournament", "--game", "el-paso", "--deals", 1, "--bot", "random", "--bot", "diehard", "--name", name)
        run = json.loads(Path("results", name, "run.json").read_text())
        seeds.add(run["plan"]["seed"])
        assert f"--seed {run['plan']['seed']}" in run["command"]
    assert len(seeds) == 2


def test_unnamed_runs_do_not_collide():
    for _ in range(3):
        arena("tournament", "--game", "el-paso", "--deals", 1, "--bot", "random", "--bot", "diehard", "-q")
    assert len(list(Path("results").iterdir())) == 3


@pytest.mark.parametrize(
    "asked", [("--move-time", "nan"), ("--format", "ladder:tables=-1"), ("--name", "x" * 300), ("--name", "a\nb")]
)
def test_invalid_option_values_are_refused(asked):
    arena(*FIELD, "--deals", 1, *asked, code=2)


def test_a_record_with_a_fault_of_a_nonexistent_seat_is_refused():
    arena(*FIELD[:9], "--deals", 1, "--name", "a")
    first, *others = records_of(Path("results/a"))
    write_records(Path("results/a"), [replace(first, faults=(Fault(99, "crash", 0),)), *others], sealed=False)
    assert "does not fit its seats" in arena("verify", "a", code=1).stdout
    assert "does not fit its seats" in arena("leaderboard", "a", code=2).stderr


def test_what_a_bot_file_prints_when_loaded_does_not_reach_stdout(tmp_path):
    bot = tmp_path / "loud.py"
    bot.write_text(
        "print('hello')\nfrom harness import Bot\nclass Loud(Bot):\n    def choose(self, v, a):\n        return a[0]\n"
    )
    said = arena("tournament", "--game", "el-paso", "--deals", 1, "--bot", "random", "--bot", bot, "--json")
    assert json.loads(said.stdout)["complete"]


def test_a_dry_run_says_which_games_are_not_played():
    Path("mine.py").write_text(
        "from harness import Bot\nclass Mine(Bot):\n    games = ('el-paso', 'gnadenlos')\n"
        "    def choose(self, view, actions):\n        return actions[0]\n"
    )
    shown = arena("tournament", "--bot", "mine.py", "--bot", "outlaw", "--deals", 1, "--workers", 0, "--dry-run")
    assert "Warning: Gnadenlos! is not played: it needs 3 bots, and only mine plays it." in shown.stderr
