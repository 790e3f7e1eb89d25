"""Bots of every kind get to the nodes, and play there as they play here."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

import harness

FILE = '''
"""A bot in a file, with a module beside it and data that it reads."""
from pathlib import Path
import habits
from harness import Bot, hookimpl

class {name}(Bot):
    files = ("weights.txt",)

    def start(self):
        self.weight = int((Path(__file__).parent / "weights.txt").read_text())

    def choose(self, view, actions):
        self.note(self.weight)
        return actions[habits.turn(self.weight, len(actions))]

@hookimpl
def arena_bots():
    return [{name}]
'''
FAULTY = """
from harness import Bot, hookimpl

class Clumsy(Bot):
    def choose(self, view, actions):
        raise ValueError("not today")

@hookimpl
def arena_bots():
    return [Clumsy]
"""
PROGRAM = """
import json, sys
for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello":
        print(json.dumps({"type": "hello", "protocol": message["protocol"], "name": "told"}), flush=True)
    elif message["type"] == "choose":
        print("thinking", file=sys.stderr, flush=True)
        print(json.dumps({"type": "choice", "id": message["id"], "code": message["legal"][0]}), flush=True)
    elif "id" in message:
        print(json.dumps({"type": "ready", "id": message["id"]}), flush=True)
"""


def both(cluster, bots, **asked):
    asked = {"seed": 4, "deals": 2, "move_time": 20, **asked}
    there = harness.tournament("el-paso", bots, quiet=True, cluster=cluster.address, name="there", **asked)
    asked.pop("ship", None)
    here = harness.tournament("el-paso", bots, workers=2, name="here", quiet=True, **asked)
    assert there.complete
    assert {one.id: one.without_timing() for one in there} == {one.id: one.without_timing() for one in here}
    return there


@pytest.fixture
def folder(tmp_path):
    """A package and a file with the same bot, each with its module and its data; below the working folder, which
    nodes do not have as theirs."""
    for place in ("plain", "whole"):
        home = tmp_path / place
        home.mkdir()
        (home / "habits.py").write_text("def turn(weight, n):\n    return weight % n\n")
        (home / "weights.txt").write_text("3")
    (tmp_path / "plain" / "bot.py").write_text(FILE.format(name="Plain"))
    whole = FILE.format(name="Whole").replace("import habits", "from . import habits")
    (tmp_path / "whole" / "__init__.py").write_text(whole)
    (tmp_path / "clumsy.py").write_text(FAULTY)
    return tmp_path


@pytest.mark.parametrize("isolate", ["off", "on"])
def test_bot_files_and_folders_are_sent_to_the_nodes_with_their_data(cluster, folder, isolate):
    run = both(cluster, ["random", "plain/bot.py", "whole/", "clumsy.py"], isolate=isolate)
    assert {fault.bot for fault in run.faults()} == {"clumsy"}
    assert "not today" in run.faults()[0].detail
    assert str(folder) not in run.faults()[0].detail
    notes = run.replay(next(one.id for one in run if "plain" in one.seats)).notes
    assert notes


def test_bots_defined_in_a_function_are_sent_to_the_nodes(cluster):
    weight = 5

    class Typed(harness.Bot):
        def choose(self, view, actions):
            return actions[weight % len(actions)]

    def last(_view, actions):
        return actions[-1]

    both(cluster, ["random", Typed, last])


def test_a_program_plays_on_the_nodes_and_its_stderr_is_logged_by_the_driver(cluster, tmp_path):
    (tmp_path / "told.py").write_text(PROGRAM)
    run = both(cluster, ["random", "diehard", f"told=cmd:{sys.executable} {tmp_path / 'told.py'}"])
    logged = Path(run.folder, "logs", "told.log").read_text()
    assert "thinking" in logged


def test_files_named_by_game_options_are_sent_to_the_nodes(cluster, tmp_path):
    file = tmp_path / "mine.toml"
    file.write_text(harness.read_data_file("engines.el_paso", "el_paso.toml").replace("rate = 4", "rate = 2"))
    run = both(cluster, ["random", "skittish:stars=3"], options={"edition": "nl", "components": str(file)})
    usual = harness.tournament(
        "el-paso", ["random", "skittish:stars=3"], options={"edition": "nl"}, seed=4, deals=2, workers=0
    )
    assert [one.scores for one in sorted(run, key=lambda one: one.index)] != [one.scores for one in usual]


def test_shipped_packages_take_precedence_over_packages_installed_on_the_node(cluster):
    class Tells(harness.Bot):
        def choose(self, view, actions):
            import bots
            import engines

            self.note([place.__file__ for place in (harness, engines, bots)])
            return actions[0]

    run = both(cluster, ["random", Tells], ship=True)
    [first, *_] = run.replay(next(iter(run)).id).notes
    assert all("arena-shipped" in place for place in first.said[0])


def test_a_module_that_belongs_to_no_package_cannot_be_shipped(cluster, tmp_path, monkeypatch):
    (tmp_path / "loose_bot.py").write_text(FAULTY)
    monkeypatch.syspath_prepend(str(tmp_path))
    import loose_bot

    with pytest.raises(harness.ArenaError, match="loose_bot"):
        both(cluster, ["random", loose_bot.Clumsy], ship=True)
    assert not list(Path("results").iterdir())
