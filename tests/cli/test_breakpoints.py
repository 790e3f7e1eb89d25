"""breakpoint() in a bot: works in place with --workers 0, and says so elsewhere."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

import harness
from engines.el_paso import ElPaso
from harness.match.stdio import no_breakpoints
from harness.output.progress import at_terminal
from harness.runs.store import RunFolder
from tests.play.terminal import terminal
from tests.support.cli import arena
from tests.support.waiting import PATIENCE

STOPPER = """
from harness import Bot


class Stopper(Bot):
    stops = {stops}

    def choose(self, view, actions):
        answer = 6 * 7
        if Stopper.stops:
            Stopper.stops -= 1
            breakpoint()
        return actions[0]
"""
ASKED = ("tournament", "--game", "el-paso", "--bot", "stopper.py", "--bot", "random", "--deals", "1", "--name", "a")
PDB = r"\(Pdb\) \Z"


@pytest.fixture(autouse=True)
def _stopper(monkeypatch):
    monkeypatch.delenv("PYTHONBREAKPOINT", raising=False)
    write(2)


def write(stops):
    Path("stopper.py").write_text(STOPPER.format(stops=stops))


def run(*command, typed=""):
    """A command with this on its stdin: exit code, stdout, stderr."""
    done = subprocess.run(
        [sys.executable, *map(str, command)], input=typed, capture_output=True, text=True, timeout=PATIENCE, check=False
    )
    return done.returncode, done.stdout, done.stderr


def details(name="a"):
    return [fault.detail for record in RunFolder.open(Path("results", name)).records() for fault in record.faults]


def test_the_debugger_steps_through_a_bot_at_a_terminal():
    with terminal(*ASKED, "--workers", 0) as screen:
        assert "stopper.py(13)choose()" in screen.read(PDB)
        screen.press("p answer, len(view.hand) > 0\n")
        assert "(42, True)" in screen.read(PDB)
        screen.press("up\n")
        assert "referee.py" in screen.read(PDB)
        screen.press("c\n")
        assert "stopper.py(13)choose()" in screen.read(PDB)
        screen.press("c\n")
        assert screen.end() == 0
        assert "Records and leaderboard" in screen.seen
    assert details() == []


def test_debugger_output_goes_to_stderr_and_stdout_stays_valid_json():
    code, out, err = run("-m", "harness", *ASKED, "--workers", 0, "--json", typed="p answer\nc\nc\n")
    assert code == 0
    assert "(Pdb) 42" in err
    assert json.loads(out)["faults"] == 0


def test_quitting_the_debugger_stops_the_run_without_recording_a_fault():
    write(100)
    code, _, err = run("-m", "harness", *ASKED, "--workers", 0, typed="c\nq\n")
    assert code == 1
    assert err.count("(Pdb)") == 2
    assert "Continue with: arena tournament --resume results" in err
    assert len(list(RunFolder.open(Path("results/a")).records())) == 0
    write(0)
    arena("tournament", "--resume", "a", "--force", "--workers", 0)
    assert details() == []


SCRIPT = """
import harness
{call}
print("done")
"""


@pytest.mark.parametrize(
    "call",
    [
        "harness.tournament('el-paso', ['stopper.py', 'random'], deals=1, workers=0, quiet=True)",
        "harness.compare('stopper.py', 'random', games='el-paso', most=1, workers=0, quiet=True)",
        "harness.play_match('el-paso', ['stopper.py', 'random'])",
    ],
)
def test_breakpoints_work_in_calls_from_python(call):
    Path("script.py").write_text(SCRIPT.format(call=call))
    code, out, err = run("script.py", typed="p answer\nc\nc\n")
    assert (code, out) == (0, "done\n")
    assert "stopper.py(13)choose()" in err
    assert "(Pdb) 42" in err


def test_quitting_the_debugger_ends_a_match():
    Path("script.py").write_text(SCRIPT.format(call="harness.play_match('el-paso', ['stopper.py', 'random'])"))
    code, out, err = run("script.py", typed="q\n")
    assert (code, out) == (1, "")
    assert err.rstrip().endswith("bdb.BdbQuit")


@pytest.mark.parametrize("where", [("--workers", 1), ("--workers", 0, "--isolate")])
@pytest.mark.parametrize("asks", ["breakpoint()", "input('which? ')", "__import__('pdb').Pdb().set_trace()"])
def test_breakpoints_in_workers_and_sandboxes_fail_and_name_the_options_that_work(where, asks):
    Path("stopper.py").write_text(STOPPER.format(stops=1).replace("breakpoint()", asks))
    assert run("-m", "harness", *ASKED, *where)[0] == 0
    faults = details()
    assert faults
    for detail in faults:
        assert "works in a run with --workers 0 (from Python: workers=0) and without --isolate" in detail
        assert "stopper.py:12 in choose" in detail or "stopper.py:13 in choose" in detail


@pytest.mark.parametrize("command", ["check", "play"])
def test_breakpoints_in_check_and_play_fail_and_name_the_options_that_work(command, monkeypatch):
    write(10**6)
    monkeypatch.setattr(ElPaso, "max_players", 2)  # a check tries every player count, and says the same at each
    if command == "check":
        said = arena("check", "stopper.py", "--game", "el-paso", "--matches", 1, code=1).output
    else:
        _, _, said = run("-m", "harness", "play", "el-paso", "--bot", "stopper.py", "--name", "a", typed="1!\n" * 500)
        said += "".join(details())
    assert "breakpoint() works in a run with --workers 0" in said


def test_the_pythonbreakpoint_variable_is_respected(monkeypatch):
    monkeypatch.setenv("PYTHONBREAKPOINT", "0")
    arena(*ASKED, "--workers", 1)
    assert details() == []


def test_breakpoint_hook_and_stdin_are_restored_afterwards():
    before = sys.breakpointhook, sys.stdin
    with no_breakpoints(), pytest.raises(harness.UsageError, match="stdin works in a run"):
        sys.stdin.read()
    with at_terminal("matches", None, quiet=True, workers=0):
        assert sys.stdout is sys.stderr
        assert sys.breakpointhook is not before[0]
    assert (sys.breakpointhook, sys.stdin) == before


def test_the_progress_line_is_cleared_before_the_debugger_starts(capsys, monkeypatch):
    from harness.output.progress import Progress

    with Progress("matches", 100) as progress:
        progress.terminal, progress.due = True, 0.0
        progress.done = 7
        progress.step()
        shown = capsys.readouterr().err
        assert "matches: 8 of 100" in shown
        progress.clear()
        assert capsys.readouterr().err == "\r\x1b[K"


# --- no limit of time where a person debugs -------------------------------------------------------


@pytest.mark.parametrize(
    ("fields", "limit"),
    [({}, 10.0), ({"workers": 2}, 10.0), ({"workers": 0}, 0.0), ({"workers": 0, "move_time": 3}, 3)],
)
def test_the_default_move_time_depends_on_the_number_of_workers(fields, limit):
    assert harness.RunRequest(**fields).limits.move_time == limit


def test_the_move_time_in_effect_is_saved_and_applies_on_resume():
    def kept(name):
        return json.loads(Path("results", name, "run.json").read_text())["limits"]["move_time"]

    write(0)
    base = ("tournament", "--game", "el-paso", "--bot", "stopper.py", "--bot", "random", "--deals", 1)
    arena(*base, "--workers", 0, "--name", "free")
    arena(*base, "--workers", 1, "--name", "timed")
    arena(*base, "--workers", 0, "--move-time", 7, "--name", "given")
    Path("run.toml").write_text('workers = 0\ngames = ["el-paso"]\nbots = ["stopper.py", "random"]\ndeals = 1\n')
    arena("tournament", "run.toml", "--name", "file")
    assert [kept(name) for name in ("free", "timed", "given", "file")] == [0.0, 10.0, 7.0, 0.0]
    arena("tournament", "--resume", "free", "--workers", 1)
    arena("tournament", "--resume", "timed", "--workers", 0)
    assert (kept("free"), kept("timed")) == (0.0, 10.0)
    assert "started with move_time=0.0" in arena("tournament", "--resume", "free", "--move-time", 5, code=2).stderr
