"""A worker's status: it writes in shared memory whom it is asking, and until when; the parent reads it.

It is written at every decision, so it is a handful of numbers and no lock. The parent takes nothing on it for
certain before it has seen it twice.
"""

from __future__ import annotations

import mmap
import os
import tempfile
from array import array
from typing import Any

from harness.match.referee import ASKING, DEADLINE, IDLE, MATCH, SLOTS

STOP = SLOTS
"""The parent sets this slot to ask the worker to begin no further match."""
_EMPTY = array("d", [IDLE if slot == ASKING else 0.0 for slot in range(SLOTS + 1)]).tobytes()


def new_status() -> int:
    """Shared memory for one worker, as a descriptor that can be handed on."""
    with tempfile.TemporaryFile() as file:
        file.write(_EMPTY)
        file.flush()
        return os.dup(file.fileno())


def slots(descriptor: int) -> memoryview[float]:
    """That memory, in the form that is quickest to write."""
    return memoryview(mmap.mmap(descriptor, len(_EMPTY))).cast("d")


class WorkerStatus:
    """What a worker was doing at one moment."""

    __slots__ = ("deadline", "decision", "match", "seat")

    def __init__(self, status: Any) -> None:
        code = int(status[ASKING])
        self.match = int(status[MATCH])
        self.deadline = float(status[DEADLINE])
        self.decision, seat = divmod(code, 64)
        self.seat: int | None = None if code == IDLE else seat

    def __eq__(self, other: object) -> bool:
        return isinstance(other, WorkerStatus) and self.place == other.place and self.deadline == other.deadline

    __hash__ = None  # type: ignore[assignment]  # a reading is compared, never kept in a set

    @property
    def place(self) -> tuple[int, int | None, int]:
        """Match, seat (None: no bot was being asked) and decision."""
        return self.match, self.seat, self.decision
