"""Every match gets a fresh player: what bots write down in one match is not there in the next."""

from __future__ import annotations

import os
import signal
import sys
from itertools import count
from pathlib import Path

import pytest

from harness.core.records import MatchSpec
from harness.executors.base import Job, Roster
from harness.executors.pool import LocalPool
from harness.executors.serial import SerialExecutor
from harness.isolation.accounting import MAX_IDLE_CPU_S, process_state, processor_time
from harness.isolation.entrants import IsolationPolicy, enter_command, isolate_all
from harness.isolation.process import POLL_INTERVAL_S, Process
from harness.match.faults import Limits
from harness.plugins.entrants import BotRef
from harness.plugins.registry import Registry
from tests.isolation.guessing import NUMBERS, Guessing
from tests.isolation.support import GAMES as EL_PASO
from tests.isolation.support import HOSTILE, PATIENT, REGISTRY, job
from tests.support.waiting import within

DIARIES = Path(__file__).with_name("diaries")
GAME = Guessing.configure()
GAMES = {GAME.name: GAME}
KINDS = ("diary.py::class-diary", "diary.py::module-diary", "diary.py::file-diary", "shared_page.py::shared-diary")


def table(bots, **policy):
    entrants = {entrant.name: entrant for entrant in Registry().entrants(bots)}
    return Roster(GAMES, isolate_all(entrants, IsolationPolicy("on", PATIENT, **policy), GAMES))


def rotations(names, deals):
    number = count(1)
    for deal in range(deals):
        for turn in range(len(names)):
            index = next(number)
            seats = tuple(names[turn:] + names[:turn])
            yield Job(MatchSpec(f"m{index}", index, f"s{deal}", GAME.name, {}, 1000 + deal, seats))


def diary_names(kinds):
    return [str(DIARIES / kind) for kind in kinds]


def play(roster, jobs, workers):
    opened = LocalPool(roster, PATIENT, workers, sweep=True) if workers else SerialExecutor(roster, PATIENT)
    with opened as executor:
        return list(executor.run(jobs))


@pytest.mark.parametrize("workers", [0, 1, 2])
def test_no_bot_remembers_an_earlier_match(workers):
    roster = table(diary_names(KINDS))
    played = play(roster, rotations(list(roster.entrants), 2), workers)  # each deal is played four times
    assert len(played) == 8
    assert [one.record.faults for one in played] == [()] * 8
    assert [one.notes for one in played if b"remembered" in one.notes] == []
    assert [one.record for one in played if b"new" not in one.notes] == []


SLY = (
    *(f"sly.py::{kind}-diary" for kind in ("attribute", "time", "mode", "flag", "id", "parent", "signal")),
    "kept_pipe.py::pipe-diary",
    "hidden_page.py::hidden-diary",
)


@pytest.mark.parametrize("kind", SLY)
def test_data_that_outlives_a_bots_process_reveals_no_earlier_match(kind):
    roster = table(diary_names([kind, KINDS[0]]))
    played = play(roster, rotations(list(roster.entrants), 2), 0)
    assert [one.record.faults for one in played] == [()] * 4
    assert [one.notes for one in played if b"remembered" in one.notes] == []
    assert [one.record for one in played if b"new" not in one.notes] == []


def test_strictly_isolated_bots_get_a_process_for_each_match():
    entrants = {entrant.name: entrant for entrant in Registry().entrants(diary_names(KINDS[:2]))}
    roster = Roster(GAMES, isolate_all(entrants, IsolationPolicy("strict", PATIENT), GAMES))
    with SerialExecutor(roster, PATIENT) as executor:
        for played in executor.run(rotations(list(roster.entrants), 1)):
            assert not played.record.faults
            assert [len(entrant.sessions.idle) for entrant in roster.entrants.values()] == [0, 0]


@pytest.mark.slow
@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("players", [2, 4])
def test_a_bot_that_tries_to_remember_wins_no_more_than_chance(players, workers):
    roster = table(diary_names(KINDS[:players]))
    names = list(roster.entrants)
    deals = 500 // players
    scores = dict.fromkeys(names, 0)
    for record, *_ in play(roster, rotations(names, deals), workers):
        assert not record.faults
        for name, score in zip(record.seats, record.scores, strict=True):
            scores[name] += score
    spread = 4 * (deals * players * (1 / NUMBERS) * (1 - 1 / NUMBERS)) ** 0.5  # four standard deviations
    assert all(abs(score - deals * players / NUMBERS) < spread for score in scores.values()), scores


def asked_processes(name, roster):
    """The processes of a bot's match that is being played."""
    home = roster.entrants[name].sessions.home
    return [tree for process, tree in Process._suspended.items() if process.folder.startswith(home)]


def test_no_bot_is_blamed_if_its_process_is_killed_from_outside():
    roster = table(diary_names(KINDS[:2]))
    jobs = list(rotations(list(roster.entrants), 1))
    killed = []

    def kill():
        resting = asked_processes("class-diary", roster)
        if resting and not killed:
            killed.append(resting[0].bot_pid)
            os.kill(resting[0].bot_pid, signal.SIGKILL)

    executor = SerialExecutor(roster, PATIENT, audit=kill)
    with executor:
        played = [record.without_timing() for record, *_ in executor.run(iter(jobs))]
    assert killed
    assert [record.faults for record in played] == [(), ()]
    with SerialExecutor(table(diary_names(KINDS[:2])), PATIENT) as undisturbed:
        assert [record.without_timing() for record, *_ in undisturbed.run(iter(jobs))] == played


@pytest.mark.parametrize(("clock", "faults"), [("fair", []), ("wall", ["timeout"])])
def test_a_single_late_answer_without_cpu_time_is_a_fault_only_with_the_wall_clock(tmp_path, clock, faults):
    command = f"{sys.executable} -S {HOSTILE / 'late_once.py'} {tmp_path / 'flag'}"
    limits = Limits(move_time=2, clock=clock)
    entrants = {"late": enter_command(BotRef("late", command=command), "off"), **here("random")}
    roster = Roster(EL_PASO, isolate_all(entrants, IsolationPolicy("off", limits), EL_PASO))
    with SerialExecutor(roster, limits) as executor:
        [(record, *_)] = executor.run([job(1, "el-paso", "late", "random")])
    assert [fault.kind for fault in record.faults] == faults


def test_programs_start_once_per_match_and_kept_ones_never_see_a_deal_twice():
    command = f"{sys.executable} -S {HOSTILE / 'polite_one.py'}"
    seats = [("polite", "random"), ("random", "polite")]
    jobs = [job(deal, "el-paso", *pair) for deal in range(3) for pair in seats]
    for keep, expected in ((False, 0), (True, 2)):
        entrants = {"polite": enter_command(BotRef("polite", command=command), "off"), **here("random")}
        policy = IsolationPolicy("off", PATIENT, keep=keep)
        roster = Roster(EL_PASO, isolate_all(entrants, policy, EL_PASO))
        with SerialExecutor(roster, PATIENT) as executor:
            played = list(executor.run(iter(jobs)))
            waiting = list(roster.entrants["polite"].sessions.idle)
        assert not any(record.faults for record, *_ in played)
        assert len(waiting) == expected
        assert all(len(program.deals) == 3 for program in waiting)


def test_a_program_that_exits_after_each_match_is_not_blamed():
    command = f"{sys.executable} -S {HOSTILE / 'says_goodbye.py'}"
    for keep in (False, True):
        entrants = {"goodbye": enter_command(BotRef("goodbye", command=command), "off"), **here("random")}
        roster = Roster(EL_PASO, isolate_all(entrants, IsolationPolicy("off", PATIENT, keep=keep), EL_PASO))
        with SerialExecutor(roster, PATIENT) as executor:
            played = list(executor.run(job(number, "el-paso", "goodbye", "random") for number in range(6)))
        assert [record.faults for record, *_ in played] == [()] * 6


@pytest.mark.parametrize("way", ["memory-file", "shared-memory", "eight-processes", "buffers", "buffers-under-way"])
def test_memory_is_limited_for_all_processes_together(way):
    memory = 120 if way.startswith("buffers") else 400
    roster = table([str(DIARIES / f"greedy.py::{way}"), str(DIARIES / "greedy.py::thinker")], memory=memory)
    with within(), SerialExecutor(roster, PATIENT) as executor:
        [(record, *_)] = executor.run([match(way, "thinker")])
    [fault] = record.faults
    if way == "memory-file" and fault.kind == "exception":  # where system calls are filtered there are no such files
        assert "Function not implemented" in fault.detail
        return
    assert (fault.seat, fault.kind, fault.detail) == (0, "memory", f"its processes took more than {memory} MB in all")


def test_processes_of_a_bot_are_frozen_when_it_is_not_its_turn():
    bot = "burner"
    roster = table([str(DIARIES / "greedy.py::burner"), str(DIARIES / "greedy.py::thinker")])
    seen = []

    def look():
        thinker = asked_processes("thinker", roster)
        if thinker and thinker[0] is list(Process._suspended.values())[-1]:  # it is the last that has answered
            seen.extend({process_state(pid) for pid in tree.members()} for tree in asked_processes(bot, roster))

    executor = SerialExecutor(roster, PATIENT, audit=look)
    with within(), executor:
        [(record, *_)] = executor.run([match(bot, "thinker")])
    assert record.faults == ()
    assert seen
    assert all(states == {"T"} for states in seen)
    assert len(record.cpu) == 2
    assert record.cpu[1] > 0


def test_a_single_process_that_runs_during_another_bots_turn_is_frozen():
    roster = table([str(DIARIES / "greedy.py::lonely-burner"), str(DIARIES / "greedy.py::thinker")])
    seen = []

    def look():
        thinker = asked_processes("thinker", roster)
        if thinker and thinker[0] is list(Process._suspended.values())[-1]:
            trees = asked_processes("lonely-burner", roster)
            seen.extend(0.0 if tree.frozen else processor_time(tree.bot_pid) - tree._cpu_at_answer for tree in trees)

    executor = SerialExecutor(roster, PATIENT, audit=look)
    with within(), executor:
        [(record, *_)] = executor.run([match("lonely-burner", "thinker")])
    assert record.faults == ()
    assert len(seen) >= 2
    assert (
        max(seen) < MAX_IDLE_CPU_S + 3 * POLL_INTERVAL_S
    )  # left alone it burns for 0.18 s at each decision of the other


@pytest.mark.skipif(not hasattr(os, "sched_getaffinity") or len(os.sched_getaffinity(0)) < 2, reason="one core")
def test_bots_share_a_core_with_arena_during_a_match_until_they_think_long():
    cores, seen = os.sched_getaffinity(0), []
    roster = table(diary_names([KINDS[0], "greedy.py::thinker"]))

    def look():
        trees = [tree for name in roster.entrants for tree in asked_processes(name, roster)]
        if len(trees) == 2:  # after decisions only, not at the end of the match
            seen.append([os.sched_getaffinity(pid) for pid in (0, *(tree.bot_pid for tree in trees))])

    executor = SerialExecutor(roster, PATIENT, audit=look)
    with within(), executor:
        for one in executor.run(rotations(list(roster.entrants), 1)):
            assert one.record.faults == ()
            assert os.sched_getaffinity(0) == cores
            arena, quick, thinker = seen[-1]
            assert (len(arena), quick, thinker) == (1, arena, cores)


@pytest.mark.skipif(not hasattr(os, "sched_getaffinity") or len(os.sched_getaffinity(0)) < 2, reason="one core")
def test_a_match_that_was_interrupted_leaves_the_core():
    cores, roster = os.sched_getaffinity(0), table(diary_names(KINDS[:2]))
    asked = count()

    def interrupt():
        if os.sched_getaffinity(0) != cores and next(asked):  # not already after `start`
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt) as interrupted, SerialExecutor(roster, PATIENT, audit=interrupt) as executor:
        list(executor.run(rotations(list(roster.entrants), 1)))
    assert os.sched_getaffinity(0) == cores
    assert interrupted.traceback  # which keeps the bots of the match alive, as it does in a notebook


def test_a_system_that_forbids_to_choose_a_core_does_not_keep_bots_from_playing(monkeypatch):
    def forbidden(_pid, _cores):
        raise PermissionError

    monkeypatch.setattr(os, "sched_setaffinity", forbidden)
    roster = table(diary_names(KINDS[:2]))
    with SerialExecutor(roster, PATIENT) as executor:
        assert [one.record.faults for one in executor.run(rotations(list(roster.entrants), 1))] == [(), ()]


def test_a_bot_that_may_ponder_is_not_frozen():
    roster = table([str(DIARIES / "greedy.py::burner"), str(DIARIES / "greedy.py::thinker")], ponder=True)
    with within(), SerialExecutor(roster, PATIENT) as executor:
        [(record, *_)] = executor.run([match("burner", "thinker")])
    assert record.cpu[0] > 0.1


def match(*names):
    return Job(MatchSpec("m1", 1, "s1", GAME.name, {}, 1000, names))


def here(*names):
    return {entrant.name: entrant for entrant in REGISTRY.entrants(names)}
