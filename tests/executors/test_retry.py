"""Who is blamed when workers die: told by hand, without a worker."""

from __future__ import annotations

import pytest

from harness.core.records import Fault, MatchSpec
from harness.executors import retry
from harness.executors.base import Job, Roster
from harness.executors.retry import CrashTracker, play_with_retry
from harness.match.faults import NO_LIMITS
from harness.match.referee import play
from harness.plugins.registry import load


def match(name="m"):
    return Job(MatchSpec(name, 0, "s", "el-paso", {}, 1, ("a", "b", "c")))


def test_an_overdue_bot_is_blamed_at_once():
    job, what = CrashTracker().record_crash(match(), 1, 30, True, -9)
    assert job.forfeits == (Fault(1, "timeout", 30, "did not return in time; its process was killed"),)
    assert job.again
    assert what == "overdue"


def test_a_bot_is_blamed_when_its_worker_dies_twice_at_the_same_decision():
    job, tracker = match(), CrashTracker()
    once = tracker.record_crash(job, 1, 30, False, -9)
    assert once.job.forfeits == ()
    assert once.job.again
    assert once.what == "died (SIGKILL); played again"
    assert tracker.record_crash(once.job, 1, 31, False, -9).job.forfeits == ()
    assert tracker.record_crash(once.job, 2, 30, False, -9).job.forfeits == ()
    twice = tracker.record_crash(once.job, 1, 30, False, -9)
    assert twice.job.forfeits == (Fault(1, "crash", 30, "its process died twice at this decision: SIGKILL"),)
    assert twice.job.again
    assert twice.what == "crash (SIGKILL)"


def test_worker_deaths_in_other_matches_or_finished_matches_do_not_count():
    tracker = CrashTracker()
    tracker.forget_match("never seen")
    tracker.record_crash(match("one"), 1, 30, False, -9)
    assert tracker.record_crash(match("two"), 1, 30, False, -9).job.forfeits == ()
    tracker.forget_match("one")
    assert tracker.record_crash(match("one"), 1, 30, False, -9).job.forfeits == ()
    assert tracker.record_crash(match("two"), 1, 30, False, -9).job.forfeits != ()


def test_the_crash_count_starts_again_after_a_bot_was_blamed():
    job, tracker = match(), CrashTracker()
    for decision in (10, 20, 20):
        job = tracker.record_crash(job, 1, decision, False, -9).job
    for decision in range(9):
        job = tracker.record_crash(job, 2, decision, False, -9).job
        assert [fault.seat for fault in job.forfeits] == [1]
    job = tracker.record_crash(job, 2, 5, False, -9).job
    assert [(fault.seat, fault.decision) for fault in job.forfeits] == [(1, 20), (2, 5)]


def test_after_ten_deaths_at_different_decisions_the_bot_asked_most_often_is_blamed():
    job, tracker = match(), CrashTracker()
    for decision in range(9):
        assert tracker.record_crash(job, 1, decision, False, -9).job.forfeits == ()
    job, what = tracker.record_crash(job, 2, 99, False, -9)
    assert job.forfeits == (Fault(1, "crash", 0, "its process died in 10 plays of this match: SIGKILL"),)
    assert job.again
    assert what == "crash (SIGKILL)"


def test_a_match_is_given_up_after_eleven_deaths_with_no_bot_asked():
    job, tracker = match(), CrashTracker()
    for _ in range(10):
        verdict = tracker.record_crash(job, None, 0, False, -11)
        assert verdict.job.forfeits == ()
        assert verdict.job.again
        assert verdict.what == "died with no bot being asked (SIGSEGV); played again"
    verdict = tracker.record_crash(job, None, 0, False, -11)
    assert verdict.job is None
    assert verdict.what == "died 11 times, mostly with no bot being asked (SIGSEGV); given up"


def test_no_bot_is_blamed_if_a_match_is_overdue_with_no_bot_asked():
    assert CrashTracker().record_crash(match(), None, 0, True, -9).job.forfeits == ()


def test_a_bot_that_is_blamed_again_earlier_forfeits_from_the_first_decision():
    job, tracker = match(), CrashTracker()
    job = tracker.record_crash(job, 0, 5, True, -9).job
    once = tracker.record_crash(job, 1, 30, True, -9).job
    assert [(fault.seat, fault.decision) for fault in once.forfeits] == [(0, 5), (1, 30)]
    again = tracker.record_crash(once, 1, 20, True, -9).job
    assert [(fault.seat, fault.decision) for fault in again.forfeits] == [(0, 5), (1, 0)]
    assert again.forfeits[1].detail == once.forfeits[1].detail


@pytest.mark.parametrize(
    ("code", "cause"),
    [(None, "unknown"), (0, "exit code 0"), (7, "exit code 7"), (-1, "SIGHUP"), (-11, "SIGSEGV"), (-99, "signal 99")],
)
def test_the_cause_of_a_worker_death_is_reported(code, cause):
    assert CrashTracker().record_crash(match(), 1, 0, False, code).what == f"died ({cause}); played again"


def test_a_match_without_a_doubtful_fault_is_played_once(monkeypatch):
    registry = load()
    game = registry.game("el-paso").configure()
    roster = Roster({game.name: game}, {entrant.name: entrant for entrant in registry.entrants(["random", "diehard"])})
    spec = MatchSpec("m", 0, "s", game.name, dict(game.settings), 1, ("random", "diehard"))
    plays: list[object] = []
    monkeypatch.setattr(retry, "play", lambda *given: plays.append(given) or play(*given))
    record = play_with_retry(Job(spec), roster, NO_LIMITS, None, None, [])
    assert record.without_timing() == play(spec, game, roster.seats(spec)).without_timing()
    assert len(plays) == 1


def test_a_match_is_played_again_until_a_doubtful_fault_repeats(monkeypatch):
    """The second play has a fault that the first had not, the third only faults that happened before."""
    registry = load()
    game = registry.game("el-paso").configure()
    roster = Roster({game.name: game}, {entrant.name: entrant for entrant in registry.entrants(["random", "diehard"])})
    spec = MatchSpec("m", 0, "s", game.name, dict(game.settings), 1, ("random", "diehard"))
    plays = iter([[Fault(0, "crash", 3)], [Fault(1, "crash", 5)], [Fault(0, "crash", 3)], []])
    made: list[object] = []

    def doubtful(*given):
        record = play(*given[:-1])
        given[-1].extend(next(plays))
        made.append(record)
        return record

    monkeypatch.setattr(retry, "play", doubtful)
    assert play_with_retry(Job(spec), roster, NO_LIMITS, None, None, []) is made[2]
    assert len(made) == 3
