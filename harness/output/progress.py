"""Progress of a run on stderr, Ctrl-C, and debugging of bots at the terminal."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from dataclasses import replace as replaced
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic
from types import FrameType, TracebackType
from typing import Any, Self

from msgspec.structs import replace

from harness.core.errors import printable
from harness.core.files import Folder
from harness.core.options import BotLimits, seconds_of
from harness.core.records import GameRecord
from harness.executors.base import HERE, ClusterChoice, Executor, choose_executor
from harness.match.stdio import no_breakpoints, replaced_streams
from harness.output.columns import about, rate
from harness.output.leaderboard import tables_of_run
from harness.output.tables import fitted, progress_width
from harness.output.text import warn_about_isolation
from harness.runs.monitor import FaultGroups, RunMonitor, Workload
from harness.runs.planning import TimeEstimate, estimate_time
from harness.runs.reader import Item, following
from harness.runs.request import RunRequest, instead
from harness.runs.runner import play_run
from harness.runs.scheduler import Schedule
from harness.runs.setup import RunSetup
from harness.runs.store import LOGS, RunFolder

# Progress on stderr: count, time left, rate, faults and leaders in one line.


TERMINAL_INTERVAL_S, PLAIN_INTERVAL_S = 0.2, 15.0
FIRST_AFTER_S = 2.0
"""Nothing is printed about work that takes less."""
LEADERS_INTERVAL_S = 2.0
MAX_LEADERS, MIN_LEADER_MATCHES = 3, 20
"""Before it has played this many matches, the skill of a bot says nothing: a league gives it no place."""
MAX_LOGS = 5
"""Logs that a sentence names."""


@dataclass(slots=True)
class _Work:
    """Items that are worked on one after the other."""

    what: str
    total: Callable[[], int]
    began: float
    done: int = 0
    count: int | None = None
    share: float = 0.0
    """The share that is done; never less than before, although an inner work may begin again."""

    def update(self, inner: float) -> float:
        """Return the share that is done if this share of the current item is."""
        if self.count is None:  # not before there is a line: counting may take a while
            self.count = self.total()
        self.share = max(self.share, min(1.0, (self.done + inner) / self.count if self.count else 0.0))
        return self.share

    def text(self) -> str:
        return f"{self.what}: {self.done:,} of {self.count or 0:,}"


class Progress(RunMonitor):
    """Draws a run monitor on stderr: one line that is updated on a terminal, a line now and then elsewhere."""

    def __init__(self, what: str, workload: Workload | int | None = None, quiet: bool = False) -> None:
        super().__init__(workload if isinstance(workload, Workload) else Workload(workload), counts_only=quiet)
        self.what, self.quiet = what, quiet
        self.terminal = sys.stderr.isatty() and os.environ.get("TERM") != "dumb"
        self.due = self.began + (FIRST_AFTER_S if self.terminal else PLAIN_INTERVAL_S)
        self.shown = ""
        self._leaders: list[str] = []
        self._leaders_due = 0.0
        self._executor_status: Callable[[], str] = str
        self._works: list[_Work] = []
        """The current tasks, the outermost first."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        self.clear()

    def clear(self) -> None:
        """Remove the line, so that other text can be written to the terminal."""
        if self.shown and self.terminal:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
            self.shown = ""

    def step(self) -> None:
        """Count a step that has no record."""
        self.done += 1
        # The clock is read at every eighth step only: a step may take microseconds.
        if not self.quiet and (self.done & 7) == 0 and monotonic() >= self.due:
            self._draw()

    def add_record(self, record: GameRecord, now: float | None = None) -> None:
        """Add a match that has ended, and draw the line if it is time."""
        failing = len(self.faults.by_bot)
        super().add_record(record, now)
        if len(self.faults.by_bot) > failing:  # another bot fails: the user should see that soon
            self.due = min(self.due, self.began + FIRST_AFTER_S)
        if not self.quiet and monotonic() >= self.due:
            self._draw()

    def follow(self, items: Iterable[Item], what: str, total: Callable[[], int]) -> Iterator[Item]:
        """Yield the items, and show meanwhile how many of them are done."""
        work = _Work(what, total, monotonic())
        self._works.append(work)
        try:
            for item in items:
                if not self.quiet and monotonic() >= self.due:
                    self._draw()
                yield item
                work.done += 1
        finally:
            self._works.remove(work)

    def disqualify(self, bot: str, why: str) -> None:
        """Print at once that a bot is disqualified."""
        super().disqualify(bot, why)
        self.print_line(f"{bot} is {why}.")

    def follow_executor(self, executor: Executor) -> None:
        """Show the messages and the status of the executor."""
        executor.report, self._executor_status = self.print_line, executor.status

    def print_line(self, sentence: str) -> None:
        """Print a sentence above the line; if quiet, only warnings."""
        if not self.quiet or sentence.startswith("Warning: "):
            self.clear()
            sys.stderr.write(fitted(printable(sentence), sys.stderr) + "\n")
            sys.stderr.flush()

    def _draw(self) -> None:
        now = monotonic()
        text = printable(self.line(now, progress_width() - 1 if self.terminal else None))
        if not self.terminal:
            sys.stderr.write(text + "\n")
        elif text != self.shown:  # an unchanged line is not written again, so nothing flickers
            sys.stderr.write(f"\r{text}\x1b[K")
        sys.stderr.flush()
        self.shown = text
        self.due = now + (TERMINAL_INTERVAL_S if self.terminal else PLAIN_INTERVAL_S)

    def line(self, now: float, width: int | None = None) -> str:
        """Return the line in at most `width` characters; what matters less is dropped first."""
        if self._works:
            return self._work_line(now)[:width]
        count, left, stage, pace = self._count_text(), self._time_text(now), self.round_text(), rate(self.rate(now))
        faults = self._faults_text() if self.faults.total else ""
        leaders, where = self._leading(now), self._executor_status()
        for dropped in ((), (pace,), (pace, stage), (pace, stage, left), (pace, stage, left, where, faults)):
            text = ", ".join(part for part in (count, left, stage, pace, where, faults) if part and part not in dropped)
            for number in range(len(leaders), -1, -1):
                whole = text + (f" | skill: {', '.join(leaders[:number])}" if number else "")
                if width is None or len(whole) <= width:
                    return whole
        return count[:width]

    def _work_line(self, now: float) -> str:
        """Return `"runs: 3 of 25 (12%), about 40 s left, records: 1,200 of 40,000"`."""
        share = 0.0
        for work in reversed(self._works):
            share = work.update(share)
        outer, *inner = self._works
        spent = now - outer.began
        left = f", {about(spent * (1 - share) / share)} left" if share and spent >= 1 else ""
        return ", ".join([f"{outer.text()} ({share:.0%}){left}", *(work.text() for work in inner)])

    def _count_text(self) -> str:
        total = self.workload.total
        if not total:
            return f"{self.what}: {self.done:,}"
        most = "at most " if self.workload.is_maximum else "about " if self.workload.is_estimate else ""
        return f"{self.what}: {self.done:,} of {most}{total:,} ({self.done / total:.0%})"

    def _time_text(self, now: float) -> str:
        seconds = self.seconds_left(now)
        if seconds is None:
            return ""
        return f"{'at most ' if self.workload.is_maximum else ''}{about(seconds)} left"

    def _faults_text(self) -> str:
        """Return `"3 faults: sprinter 3"`: the bots with most faults."""
        most = [f"{bot} {count:,}" for bot, count in self.faults.by_bot.most_common(MAX_LEADERS)]
        total, more = self.faults.total, ", ..." if len(self.faults.by_bot) > MAX_LEADERS else ""
        return f"{total:,} fault{'' if total == 1 else 's'}: {', '.join(most)}{more}"

    def _leading(self, now: float) -> list[str]:
        """Return the first bot of each game, or the first three of the only one; computed now and then."""
        if self.workload.is_ranked and now >= self._leaders_due:
            standings = self.standings()
            several = len(standings) > 1
            self._leaders = [
                f"{bot} {skill:.1f} in {game}" if several else f"{bot} {skill:.1f}"
                for game, skills in standings.items()
                for bot, skill in self._known(game, skills)[: 1 if several else MAX_LEADERS]
            ]
            # A fit of many bots takes time: spend a twentieth of the time on it at most.
            self._leaders_due = monotonic() + max(LEADERS_INTERVAL_S, 20 * (monotonic() - now))
        return self._leaders

    def _known(self, game: str, skills: list[tuple[str, float]]) -> list[tuple[str, float]]:
        return [(bot, skill) for bot, skill in skills if self._time_left.matches_of(game, bot) >= MIN_LEADER_MATCHES]


@contextmanager
def shown_work() -> Iterator[None]:
    """Show progress of the long work of a command: records that are read, charts, pages."""
    with Progress("") as progress, following(progress.follow):
        yield


# Ctrl-C, and breakpoint() in bots that play in this process.


class StopSignal:
    """Handles Ctrl-C and SIGTERM: the first one ends a run after the current matches, the second one at once.

    While it is entered, `stopped` is set by the first signal. Python delivers signals to the main thread only.
    """

    def __init__(self, softly: bool = False) -> None:
        """With `softly` the second signal raises KeyboardInterrupt: the process of a notebook must continue."""
        self.stopped = self.interrupted = self.abandoned = False
        self.softly = softly
        self.farewell = ""
        """What the second signal prints before it ends the process."""
        self.audit = self._raise_if_interrupted if softly else None
        self._err = (
            sys.stderr
        )  # kept: while a bot plays in this process, sys.stderr is replaced to capture what it prints
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
        """Return whether the run should stop."""
        return self.stopped

    def abandon(self) -> None:
        """Stop the run without counting the match that is being played."""
        self.stopped = self.abandoned = True

    def _raise_if_interrupted(self) -> None:
        """End the match outside the bot in whose code the interrupt was raised: it must not be blamed."""
        if self.interrupted:
            raise KeyboardInterrupt

    def _asked(self, number: int, _frame: FrameType | None) -> None:
        if self.stopped and self.softly:
            self.interrupted = True
            raise KeyboardInterrupt
        if self.stopped:
            if self.farewell:
                self._err.write(f"\n{self.farewell}\n")
                self._err.flush()
            # Not an exception: the bot whose code is running could catch it. Records are on disk already.
            os._exit(128 + number)
        self.stopped = True
        self._err.write("\nFinishing the current matches; press Ctrl-C once more to stop now.\n")
        self._err.flush()


class Debugger:
    """While it is entered, breakpoint() uses stdin, stdout and stderr as they are now, although bots get others.

    Leaving the debugger is not a fault of the bot: `left` is called, and no further breakpoint() stops.
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
        # If stdout is a file, it gets tables, not the dialogue with the debugger.
        to_file = stdout is sys.__stdout__ and not os.isatty(1)
        sys.stdout = sys.stderr if to_file else stdout
        if self._before is not sys.__breakpointhook__ or os.environ.get("PYTHONBREAKPOINT"):
            return self._before(*args, **named)
        if self._pdb is None:
            self._pdb = self._new()
        self._pdb.set_trace(sys._getframe(1))
        return None

    def _new(self) -> Any:
        import pdb  # takes 20 ms, and is used only at a breakpoint()

        debugger = self

        class BotPdb(pdb.Pdb):
            def set_quit(self) -> None:
                super().set_quit()
                debugger.quit = True
                debugger._left()

        return BotPdb(nosigint=True)  # Ctrl-C stops the run, not the debugger


@contextmanager
def at_terminal(
    what: str, ahead: Schedule | Workload | int | None, quiet: bool, workers: int | None, softly: bool = False
) -> Iterator[tuple[StopSignal, Progress]]:
    """Handle progress, Ctrl-C and breakpoint() while bots play what is `ahead`.

    If they play in this process, their output goes to stderr, because stdout is for results.
    """
    if isinstance(ahead, Schedule):
        # Without a progress line nothing asks for the time left, for which the seats of each bot are counted.
        ahead = Workload(ahead.count()) if quiet else Workload.of_schedule(ahead)
    here = workers == 0 or not hasattr(os, "fork")
    with (
        StopSignal(softly) as stop,
        Progress(what, ahead, quiet) as progress,
        Debugger(progress.clear, stop.abandon),
        replaced_streams(sys.stderr) if here else nullcontext(),
    ):
        yield stop, progress


# Play a run for a user at a terminal.


def play_watched(
    run: RunFolder,
    setup: RunSetup,
    limits: BotLimits,
    workers: int | None,
    quiet: bool,
    cluster: ClusterChoice = HERE,
    softly: bool = False,
    show_output: bool = False,
    farewell: str = "",
) -> tuple[bool, FaultGroups]:
    """Play the missing matches of a run; return whether it is complete, and the faults of its bots.

    `softly` is for notebooks, whose process continues after Ctrl-C. What bots print is in logs, as a sentence says, and
    with `show_output` on stderr, too. A second Ctrl-C prints `farewell` and ends the process.
    """
    warn_about_isolation(setup.entrants, limits.isolate, quiet, run, here=not cluster.address)
    with (
        at_terminal("matches", setup.schedule, quiet, workers, softly) as (stop, progress),
        naming_logs(run, progress),
    ):
        stop.farewell = farewell
        complete = play_run(
            run, setup, limits, workers, stop, progress, cluster, make_tables=tables_of_run, show_output=show_output
        )
    return complete, progress.faults


@contextmanager
def naming_logs(run: RunFolder, progress: Progress) -> Iterator[None]:
    """At the end, print once which bots have printed something meanwhile, and where it is."""
    before = {} if progress.quiet else _log_sizes(run.files)
    yield
    if not progress.quiet:
        printed = [name for name, size in _log_sizes(run.files).items() if size > before.get(name, 0)]
        _print_log_names(printed, f"is in {run.folder / LOGS}", progress)


def _log_sizes(run: Folder) -> dict[str, int]:
    """Return the size of each log of a run."""
    logs = run.below(LOGS)
    try:
        return {name: logs.stat(name).st_size for name in logs.names()}
    except OSError:  # no bot has printed anything
        return {}


def _print_log_names(logs: Sequence[str], where: str, progress: Progress) -> None:
    if logs:
        listed = ", ".join(name.removesuffix(".log") for name in logs[:MAX_LOGS])
        more = f" and {len(logs) - MAX_LOGS} more" if len(logs) > MAX_LOGS else ""
        progress.print_line(f"What {listed}{more} printed {where}.")


def estimate_watched(setup: RunSetup, request: RunRequest, quiet: bool, softly: bool = False) -> TimeEstimate:
    """Play trial matches of a run and return how long its matches take. What bots print is not kept."""
    # On a cluster, one core of this machine has to do.
    workers = 1 if request.cluster else request.workers
    with (
        TemporaryDirectory(prefix="arena-") as folder,
        at_terminal("trial matches", None, quiet, workers, softly) as (stop, progress),
        no_breakpoints(),
    ):
        run = Path(folder, "trial")
        executor = choose_executor(setup.roster, request.limits, workers, stop, run / LOGS, HERE, request.show_output)
        found = estimate_time(setup.schedule, executor, workers, progress.step)
        printed = list(_log_sizes(Folder(run)))
        _print_log_names(printed, "in trial matches is not kept", progress)
    return found


def plan_by_time(
    request: RunRequest, setup: RunSetup, quiet: bool, softly: bool = False, found: TimeEstimate | None = None
) -> tuple[RunRequest, RunSetup]:
    """Return the request with its number of deals, and the setup of a run with them.

    If the request has a time instead, a sentence says how many deals that is, as `found` or by trial matches.
    """
    if request.for_ is not None:
        found = found or estimate_watched(setup, request, quiet, softly)
        seconds, schedule = seconds_of(request.for_), setup.schedule
        schedule = schedule.with_deals(found.deals_within(seconds, schedule))
        setup = replaced(setup, schedule=schedule)
        needed, deals = found.trial + found.seconds(schedule.counts()), schedule.plan.deals
        if needed > seconds:
            sys.stderr.write(f"Warning: {request.for_} is too short for one deal, which takes {about(needed)}.\n")
        elif not quiet:
            plural = "" if deals == 1 else "s"
            sys.stderr.write(f"{deals:,} deal{plural} ({schedule.count():,} matches) take {about(needed)}.\n")
    return replace(request, **instead({"deals": setup.plan.deals})), setup
