"""arena check and the kit behind it: who is fit to play, and why not."""

from __future__ import annotations

import json
import re
import sys
import time

import pytest

from harness import Bot
from harness.conformance.bot_check import check_bot
from harness.core.errors import ConformanceError
from harness.isolation.entrants import RunningProgram
from harness.match.faults import Limits
from harness.output import progress
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
    assert [group.kind for group in report.faults] == [kind]
    assert "first in el-paso, 2 players, seed 1, decision" in report.problems[0]
    with pytest.raises(ConformanceError, match="is not fit to play"):
        report.demand()


def test_one_bug_is_one_problem_with_its_line_and_traceback():
    class Buggy(Good):
        games = ("el-paso", "x-pasch")

        def choose(self, view, actions):
            return {}[len(actions)]

    report = check_bot(Buggy, GAMES.values(), seeds=(1,))
    [problem] = report.problems
    line = Buggy.choose.__code__.co_firstlineno + 1
    assert problem.startswith(f"KeyError at test_check.py:{line}, ")
    assert f"test_check.py:{line} in choose: return {{}}[len(actions)]" in problem
    assert problem.splitlines()[-1].startswith("KeyError: ")


def test_a_bot_that_depends_on_earlier_matches_is_reported_as_not_repeatable():
    [problem] = check_bot(Fickle, EL_PASO).problems
    assert problem.startswith("Not repeatable: with the same seed, ")
    assert "Fickle.played += 1: state that outlives a match; keep it in self" in problem


FORGETS = """
import harness
class Bot(harness.Bot):
    games = ("el-paso",)
    seen = []
    def choose(self, view, actions):
        self.seen.append(view)
        return actions[len(self.seen) % len(actions)]
"""
WATCHES = """
from time import time_ns as now
import harness
class Bot(harness.Bot):
    games = ("el-paso",)
    seen = []
    def choose(self, view, actions):
        return actions[now() // 1000 % len(actions)]
"""


@pytest.mark.usefixtures("two_at_the_table")
@pytest.mark.parametrize(
    ("source", "sentence", "cause"),
    [
        (FORGETS, "Alone in a new process it is repeatable", "bot.py:7: self.seen.append(view): state that outlives"),
        (WATCHES, "Alone in a new process it is not repeatable either", "bot.py:8: now(): the clock; count iterations"),
    ],
)
def test_a_bot_that_is_not_repeatable_gets_likely_causes(tmp_path, source, sentence, cause):
    (tmp_path / "bot.py").write_text(source)
    said = arena("check", tmp_path / "bot.py", "--isolate", "off", code=1).stdout
    said = " ".join(said.split())
    assert sentence in said
    assert cause in said


@pytest.mark.usefixtures("two_at_the_table")
def test_the_number_of_imports_does_not_depend_on_the_number_of_matches(tmp_path, monkeypatch):
    """Also of a bot that cannot be forked, because it has a thread."""
    starts = []
    begin = RunningProgram.start.__func__
    monkeypatch.setattr(RunningProgram, "start", classmethod(lambda *args: starts.append(1) or begin(*args)))
    (tmp_path / "bot.py").write_text(
        "import threading, harness\nthreading.Thread(target=threading.Event().wait, daemon=True).start()\n"
        "class Bot(harness.Bot):\n    games = ('el-paso',)\n    def choose(self, view, actions): return actions[0]\n"
    )
    arena("check", tmp_path / "bot.py", "--isolate", "on", "--matches", 3)
    # One that could not be forked, then two for its two seats in each pass.
    assert len(starts) == 5


def test_the_check_shows_progress_with_a_total(monkeypatch, capsys):
    monkeypatch.setattr(progress, "PLAIN_INTERVAL_S", 0.0)
    check_bot(Good, EL_PASO, seeds=(1,), quiet=False)
    assert "matches: 16 of 16 (100%)" in capsys.readouterr().err


def test_a_wrong_signature_of_choose_is_found_before_play(tmp_path):
    (tmp_path / "bad.py").write_text(
        "import harness\nclass Bad(harness.Bot):\n    def choose(self, view): return None\n"
    )
    for command in (["check", tmp_path / "bad.py"], ["tournament", "--bot", tmp_path / "bad.py", "--deals", 1]):
        error = arena(*command, code=2).stderr
        assert "bot Bad: write def choose(self, view, actions), as it is called, not choose(self, view)." in error


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
    assert "PROBLEM  illegal action in phase " in said.stdout
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
    said = " ".join(said.split())
    assert re.search(r"Loading it takes \d+\.\d s", said)  # longer on a busy machine
    assert "WARNING Loading it starts a thread:" in said
    assert "WARNING Loading it prints, once in each worker; the first line: 'hello from cheerful'" in said
    assert "The first line: 'thinking" in said
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
    assert "PROBLEM (in a worker)  crash, SIGKILL" in said
    assert "killer is NOT fit to play." in said


def test_the_check_of_a_bot_that_hangs_soon_stops():
    class Hangs(Good):
        def choose(self, view, actions):
            time.sleep(0.2)
            return actions[0]

    report = check_bot(Hangs, EL_PASO, limits=Limits(0.01))
    [problem] = report.problems
    assert re.match(r"timeout, [34] times in el-paso; first in ", problem)  # a match may have two
    [warning] = report.warnings
    assert warning.startswith("The check was stopped after ")
    assert report.decisions == 0


def test_a_bot_that_cannot_be_loaded_in_a_worker_is_not_fit(tmp_path):
    (tmp_path / "once.py").write_text(
        "import os, pathlib, harness\nmark = pathlib.Path(__file__).with_name('seen')\n"
        "if mark.exists(): raise RuntimeError('only once')\nmark.touch()\n"
        "class Once(harness.Bot):\n    games = ('el-paso',)\n    def choose(self, view, actions): return actions[0]\n"
    )
    said = arena("check", tmp_path / "once.py", "--matches", 1, "--isolate", "off", code=1).stdout
    assert "RuntimeError: only once" in said


@pytest.mark.usefixtures("two_at_the_table")
def test_the_command_checks_programs():
    command = f"cmd:{sys.executable} -S {HOSTILE / 'leaves_children.py'}"
    data = json.loads(arena("check", command, "--json", "--matches", 1).stdout)
    assert data["fit"]
    [check] = data["checks"]
    assert check["isolate"] == "on"
    assert check["games"] == {"el-paso": [2]}
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
