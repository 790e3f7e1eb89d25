"""Runs that are planned by time or by matches, trial matches, and the order in which matches are played."""

import heapq
import json
import re
from collections import Counter
from itertools import count
from pathlib import Path

import pytest
from msgspec.structs import replace

from harness.core.errors import UsageError
from harness.core.options import seconds_of
from harness.core.rng import Chance
from harness.executors.base import Executor, Played, Roster
from harness.executors.serial import SerialExecutor
from harness.output import progress
from harness.runs import planning
from harness.runs.planning import TimeEstimate, deals_for_matches, estimate_time
from harness.runs.request import RunRequest
from harness.runs.runner import Tournament
from harness.runs.scheduler import ScheduleDiff, in_play_order, play_matches, simulated_record
from harness.runs.setup import create_run, installed, prepare
from tests.conftest import MIN_TRIAL_S
from tests.formats.support import game, of_games, plan, scheduled
from tests.support.cli import arena

# The order in which matches are played


def test_after_a_third_of_a_run_of_8_bots_all_have_played_about_as_often():
    asked = scheduled(plan(8, 4, deals=2))
    played = list(in_play_order(asked.matches()))
    matches = Counter(bot for spec in played[: len(played) // 3] for bot in spec.seats)
    assert len(matches) == 8
    assert max(matches.values()) < 1.4 * min(matches.values())
    in_order = Counter(bot for spec in list(asked.matches())[: len(played) // 3] for bot in spec.seats)
    assert max(in_order.values()) > 1.7 * min(in_order.values())
    assert sorted(played, key=lambda spec: spec.index) == list(asked.matches())


def test_games_are_mixed_and_deals_follow_each_other():
    asked = scheduled(of_games((game(6, 2, "one"), game(6, 2, "two")), 3, 1, "round-robin"))
    played = list(in_play_order(asked.matches()))
    assert [spec.round for spec in played] == sorted(spec.round for spec in played)
    assert 15 < sum(spec.game == "two" for spec in played[:30]) < 25


def test_all_candidates_play_a_table_of_a_gauntlet_one_after_the_other():
    played = list(in_play_order(scheduled(plan(6, 3, "gauntlet", candidates=("bot00", "bot01"))).matches()))
    assert [spec.table for spec in played] != sorted(spec.table for spec in played)
    for first in range(0, len(played), 6):
        assert len({spec.seed for spec in played[first : first + 6]}) == 1


@pytest.mark.parametrize("cut", [0, 1, 50, 333])
def test_a_resumed_run_continues_in_the_same_order(cut):
    asked = scheduled(plan(8, 4, deals=2, seed=3))
    played = list(in_play_order(asked.matches()))
    diff = ScheduleDiff(asked.matches())
    assert all(diff.matches_record(simulated_record(spec, {}, Chance(1))) for spec in played[:cut])
    assert list(in_play_order(diff.missing())) == played[cut:]


def test_records_do_not_depend_on_the_order_of_play(tmp_path):
    request = RunRequest(
        games=("el-paso",), bots=("random", "skittish", "diehard", "a=random", "b=skittish"), players=2, deals=2,
        seed=7, workers=0, name="run", results=str(tmp_path),
    )  # fmt: skip
    setup = prepare(request, installed())
    run = create_run(request, setup, "")
    with SerialExecutor(setup.roster) as executor:
        assert Tournament(run, setup).play(executor)
        direct = [played.record for played in executor.run(map(planning.Job, setup.schedule.matches()))]
    recorded = [record.without_timing() for record in run.records()]
    assert [record.index for record in recorded] != list(range(len(direct)))
    assert sorted(recorded, key=lambda record: record.index) == [record.without_timing() for record in direct]


# Planned by matches


@pytest.mark.parametrize(
    ("form", "more"),
    [
        ("round-robin", {}),
        ("round-robin", {"tables": 5}),
        ("gauntlet", {"candidates": ("bot00",)}),
        ("swiss", {"rounds": 4}),
        ("knockout", {}),
        ("ladder", {}),
    ],
)
def test_each_bot_plays_as_many_matches_as_asked_and_few_more(form, more):
    asked = scheduled(plan(9, 3, form, **more))
    planned = asked.with_deals(deals_for_matches(asked, 100))
    matches = Counter(bot for spec in planned.simulated() for bot in spec.seats)
    assert 100 <= min(matches.values()) < 200  # one deal of this round-robin gives each bot 84 matches


def test_all_games_are_long_enough():
    asked = scheduled(of_games((game(3, 2, "few"), game(9, 2, "many")), 1, 1, "round-robin"))
    assert deals_for_matches(asked, 100) == 25  # 4 matches a deal among three bots
    assert deals_for_matches(asked, 10**9) == 10**9 // 4


def test_a_maximum_of_matches_may_be_too_small():
    with pytest.raises(UsageError, match="No number of deals of this ladder gives each bot 100 matches"):
        deals_for_matches(scheduled(plan(9, 3, "ladder", max_matches=30)), 100)


# Planned by time


def test_a_time_is_written_in_hours_minutes_and_seconds():
    assert [seconds_of(text) for text in ("2h", "1h30m", "90m", "45s", "1.5h", "1h 5s")] == [
        7200, 5400, 5400, 45, 5400, 3605,
    ]  # fmt: skip
    for text in ("", "2", "h", "soon", "-1h", "0s", "30m1h", "9999999h"):
        with pytest.raises(UsageError, match="write 2h, 1h30m or 45s"):
            seconds_of(text)


def test_as_many_deals_as_fit_are_planned():
    asked = scheduled(of_games((game(3, 2, "few"), game(4, 2, "many")), 10, 1, "round-robin"))
    found = TimeEstimate(2.0, {"few": 1.0, "many": 0.5}, 3.0)  # a deal: 6 matches of few, 12 of many
    assert found.seconds(asked.counts()) == 2 + 10 * 12
    assert [found.deals_within(seconds, asked) for seconds in (1, 17, 28.9, 29, 1205)] == [1, 1, 1, 2, 100]
    limited = scheduled(plan(4, 2, "ladder", max_matches=40))
    assert TimeEstimate(0, {"game": 1.0}, 0).deals_within(10**6, limited) == 10


class VirtualWorkers(Executor):
    """Plays in simulated time: bots have to be loaded by each worker, and take their time."""

    def __init__(self, costs, workers, clock, load=0.2):
        super().__init__(Roster({}, {}), lambda: False)
        self.costs, self.workers, self.clock, self.load = costs, workers, clock, load
        self.loaded = [set() for _ in range(workers)]

    @classmethod
    def open(cls, roster, settings, should_stop):
        raise NotImplementedError

    def run(self, jobs, keep=None):
        free, busy, number = [(self.clock[0], worker) for worker in range(self.workers)], [], count()
        heapq.heapify(free)
        while True:
            while free and (job := next(jobs, None)) is not None:
                when, worker = heapq.heappop(free)
                times = tuple(self.costs[bot] * (0.8 + job.spec.index % 5 / 10) for bot in job.spec.seats)
                end = max(when, self.clock[0]) + sum(times) + self.load * len(set(job.spec.seats) - self.loaded[worker])
                self.loaded[worker].update(job.spec.seats)
                record = replace(simulated_record(job.spec, {}, Chance(1)), time=times, decisions=(0,) * len(times))
                heapq.heappush(busy, (end, next(number), worker, record))
            if not busy:
                return
            self.clock[0], _, worker, record = heapq.heappop(busy)
            heapq.heappush(free, (self.clock[0], worker))
            yield Played(record, b"")


WORKERS = [0, 1, 2, 4]
RUNS = [("round-robin", 0.01), ("round-robin", 1.0), ("swiss:rounds=5", 0.1), ("ladder", 0.01)]


@pytest.mark.parametrize(
    ("form", "slowest", "workers"),
    # In rounds of four matches, three workers are idle for a third of the time.
    [*((*run, workers) for run in RUNS for workers in WORKERS), ("ladder:tables=1", 0.1, 3)],
)
def test_the_estimate_is_near_the_time_that_a_run_takes(form, slowest, workers, monkeypatch):
    clock = [100.0]
    name, *setting = re.split("[:=]", form)
    asked = scheduled(plan(8, 4, name, deals=40, **({setting[0]: int(setting[1])} if setting else {})))
    costs = {bot: slowest / (1 + 3 * number) for number, bot in enumerate(asked.plan.games[0].entrants)}
    virtual = VirtualWorkers(costs, max(1, workers), clock)
    monkeypatch.setattr(planning, "monotonic", lambda: clock[0])
    monkeypatch.setattr(planning, "MIN_TRIAL_S", MIN_TRIAL_S)
    steps = []
    found = estimate_time(asked, virtual, workers, lambda: steps.append(1))
    assert len(steps) > 8
    assert found.trial < planning.MAX_TRIAL_S + 10 * slowest
    virtual, began = VirtualWorkers(costs, max(1, workers), clock), clock[0]
    assert play_matches(asked.scheduler(), lambda specs: [one.record for one in virtual.run(map(planning.Job, specs))])
    assert found.seconds(asked.counts()) == pytest.approx(clock[0] - began, rel=0.12)


def test_bots_do_not_see_the_deals_of_the_run_in_trial_matches():
    asked = scheduled(plan(8, 4, deals=3))
    [scheduler] = planning._trial_schedulers(asked)
    trial = scheduler.next_matches()
    assert not {spec.seed for spec in trial} & {spec.seed for spec in asked.matches()}
    first = Counter(bot for spec in trial[:24] for bot in spec.seats)
    assert len(first) == 8
    assert min(first.values()) >= planning.MIN_TRIAL_SEATS


@pytest.fixture
def known_speed(monkeypatch, tmp_path):
    """A match takes half a second; folders are temporary."""
    monkeypatch.chdir(tmp_path)
    found = TimeEstimate(1.0, {"el-paso": 0.5}, 2.0)
    monkeypatch.setattr(progress, "estimate_time", lambda *_args: found)


FIELD = ("tournament", "--game", "el-paso", "--bot", "random", "--bot", "skittish", "--workers", 0)


@pytest.mark.usefixtures("known_speed")
def test_a_run_for_a_time_is_recorded_as_if_its_deals_had_been_typed(monkeypatch):
    monkeypatch.setattr("sys.argv", ["arena", *map(str, FIELD), "--for", "8s", "--seed", "7"])
    said = arena(*FIELD, "--for", "8s", "--seed", 7, "--name", "timed")
    assert "5 deals (10 matches) take a few seconds." in said.stderr
    arena(*FIELD, "--deals", 5, "--seed", 7, "--name", "typed")
    assert "equals results/typed" in arena("verify", "typed", "timed").stdout
    told = json.loads(Path("results/timed/run.json").read_text())
    assert told["plan"]["deals"] == 5
    assert told["command"].endswith("--workers 0 --seed 7 --deals 5")
    assert "--for" not in told["command"]


@pytest.mark.usefixtures("known_speed")
def test_a_time_that_is_too_short_is_reported():
    assert "2s is too short for one deal, which takes a few seconds" in arena(*FIELD, "--for", "2s", "-q").stderr


@pytest.mark.usefixtures("known_speed")
def test_a_dry_run_prints_how_many_deals_fit():
    said = arena(*FIELD, "--for", "1h", "--dry-run").stdout
    assert "Matches: 7,194, 3,597 deals" in said
    assert "A match takes about 500 ms; all of them about 60 min with 0 workers" in said
    assert "Matches: 100, 50 deals" in arena(*FIELD, "--matches-each", 100, "--dry-run").stdout
    assert not Path("results").exists()


@pytest.mark.usefixtures("known_speed")
def test_the_length_is_given_once_and_typed_options_replace_that_of_a_file():
    once = "The length of a run is given once: by deals, a time, or matches of each bot."
    assert once in arena(*FIELD, "--for", "2h", "--deals", 3, code=2).stderr
    arena(*FIELD, "--for", "8s", "--save", "event.toml")
    assert 'for = "8s"' in Path("event.toml").read_text()
    assert "Matches: 6\n" in arena("tournament", "event.toml", "--deals", 3, "--dry-run").stdout
    assert "Matches: 10, 5 deals" in arena("tournament", "event.toml", "--dry-run").stdout
    Path("event.toml").write_text('games = ["el-paso"]\nfor = "soon"\n')
    assert (
        "event.toml, line 2, column 1: 'soon' is not a length of time"
        in arena("tournament", "event.toml", code=2).stderr
    )
    Path("event.toml").write_text("deals = 3\nmatches-each = 9\n")
    assert f"event.toml, line 2, column 1: {once}" in arena("tournament", "event.toml", code=2).stderr
    request = RunRequest.from_file("event.toml", deals=4)
    assert (request.deals, request.matches_each) == (4, None)


@pytest.mark.parametrize("asked", [("--for", "1h"), ("--matches-each", 100)])
def test_a_format_whose_length_results_decide_says_so(asked):
    said = arena(*FIELD, *asked, "--format", "ladder", "--until-separated", 0.9, code=2).stderr
    assert "Results decide how many matches this ladder has" in said
    for more in (("--resume", "run"), ("--cluster", "local:2", "--workers", 2)):
        if asked[0] == "--for" or more[0] == "--resume":
            assert "Error: " in arena(*FIELD[:-2], *asked, *more, code=2).stderr
