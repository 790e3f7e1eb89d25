"""Whoever says nothing about isolation runs his own bots here, and nobody else's."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

import harness
from engines.el_paso import ElPaso
from harness.cli.main import main
from harness.conformance.bot_check import BotReport
from harness.core.errors import UsageError
from harness.isolation import doctor
from harness.output import text
from harness.runs.setup import installed
from tests.support.cli import arena

MARKED = """
import harness
harness.marked_by = getattr(harness, "marked_by", 0) + 1
class Mine(harness.Bot):
    games = ("el-paso",)
    def choose(self, view, actions): return actions[0]
"""
PROGRAM = """
import json, sys
try:
    open({secret!r}).read()
    told = "free"
except OSError:
    told = "confined"
for line in sys.stdin:
    asked = json.loads(line)
    answer = {{"type": "ready", "id": asked.get("id")}}
    if asked["type"] == "hello":
        answer = {{"type": "hello", "protocol": 1, "version": told, "games": ["el-paso"], "wants": []}}
    elif asked["type"] == "choose":
        answer = {{"type": "choice", "id": asked["id"], "code": asked["legal"][0]}}
    print(json.dumps(answer), flush=True)
"""
GAME = ("tournament", "--game", "el-paso", "--deals", 1, "--workers", 0, "--results", "results")


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delattr(harness, "marked_by", raising=False)
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "mine.py").write_text(MARKED)
    (tmp_path / "theirs.py").write_text(MARKED)
    (tmp_path / "theirs.py").chmod(0o666)
    (tmp_path / "private").mkdir()
    (tmp_path / "private" / "secret").write_text("")
    (tmp_path / "their").mkdir()
    (tmp_path / "their" / "program.py").write_text(PROGRAM.format(secret=str(tmp_path / "private" / "secret")))
    text._lacking.cache_clear()
    yield tmp_path
    text._lacking.cache_clear()


def enforced(name: str) -> bool:
    return next(guarantee.enforced for guarantee in doctor.probe() if guarantee.name == name)


def limits(name: str) -> dict[str, object]:
    return json.loads(Path("results", name, "run.json").read_text())["limits"]


def test_a_program_is_sandboxed_unless_isolation_is_off(here):
    if not enforced("reading"):
        pytest.skip("this machine cannot keep a program from reading: see arena doctor")
    command = f"cmd:{sys.executable} -S their/program.py"
    versions = {isolate: installed(isolate).entrant(command).version for isolate in ("auto", "on", "off")}
    assert versions == {"auto": "confined", "on": "confined", "off": "free"}
    assert installed().entrant(command).version == "confined"


def test_a_trusted_file_plays_in_arenas_process_and_an_untrusted_file_does_not(here):
    assert not installed().entrant("own/mine.py").untrusted
    assert harness.marked_by == 1
    assert "everybody may write to theirs.py" in installed().entrant("theirs.py").untrusted
    assert harness.marked_by == 1
    installed("off").entrant("theirs.py")
    assert harness.marked_by == 2


RIGHTS = (
    "own/mine.py runs in Arena's process, with your rights. If you did not write it, use --isolate=on (in Python "
    "isolate='on')."
)


def test_the_first_time_a_file_plays_in_arenas_process_a_line_says_so(here, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(here / "caches"))
    line = RIGHTS
    bots = ("--bot", "own/mine.py", "--bot", "random")
    for name, times, *more in (("isolated", 0, "--isolate"), ("first", 1), ("second", 0)):
        said = " ".join(arena(*GAME, *bots, "--name", name, *more).stderr.split())
        assert said.count(line) == times, name
    (here / "caches" / "arena" / "played-here").write_bytes(b"x" * 2_000_000)  # damaged: the line is printed again
    assert line in " ".join(arena(*GAME, *bots, "--name", "third").stderr.split())


def test_every_command_says_that_a_file_plays_in_arenas_process(here, monkeypatch, capsys):
    def says_so(stderr):
        assert " ".join(stderr.split()).count(RIGHTS) == 1
        (here / "caches" / "arena" / "played-here").unlink()

    monkeypatch.setenv("XDG_CACHE_HOME", str(here / "caches"))
    report = BotReport("mine", {"el-paso": [2]}, 1, 1)
    monkeypatch.setattr("harness.conformance.cli._check", lambda *_: report)
    says_so(arena("check", "own/mine.py").stderr)
    says_so(
        arena(
            "compare", "own/mine.py", "random", "--game", "el-paso", "--workers", 0, "--most", 2, "--name", "a"
        ).stderr
    )
    says_so(arena("ask", "own/mine.py", "a", "0", "--seat", 0, "--decision", 0).stderr)
    says_so(CliRunner().invoke(main, ["play", "el-paso", "--bot", "own/mine.py"], input="quit\n").stderr)
    capsys.readouterr()
    harness.tournament("el-paso", ["own/mine.py", "random"], deals=1, workers=0, name="t")
    says_so(capsys.readouterr().err)
    harness.play_match("el-paso", ["own/mine.py", "random"], seed=1)
    says_so(capsys.readouterr().err)


def test_a_message_lists_sandboxed_and_trusted_bots_and_the_run_keeps_isolate_auto(here):
    said = arena(*GAME, "--bot", "theirs.py", "--bot", "random", "--name", "a", "--strict").stderr
    assert not hasattr(harness, "marked_by")
    told = " ".join(said.split())
    assert "Sandboxed: mine (everybody may write to theirs.py). Trusted like your own code, in Arena's process" in told
    assert limits("a")["isolate"] == "auto"
    assert "Sandboxed: " not in arena(*GAME, "--bot", "theirs.py", "--bot", "random", "--name", "b", "-q").stderr
    assert "Sandboxed: " not in arena(*GAME, "--bot", "skittish", "--bot", "random", "--name", "c").stderr
    assert "Sandboxed: " in arena("tournament", "--resume", "a", "--workers", 0).stderr
    assert not hasattr(harness, "marked_by")


def test_isolate_works_the_same_in_a_config_file_and_in_python(here, capsys):
    (here / "run.toml").write_text(
        'games = ["el-paso"]\nbots = ["theirs.py", "random"]\ndeals = 1\nisolate = "auto"\nworkers = 0\nname = "t"\n'
    )
    arena("tournament", "run.toml")
    harness.tournament("el-paso", ["theirs.py", "random"], deals=1, workers=0, name="p")
    harness.tournament("el-paso", ["own/mine.py", "random"], deals=1, workers=0, name="on", isolate="on")
    assert [limits(name)["isolate"] for name in ("t", "p", "on")] == ["auto", "auto", "on"]
    lines = (here / "results/on/games.jsonl").read_text().splitlines(keepends=True)
    (here / "results/on/games.jsonl").write_text(lines[0])
    harness.tournament(resume="on", workers=0)
    match = harness.play_match("el-paso", ["theirs.py", "random"], seed=1)
    match.ask("theirs.py", seat=0)
    harness.compare("theirs.py", "random", games="el-paso", most=1, workers=0)
    assert not hasattr(harness, "marked_by")
    assert "Sandboxed: " in capsys.readouterr().err
    with pytest.raises(UsageError, match="Choose from: auto, off, on, strict"):
        harness.play_match("el-paso", ["own/mine.py", "random"], isolate="maybe")


def test_other_commands_do_not_load_an_untrusted_file(here, monkeypatch):
    monkeypatch.setattr(ElPaso, "max_players", 3)  # a check tries every player count
    arena(*GAME, "--bot", "skittish", "--bot", "random", "--name", "a", "--seed", 1)
    arena("ask", "theirs.py", "a", 0, "--seat", 0)
    assert "isolated: " in (said := arena("check", "theirs.py", "--game", "el-paso", "--matches", 1).stdout)
    assert "in a worker" not in said
    arena(*GAME[:-2], "--dry-run", "--bot", "theirs.py", "--bot", "random")
    arena("play", "el-paso", "--bot", "theirs.py", "--hint-bot", "theirs.py", "--name", "p")
    assert not hasattr(harness, "marked_by")
    arena("ask", "theirs.py", "a", 0, "--seat", 0, "--isolate=off")
    assert harness.marked_by == 1


def test_every_guarantee_that_is_not_enforced_is_named_in_a_warning_before_play(here, monkeypatch):
    lacking = [doctor.Guarantee("network", "there is no network", False), doctor.Guarantee("memory", "m", True),
               doctor.Guarantee("reading", "nothing is read", False)]  # fmt: skip
    monkeypatch.setattr(doctor, "probe", lambda: lacking)
    for number, how in enumerate([("--isolate",), ("--isolate=on", "-q"), ("--bot", "theirs.py")]):
        said = arena(*GAME, "--bot", "skittish", "--bot", "random", *how, "--name", number).stderr
        told = " ".join(said.split())
        assert "Warning: this machine does not enforce that there is no network" in told
        assert "Warning: this machine does not enforce that nothing is read" in told
        assert "enforce that m" not in told
    said = arena(*GAME, "--bot", "skittish", "--bot", "random", "--name", "none").stderr
    assert "Warning" not in said


@pytest.mark.skipif(os.getuid() != 0 or not shutil.which("setpriv"), reason="only root has rights to give up")
@pytest.mark.parametrize("lost", ["sys_admin", "sys_admin,-setuid", "sys_admin,-setuid,-setgid,-chown"])
def test_root_without_capabilities_gets_a_warning_with_auto_and_an_error_with_on(here, lost):
    less = ["setpriv", "--bounding-set", f"-{lost}", "--inh-caps", f"-{lost}", sys.executable, "-m", "harness"]
    told = ["--bot", f"cmd:{sys.executable} -S their/program.py", "--bot", "random", "--strict", "-q"]
    run = [*less, *map(str, GAME), *told]
    done = subprocess.run(run, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "Warning: " in done.stderr
    for isolate in ("on", "strict"):
        refused = subprocess.run([*run, f"--isolate={isolate}"], capture_output=True, text=True)
        assert refused.returncode == 2, (isolate, refused.stderr)
        assert "Traceback" not in refused.stderr
