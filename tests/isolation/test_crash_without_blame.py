"""Nobody is blamed for what came from outside: a rival that burns the processor, somebody who stops or kills."""

from __future__ import annotations

import os
import signal
import sys
import threading
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path
from time import perf_counter, process_time

import pytest

import harness
from harness.core.records import MatchSpec
from harness.executors import forkserver, retry
from harness.executors.base import Job, Roster
from harness.executors.pool import KILL_AFTER_S, LocalPool
from harness.executors.serial import SerialExecutor
from harness.executors.worker import WorkerStatus
from harness.isolation.accounting import is_dead, process_state
from harness.isolation.entrants import IsolationPolicy, enter_command, isolate_all
from harness.isolation.process import Process
from harness.match.faults import Limits
from harness.plugins.entrants import BotRef, enter
from harness.plugins.registry import Registry
from tests.isolation.guessing import Guessing
from tests.isolation.support import GAMES as EL_PASO
from tests.isolation.support import HOSTILE, PATIENT, REGISTRY, job
from tests.support.waiting import wait_for, within

GREEDY = Path(__file__).with_name("diaries") / "greedy.py"
GAME = Guessing.configure()
GAMES = {GAME.name: GAME}
QUICK = Limits(move_time=1)


def table(*bots, limits=QUICK):
    entrants = {entrant.name: entrant for entrant in Registry().entrants(f"{GREEDY}::{bot}" for bot in bots)}
    return Roster(GAMES, isolate_all(entrants, IsolationPolicy("on", limits), GAMES))


def matches(number, *names):
    for index in range(1, number + 1):
        yield Job(MatchSpec(f"m{index}", index, f"s{index}", GAME.name, {}, 1000 + index, names))


def tree_of(name, roster):
    """The processes of a bot that has answered and waits for its next question."""
    home = roster.entrants[name].sessions.home
    return next((tree for process, tree in Process._suspended.items() if process.folder.startswith(home)), None)


@contextmanager
def counted(monkeypatch):
    """Counts how often a match is played."""
    plays = count()

    def play(*given):
        next(plays)
        return original(*given)

    original = retry.play
    monkeypatch.setattr(retry, "play", play)
    yield plays


def send(pids, number):
    for pid in pids:
        with suppress(ProcessLookupError):
            os.kill(pid, number)


def burn(number, workers):
    """The faults of the arsonist's rival, who would be late in each match if nobody stopped what burns."""
    roster = table("arsonist", "reckoner")
    executor = LocalPool(roster, QUICK, workers, sweep=True) if workers else SerialExecutor(roster, QUICK)
    with within(60 + 15 * number), executor:
        played = [record for record, *_ in executor.run(matches(number, "arsonist", "reckoner"))]
    assert len(played) == number
    assert any(not record.has_stand_in(0, 0) for record in played)  # it is slowed down by its own, too
    return [fault for record in played for fault in record.faults if fault.seat == 1]


def test_a_bot_that_burns_cpu_does_not_make_its_opponent_late():
    assert burn(2, workers=0) == []


@pytest.mark.slow
@pytest.mark.parametrize("workers", [0, 1])
def test_a_bot_that_burns_cpu_does_not_make_its_opponent_late_in_40_matches(workers):
    assert burn(40, workers) == []


@pytest.mark.parametrize("bot", ["reckoner", "family"])
def test_a_bot_that_is_stopped_from_outside_beyond_its_time_is_not_blamed(bot, monkeypatch):
    roster, stopped = table(bot, "thinker"), []

    def stop_while_it_thinks(tree):
        """Those with children are stopped when nobody asks them anyway: it has to be in the middle of an answer."""
        while True:
            wait_for(lambda: not tree.frozen, "it is asked")
            pids = tree.members()
            send(pids, signal.SIGSTOP)
            if not tree.frozen:  # it has not answered meanwhile
                break
        until = perf_counter() + 2 * QUICK.move_time
        wait_for(lambda: perf_counter() > until or is_dead(tree.bot_pid), "its time is over")
        send(pids, signal.SIGCONT)

    def look():
        tree = tree_of(bot, roster)
        if tree is not None and not stopped:
            stopped.append(threading.Thread(target=stop_while_it_thinks, args=[tree]))
            stopped[0].start()

    with counted(monkeypatch) as plays, within(), SerialExecutor(roster, QUICK, audit=look) as executor:
        [(record, *_)] = executor.run(matches(1, bot, "thinker"))
    assert stopped
    stopped[0].join()
    assert record.faults == ()
    assert next(plays) >= 2  # it was late, and the match was played again


def _is_asking(worker):
    """Whether a bot is asked, and not the first time: before that a bot is loaded, which may take long."""
    asking = WorkerStatus.read(worker.status)
    return asking.seat is not None and asking.decision > 0


@pytest.mark.parametrize("patience", [0.3, KILL_AFTER_S + 2.0])
def test_no_bot_is_late_if_its_worker_is_stopped_beyond_the_move_time(patience):
    """For a short while, so that it goes on and finds itself late; and for so long that the pool gives it up."""

    class Busy(harness.Bot):
        games = ("el-paso",)

        def choose(self, view, actions):
            until = process_time() + 0.005
            while process_time() < until:
                pass
            return actions[0]

    entrants = [*REGISTRY.entrants(["random"]), enter(Busy, {}, "", "test", "1")]
    roster = Roster(EL_PASO, {entrant.name: entrant for entrant in entrants})
    jobs = [job(number, "el-paso", "busy", "random") for number in range(2)]
    forkserver.start_forkserver()
    pool = LocalPool(roster, QUICK, 1, sweep=True)

    def stop():
        [worker] = pool._workers.values()
        while True:
            wait_for(lambda: _is_asking(worker), "a bot is asked")
            os.kill(worker.pid, signal.SIGSTOP)
            wait_for(lambda: process_state(worker.pid) == "T", "it is stopped")
            if _is_asking(worker):
                break
            os.kill(worker.pid, signal.SIGCONT)
        asking = WorkerStatus.read(worker.status)
        wait_for(lambda: perf_counter() > asking.deadline + patience or is_dead(worker.pid), "its time is over")
        send([worker.pid], signal.SIGCONT)
        stopped.append(asking.seat)

    stopped: list[int] = []
    with within(), pool:
        thread = threading.Thread(target=stop)
        thread.start()
        played = {record.id: record.without_timing() for record, *_ in pool.run(jobs)}
        thread.join()
    assert stopped
    with SerialExecutor(roster, PATIENT) as undisturbed:
        assert {record.id: record.without_timing() for record, *_ in undisturbed.run(jobs)} == played
    assert not any(record.faults for record in played.values())


@pytest.mark.parametrize("isolate", ["on", "off"])
def test_a_program_killed_from_outside_once_is_not_blamed(isolate, monkeypatch):
    command = f"{sys.executable} -S {HOSTILE / 'polite_one.py'}"
    entrants = {"polite": enter_command(BotRef("polite", command=command), isolate)}
    entrants |= {entrant.name: entrant for entrant in REGISTRY.entrants(["random"])}
    roster = Roster(EL_PASO, isolate_all(entrants, IsolationPolicy(isolate, PATIENT), EL_PASO))
    killed = []

    def kill():
        tree = tree_of("polite", roster)
        if tree is not None and not killed:
            killed.append(tree.bot_pid)
            os.kill(tree.bot_pid, signal.SIGKILL)

    with counted(monkeypatch) as plays, within(), SerialExecutor(roster, PATIENT, audit=kill) as executor:
        [(record, *_)] = executor.run([job(1, "el-paso", "polite", "random")])
    assert killed
    assert record.faults == ()
    assert next(plays) == 2
