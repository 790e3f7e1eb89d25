"""One monitor behind the terminal's line, the live page and listeners."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from harness.core.records import Fault
from harness.output.progress import Progress
from harness.runs.monitor import RunMonitor, Workload
from harness.serve.live_data import LiveProgress
from tests.ratings.simulate import record

WORKLOAD = Workload(40, matches={"sim": 40}, rounds={"sim": 5})


def match(index, round_=1, faults=()):
    return replace(record("ab", (2, 1), index=index, time=(0.1, 0.1), faults=faults), round=round_)


def test_a_monitor_computes_progress_from_its_records():
    monitor = RunMonitor(WORKLOAD, 0.0)
    for index in range(10):
        monitor.add_record(match(index), 0.0)
    monitor.start(100.0)
    for index in range(10, 20):
        monitor.add_record(match(index, 2), 91.0 + index)
    monitor.add_record(match(20, 1, (Fault(0, "crash", 0),)), 111.0)  # rounds overlap: the newest counts
    assert (monitor.done, monitor.earlier, monitor.faults.total) == (21, 10, 1)
    assert monitor.rate(111.0) == pytest.approx(1.0)
    assert monitor.seconds_left(111.0) == pytest.approx(19, rel=0.15)
    assert monitor.round_text() == "round 2 of 5"
    assert monitor.standings() == {"sim": [("a", pytest.approx(31.9, abs=0.1)), ("b", pytest.approx(18.1, abs=0.1))]}


def test_a_monitor_that_only_counts_has_no_estimates():
    monitor = RunMonitor(WORKLOAD, 0.0, earlier=5, counts_only=True)
    monitor.add_record(match(5, faults=(Fault(1, "timeout", 0),)), 1.0)
    assert (monitor.done, monitor.earlier) == (6, 5)
    assert monitor.faults.by_bot == {"b": 1}
    assert monitor.standings() == {}
    assert monitor.round_text() == ""


def test_terminal_and_live_page_are_monitors():
    assert issubclass(Progress, RunMonitor) and issubclass(LiveProgress, RunMonitor)


def test_a_page_that_was_opened_late_shows_the_rate_and_time_left_of_the_terminal():
    """Quick matches come first, 100 a second, then slow ones, one a second; the page is opened among the slow ones."""
    workload = Workload(20_000, matches={"quick": 10_000, "slow": 10_000})
    terminal, page = RunMonitor(workload, 0.0), RunMonitor(workload, 200.0)
    ends = [(index / 100, "quick", 0.005) for index in range(10_000)]
    ends += [(100.0 + index, "slow", 0.5) for index in range(400)]
    for index, (when, game, cost) in enumerate(ends):
        one = replace(record("ab", (2, 1), index=index, time=(cost, cost)), game=game)
        terminal.add_record(one, when)
        if when > 300 and page.earlier == 0:
            page.start(300.0)
        page.add_record(one, max(when, 200.0))
    now = ends[-1][0]
    assert terminal.rate(now) == pytest.approx(1.0, rel=0.05)  # of late, not since the start
    assert page.rate(now) == pytest.approx(terminal.rate(now), rel=0.02)
    assert terminal.seconds_left(now) == pytest.approx(9_600, rel=0.05)
    assert page.seconds_left(now) == pytest.approx(terminal.seconds_left(now), rel=0.02)


def test_a_total_without_games_gives_an_estimate():
    monitor = RunMonitor(Workload(100), 0.0)
    for index in range(40):
        monitor.add_record(match(index), 1.0 + index)
    assert monitor.seconds_left(40.0) == pytest.approx(60, rel=0.05)
    monitor.expect(60)
    assert monitor.seconds_left(40.0) == pytest.approx(20, rel=0.05)
