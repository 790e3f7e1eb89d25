"""Ctrl-C at the table: it ends a prompt at once, and lets a bot that is thinking finish its decision."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, Self

INTERRUPTED = 130
"""Exit code after Ctrl-C, as shells have it."""


class Interrupts:
    """While it is entered, Ctrl-C raises KeyboardInterrupt within `prompting` and sets `pending` elsewhere.

    Elsewhere a bot's code is running: an exception raised there would be taken for a fault of the bot.
    """

    def __init__(self, say: Callable[[str], None]) -> None:
        self.pending = False
        self._say = say
        self._prompting = False
        self._before: Any = None

    def __enter__(self) -> Self:
        self._before = signal.signal(signal.SIGINT, self._pressed)
        return self

    def __exit__(self, *_error: object) -> None:
        signal.signal(signal.SIGINT, self._before)

    @contextmanager
    def prompting(self) -> Iterator[None]:
        """The person is being asked: Ctrl-C may interrupt."""
        self._prompting = True
        try:
            if self.pending:
                raise KeyboardInterrupt
            yield
        finally:
            self._prompting = False

    def _pressed(self, _number: int, _frame: FrameType | None) -> None:
        if self._prompting:
            raise KeyboardInterrupt
        if self.pending:
            os._exit(INTERRUPTED)  # the bot does not come back; what was decided is on disk
        self.pending = True
        self._say("\nWaiting for a bot to finish its decision; Ctrl-C once more to stop now.")
