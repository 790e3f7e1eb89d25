"""Waiting for what must happen, never for time: a busy machine is slow, and a test must not fail for that."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic, sleep
from types import FrameType
from typing import TypeVar

T = TypeVar("T")

PATIENCE = 120.0
"""Seconds after which something is taken never to happen; far beyond what the slowest machine needs."""


def wait_for(happened: Callable[[], T], what: str, patience: float = PATIENCE) -> T:
    """Comes back when it has happened, with what the condition gave; fails if it never does."""
    until = monotonic() + patience
    while not (found := happened()):
        assert monotonic() < until, f"{what}: not within {patience:g} s"
        sleep(0.01)
    return found


@contextmanager
def within(seconds: float = PATIENCE) -> Iterator[None]:
    """Fails where the code inside never comes back. For the main thread."""

    def give_up(_number: int, _frame: FrameType | None) -> None:
        raise TimeoutError(f"it did not come back within {seconds:g} s")

    before = signal.signal(signal.SIGALRM, give_up)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
