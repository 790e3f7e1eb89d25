"""Worker processes: the same records as in one process, whatever the bots do to their workers."""

from __future__ import annotations

import gc
import os
import signal
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import ClassVar

import msgspec
import pytest
from msgspec.structs import replace

import bots
import engines
import harness
from harness.core.records import MatchSpec
from harness.executors import forkserver
from harness.executors import pool as processes
from harness.executors.base import Job, Roster
from harness.executors.pool import LocalPool
from harness.executors.serial import SerialExecutor
from harness.isolation.accounting import children_of
from harness.match.faults import NO_LIMITS, Limits
from harness.match.replay import verify
from harness.plugins.entrants import enter
from harness.plugins.registry import Registry
from tests.support import wild, zoo
from tests.support.waiting import wait_for, within

REGISTRY = Registry()
REGISTRY.add(engines, "arena", "1")
REGISTRY.add(bots, "arena", "1")
GAMES = {name: offer.cls.configure() for name, offer in REGISTRY.games.items()}
GOOD = ["random", "skittish", "diehard"]
PATIENT = Limits(move_time=60)
"""For bots that return: however busy the machine is, none of them is late."""
HURRIED = Limits(move_time=1)
"""For tables with a bot that does not return: long enough for the others."""
MEMORY = 700


def table(*strange):
    entrants = REGISTRY.entrants(GOOD) + [enter(bot, {}, "", "test", "1") for bot in strange]
    return Roster(GAMES, {entrant.name: entrant for entrant in entrants})


def jobs(count, *names, game="el-paso"):
    names = names or tuple(GOOD)
    settings = dict(GAMES[game].settings)
    for i in range(count):
        turn = i % len(names)
        yield Job(MatchSpec(f"m{i}", i, f"s{i}", game, settings, 1000 + i // len(names), names[turn:] + names[:turn]))


def plain(played):
    return {record.id: record.without_timing() for record, *_ in played}


@pytest.fixture
def pool():
    made = []

    def make(*strange, workers=2, limits=PATIENT, **options):
        made.append(LocalPool(table(*strange), limits, workers, MEMORY, sweep=True, **options))
        return made[-1].__enter__()

    forkserver.start_forkserver()
    before = set(children_of(os.getpid()))
    yield make
    for one in made:
        one.__exit__()
    wait_for(lambda: set(children_of(os.getpid())) == before, "no process is left behind")


@pytest.mark.parametrize("workers", [1, 2, 3])
@pytest.mark.parametrize("game", sorted(GAMES))
def test_any_number_of_workers_gives_the_records_of_one_process(pool, workers, game):
    names = tuple(
        name
        for name, offer in sorted(REGISTRY.bots.items())
        if offer.cls.by_default and (not offer.cls.games or game in offer.cls.games)
    )[:3]
    shown = Roster(GAMES, {entrant.name: entrant for entrant in REGISTRY.entrants(names)})
    with LocalPool(shown, NO_LIMITS, workers) as some:
        parallel = plain(some.run(jobs(60, *names, game=game)))
    assert parallel == plain(SerialExecutor(shown).run(jobs(60, *names, game=game)))
    assert len(parallel) == 60


def test_a_pool_plays_one_list_after_the_other(pool):
    some = pool()
    assert len(plain(some.run(jobs(20)))) == 20
    assert len(plain(some.run(jobs(0)))) == 0
    assert plain(some.run(jobs(5))) == plain(SerialExecutor(table()).run(jobs(5)))


@pytest.mark.parametrize(("bad", "kind"), wild.BLAMED.items(), ids=lambda value: getattr(value, "__name__", value))
def test_a_bot_that_kills_or_hangs_its_worker_is_blamed_and_the_rest_is_played(pool, bad, kind, monkeypatch):
    monkeypatch.setattr(processes, "KILL_AFTER_S", 0.1)  # none of these bots returns late: nothing to wait for
    some = pool(bad, limits=HURRIED if kind == "timeout" else PATIENT)
    played = list(some.run(jobs(2, "random", bad.name, "diehard")))
    assert len(played) == 2
    for record, *_ in played:
        [fault] = record.faults
        assert record.seats[fault.seat] == bad.name
        assert fault.kind == kind
        assert record.ranks[fault.seat] == 3
        verify(GAMES["el-paso"], record)
    assert some.given_up == []


@pytest.mark.parametrize("rude", wild.HARMLESS, ids=lambda bot: bot.__name__)
def test_a_misbehaving_bot_that_breaks_no_rule_is_not_blamed(pool, rude):
    some = pool(rude)
    played = plain(some.run(jobs(3, "random", rude.name, "diehard")))
    assert all(record.faults == () for record in played.values())
    assert len(played) == 3


@pytest.mark.parametrize(("bad", "kind"), zoo.FAULTS.items(), ids=lambda value: getattr(value, "__name__", value))
def test_faults_in_a_worker_are_the_same_as_in_one_process(pool, bad, kind):
    with LocalPool(table(bad), PATIENT, 1) as some:
        played = [record.without_timing() for record, *_ in some.run(jobs(2, "random", bad.name))]
    here = [record.without_timing() for record, *_ in SerialExecutor(table(bad)).run(jobs(2, "random", bad.name))]
    for record in played:
        assert {fault.kind for fault in record.faults} <= {kind}
    if kind != "memory":
        assert played == here


def test_no_bot_is_blamed_if_a_worker_is_killed_from_outside(pool):
    some = pool()
    expected = plain(SerialExecutor(table()).run(jobs(300)))
    played = []
    for one in some.run(jobs(300)):
        played.append(one)
        if len(played) in (40, 90, 91, 200):
            victim = next(iter(some._workers.values()))
            os.kill(victim.pid, signal.SIGKILL)
    assert plain(played) == expected
    assert len(played) == 300


def test_a_bot_that_kills_the_fork_server_is_blamed():
    """All workers die with it; the next ones come from a new one."""
    with LocalPool(table(wild.KillsItsParent), PATIENT, 2, MEMORY) as some:
        played = list(some.run(jobs(4, "random", wild.KillsItsParent.name, "diehard")))
        more = list(some.run(jobs(4)))
    assert len(played) == len(more) == 4
    assert not any(record.faults for record, *_ in more)
    for record, *_ in played:
        assert {record.seats[fault.seat] for fault in record.faults} == {wild.KillsItsParent.name}
        assert {fault.kind for fault in record.faults} == {"crash"}


def test_a_fork_server_that_died_between_two_runs_is_replaced():
    class Tells(wild.Wild):
        def choose(self, view, actions):
            self.note(os.getppid())
            return actions[0]

    with LocalPool(table(Tells), PATIENT, 1, MEMORY) as some:
        [played] = some.run(jobs(1, "random", "tells"))
        told = msgspec.json.decode(played.notes)["notes"]
    parent = told[0]["said"][0]
    assert parent in children_of(os.getpid())
    os.kill(parent, signal.SIGKILL)
    wait_for(lambda: Path(f"/proc/{parent}/stat").read_text().split()[2] == "Z", "it has ended")
    with LocalPool(table(), PATIENT, 1, MEMORY) as some:
        assert len(list(some.run(jobs(2)))) == 2


def test_killing_all_workers_repeatedly_loses_no_match(pool):
    some = pool(workers=3)
    stop = threading.Event()

    played, given = [], []

    def enough_of_them():
        """As many as it takes: how often the killer gets a turn while they are played is the machine's business."""
        for job in jobs(20_000):
            if len(given) >= 150 and len(some.losses) > 3:
                return
            given.append(job)
            yield job

    def murder():
        """As soon as what was lost has been played: killed twice at the same decision it would be a bot's fault."""
        while not stop.wait(0.01):
            if {loss.match for loss in list(some.losses)} <= {record.id for record, *_ in list(played)}:
                for pid in [worker.pid for worker in list(some._workers.values())]:
                    with suppress(ProcessLookupError):
                        os.kill(pid, signal.SIGKILL)

    killer = threading.Thread(target=murder)
    killer.start()
    try:
        for one in some.run(enough_of_them()):
            played.append(one)
            if len(played) > 100 and len(some.losses) > 3:
                stop.set()
    finally:
        stop.set()
        killer.join()
    assert plain(played) == plain(SerialExecutor(table()).run(iter(given)))
    assert len(some.losses) > 3


def test_a_bot_that_exceeds_the_match_time_gets_a_timeout(pool):
    class Slow(wild.Wild):
        def choose(self, view, actions):
            time.sleep(0.25)
            return actions[0]

    with LocalPool(table(Slow), Limits(game_time=1), 1) as some:
        [(record, *_)] = some.run(jobs(1, "random", "slow"))
    [fault] = record.faults
    assert fault.kind == "timeout"
    assert "for the match so far" in fault.detail


@pytest.mark.parametrize("move_time", [0, 1000], ids=["no limit for a move", "a long one"])
def test_a_hanging_bot_is_killed_when_its_match_time_is_used_up(pool, move_time):
    some = pool(wild.Sleeps, workers=1, limits=Limits(move_time, game_time=2))
    with within():
        [(record, *_)] = some.run(jobs(1, "random", "sleeps"))
    [fault] = record.faults
    assert (record.seats[fault.seat], fault.kind) == ("sleeps", "timeout")
    assert fault.detail == "did not return in time; its process was killed"
    assert [loss.what for loss in some.losses] == [
        "overdue, but hardly any processor time was used; played again", "overdue"
    ]  # fmt: skip


def test_stopping_finishes_the_matches_in_progress():
    stop = threading.Event()
    with LocalPool(table(), PATIENT, 2, should_stop=stop.is_set) as some:
        played = []
        for one in some.run(jobs(10**9)):
            played.append(one)
            if len(played) == 20:
                stop.set()
    assert 20 <= len(played) < 1000
    needed = max(record.index for record, *_ in played) + 1
    assert plain(played).items() <= plain(SerialExecutor(table()).run(jobs(needed))).items()


def test_an_endless_schedule_is_consumed_lazily(pool):
    taken = 0

    def endless():
        nonlocal taken
        for job in jobs(10**9):
            taken += 1
            yield job

    some = pool()
    running = some.run(endless())
    for _ in range(50):
        next(running)
    assert taken < 5000


def test_a_system_without_fork_plays_in_one_process(monkeypatch):
    from harness.core.errors import UsageError
    from harness.executors import base
    from harness.runs.request import RunRequest

    monkeypatch.setattr(base, "CAN_FORK", False)
    limits = RunRequest().limits
    roster = Roster({}, {})
    assert base.default_workers() == 0
    assert isinstance(base.choose_executor(roster, limits, None), SerialExecutor)
    with pytest.raises(UsageError, match="Worker processes need"):
        base.choose_executor(roster, limits, 2)
    with pytest.raises(UsageError, match="sandboxed bots need"):
        base.choose_executor(roster, replace(limits, isolate="on"), 0)


def test_an_invalid_record_line_is_not_stored_and_the_lines_before_it_are():
    roster = table()
    with SerialExecutor(roster) as serial:
        good = [played.line for played in serial.run(jobs(2))]
    pool, kept = LocalPool(roster, NO_LIMITS, 1), []
    pool._finished = [(good[0], b""), (good[1].replace(b'"scores":[', b'"scores":["x",'), b"")]
    with pytest.raises(msgspec.ValidationError):
        pool._keep_finished(kept.extend)
    assert [played.line for played in kept] == [good[0]]


class Circular(harness.Bot):
    """Refers to itself, and wants to put something away in the end."""

    ended: ClassVar[list[int]] = []

    def start(self):
        self.me = self

    def choose(self, view, actions):
        return actions[0]

    def __del__(self):
        self.ended.append(1)


def test_bots_with_reference_cycles_are_collected_when_the_executor_closes():
    gc.disable()
    try:
        with SerialExecutor(table(Circular)) as serial:
            assert len(list(serial.run(jobs(2, "circular", "random")))) == 2
        assert len(Circular.ended) == 2
    finally:
        gc.enable()
