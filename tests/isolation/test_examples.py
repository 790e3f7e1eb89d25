"""The example bots of the documentation: they play well, whole matches, without a fault."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from harness.conformance.bot_check import check_bot
from harness.executors.serial import SerialExecutor
from harness.isolation.entrants import IsolationPolicy, enter_command, isolate_all
from harness.plugins.entrants import BotRef
from tests.isolation.support import GAMES, HOSTILE, PATIENT, REGISTRY, job, seated
from tests.support.waiting import wait_for

BOTS = Path(__file__).parents[2] / "docs" / "examples" / "bots"
needs_node = pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")
needs_cc = pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler is installed")
needs_awk = pytest.mark.skipif(shutil.which("awk") is None, reason="awk is not installed")


def enter(name, command):
    return enter_command(BotRef(name, command=command), "on")


@pytest.fixture(scope="module")
def xpasch(tmp_path_factory):
    program = tmp_path_factory.mktemp("c") / "xpasch"
    command = ["cc", "-O2", "-Wall", "-Wextra", "-Werror", "-o", str(program), str(BOTS / "xpasch.c")]
    subprocess.run(command, check=True)
    return enter("xpasch-c", str(program))


@pytest.fixture(scope="module")
def elpaso():
    return enter("elpaso-js", f"node {BOTS / 'elpaso.js'}")


@pytest.fixture(scope="module")
def awk():
    interactive = "-W interactive " if "mawk" in str(Path(shutil.which("awk")).resolve()) else ""
    return enter("awk", f"awk {interactive}-f {BOTS / 'cautious.awk'}")


def mean_ranks(game, entrants, matches):
    names = [entrant.name for entrant in entrants]
    jobs = []
    for number in range(matches):
        turn = number % len(names)
        jobs.append(job(number, game, *names[turn:], *names[:turn]))
    sums = dict.fromkeys(names, 0)
    with SerialExecutor(seated(entrants, limits=PATIENT, memory=2000, game=game), PATIENT) as executor:
        for record, *_ in executor.run(jobs):
            assert record.faults == ()
            for name, rank in zip(record.seats, record.ranks, strict=True):
                sums[name] += rank
    return {name: total / matches for name, total in sums.items()}


@needs_node
def test_the_javascript_bot_beats_the_simple_ones_at_el_paso(elpaso):
    ranks = mean_ranks("el-paso", [elpaso, *REGISTRY.entrants(["diehard", "skittish", "random"])], 16)
    assert min(ranks, key=ranks.get) == "elpaso-js", ranks


@needs_cc
def test_the_c_bot_beats_the_simple_ones_at_x_pasch(xpasch):
    ranks = mean_ranks("x-pasch", [xpasch, *REGISTRY.entrants(["founder", "raider", "random"])], 16)
    assert min(ranks, key=ranks.get) == "xpasch-c", ranks


@needs_awk
@pytest.mark.parametrize("tables", ["smallest", pytest.param("all", marks=pytest.mark.slow)])
def test_the_awk_bot_plays_every_game(awk, tables, monkeypatch):
    if tables == "smallest":
        for game in GAMES.values():
            monkeypatch.setattr(type(game), "max_players", game.min_players)
    policy = IsolationPolicy("on", PATIENT, 500)
    [entrant] = isolate_all({awk.name: awk}, policy, GAMES).values()
    report = check_bot(entrant, GAMES.values(), (1,), PATIENT)
    assert report.problems == []
    assert set(report.games) == set(GAMES)


def test_the_shell_bot_on_the_protocol_page_plays(tmp_path):
    page = (BOTS.parents[1] / "protocol.md").read_text(encoding="utf-8")
    [code] = re.findall(r"```sh\n(#!/bin/sh.*?)```", page, re.DOTALL)
    (tmp_path / "first.sh").write_text(code)
    first = enter("first", f"sh {tmp_path / 'first.sh'}")
    assert mean_ranks("el-paso", [first, *REGISTRY.entrants(["random"])], 1)


def test_the_page_shows_what_is_sent(tmp_path):
    """The conversation of the page, message by message: the same types, and the same fields in the same order."""
    page = (BOTS.parents[1] / "protocol.md").read_text(encoding="utf-8")
    shown = [re.sub(r"\{\.\.\.\}|\[\.\.\.\]", "0", line[2:]) for line in re.findall(r"^[<>] .*", page, re.MULTILINE)]
    told = [json.loads(line.replace(",...", "")) for line in shown]
    fields = {(order, message["type"]): list(message) for order, message in zip("><" * 5, told, strict=False)}
    log = tmp_path / "sent"
    script = tmp_path / "scribe.py"
    polite = f"import sys\nsys.path.insert(0, {str(HOSTILE)!r})\nimport json, polite\n"
    script.write_text(
        polite + "class Ears:\n    def __iter__(self):\n        for line in sys.__stdin__:\n"
        f"            open({str(log)!r}, 'a').write(line)\n            yield line\n"
        "sys.stdin = Ears()\n"
        "say = polite.say\n"
        "polite.say = lambda **message: say(**{k: v for k, v in message.items() if k != 'wants'})\n"
        "polite.play()\n"
    )
    scribe = enter_command(BotRef("scribe", command=f"{sys.executable} -S {script}"), "off")
    table = seated([*REGISTRY.entrants(["random"]), scribe], "off", PATIENT)
    with SerialExecutor(table, PATIENT) as executor:
        [(record, *_)] = executor.run([job(1, "el-paso", "random", "scribe")])
    assert record.faults == ()
    wait_for(lambda: '"bye"' in log.read_text(), "the program has heard bye")
    sent = [json.loads(line) for line in log.read_text().splitlines()]
    for message in sent:
        assert list(message) == fields[">", message["type"]]
    assert {message["type"] for message in sent} == {kind for order, kind in fields if order == ">"}
