"""Simulated runs on many nodes: the time they take can be worked out by hand, and waiting less changes no match."""

import json

import pytest

from harness.bench import executors
from harness.bench.cli import show_idle
from harness.bench.executors import CASES, SimulatedNodes, measure_idle
from harness.core.records import MatchSpec
from harness.core.rng import Chance
from harness.executors.base import Job
from harness.plugins.features import FORMATS
from harness.runs.scheduler import simulated_record

TWO = ("el-paso", "gnadenlos")


def job(number):
    return Job(MatchSpec.single(f"m-{number}", "game", {}, number, ("a", "b"), index=number))


class Later:
    """One match more after the first has ended."""

    def __init__(self):
        self.jobs = [job(3), job(4)]

    def __iter__(self):
        return self

    def __next__(self):
        if not self.jobs:
            raise StopIteration
        return self.jobs.pop(0)


def test_simulated_cores_play_in_parallel_and_take_a_new_match_when_one_ends():
    executor = SimulatedNodes(3, lambda spec: (float(spec.index), simulated_record(spec, {}, Chance(1))))
    jobs, ended = Later(), []
    for played in executor.run(jobs):
        ended.append((played.record.index, executor.now))
        if played.record.index == 3:
            jobs.jobs.append(job(5))
    assert ended == [(3, 3.0), (4, 4.0), (5, 8.0)]
    assert executor.busy == 12
    assert executor.idle == 3 * 8 - 12


def test_every_format_is_simulated():
    assert {case.format for case in CASES.values()} == set(FORMATS)


@pytest.mark.parametrize("name", ["swiss", "ladder", "compare"])
def test_a_run_is_idle_for_less_time_if_games_need_not_wait_for_each_other(name):
    shares = measure_idle(TWO, [name], nodes=(2, 8), seeds=(1,))[name]
    for share in shares.values():
        assert 0 < share.live < share.in_step < 1
    assert shares[2].live < shares[8].live
    assert shares[2].matches == shares[8].matches > 100


def test_a_round_robin_is_idle_only_during_its_last_matches():
    [share] = measure_idle(TWO, ["round-robin"], nodes=(2,), seeds=(1,))["round-robin"].values()
    assert 0 < share.live == share.in_step < 0.01


def test_idle_time_is_printed_as_json_and_as_a_table(monkeypatch, capsys):
    measured = measure_idle(TWO, ["knockout"])
    monkeypatch.setattr(executors, "measure_idle", lambda _games: measured)
    show_idle(TWO, as_json=True)
    figures = json.loads(capsys.readouterr().out)
    assert figures["knockout"]["8"] == measured["knockout"][8]._asdict()
    show_idle(TWO, as_json=False)
    table = capsys.readouterr().out
    share = measured["knockout"][32]
    assert f"{share.live:.1%} ({share.in_step:.1%})" in table
    assert "32 nodes" in table
