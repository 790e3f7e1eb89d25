"""arena ask: a bot before a decision that was made."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

import harness
from tests.support.cli import arena

MEMORY = """
from harness import Bot


class Keeper(Bot):
    '''Its choice depends on its luck and on all that it was told and asked.'''

    def start(self):
        self.told = self.asked = 0

    def observe(self, events):
        self.told += len(events)

    def choose(self, view, actions):
        self.asked += 1
        self.note([self.asked, self.told])
        return actions[(self.told + self.asked + self.rng.randrange(50)) % len(actions)]
"""
FAILING = """
from harness import Bot


class Failing(Bot):
    def start(self):
        self.asked = 0

    def choose(self, view, actions):
        self.asked += 1
        if self.asked == 3:
            return self.think(view)
        return actions[0]

    def think(self, view):
        return view.wisdom
"""
FIELD = ("tournament", "--game", "el-paso", "--deals", 1, "--seed", 3, "--workers", 0, "--quiet", "--name")
MATCH = "el-paso-1.1.1"


def ask(*args, code=0):
    return json.loads(arena("ask", *args, "--json", code=code).stdout)


@pytest.fixture
def keeper():
    Path("keeper.py").write_text(MEMORY)
    arena(*FIELD, "a", "--bot", "keeper.py", "--bot", "skittish", "--bot", "diehard")
    return "keeper.py"


@pytest.fixture
def failing():
    Path("failing.py").write_text(FAILING)
    arena(*FIELD, "a", "--bot", "failing.py", "--bot", "skittish")
    return "failing.py"


@pytest.mark.parametrize("how", [(), ("--isolate",)])
def test_the_recorded_bot_repeats_its_recorded_decisions(keeper, how):
    said = ask(keeper, "a", MATCH, *how)
    assert said["differ"] == 0
    assert not any(one["failure"] for one in said["decisions"])
    assert said["asked"] > 20
    assert [one["notes"] for one in said["decisions"]] == [one["notes_then"] for one in said["decisions"]]
    assert "the same, 0 changed." in " ".join(arena("ask", keeper, "a", MATCH, *how).stdout.split())


def test_a_renamed_version_gets_the_same_seed_and_events_as_the_recorded_bot(keeper):
    Path("newer.py").write_text(MEMORY.replace("class Keeper", "class Newer"))
    seat = harness.open_run("a").replay(MATCH).bots.index("keeper")
    assert "did not play in" in arena("ask", "newer.py", "a", MATCH, code=2).stderr
    assert ask("newer.py", "a", MATCH, "--seat", "keeper")["differ"] == 0
    assert ask("newer.py", "a", MATCH, "--seat", seat)["differ"] == 0


def test_one_decision_is_shown_as_the_seat_saw_it(keeper):
    match = harness.open_run("a").replay(MATCH)
    seat = match.bots.index("keeper")
    at = match.positions(seat)[5]
    said = arena("ask", keeper, "a", MATCH, "--decision", at.decision).stdout
    assert f"Decision {at.decision} of {len(match.record.actions)} ({at.view.phase}), as keeper saw it" in said
    assert f"then   {at.chosen}" in said
    assert f"now    {at.chosen}" in said
    assert f"note: [6, {at.notes[0][1]}]" in said
    assert "(you)" not in said
    [one] = ask(keeper, "a", MATCH, "--decision", at.decision)["decisions"]
    assert one["view"] == json.loads(match.game.view_to_json(at.view))
    assert (one["then"], one["now"], one["by"]) == (at.chosen.code, at.chosen.code, "bot")


def test_decisions_that_differ_between_two_versions_are_listed(keeper):
    match = harness.open_run("a").replay(MATCH)
    seat = match.bots.index("skittish")
    said = arena("ask", "skittish:stars=5", "a", MATCH)
    listed = [line for line in said.stdout.splitlines() if "then leave, now stay" in line]
    left = [one.decision for one in match.positions(seat) if str(one.chosen) == "leave"]
    assert listed
    assert {int(line.split()[0]) for line in listed} <= set(left)
    ask = f"arena ask skittish:stars=5 results/a {MATCH} --seat {seat}"
    assert f"{ask} --decision {int(listed[0].split()[0])}" in said.stderr
    first = match.ask("skittish:stars=5").differences[0]
    assert first.position.decision == int(listed[0].split()[0])


def test_a_recorded_fault_is_reproduced_with_its_traceback(failing):
    said = arena("ask", failing, "a", MATCH, "--fault", code=1).stdout
    assert "fault  exception at decision" in said
    assert "then   " in said
    assert "(by the stand-in of a bot that had failed)" in said
    assert (
        f'{Path(failing).resolve()}", line {FAILING.splitlines().index("        return view.wisdom") + 1}, in think'
        in said
    )
    assert "AttributeError: 'ElPasoView' object has no attribute 'wisdom'" in said
    [one] = ask(failing, "a", MATCH, "--fault", code=1)["decisions"]
    assert (one["failure"]["kind"], one["by"], one["now"]) == ("exception", "stand-in", None)
    whole = arena("ask", failing, "a", MATCH, code=1).stdout
    assert "and is not asked again." in " ".join(whole.split())
    Path("failing.py").write_text(FAILING.replace("view.wisdom", "'wisdom'"))
    assert "fails: illegal" in arena("ask", failing, "a", MATCH, "--fault", code=1).stdout
    Path("failing.py").write_text(FAILING.replace("self.asked == 3", "self.asked == 99999"))
    assert "It answers now, where a stand-in had to." in arena("ask", failing, "a", MATCH, "--fault").stdout


def test_a_bot_that_fails_before_the_recorded_fault_is_reported_at_the_earlier_decision(failing):
    Path("failing.py").write_text(FAILING.replace("self.asked == 3", "self.asked == 2"))
    said = arena("ask", failing, "a", MATCH, "--fault", code=1).stdout
    assert "is not reached: failing fails before, at this one." in said
    Path("failing.py").write_text(FAILING.replace("self.asked = 0", "raise ValueError('not today')", 1))
    assert "not today" in arena("ask", failing, "a", MATCH, code=1).stdout


def test_the_worst_decision_is_the_one_that_costs_the_most_points():
    Path("giving.py").write_text(
        "from harness import Bot\nclass Giving(Bot):\n    def choose(self, view, actions):\n"
        "        return max(actions, key=lambda action: action.text.startswith('stop'))\n"
    )
    bots = ("--bot", "giving.py", "--bot", "founder", "--bot", "raider")
    arena("tournament", "--game", "x-pasch", "--deals", 1, "--seed", 3, "--workers", 0, "--quiet", "--name", "x", *bots)
    once = ask("founder", "x", 0, "--seat", "giving", "--worst")
    points, error = once["cost"]["points"], once["cost"]["error"]
    assert points > 2 * error > 0
    [one] = once["decisions"]
    then = next(action for action in one["legal"] if action["code"] == one["then"])
    assert then["text"] == "stop"
    assert once["cost"]["best"] != one["then"]
    again = " ".join(arena("ask", "founder", "x", 0, "--seat", "giving", "--worst").stdout.split())
    assert f"about {points:.1f} ± {error:.1f} points" in again
    assert "imagined worlds" in again


def debug(*args, typed):
    command = [sys.executable, "-m", "harness", "ask", *map(str, args), "--pdb"]
    return subprocess.run(command, input="".join(f"{line}\n" for line in typed), capture_output=True, text=True)


def test_the_debugger_stops_where_the_bot_chooses_and_where_it_raises(failing):
    at = harness.open_run("a").replay(MATCH).faults[0].decision
    said = debug(failing, "a", MATCH, "--fault", typed=["p self.asked", "c", "p view.phase", "q"])
    assert "failing.py(10)choose()" in said.stdout
    assert "(Pdb) 2" in said.stdout  # it was asked twice before
    assert "-> return view.wisdom" in said.stdout
    assert said.returncode == 1
    left = debug(failing, "a", MATCH, "--decision", at, typed=["q"])
    assert (left.returncode, left.stderr.splitlines()[-1]) == (0, "You have left the debugger.")
    assert "where no debugger can follow" in debug(failing, "a", MATCH, "--isolate", typed=[]).stderr


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (("keper.py", "a", MATCH), "There is no file keper.py"),
        (("skitish", "a", MATCH), "Did you mean 'skittish'?"),
        (("skittish", "b", MATCH), "There is no run 'b'."),
        (("skittish", "a", "el-paso-1.1.9"), "Did you mean 'el-paso-1.1."),
        (("skittish", "a", MATCH, "--decision", 5000), "has decisions 0 to "),
        (("skittish", "a", MATCH, "--decision", -1), "has decisions 0 to "),
        (("skittish", "a", MATCH, "--seat", 7), "has seats 0 to 2, not 7."),
        (("skittish", "a", MATCH, "--seat", "diehrd"), "Did you mean 'diehard'?"),
        (("skittish", "a", MATCH, "--fault"), "skittish did not fail in"),
        (("outlaw", "a", MATCH, "--fault"), "No bot failed in"),
        (("outlaw", "a", MATCH), "Choose the seat to ask it for with --seat."),
        (("founder", "a", MATCH, "--seat", 0), "founder does not play El Paso."),
        (("skittish", "a", MATCH, "--worst", "--decision", 3), "Select a decision in one way only"),
        (("skittish", "a", MATCH, "--pdb", "--json"), "use only one of them"),
    ],
)  # fmt: skip
def test_invalid_arguments_get_one_error_sentence(keeper, args, said):
    assert said in " ".join(arena("ask", *args, code=2).stderr.split())


def test_a_decision_of_another_seat_needs_the_seat_option(keeper):
    match = harness.open_run("a").replay(MATCH)
    seat = match.bots.index("diehard")
    at = match.positions(seat)[0].decision
    assert f"--seat {seat}" in arena("ask", "skittish", "a", MATCH, "--decision", at, code=2).stderr
    assert ask("skittish", "a", MATCH, "--decision", at, "--seat", seat)["played"] == "diehard"
    assert ask("outlaw", "a", MATCH, "--decision", at)["played"] == "diehard"


def test_replays_mark_stand_in_moves_and_include_the_views_of_a_seat(failing):
    match = harness.open_run("a").replay(MATCH)
    seat, fault = match.bots.index("failing"), match.faults[0].decision
    by = {one.decision: one.stand_in for one in match.positions(seat)}
    assert by == {decision: decision >= fault for decision in by}
    printed = arena("replay", "a", MATCH).stdout.splitlines()
    marked = [int(line.split()[0]) for line in printed if " failing (stand-in): " in line]
    assert marked == [decision for decision, stand_in in by.items() if stand_in]
    lines = [json.loads(line) for line in arena("replay", "a", MATCH, "--json", "--seat", seat).stdout.splitlines()]
    seen = {line["decision"]: line["view"] for line in lines if "view" in line}
    views = {one.decision: json.loads(match.game.view_to_json(one.view)) for one in match.positions(seat)}
    assert seen == views
    assert not any("view" in line for line in match.replay())
