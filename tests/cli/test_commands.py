"""What the commands print and write."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import msgspec
import pytest

from harness.core.records import GameRecord
from tests.support.cli import arena
from tests.support.forgery import write_records

SMALL = (
    "tournament",
    "--game",
    "el-paso",
    "--deals",
    2,
    "--bot",
    "random",
    "--bot",
    "skittish",
    "--bot",
    "diehard",
    "--seed",
    1,
)


@pytest.fixture
def run():
    arena(*SMALL, "--name", "a")
    return Path("results/a")


def lines(run):
    found = [msgspec.json.decode(line, type=GameRecord) for line in (run / "games.jsonl").read_bytes().splitlines()]
    return sorted(found, key=lambda record: record.index)


def test_every_command_has_help_with_examples():
    from harness.plugins.features import COMMANDS

    for name in COMMANDS:
        assert f"arena {name}" in arena(name, "--help").stdout
        assert name in arena("--help").stdout
    assert "0." in arena("--version").stdout


def test_games_lists_games_with_options():
    assert "el-paso" in arena("games").stdout
    games = {game["name"]: game for game in json.loads(arena("games", "--json").stdout)}
    assert games["el-paso"]["players"] == [2, 5]
    assert games["el-paso"]["options"][0]["choices"] == ["de", "nl", "bg"]


def test_bots_lists_bots_with_options():
    shown = arena("bots", "--game", "el-paso").stdout
    assert "skittish:stars=" in shown
    bots = {bot["name"]: bot for bot in json.loads(arena("bots", "--json").stdout)}
    assert bots["random"]["games"] == []
    assert bots["diehard"]["about"].startswith("Goes where")


def test_a_tournament_prints_a_leaderboard_and_writes_a_run_folder():
    result = arena(*SMALL, "--name", "first")
    assert {"random", "skittish", "diehard"} <= set(result.stdout.split())
    folder = Path("results/first")
    assert {path.name for path in folder.iterdir()} >= {
        "run.json",
        "games.jsonl",
        "leaderboard.md",
        "leaderboard.json",
        "leaderboard.csv",
    }
    assert len(lines(folder)) == 2 * 3
    assert "results/first" in result.stderr


def test_every_bot_sits_in_every_seat_of_every_deal(run):
    seen = {(record.seed, seat, name) for record in lines(run) for seat, name in enumerate(record.seats)}
    assert len(seen) == 2 * 3 * 3
    assert len({record.set for record in lines(run)}) == 2


def test_the_same_run_twice_gives_the_same_records_and_verify_reports_it(run):
    arena(*SMALL, "--name", "b")
    arena(*SMALL[:-1], 2, "--name", "c")
    assert [r.without_timing() for r in lines(run)] == [r.without_timing() for r in lines(Path("results/b"))]
    said = arena("verify", "a", "b").stdout
    assert "results/a: 6 records, 6 played again: all fit." in said
    assert "results/b: equals results/a, timing aside." in said
    assert "differs from results/a" in arena("verify", "a", "c", code=1).stdout


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"scores": (99, 0, 0)}, "the record says scores"),
        ({"ranks": (3, 2, 1)}, "the record says ranks"),
        ({"actions": (0, 1)}, "is not legal"),
        ({"decisions": (1, 1, 1)}, "the record says decisions"),
        ({"ending": "truncated"}, "the record says ending"),
        ({"seed": 5}, "is not what the schedule of this run has"),
        ({"rules": "0"}, "version 0 of the rules"),
    ],
)
def test_verify_finds_an_edited_record(run, change, said):
    records = lines(run)
    ranks = records[3].ranks
    if change.get("ranks") == ranks:
        change = {"ranks": (1, 2, 3)}
    records[3] = msgspec.structs.replace(records[3], **change)
    write_records(run, records)
    result = arena("verify", "a", code=1)
    assert "1 problems" in result.stdout
    assert said in result.stdout
    assert records[3].id in result.stdout


def test_verify_counts_missing_records_and_can_replay_a_sample(run):
    whole = (run / "games.jsonl").read_bytes().splitlines(keepends=True)
    (run / "games.jsonl").write_bytes(b"".join(whole[:4]))
    said = arena("verify", "a", code=1).stdout
    assert "2 of the schedule are missing" in said
    assert f"{msgspec.json.decode(whole[5])['id']} is missing." in said
    assert "4 records, 2 played again" in arena("verify", "a", "--sample", 3, code=1).stdout


def test_leaderboard_prints_the_same_table_again_in_many_formats(run):
    assert arena("leaderboard", "a", "-f", "github").stdout.strip() == (run / "leaderboard.md").read_text().strip()
    table = json.loads(arena("leaderboard", run, "-f", "json").stdout)
    assert json.dumps(table) == json.dumps(json.loads((run / "leaderboard.json").read_text()))
    rows = list(csv.DictReader(io.StringIO(arena("leaderboard", "a", "-f", "csv").stdout)))
    assert {row["bot"] for row in rows} == {"random", "skittish", "diehard"}
    assert "<table>" in arena("leaderboard", "a", "-f", "html").stdout
    assert "tabular" in arena("leaderboard", "a", "-f", "latex").stdout


def test_json_output_contains_only_json():
    result = arena(*SMALL, "--json")
    data = json.loads(result.stdout)
    assert data["complete"] is True
    assert data["faults"] == 0
    assert Path(data["run"]).is_dir()


def test_what_a_bot_prints_does_not_reach_stdout(tmp_path):
    bot = tmp_path / "chatty.py"
    bot.write_text(
        "from harness import Bot\nclass Chatty(Bot):\n    def choose(self, view, actions):\n"
        "        print('{garbage')\n        return actions[0]\n"
    )
    for workers in (0, 1):
        played = arena("tournament", "--game", "el-paso", "--deals", 1, "--bot", "random", "--bot", bot, "--json",
                       "--workers", workers, "--name", workers)  # fmt: skip
        assert json.loads(played.stdout)["complete"] is True
        assert "{garbage" not in played.stderr
        assert "{garbage" in Path("results", str(workers), "logs", "chatty.log").read_text()


def test_replay_prints_a_match_as_text_and_as_json(run):
    text = arena("replay", "a", "el-paso-1.1.2").stdout
    assert "seat 0:" in text
    assert "Ended: finished" in text
    assert "Sheriff field" in arena("replay", "a", "el-paso-1.1.2", "--seat", 1).stdout
    data = [json.loads(line) for line in arena("replay", "a", "1", "--json").stdout.splitlines()]
    assert [data[0]["type"], data[-1]["type"]] == ["match", "end"]
    [record] = [record for record in lines(run) if record.id == "el-paso-1.1.2"]
    assert data[0]["id"] == record.id
    choices = [line for line in data if line["type"] == "choice" and not line["forced"]]
    assert [choice["taken"] for choice in choices] == list(record.actions)
    assert all(choice["taken"] in [action["code"] for action in choice["legal"]] for choice in choices)
    assert tuple(data[-1]["scores"]) == record.scores


def test_resume_finishes_a_run_and_gives_the_same_leaderboard(run):
    before = (run / "leaderboard.csv").read_text()
    records = (run / "games.jsonl").read_bytes().splitlines(keepends=True)
    (run / "games.jsonl").write_bytes(b"".join(records[:2]) + records[2][:30])
    result = arena("tournament", "--resume", run)
    assert "torn" in result.stderr
    assert len(lines(run)) == 6
    untimed = [
        [cell for key, cell in row.items() if key != "ms/decision"] for row in csv.DictReader(io.StringIO(before))
    ]
    after = csv.DictReader(io.StringIO((run / "leaderboard.csv").read_text()))
    assert [[cell for key, cell in row.items() if key != "ms/decision"] for row in after] == untimed


def test_faults_are_reported_and_fail_the_command_only_under_strict(tmp_path):
    bot = tmp_path / "clumsy.py"
    bot.write_text(
        "from harness import Bot\nclass Clumsy(Bot):\n    def choose(self, view, actions):\n        return None\n"
    )
    command = ("tournament", "--game", "el-paso", "--deals", 1, "--bot", "random", "--bot", bot)
    assert "2 faults" in arena(*command).stderr
    assert "2 faults" in arena(*command, "--strict", "--name", "strict", code=1).stderr


def test_components_and_editions_can_be_chosen(tmp_path):
    from harness import read_data_file

    file = tmp_path / "mine.toml"
    file.write_text(read_data_file("engines.el_paso", "el_paso.toml").replace("rate = 4", "rate = 2"))
    arena(*SMALL, "--option", f"components={file}", "--option", "edition=nl", "--name", "mine")
    file.unlink()
    assert "all fit" in arena("verify", "mine").stdout
    first = json.loads(arena("replay", "mine", "0", "--json").stdout.splitlines()[0])
    assert first["components"]["towns"][0]["rate"] == 2
    assert first["options"]["edition"] == "nl"


def test_bench_measures_every_game():
    data = json.loads(arena("bench", "--game", "el-paso", "--seconds", 0.2, "--json").stdout)
    assert data["el-paso"]["decisions/s"] > 1000
    assert "decisions/s" in arena("bench", "--seconds", 0.1).stdout


def test_bench_measures_the_cost_of_views_events_and_imagine():
    data = json.loads(arena("bench", "--costs", "--seconds", 0.1, "--json").stdout)
    assert len(data) >= 3
    for costs in data.values():
        assert 0 < costs["view, for each decision"] < costs["imagine"] < costs["imagine, and play to the end"]
        assert costs["events, with observe"] > costs["view, for each decision"]


def test_bench_measures_the_decisions_per_second_of_a_bot():
    data = json.loads(arena("bench", "--game", "el-paso", "--seconds", 0.1, "--bot", "diehard", "--json").stdout)
    assert data["el-paso"]["diehard, decisions/s"] > 100
