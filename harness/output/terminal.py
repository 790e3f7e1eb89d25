"""The person at the terminal: progress on stderr, Ctrl-C, and breakpoint() in bots that play in this process."""

from __future__ import annotations

import os
import shutil
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from time import monotonic
from types import FrameType, TracebackType
from typing import TYPE_CHECKING, Any, Self

from harness.match.bot_stdout import exchanged
from harness.runs.fault_groups import FaultGroups

if TYPE_CHECKING:
    from harness.core.types import GameRecord

TERMINAL_EVERY = 0.2
PLAIN_EVERY = 15.0
FIRST_AFTER = 1.0
TOP = 3


class Progress:
    """Counts steps and shows them on stderr: one line that renews itself on a terminal, one now and then elsewhere.

    It says nothing of what is over in a second.
    """

    def __init__(self, what: str, total: int | None, quiet: bool = False) -> None:
        self.what, self.total, self.quiet = what, total, quiet
        self.done = self.skipped = 0
        self.faults = FaultGroups()
        self.points: dict[str, list[float]] = {}
        self.terminal = sys.stderr.isatty() and os.environ.get("TERM") != "dumb"
        self.began = monotonic()
        self.due = self.began + (FIRST_AFTER if self.terminal else PLAIN_EVERY)
        self.shown = False

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        self.clear()

    def clear(self) -> None:
        """Takes the line away, for somebody else who writes to the terminal."""
        if self.shown and self.terminal:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()

    def step(self) -> None:
        """One more is done."""
        self.done += 1
        if not self.quiet and (self.done & 7) == 0 and monotonic() >= self.due:
            self._show()

    def seen(self, record: GameRecord) -> None:
        """A match is done: counts its faults, and who finished ahead of how many."""
        if record.faults:
            self._failed(record)
        if not self.quiet:
            others = len(record.seats) - 1
            for name, rank in zip(record.seats, record.ranks, strict=True):
                mine = self.points.setdefault(name, [0.0, 0.0])
                mine[0] += others + 1 - rank
                mine[1] += others
            if monotonic() >= self.due:
                self.done += 1
                self._show()
                return
        self.done += 1

    def _failed(self, record: GameRecord) -> None:
        known = len(self.faults.by_bot)
        self.faults.add(record)
        if len(self.faults.by_bot) > known:  # that another bot fails is news: no waiting for the next line
            self.due = min(self.due, self.began + FIRST_AFTER)

    def disqualified(self, bot: str, why: str) -> None:
        """A bot is out: says so at once."""
        self.faults.disqualified[bot] = why
        if not self.quiet:
            self.clear()
            sys.stderr.write(f"{bot} is {why}.\n")
            sys.stderr.flush()

    def resumed(self) -> None:
        """What is done so far was done before: it says nothing about the rate."""
        self.skipped, self.began = self.done, monotonic()

    def _show(self) -> None:
        now = monotonic()
        rate = (self.done - self.skipped) / max(now - self.began, 1e-9)
        text = f"{self.what}: {self.done:,}"
        if self.total:
            left = (self.total - self.done) / rate if rate else 0.0
            text += f" of {self.total:,} ({self.done / self.total:.0%}), {rate:,.0f}/s, {clock(left)} left"
        else:
            text += f", {rate:,.0f}/s"
        if self.faults.total:
            text += f", {self._failing()}"
        if self.points:
            text += f" | {self._top()}"
        if self.terminal:
            sys.stderr.write(f"\r\x1b[K{text[: shutil.get_terminal_size().columns - 1]}")
        else:
            sys.stderr.write(text + "\n")
        sys.stderr.flush()
        self.shown = True
        self.due = now + (TERMINAL_EVERY if self.terminal else PLAIN_EVERY)

    def _failing(self) -> str:
        """`"3 faults: sprinter 3"`: who fails most often so far."""
        most = [f"{bot} {count:,}" for bot, count in self.faults.by_bot.most_common(TOP)]
        total, more = self.faults.total, ", ..." if len(self.faults.by_bot) > TOP else ""
        return f"{total:,} fault{'' if total == 1 else 's'}: {', '.join(most)}{more}"

    def _top(self) -> str:
        """The bots that have finished ahead of most opponents so far."""
        shares = sorted(((won / most, name) for name, (won, most) in self.points.items() if most), reverse=True)
        return ", ".join(f"{name} {share:.0%}" for share, name in shares[:TOP])


def clock(seconds: float) -> str:
    """`1:02:03` or `2:03`."""
    minutes, rest = divmod(int(seconds + 0.5), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


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
    what: str, total: int | None, quiet: bool, workers: int | None, softly: bool = False
) -> Iterator[tuple[StopSignal, Progress]]:
    """Progress, Ctrl-C and breakpoint() while bots play. What they print in this process, if they play there, goes to
    stderr: stdout is for results."""
    here = workers == 0 or not hasattr(os, "fork")
    with (
        StopSignal(softly) as stop,
        Progress(what, total, quiet) as progress,
        Debugger(progress.clear, stop.abandon),
        exchanged(sys.stderr) if here else nullcontext(),
    ):
        yield stop, progress
