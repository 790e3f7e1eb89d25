"""Runs from Python are the runs of the command line."""

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
from tests.api.bots import Crashing, First, take_last
from tests.support.cli import arena
from tests.support.waiting import wait_for

FIELD = ["outlaw", "skittish", "random"]


def plain(run):
    return {record.id: record.without_timing() for record in run}


def test_a_run_from_python_gives_the_same_records_and_tables_as_the_command_line():
    run = harness.tournament("el-paso", FIELD, deals=2, seed=3, workers=2, name="here")
    bots = [word for name in FIELD for word in ("--bot", name)]
    said = arena("tournament", "--game", "el-paso", *bots, "--deals", 2, "--seed", 3, "--name", "there", "--workers", 0)
    other = harness.open_run("there")
    assert plain(run) == plain(other)
    assert other.table().replace("(wide=True)", "(--wide)") == said.stdout.rstrip("\n")
    for name in ("leaderboard.md", "leaderboard.csv", "leaderboard.json"):
        assert (run.folder / name).exists()
    assert run.info.plan == other.info.plan


def test_classes_and_functions_play_with_workers_and_without():
    one, two = (
        harness.tournament(
            "el-paso", [First, take_last, "random"], deals=2, seed=1, workers=workers, name=f"w{workers}"
        )
        for workers in (0, 2)
    )
    assert plain(one) == plain(two)
    assert one.complete
    assert {row["bot"] for row in one.leaderboard()["el-paso"].rows} == {"first", "take-last", "random"}


def test_a_run_gives_access_to_tables_faults_and_replays():
    run = harness.tournament(["el-paso", "x-pasch"], ["random", Crashing, "skittish", "founder"], deals=1, seed=1)
    assert len(run) == len(list(run)) > 0
    assert [table.title for table in run.leaderboard()] == ["el-paso", "x-pasch", "overall"]
    assert json.loads(run.table("json")).keys() == {"el-paso", "x-pasch", "overall"}
    assert run.table("github").startswith("## el-paso")
    assert "random" in repr(run.pairs())
    assert "seat" in repr(run.seats())
    faults = run.faults()
    assert {fault.bot for fault in faults} == {"crashing"}
    assert "out of ideas" in faults[0].detail
    match = run.replay(faults[0].match)
    assert "out of ideas" in match.story()
    assert run.replay(0).record.index == 0
    with pytest.raises(harness.UsageError, match="Unknown match"):
        run.replay("nothing")
    assert run.verify().problems == []
    assert run.warnings == []


def test_a_run_is_displayed_as_tables():
    run = harness.tournament("el-paso", FIELD, deals=1, seed=1, workers=0)
    assert repr(run).startswith("el-paso\n")
    assert str(run.folder) in repr(run)
    html = run._repr_html_()
    assert html.count("<table>") == 1
    assert "Skill is TrueSkill" in html
    assert max(map(len, repr(run.leaderboard()).splitlines())) <= 80
    assert "cautious" in repr(run.leaderboard(wide=True)).split("\n\n")[1]
    assert repr(run.leaderboard(columns=["bot", "wins"])).split("\n\n")[1].split("\n")[0].split() == ["bot", "wins"]
    assert [list(row) for row in run.leaderboard(columns=["bot", "wins"])["el-paso"].rows] == [["bot", "wins"]] * 3
    assert run.games() == ()
    assert run.surprises()["el-paso"].rows


def test_a_run_is_converted_to_a_data_frame():
    pandas = pytest.importorskip("pandas")
    run = harness.tournament("el-paso", FIELD, deals=1, seed=1, workers=0)
    frame = run.to_pandas()
    assert isinstance(frame, pandas.DataFrame)
    assert len(frame) == 3 * len(run)
    assert set(frame[frame["rank"] == 1]["bot"]) <= set(FIELD)


def test_without_pandas_the_error_names_what_to_install(monkeypatch):
    run = harness.tournament("el-paso", FIELD, deals=1, seed=1, workers=0)
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(harness.UsageError, match=r"pip install 'arena-harness\[notebook\]'"):
        run.to_pandas()


def test_a_run_with_classes_is_resumed_by_passing_the_classes_again():
    whole = harness.tournament("el-paso", [First, "random"], deals=3, seed=1, workers=0, name="whole")
    part = harness.tournament("el-paso", [First, "random"], deals=3, seed=1, workers=0, name="part")
    games = part.folder / "games.jsonl"
    games.write_bytes(b"".join(games.read_bytes().splitlines(keepends=True)[:2]))
    with pytest.raises(harness.UsageError, match="Unknown bot 'first'"):
        harness.tournament(resume="part")
    assert plain(harness.tournament(bots=[First], resume="part", workers=0)) == plain(whole)


def test_a_changed_class_is_refused_on_resume():
    harness.tournament("el-paso", [First, "random"], deals=1, seed=1, workers=0, name="old")

    class First2(First):
        name = "first"

    with pytest.raises(harness.ArenaError, match="the bot first is version"):
        harness.tournament(bots=[First2], resume="old")


def test_a_config_file_gives_the_same_run_from_python_and_the_command_line(tmp_path):
    file = tmp_path / "run.toml"
    file.write_text(
        'games = ["el-paso"]\nbots = ["outlaw", "skittish", "random"]\ndeals = 9\nseed = 3\nformat = "swiss:rounds=2"\n'
        'players = 3\nmove-time = 2.5\n[options]\nedition = "nl"\n'
    )
    request = harness.RunRequest.from_file(file)
    assert (request.deals, request.move_time, request.options) == (9, 2.5, {"edition": "nl"})
    assert harness.RunRequest.from_file(str(file), deals=3).deals == 3
    run = harness.tournament(request=request, deals=2, workers=0, name="here")
    arena("tournament", file, "--deals", 2, "--workers", 0, "--name", "there")
    other = harness.open_run("there")
    assert plain(run) == plain(other)
    assert run.info.plan == other.info.plan
    assert run.info.limits == other.info.limits
    assert run.info.plan.settings == {"rounds": 2}


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"deals": 0}, "Deals must be at least 1, not 0"),
        ({"deals": "many"}, "deals of a run is a whole number, not 'many'"),
        ({"deals": 2.5}, "deals of a run is a whole number"),
        ({"players": "3"}, "players of a run is a whole number"),
        ({"format": 3}, "format of a run is a string"),
        ({"options": ["edition"]}, "options of a run is a mapping"),
        ({"workers": -1}, "Workers must be at least 0"),
        ({"workers": 5000}, "1024 at most"),
        ({"move_time": float("nan")}, "Move time must be at least 0"),
        ({"isolate": "maybe"}, "Unknown value of isolate 'maybe'"),
        ({"bots": [5, "random"]}, "5 is not a bot"),
        ({"format": "swis"}, "Did you mean 'swiss'"),
        ({"format": "swiss:round=3"}, "Did you mean 'rounds'"),
        ({"moves": 3}, "Unknown field of a run 'moves'"),
        ({"players": 9}, "2 to 5 players, not 9"),
    ],
)
def test_invalid_arguments_are_refused_with_one_sentence(fields, said):
    with pytest.raises(harness.ArenaError, match=said):
        harness.tournament("el-paso", **{"bots": FIELD, **fields})
    assert not Path("results").exists()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("deals = 'many'", "line 1, column 1: The field deals of a run is a whole number, not 'many'"),
        ("\nmoves = 3", "line 2, column 1: Unknown key 'moves'"),
        ("deals = ", "line 1, column 9: this is not TOML"),
    ],
)
def test_an_invalid_config_file_is_refused_with_its_name(tmp_path, text, said):
    file = tmp_path / "run.toml"
    file.write_text(text)
    with pytest.raises(harness.UsageError, match=said):
        harness.RunRequest.from_file(file)
    assert str(file) in arena("tournament", file, code=2).stderr


def test_a_second_ctrl_c_is_not_recorded_as_a_fault(tmp_path):
    (tmp_path / "script.py").write_text(
        "import harness\n"
        "def stuck(view, actions):\n"
        "    print('thinking', flush=True)\n"
        "    while True: pass\n"
        "try:\n"
        "    harness.tournament('el-paso', [stuck, 'random'], deals=1, seed=1, workers=0, move_time=0, name='main',\n"
        "        show_output=True)\n"
        "except KeyboardInterrupt:\n"
        "    print('interrupted')\n"
    )
    process = subprocess.Popen(
        [sys.executable, "script.py"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=tmp_path
    )
    assert process.stderr.readline() == "[stuck el-paso-1.1.1] thinking\n"
    os.kill(process.pid, signal.SIGINT)
    assert process.stderr.readline() == "\n"
    assert "once more to stop now" in process.stderr.readline()
    os.kill(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=120)
    assert out == "interrupted\n", err
    assert list(RunFolder.open(tmp_path / "results" / "main").records()) == []


def test_a_request_copies_its_arguments():
    bots, options = ["random"], {"edition": "nl"}
    request = harness.RunRequest(bots=bots, options=options)
    bots.append("outlaw")
    options["edition"] = "de"
    assert (request.bots, request.options) == (("random",), {"edition": "nl"})


def test_a_config_file_may_set_strict_and_the_results_folder(tmp_path):
    (tmp_path / "bad.py").write_text(
        "import harness\nclass Bad(harness.Bot):\n    def choose(self, view, actions): raise RuntimeError\n"
    )
    file = tmp_path / "run.toml"
    file.write_text('games = ["el-paso"]\nbots = ["bad.py", "random"]\ndeals = 1\nstrict = true\nresults = "other"\n')
    arena("tournament", file, "--name", "a", code=1)
    assert (tmp_path / "other" / "a").exists()
    arena("tournament", file, "--name", "b", "--results", "results", code=1)
    assert (tmp_path / "results" / "b").exists()


def test_a_class_without_source_is_identified_by_its_bytecode():
    from harness.plugins.bot_files import source_digest

    made = []
    for place in ("0", "-1"):
        space = {"harness": harness}
        exec(f"class Made(harness.Bot):\n    def choose(self, view, actions): return actions[{place}]", space)  # noqa: S102
        made.append(source_digest(space["Made"]))
    assert made[0] != made[1]
    assert "" not in made


def test_the_leaderboard_is_computed_only_once(monkeypatch):
    from harness.api import runs

    run = harness.tournament("el-paso", FIELD, deals=1, seed=1, workers=0)
    calls = []
    real = runs.boards_of
    monkeypatch.setattr(runs, "boards_of", lambda folder: calls.append(1) or real(folder))
    run.leaderboard(), run.table(), run.pairs(), repr(run)
    assert len(calls) == 1


def test_options_that_would_change_a_run_are_refused_on_resume():
    harness.tournament("el-paso", FIELD, deals=1, seed=1, workers=0, name="here")
    with pytest.raises(harness.UsageError, match="leave out seed"):
        harness.tournament(resume="here", deals=5, seed=3)
    with pytest.raises(harness.UsageError, match="leave out request"):
        harness.tournament(bots=["outlaw"], resume="here", request=harness.RunRequest(deals=9))


def test_the_python_call_is_saved_in_the_run():
    run = harness.tournament("el-paso", [First, "random"], deals=1, workers=0, name="here")
    asked = "games=('el-paso',), bots=[First, 'random'], deals=1, seed=1, workers=0, name='here'"
    assert run.info.command == f"harness.tournament({asked})"
    again = harness.tournament(("el-paso",), [First, "random"], deals=1, workers=0, seed=run.info.plan.seed)
    assert plain(again) == plain(run)


def test_a_single_bot_name_is_accepted_without_a_list():
    with pytest.raises(harness.UsageError, match="needs at least 2 bots that play it; 1 entered"):
        harness.tournament("el-paso", "outlaw", deals=1)


def test_a_broken_plugin_causes_a_warning(monkeypatch):
    from harness.plugins import discovery

    class Point:
        name, dist = "bad", None

        def load(self):
            raise RuntimeError("not today")

    real = discovery.entry_points
    monkeypatch.setattr(discovery, "entry_points", lambda group: [*real(group=group), Point()])
    with pytest.warns(UserWarning, match="Plugin bad cannot be loaded"):
        harness.tournament("el-paso", FIELD, deals=1, workers=0)


def test_a_request_cannot_be_changed():
    with pytest.raises(AttributeError):
        harness.RunRequest().deals = 3


SCRIPT = """
import harness

class Typed(harness.Bot):
    games = ("el-paso",)
    def choose(self, view, actions):
        return actions[0]

def typed_too(view, actions):
    return actions[-1]

if __name__ == "__main__":
    run = harness.tournament("el-paso", [Typed, typed_too, "random"], deals={deals}, seed=1, workers=2, name="main")
    print(run.complete, len(run))
"""


def test_classes_typed_into_the_main_program_play_in_workers(tmp_path):
    (tmp_path / "script.py").write_text(SCRIPT.format(deals=1))
    done = subprocess.run([sys.executable, "script.py"], capture_output=True, text=True, cwd=tmp_path)
    assert done.stdout == "True 3\n", done.stderr


def test_ctrl_c_stops_a_run_cleanly_and_it_can_be_resumed(tmp_path):
    (tmp_path / "script.py").write_text(SCRIPT.format(deals=100_000))
    process = subprocess.Popen(
        [sys.executable, "script.py"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=tmp_path
    )
    games = tmp_path / "results" / "main" / "games.jsonl"

    def recorded():
        assert process.poll() is None, process.stderr.read()
        return games.exists() and games.stat().st_size > 0

    wait_for(recorded, "the first record")
    os.kill(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=120)
    assert out.startswith("False "), err
    assert "harness.tournament(resume=" in err
    assert list(RunFolder.open(games.parent).records())
