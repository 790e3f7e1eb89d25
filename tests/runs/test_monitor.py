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
