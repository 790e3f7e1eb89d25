"""The person at the terminal: Ctrl-C, and breakpoint() in bots that play in this process, with progress on stderr."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from types import FrameType
from typing import Any, Self

from harness.match.bot_stdout import exchanged
from harness.output.progress import Progress
from harness.output.time_left import Outlook
from harness.schedule import Schedule


class StopSignal:
    """Ctrl-C and SIGTERM: the first one ends a run in good order, the second one at once.

    While it is entered, `stopped` says whether somebody asked to stop. Outside the main thread nobody can.
    """

    def __init__(self, softly: bool = False) -> None:
        """`softly`: the second one raises KeyboardInterrupt, for a notebook, whose process must go on."""
        self.stopped = self.interrupted = self.abandoned = False
        self.softly = softly
        self.audit = self._raise_if_interrupted if softly else None
        self._err = sys.stderr  # ours: while a bot plays in this process, sys.stderr takes what the bot prints
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

    def abandon(self) -> None:
        """Stops the run, and the match being played does not count."""
        self.stopped = self.abandoned = True

    def _raise_if_interrupted(self) -> None:
        """Ends a match from outside the bot in whose code the interrupt was raised, and which must not be blamed."""
        if self.interrupted:
            raise KeyboardInterrupt

    def _asked(self, number: int, _frame: FrameType | None) -> None:
        if self.stopped and self.softly:
            self.interrupted = True
            raise KeyboardInterrupt
        if self.stopped:
            # Not an exception: the bot whose code is running could catch it. Records are on disk already.
            os._exit(128 + number)
        self.stopped = True
        self._err.write("\nFinishing what is being played; once more to stop now.\n")
        self._err.flush()


class Debugger:
    """While it is entered, breakpoint() finds stdin, stdout and stderr as they are now, whatever bots get to see.

    Leaving the debugger is no fault of the bot's: `left` is called, and no further breakpoint() stops.
    """

    def __init__(self, entering: Callable[[], None] = lambda: None, left: Callable[[], None] = lambda: None) -> None:
        self._entering, self._left = entering, left
        self._pdb: Any = None
        self.quit = False

    def __enter__(self) -> Self:
        self._streams = sys.stdin, sys.stdout, sys.stderr
        self._before = sys.breakpointhook
        sys.breakpointhook = self._called
        return self

    def __exit__(self, *_error: object) -> None:
        sys.breakpointhook = self._before

    def _called(self, *args: Any, **named: Any) -> Any:
        if self.quit:
            return None
        self._entering()
        sys.stdin, stdout, sys.stderr = self._streams
        # A table that goes to a file must not get the conversation.
        to_file = stdout is sys.__stdout__ and not os.isatty(1)
        sys.stdout = sys.stderr if to_file else stdout
        if self._before is not sys.__breakpointhook__ or os.environ.get("PYTHONBREAKPOINT"):
            return self._before(*args, **named)
        if self._pdb is None:
            self._pdb = self._new()
        self._pdb.set_trace(sys._getframe(1))
        return None

    def _new(self) -> Any:
        import pdb

        debugger = self

        class BotPdb(pdb.Pdb):
            def set_quit(self) -> None:
                super().set_quit()
                debugger.quit = True
                debugger._left()

        return BotPdb(nosigint=True)  # Ctrl-C stays the run's


@contextmanager
def at_terminal(
    what: str, ahead: Schedule | Outlook | int | None, quiet: bool, workers: int | None, softly: bool = False
) -> Iterator[tuple[StopSignal, Progress]]:
    """Progress, Ctrl-C and breakpoint() while bots play what is `ahead`. What they print in this process,
    if they play there, goes to stderr: stdout is for results."""
    outlook = Outlook.of(ahead) if isinstance(ahead, Schedule) else ahead
    here = workers == 0 or not hasattr(os, "fork")
    with (
        StopSignal(softly) as stop,
        Progress(what, outlook, quiet) as progress,
        Debugger(progress.clear, stop.abandon),
        exchanged(sys.stderr) if here else nullcontext(),
    ):
        yield stop, progress
