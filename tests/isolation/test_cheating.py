"""What a bot can find out in arena's own process, and what it cannot find out when it is isolated."""

from __future__ import annotations

import json
import re

from harness.executors.base import Roster
from harness.executors.serial import SerialExecutor
from harness.plugins.entrants import enter
from tests.isolation import spies
from tests.isolation.support import GAMES, PATIENT, REGISTRY, job, seated


def read_notes(text):
    return [json.loads(found) for found in re.findall(r"SPY (.*)", text)]


def play_here(spy, capsys, matches):
    entrants = [*REGISTRY.entrants(["random"]), enter(spy, {}, "", "test", "1")]
    table = Roster(GAMES, {entrant.name: entrant for entrant in entrants})
    records = [
        one.record for one in SerialExecutor(table).run(job(n, "el-paso", "random", spy.name) for n in range(matches))
    ]
    return records, read_notes(capsys.readouterr().err)


def play_isolated(spy, folder, matches):
    entrants = [*REGISTRY.entrants(["random"]), enter(spy, {}, "", "test", "1")]
    with SerialExecutor(seated(entrants, limits=PATIENT, logs=str(folder)), PATIENT) as executor:
        jobs = [job(number, "el-paso", "random", spy.name) for number in range(matches)]
        records = [one.record for one in executor.run(iter(jobs))]
    return records, read_notes((folder / f"{spy.name}.log").read_text())


def test_walking_the_frames_reads_hidden_cards_in_arenas_own_process(capsys):
    [record], news = play_here(spies.FrameWalker, capsys, 1)
    assert len(news) == record.decisions[1]
    assert all(one["hands"] is not None and one["hands"][1] == one["mine"] for one in news)
    assert any(one["hands"][0] != one["mine"] for one in news)


def test_walking_the_frames_finds_nothing_when_isolated(tmp_path):
    [record], news = play_isolated(spies.FrameWalker, tmp_path, 1)
    assert record.faults == ()
    assert len(news) == record.decisions[1]
    assert all(one["hands"] is None for one in news)


def test_the_garbage_collector_reveals_the_deal_in_arenas_process_but_not_when_isolated(capsys, tmp_path):
    _, [here] = play_here(spies.Collector, capsys, 1)
    assert "Chance" in here["found"]
    _, [isolated] = play_isolated(spies.Collector, tmp_path, 1)
    assert isolated["found"] == []


def test_objects_passed_to_a_bot_reference_nothing_hidden_in_arenas_process(capsys):
    _, news = play_here(spies.Digger, capsys, 8)
    assert news[-1]["tries"] == spies.TRIES
    assert all(one["found"] == [] for one in news)


def test_objects_passed_to_a_bot_reference_nothing_hidden_when_isolated(tmp_path):
    _, news = play_isolated(spies.Digger, tmp_path, 8)
    assert len(news) >= spies.TRIES  # it counts anew in each match
    assert all(one["found"] == [] for one in news)


def test_an_isolated_bot_does_not_receive_the_seed(tmp_path):
    (tmp_path / "diarist.py").write_text(
        "import sys, harness\n"
        "class Diarist(harness.Bot):\n"
        "    def choose(self, view, actions): return actions[0]\n"
        "    def finish(self, record): print('SPY', record.seed or 'null', file=sys.stderr)\n"
    )
    table = seated(REGISTRY.entrants(["random", str(tmp_path / "diarist.py")]), limits=PATIENT, logs=str(tmp_path))
    with SerialExecutor(table, PATIENT) as executor:
        list(executor.run([job(1, "el-paso", "random", "diarist")]))
    assert read_notes((tmp_path / "diarist.log").read_text()) == [None]
