"""A run monitor for tests."""

from __future__ import annotations

from collections.abc import Callable

from harness.core.records import GameRecord
from harness.runs.monitor import RunMonitor, Workload


class CallingMonitor(RunMonitor):
    """Calls a function with every record of a run: those of before first."""

    def __init__(self, on_record: Callable[[GameRecord], object]) -> None:
        super().__init__(Workload())
        self.on_record = on_record

    def add_record(self, record: GameRecord, now: float | None = None) -> None:
        super().add_record(record, now)
        self.on_record(record)
