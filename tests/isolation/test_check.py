"""arena check and the kit behind it: who is fit to play, and why not."""

from __future__ import annotations

import json
import sys

import pytest

from harness import Bot
from harness.conformance.bot_check import check_bot
from harness.core.errors import ConformanceError
from tests.isolation.support import GAMES, HOSTILE
from tests.support import zoo
from tests.support.cli import arena

EL_PASO = [GAMES["el-paso"]]


class Good(Bot):
    """Takes any legal action, and says so."""

    games = ("el-paso",)

    def choose(self, view, actions):
        return self.rng.choice(actions)


class Fickle(Good):
    """Remembers its last match."""

    played = 0

    def start(self):
        Fickle.played += 1

    def choose(self, view, actions):
        return actions[Fickle.played % len(actions)]


class Boaster(Good):
    """Claims more than there is."""

    games = ("el-paso", "chess")


def test_a_good_bot_is_fit():
    report = check_bot(Good, EL_PASO)
    report.demand()
    assert report.games == {"el-paso": [2, 3, 4, 5]}
    assert report.matches == 2 * 4 * 3
    assert report.decisions > 100
    assert report.slowest > 0


@pytest.mark.parametrize(("bad", "kind"), zoo.FAULTS.items(), ids=lambda value: getattr(value, "__name__", value))
def test_faults_are_problems(bad, kind):
    report = check_bot(bad, EL_PASO, seeds=(1,))
    assert not report.fit
    assert f": {kind} at decision" in report.problems[0]
    with pytest.raises(ConformanceError, match="is not fit to play"):
        report.demand()


def test_a_bot_that_depends_on_earlier_matches_is_reported_as_not_repeatable():
    assert "not repeatable: decision" in check_bot(Fickle, EL_PASO).problems[0]


def test_a_game_that_is_not_there_is_a_problem():
    problems = check_bot(Boaster, EL_PASO, seeds=(1,)).problems
    assert problems[0] == "It says that it plays 'chess', which is not installed."


def test_the_command_has_a_verdict_and_an_exit_code(tmp_path):
    said = arena("check", "skittish", "--matches", 1)
    assert "skittish is fit to play." in said.stdout
    assert "el-paso: 2, 3, 4, 5 players" in said.stdout
    assert "in a worker: 16 matches" in said.stdout
    assert "isolated: 16 matches" in said.stdout
    assert "MB of memory at most" in said.stdout
    (tmp_path / "bad.py").write_text(
        "import harness\nclass Bad(harness.Bot):\n    def choose(self, view, actions): return None\n"
    )
    said = arena("check", tmp_path / "bad.py", "--game", "el-paso", "--matches", 1, "--isolate", "off", code=1)
    assert "PROBLEM  el-paso, 2 players, seed 1: illegal at decision" in said.stdout
    assert "bad is NOT fit to play." in said.stdout


CHEERFUL = """
import threading, time
import harness
threading.Thread(target=threading.Event().wait, daemon=True).start()
print("hello from cheerful")
time.sleep(1.2)

class Cheerful(harness.Bot):
    games = ("el-paso",)
    def choose(self, view, actions):
        print("thinking")
        return actions[0]
"""


def test_threads_and_output_at_import_are_reported(tmp_path):
    (tmp_path / "cheerful.py").write_text(CHEERFUL)
    said = arena("check", tmp_path / "cheerful.py", "--matches", 1, "--isolate", "off").stdout
    assert "Loading it takes 1." in said
    assert "WARNING  Loading it starts a thread:" in said
    assert "WARNING  Loading it prints to stdout ('hello from cheerful')" in said
    assert "WARNING  It prints to stdout while it plays ('thinking" in said
    assert "cheerful is fit to play." in said


@pytest.fixture
def two_at_the_table(monkeypatch):
    """For what is the same at every player count, one is enough."""
    monkeypatch.setattr(type(GAMES["el-paso"]), "max_players", 2)


@pytest.mark.usefixtures("two_at_the_table")
def test_the_check_survives_a_bot_that_kills_its_worker(tmp_path):
    """The very circumstances of a tournament: the check is none the worse for what a bot does to its process."""
    (tmp_path / "killer.py").write_text(
        "import os, harness\nclass Killer(harness.Bot):\n    games = ('el-paso',)\n"
        "    def choose(self, view, actions): os.kill(os.getpid(), 9)\n"
    )
    said = arena("check", tmp_path / "killer.py", "--matches", 1, code=1).stdout
    assert "crash at decision 0" in said
    assert "killer is NOT fit to play." in said


def test_a_bot_that_cannot_be_loaded_in_a_worker_is_not_fit(tmp_path):
    (tmp_path / "once.py").write_text(
        "import os, pathlib, harness\nmark = pathlib.Path(__file__).with_name('seen')\n"
        "if mark.exists(): raise RuntimeError('only once')\nmark.touch()\n"
        "class Once(harness.Bot):\n    games = ('el-paso',)\n    def choose(self, view, actions): return actions[0]\n"
    )
    said = arena("check", tmp_path / "once.py", "--matches", 1, "--isolate", "off", code=1).stdout
    assert "RuntimeError: only once" in said


def test_the_command_checks_programs():
    command = f"cmd:{sys.executable} -S {HOSTILE / 'leaves_children.py'}"
    data = json.loads(arena("check", command, "--json", "--matches", 1).stdout)
    assert data["fit"]
    [check] = data["checks"]
    assert check["isolate"] == "on"
    assert check["games"] == {"el-paso": [2, 3, 4, 5]}
    assert 1 < check["memory"] < 500


@pytest.mark.usefixtures("two_at_the_table")
def test_a_program_that_exits_after_a_match_is_reported(tmp_path):
    script = tmp_path / "leaver.py"
    script.write_text(
        f"import sys\nsys.path.insert(0, {str(HOSTILE)!r})\nimport os, polite\n"
        "def bye(message):\n    polite.say(type='ready', id=message['id'])\n    os._exit(0)\n"
        "polite.play(over=bye)\n"
    )
    said = arena("check", f"cmd:{sys.executable} -S {script}", "--matches", 1, "--isolate", "off", code=1)
    assert "exits after a match by itself" in said.stdout


def test_usage_is_checked():
    assert "Did you mean 'skittish'" in arena("check", "skitish", code=2).stderr
    assert "does not say that it plays x-pasch" in arena("check", "skittish", "--game", "x-pasch", code=2).stderr
