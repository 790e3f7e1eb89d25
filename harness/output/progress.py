"""Progress on stderr: how far a run is, how fast it goes, how long it will take, and who leads."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from time import monotonic
from types import TracebackType
from typing import TYPE_CHECKING, Self

from harness.output.durations import about, rate
from harness.output.leaders import Leaders
from harness.output.screen import progress_width
from harness.output.time_left import Outlook, TimeLeft
from harness.runs.fault_groups import FaultGroups

if TYPE_CHECKING:
    from harness.core.types import GameRecord
    from harness.executors.jobs import Executor

TERMINAL_EVERY = 0.2
PLAIN_EVERY = 15.0
FIRST_AFTER = 1.0
LEADERS_EVERY = 2.0
TOP = 3


class Progress:
    """Counts steps and shows them on stderr: one line that renews itself on a terminal, one now and then elsewhere.

    It says nothing of what is over in a second.
    """

    def __init__(self, what: str, ahead: Outlook | int | None = None, quiet: bool = False) -> None:
        self.what, self.quiet = what, quiet
        self.outlook = ahead if isinstance(ahead, Outlook) else Outlook(ahead)
        self.done = self.skipped = 0
        self.faults = FaultGroups()
        self.terminal = sys.stderr.isatty() and os.environ.get("TERM") != "dumb"
        self.began = monotonic()
        self.due = self.began + (FIRST_AFTER if self.terminal else PLAIN_EVERY)
        self.shown = ""
        self._left = TimeLeft(self.outlook, self.began)
        self._leaders: dict[str, Leaders] = {}
        self._rounds: dict[str, int] = {}
        self._top: list[str] = []
        self._top_due = 0.0
        self._status: Callable[[], str] = str

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
            self.shown = ""

    def step(self) -> None:
        """One more is done."""
        self.done += 1
        if not self.quiet and (self.done & 7) == 0 and monotonic() >= self.due:
            self._show()

    def seen(self, record: GameRecord) -> None:
        """A match is done: counts its faults, what it cost, and who finished ahead of whom."""
        if record.faults:
            self._failed(record)
        self.done += 1
        if self.quiet:
            return
        now = monotonic()
        self._left.add(record, now)
        if record.game not in self._leaders:
            self._leaders[record.game] = Leaders()
        self._leaders[record.game].add(record)
        if record.game in self.outlook.rounds:
            self._rounds[record.game] = round_of(record)
        if now >= self.due:
            self._show()

    def _failed(self, record: GameRecord) -> None:
        known = len(self.faults.by_bot)
        self.faults.add(record)
        if len(self.faults.by_bot) > known:  # that another bot fails is news: no waiting for the next line
            self.due = min(self.due, self.began + FIRST_AFTER)

    def disqualified(self, bot: str, why: str) -> None:
        """A bot is out: says so at once."""
        self.faults.disqualified[bot] = why
        self.told(f"{bot} is {why}.")

    def playing(self, executor: Executor) -> None:
        """This one plays: what it has to say is shown."""
        executor.tell, self._status = self.told, executor.status

    def told(self, sentence: str) -> None:
        """Says something to the person who waits."""
        if not self.quiet or sentence.startswith("Warning: "):
            self.clear()
            sys.stderr.write(f"{sentence}\n")
            sys.stderr.flush()

    def resumed(self) -> None:
        """What is done so far was done before: it says nothing about the rate."""
        self.skipped, self.began = self.done, monotonic()
        self._left.began_anew(self.began)

    def _show(self) -> None:
        now = monotonic()
        text = self.line(now, progress_width() - 1 if self.terminal else None)
        if not self.terminal:
            sys.stderr.write(text + "\n")
        elif text != self.shown:  # what stays the same is not written again: nothing flickers
            sys.stderr.write(f"\r{text}\x1b[K")
        sys.stderr.flush()
        self.shown = text
        self.due = now + (TERMINAL_EVERY if self.terminal else PLAIN_EVERY)

    def line(self, now: float, width: int | None = None) -> str:
        """How far it is, in so many characters: what matters less is left out first."""
        count, left, stage, pace = self._count(), self._time_left(now), self._round(), self._rate(now)
        faults = self._failing() if self.faults.total else ""
        top, where = self._leading(now), self._status()
        for dropped in ((), (pace,), (pace, stage), (pace, stage, left), (pace, stage, left, where, faults)):
            text = ", ".join(part for part in (count, left, stage, pace, where, faults) if part and part not in dropped)
            for leaders in range(len(top), -1, -1):
                whole = text + (f" | {', '.join(top[:leaders])}" if leaders else "")
                if width is None or len(whole) <= width:
                    return whole
        return count[:width]

    def _count(self) -> str:
        total = self.outlook.total
        if not total:
            return f"{self.what}: {self.done:,}"
        most = "at most " if self.outlook.most else ""
        return f"{self.what}: {self.done:,} of {most}{total:,} ({self.done / total:.0%})"

    def _time_left(self, now: float) -> str:
        seconds = self._seconds_left(now)
        if seconds is None:
            return ""
        return f"{'at most ' if self.outlook.most else ''}{about(seconds)} left"

    def _rate(self, now: float) -> str:
        return rate((self.done - self.skipped) / max(now - self.began, 1e-9))

    def _seconds_left(self, now: float) -> float | None:
        """By what matches cost, or where these are not seen, by their number."""
        total, done = self.outlook.total, self.done - self.skipped
        if self._leaders or total is None or not done:
            return self._left.seconds(now)
        return max(0, total - self.done) * (now - self.began) / done

    def _round(self) -> str:
        """`"round 3 of 5"`: of the game that is farthest behind, where results decide."""
        return self.outlook.round_text(self._rounds)

    def _failing(self) -> str:
        """`"3 faults: sprinter 3"`: who fails most often so far."""
        most = [f"{bot} {count:,}" for bot, count in self.faults.by_bot.most_common(TOP)]
        total, more = self.faults.total, ", ..." if len(self.faults.by_bot) > TOP else ""
        return f"{total:,} fault{'' if total == 1 else 's'}: {', '.join(most)}{more}"

    def _leading(self, now: float) -> list[str]:
        """The first of each game, or the first three of the only one; worked out now and then."""
        if now >= self._top_due and self._leaders:
            several = len(self._leaders) > 1
            self._top = []
            for game, leaders in sorted(self._leaders.items()):
                first = leaders.ahead()[: 1 if several else TOP]
                self._top += [f"{game}: {bot} {share:.0%}" if several else f"{bot} {share:.0%}" for bot, share in first]
            self._top_due = monotonic() + max(LEADERS_EVERY, 20 * (monotonic() - now))
        return self._top


def round_of(record: GameRecord) -> int:
    """The round of a match: the first number after the game in its id."""
    number = record.id[len(record.game) + 1 :].partition(".")[0]
    return int(number) if number.isdecimal() else 0
