"""Ctrl-C and SIGTERM: the first one ends a run in good order, the second one at once."""

from __future__ import annotations

import os
import signal
import sys
import threading
from types import FrameType
from typing import Any, Self


class StopSignal:
    """While it is entered, `stopped` says whether somebody asked to stop. Outside the main thread nobody can."""

    def __init__(self) -> None:
        self.stopped = False
        self._before: dict[int, Any] = {}

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGINT, signal.SIGTERM):
                self._before[number] = signal.signal(number, self._asked)
        return self

    def __exit__(self, *_error: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def __call__(self) -> bool:
        """Whether somebody asked to stop."""
        return self.stopped

    def _asked(self, number: int, _frame: FrameType | None) -> None:
        if self.stopped:
            # Not an exception: the bot whose code is running could catch it. Records are on disk already.
            os._exit(128 + number)
        self.stopped = True
        sys.stderr.write("\nFinishing what is being played; once more to stop now.\n")
        sys.stderr.flush()
