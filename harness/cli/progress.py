"""Progress on stderr: a line that renews itself on a terminal, a plain line now and then elsewhere."""

from __future__ import annotations

import sys
from time import monotonic
from types import TracebackType
from typing import Self

TERMINAL_EVERY = 0.2
PLAIN_EVERY = 15.0
FIRST_AFTER = 1.0


class Progress:
    """Counts steps and shows them; quiet for anything that is over in a second."""

    def __init__(self, what: str, total: int | None, quiet: bool = False) -> None:
        self.what, self.total, self.quiet = what, total, quiet
        self.done = self.faults = 0
        self.terminal = sys.stderr.isatty()
        self.began = monotonic()
        self.due = self.began + (FIRST_AFTER if self.terminal else PLAIN_EVERY)
        self.shown = False

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        if self.shown and self.terminal:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()

    def step(self, faults: int = 0) -> None:
        """One more is done."""
        self.done += 1
        self.faults += faults
        if not self.quiet and self.done % 8 == 0 and monotonic() >= self.due:
            self._show()

    def _show(self) -> None:
        now = monotonic()
        rate = self.done / (now - self.began)
        text = f"{self.what}: {self.done:,}"
        if self.total:
            left = (self.total - self.done) / rate
            text += f" of {self.total:,} ({self.done / self.total:.0%}), {rate:,.0f}/s, {_clock(left)} left"
        else:
            text += f", {rate:,.0f}/s"
        if self.faults:
            text += f", {self.faults} faults"
        sys.stderr.write(f"\r\x1b[K{text}" if self.terminal else text + "\n")
        sys.stderr.flush()
        self.shown = True
        self.due = now + (TERMINAL_EVERY if self.terminal else PLAIN_EVERY)


def _clock(seconds: float) -> str:
    minutes, rest = divmod(int(seconds + 0.5), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
