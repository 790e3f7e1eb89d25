"""What a run says of bots that fail, and of what bots print."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

import harness
from harness.cli.options import fault_commands
from harness.core.records import Fault, MatchSpec
from harness.match.referee import ASKING, IDLE, SLOTS
from harness.match.stdio import MAX_LOG_BYTES, BotLogs, MatchStdout
from harness.output.progress import Progress
from harness.output.text import IN_FULL, fault_lines
from harness.runs.monitor import FaultGroups
from harness.runs.store import LOGS
from tests.ratings.simulate import record
from tests.support.cli import arena

CLUMSY = '''
from harness import Bot

class Clumsy(Bot):
    """Fails at its third decision: in its first seat with an exception, elsewhere with nonsense."""

    asked = 0

    def choose(self, view, actions):
        print("asked for", view.phase)
        self.asked += 1
        if self.asked == 3:
            return self.fail(actions) if self.seat == 0 else None
        return actions[0]

    def fail(self, actions):
        return actions[self.seat + 1000]
'''
LINE = CLUMSY.splitlines().index("        return actions[self.seat + 1000]") + 1


@pytest.fixture
def clumsy(tmp_path):
    path = tmp_path / "clumsy.py"
    path.write_text(CLUMSY)
    return path


def command(bot, *more):
    return ("tournament", "--game", "el-paso", "--bot", "random", "--bot", bot, "--seed", 3, *more)


@pytest.mark.parametrize("how", [("--workers", 0), ("--workers", 2), ("--workers", 1, "--isolate")], ids=str)
def test_fault_groups_name_the_line_and_the_commands_that_reproduce_the_fault(clumsy, how):
    said = arena(*command(clumsy, "--deals", 3, "--name", "a", *how)).stderr
    assert "6 faults in 6 matches: clumsy 6" in said
    assert f"clumsy: IndexError at clumsy.py:{LINE}, 3 times in el-paso" in said
    assert "clumsy: illegal action in phase " in said
    assert f"    clumsy.py:{LINE} in fail: return actions[self.seat + 1000]\n" in said
    assert "    IndexError: tuple index out of range\n" in said
    [first] = [one for one in harness.open_run("a").fault_groups() if one.kind == "exception"]
    assert f"first in {first.first.match}, decision {first.first.decision}:" in said
    [shown] = [
        line.split()[3:]
        for line in said.splitlines()
        if line.startswith(f"  the position: arena replay results/a {first.first.match} ")
    ]
    assert "IndexError" in arena(*shown).stdout
    assert f"arena ask {clumsy}::clumsy results/a {first.first.match} --fault" in said
    assert "arena matches results/a --faults" in said
    assert "what it printed: results/a/logs/clumsy.log" in said


def test_faults_end_a_run_with_the_documented_exit_code(clumsy):
    arena(*command(clumsy, "--deals", 1, "--name", "a"))
    arena(*command(clumsy, "--deals", 1, "--name", "b", "--strict"), code=1)


def test_json_output_contains_the_causes_of_faults(clumsy):
    told = json.loads(arena(*command(clumsy, "--deals", 2, "--json", "--workers", 0)).stdout)
    assert told["faults"] == sum(cause["count"] for cause in told["causes"]) == 4
    assert {cause["kind"] for cause in told["causes"]} == {"exception", "illegal"}


def test_disqualifications_are_reported_with_the_match_and_not_counted_as_faults(clumsy):
    said = arena(*command(clumsy, "--deals", 5, "--max-faults", 3, "--workers", 0, "--name", "a"))
    why = "disqualified after 3 faults, the last in el-paso-2.1.1"
    assert said.stderr.index(f"clumsy is {why}.") < said.stderr.index("3 faults in 3 matches: clumsy 3")
    assert f"clumsy was {why}; it lost 7 matches without playing." in " ".join(said.stderr.split())
    assert "clumsy was disqualified and lost 7 of its 10 matches without playing" in said.stdout
    run = harness.open_run("a")
    [line] = [row for row in run.leaderboard()["el-paso"].rows if row["bot"] == "clumsy"]
    assert (line["matches"], line["faults"]) == (10, 3)
    assert len(run.faults()) == 3
    assert run.fault_groups().disqualified == {"clumsy": why}
    arena("report", "a")
    assert f"</b> was {why}; it lost 7 matches without playing.</p>" in Path("results/a/report.html").read_text()


def test_a_run_that_is_continued_disqualifies_the_same_bots(clumsy):
    arena(*command(clumsy, "--deals", 5, "--max-faults", 3, "--workers", 0, "--name", "a"))
    whole = {one.id: one.without_timing() for one in harness.open_run("a")}
    games = Path("results/a/games.jsonl")
    lines = games.read_bytes().splitlines(keepends=True)
    for kept in (2, 3, 5):
        games.write_bytes(b"".join(lines[:kept]))
        said = arena("tournament", "--resume", "a", "--workers", 0).stderr
        assert "it lost 7 matches without playing" in " ".join(said.split())
        assert {one.id: one.without_timing() for one in harness.open_run("a")} == whole


HOW = pytest.mark.parametrize("how", [("--workers", 0), ("--workers", 1), ("--workers", 1, "--isolate")])


@HOW
def test_what_a_bot_prints_is_in_its_log_and_the_terminal_says_so_once(clumsy, how, capfd):
    said = arena(*command(clumsy, "--deals", 1, "--json", *how, "--name", "a"))
    assert json.loads(said.stdout)["faults"] == 2
    err = said.stderr + capfd.readouterr().err
    assert "asked for" not in err
    assert err.count("What clumsy printed is in results/a/logs.") == 1
    log = Path("results/a", LOGS, "clumsy.log").read_text().splitlines()
    assert [line.split(" asked for ")[0] for line in log] == ["[el-paso-1.1.1]"] * 3 + ["[el-paso-1.1.2]"] * 3
    assert "printed" not in arena("tournament", "--resume", "a").stderr.replace("what it printed", "")


@HOW
def test_show_output_prints_it_with_the_bot_and_the_match(clumsy, how, capfd):
    said = arena(*command(clumsy, "--deals", 1, "--json", *how, "--name", "a", "--show-output"))
    assert json.loads(said.stdout)["faults"] == 2
    err = said.stderr + capfd.readouterr().err
    for match in ("el-paso-1.1.1", "el-paso-1.1.2"):
        assert err.count(f"[clumsy {match}] asked for ") == 3
    assert len(Path("results/a", LOGS, "clumsy.log").read_text().splitlines()) == 6


def test_output_of_trial_matches_is_not_kept(clumsy, capfd):
    said = arena(*command(clumsy, "--deals", 1, "--workers", 1, "--dry-run"))
    err = said.stderr + capfd.readouterr().err
    assert "asked for" not in err
    assert "What clumsy printed in trial matches is not kept." in err
    assert not Path("results").exists()


PAST_PYTHON = """import os
import harness

class Native(harness.Bot):
    def choose(self, view, actions):
        os.write(1, b"one ")
        os.write(2, b"two\\x1b[2J\\xe2\\x80\\xae\\n")
        if self.seat == 1 and len(actions) > 1 and os.environ.get("DIE"):
            os.write(2, b"last words")
            os._exit(7)
        return actions[0]
"""


def test_output_to_descriptors_is_in_a_log_without_escapes_even_after_a_crash(capfd, monkeypatch):
    Path("native.py").write_text(PAST_PYTHON)
    field = ("tournament", "--game", "el-paso", "--bot", "native.py", "--bot", "random", "--workers", 1, "--deals", 2)
    arena(*field, "--name", "a")
    heard = capfd.readouterr()
    assert "one two" not in heard.out + heard.err
    first, then = (Path("results/a", LOGS, f"{name}.log").read_text() for name in ("unknown", "native"))
    assert {line.split("] ")[1] for line in (first + then).splitlines()} == {"one two?[2J?"}
    assert then.count("one two?[2J?") > first.count("one two?[2J?") > 0
    monkeypatch.setenv("DIE", "1")
    arena(*field, "--name", "b")
    assert "last words" in Path("results/b", LOGS, "native.log").read_text()


def test_a_print_at_each_decision_costs_little_once_the_log_is_full(tmp_path):
    logs = BotLogs(tmp_path / "run" / LOGS)
    status = [float(IDLE)] * SLOTS
    status[ASKING] = 0
    spec = MatchSpec.single("sim-1.1.1", "sim", {}, 1, ("chatty", "other"))
    for _ in range(20):
        stdout = MatchStdout(spec, status, logs=logs)
        for _ in range(2000):
            print("thinking about it", file=stdout)
        stdout.end()
    size = (tmp_path / "run" / LOGS / "chatty.log").stat().st_size
    assert MAX_LOG_BYTES <= size < MAX_LOG_BYTES + 100
    assert logs.dropped == {"chatty"}  # the file is not opened any more


def test_output_of_bots_in_a_single_match_from_python_is_tagged(capsys):
    def chatty(_view, actions):
        print("well")  # noqa: T201 - that is what this is about
        return actions[0]

    harness.play_match("el-paso", ["random", chatty], seed=1)
    heard = capsys.readouterr()
    assert heard.out == ""
    assert set(heard.err.splitlines()) == {"[chatty el-paso-1.1.1] well"}


def failed(bot, index, detail="", kind="crash"):
    return record((bot, "good"), (1, 2), index=index, faults=(Fault(0, kind, 1, detail),))


def test_the_progress_line_names_failing_bots_during_the_run(monkeypatch):
    err = io.StringIO()
    monkeypatch.setattr("sys.stderr", err)
    progress = Progress("matches", 100)
    progress.began -= 5  # it speaks after a second
    for n in range(3):
        progress.add_record(failed("sprinter", n))
    assert ", 1 fault: sprinter 1\n" in err.getvalue()
    progress.due = 0
    progress.add_record(failed("other", 3))
    assert ", 4 faults: sprinter 3, other 1\n" in err.getvalue()
    progress.disqualify("sprinter", "disqualified after 3 faults, the last in sim-1.1.2")
    assert err.getvalue().endswith("sprinter is disqualified after 3 faults, the last in sim-1.1.2.\n")


def test_a_summary_of_many_faults_fits_on_a_screen():
    faults = FaultGroups()
    for n in range(200):
        for bot in ("loud", "quiet"):
            if bot == "loud" or n == 7:
                faults.add(failed(bot, n, f"exit code {n}: " + "\x1b[31mword " * 100))
    lines = list(fault_lines(faults, fault_commands(Path("results/a"), {})))
    assert len(lines) < 10 * IN_FULL + 40
    assert all(len(line) < 80 and line.isprintable() for line in lines)
    assert any(line.startswith("quiet: crash, exit code 7") for line in lines)
