"""What a person sees while a run is played: progress, time left, who leads, Ctrl-C."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from time import monotonic
from types import FrameType, TracebackType
from typing import TYPE_CHECKING, Any, Self

from harness.core.options import BotLimits
from harness.core.records import shares_ahead
from harness.executors.base import HERE, ClusterChoice
from harness.match.faults import FaultGroups
from harness.match.stdio import replaced_streams
from harness.output.columns import about, rate
from harness.output.tables import progress_width
from harness.output.text import tell_confinement
from harness.runs.runner import play_run
from harness.runs.scheduler import Schedule
from harness.runs.setup import RunSetup
from harness.runs.store import RunFolder

if TYPE_CHECKING:
    from harness.core.records import GameRecord
    from harness.executors.base import Executor


# How long a run will go on, from what its matches have cost so far.
#
# Matches are not alike: games differ in length and bots in how long they think, and a schedule has them in an order,
# not mixed well. So what is left is counted bot by bot: the seats that each has still to play in each game, at what
# such a seat has cost so far. Only the proportions of these costs matter; how fast work gets done is read off the
# clock.


DECISION, MATCH = 2e-5, 2e-4
"""Seconds, about, that the engine takes for a decision, and a match beside its decisions: only the proportion to the
time that bots think matters."""
MOST_COUNTED = 20_000
"""A schedule of up to so many matches is gone through to count who plays how often."""
ENOUGH = 20
"""Matches after which the time until the first one, in which workers start, no longer counts."""
UNSEEN = 0.25
"""The part of the matches in which nothing is said while some bot has not been seen."""
RECENT = 0.3
"""The latest part of the time counts twice: machines get busy and free again."""

MOST_ROWS = 10_000
"""Tables that are remembered."""

Seat = tuple[str, str]
"""A game and a bot."""


@dataclass(frozen=True, slots=True)
class Outlook:
    """What is known of a run beforehand."""

    total: int | None = None
    """Matches of all games together."""
    most: bool = False
    """Whether that is only the most that will be played."""
    matches: Mapping[str, int] = field(default_factory=dict)
    """Matches of each game."""
    seats: Mapping[Seat, float] = field(default_factory=dict)
    """How often each bot sits down in each game; where results decide, or there are too many to count, on average."""
    rounds: Mapping[str, int | None] = field(default_factory=dict)
    """Rounds of each game in which rounds depend on results; None if nobody knows how many."""

    @classmethod
    def of(cls, schedule: Schedule) -> Outlook:
        """What a schedule says of itself."""
        plan, chosen = schedule.plan, schedule.format
        counts = {game.name: chosen.count(game, plan) for game in plan.games}
        matches = {name: count for name, count in counts.items() if count is not None}
        rounds = {game.name: chosen.stages(game, plan) for game in plan.games} if chosen.adaptive else {}
        total = schedule.count()
        seats: dict[Seat, float] = {}
        if not chosen.adaptive and total is not None and total <= MOST_COUNTED:
            seats = dict(Counter((spec.game, bot) for spec in schedule.matches() for bot in spec.seats))
        else:
            for game in plan.games:
                share = matches.get(game.name, 0) * game.players / len(game.entrants)
                seats |= {(game.name, bot): share for bot in game.entrants}
        return cls(total, any(count is None for count in rounds.values()), matches, seats, rounds)

    def round_text(self, reached: Mapping[str, int]) -> str:
        """`"round 3 of 5"`: of the game that is farthest behind, by the rounds that games have reached."""
        if not reached:
            return ""
        game = min(reached, key=lambda name: (reached[name], name))
        known = self.rounds[game]
        return f"round {reached[game]}" + (f" of {known}" if known else "")


class TimeLeft:
    """Takes in matches as they end, and estimates when the last one will."""

    def __init__(self, outlook: Outlook, began: float) -> None:
        self.outlook = outlook
        self._costs: dict[Seat, list[float]] = {}
        self._matches: Counter[str] = Counter()
        self._rows: dict[tuple[str, tuple[str, ...]], list[list[float]]] = {}
        self.began_anew(began)

    def began_anew(self, now: float) -> None:
        """What was taken in so far was played before: it says what matches cost, and nothing about the pace."""
        self._began, self._work, self._seen = now, 0.0, 0
        self._first: tuple[float, float] | None = None
        self._past: deque[tuple[float, float]] = deque(maxlen=400)

    def add(self, record: GameRecord, now: float) -> None:
        """A match has ended."""
        table = record.game, record.seats
        self._matches[record.game] += 1
        rows = self._rows.get(table) or self._seated(table)
        each, work = MATCH / len(rows), 0.0
        for known, made, spent in zip(rows, record.decisions, record.time or (0.0,) * len(rows), strict=True):
            cost = each + DECISION * made + spent
            known[0] += 1
            known[1] += cost
            work += cost
        self._work += work
        self._seen += 1
        self._first = self._first or (now, self._work)
        if not self._past or now - self._past[-1][0] > 0.005 * (now - self._began):
            self._past.append((now, self._work))

    def _seated(self, table: tuple[str, tuple[str, ...]]) -> list[list[float]]:
        """What is known of those who sit there; remembered, for the same come again."""
        game, seats = table
        if len(self._rows) >= MOST_ROWS:
            self._rows.clear()
        rows = self._rows[table] = [self._costs.setdefault((game, bot), [0.0, 0.0]) for bot in seats]
        return rows

    def seconds(self, now: float) -> float | None:
        """Seconds until the end; None if nothing can be said."""
        total = self.outlook.total
        if not self._work or total is None:
            return None
        if self._matches.total() < UNSEEN * total and not self.outlook.seats.keys() <= self._costs.keys():
            return None  # whoever has not played yet may be the one that thinks for long
        work = self._work_left()
        start, done = self._first if self._first and self._seen >= ENOUGH else (self._began, 0.0)
        pace = (self._work - done) / max(now - start, 1e-9)
        since = now - RECENT * (now - start)
        recent = next(((when, did) for when, did in self._past if when >= since), None)
        if recent and now > recent[0] and self._work > recent[1]:
            pace = (pace + (self._work - recent[1]) / (now - recent[0])) / 2
        return work / pace if pace > 0 else None

    def _work_left(self) -> float:
        games: dict[str, list[float]] = {}
        for (game, _), (seats, cost) in self._costs.items():
            sums = games.setdefault(game, [0.0, 0.0])
            sums[0] += seats
            sums[1] += cost
        usual = sum(cost for _, cost in games.values()) / sum(seats for seats, _ in games.values())
        means = {game: cost / seats for game, (seats, cost) in games.items()}
        if self.outlook.seats:
            left = 0.0
            for seat, total in self.outlook.seats.items():
                played, cost = self._costs.get(seat, (0.0, 0.0))
                left += max(0.0, total - played) * (cost / played if played else means.get(seat[0], usual))
            return left
        tables = sum(seats for seats, _ in games.values()) / max(1, self._matches.total())
        return sum(
            max(0, total - self._matches[game]) * means.get(game, usual) * tables
            for game, total in self.outlook.matches.items()
        )


# Who leads while a run goes on: in the order of the table to come, worked out as matches end.


SWEEPS = 30
CLOSE = 1e-4
MOST_WAITING = 1000


class Leaders:
    """The bots of one game by the share of opponents that they finish ahead of, corrected for whom they met.

    A result at a table is expected to be one half plus the difference of two worths; the worths are fitted by least
    squares, as in the leaderboard. Each look goes on from the last one, so it costs little.
    """

    def __init__(self) -> None:
        self._results: Counter[tuple[tuple[str, ...], tuple[int, ...]]] = Counter()
        """Seats and ranks of matches that are still to be counted: most come up again and again."""
        self._margins: dict[str, float] = {}
        self._met: dict[str, dict[str, float]] = {}
        self._worth: dict[str, float] = {}

    def add(self, record: GameRecord) -> None:
        """Takes in a match; one in which a bot meets itself says nothing."""
        self._results[record.seats, record.ranks] += 1
        if len(self._results) > MOST_WAITING:
            self._count()

    def _count(self) -> None:
        for (seats, ranks), times in self._results.items():
            if not 1 < len(seats) == len(set(seats)):
                continue
            weight = times / (len(seats) - 1)
            for bot, share in zip(seats, shares_ahead(ranks), strict=True):
                self._margins[bot] = self._margins.get(bot, 0.0) + times * (share - 0.5)
                met = self._met.setdefault(bot, {})
                for other in seats:
                    if other != bot:
                        met[other] = met.get(other, 0.0) + weight
        self._results.clear()

    def ahead(self) -> list[tuple[str, float]]:
        """Each bot with its share, best first."""
        self._count()
        worth = self._worth
        totals = {bot: sum(met.values()) for bot, met in self._met.items()}
        for _ in range(SWEEPS):
            moved = 0.0
            for bot, met in self._met.items():
                pull = sum([weight * worth.get(other, 0.0) for other, weight in met.items()])
                new = (self._margins[bot] + pull) / totals[bot]
                moved = max(moved, abs(new - worth.get(bot, 0.0)))
                worth[bot] = new
            if moved < CLOSE:
                break
        bots = len(worth)
        if bots < 2:
            return []
        middle = sum(worth.values()) / bots
        shares = {bot: 0.5 + (value - middle) * bots / (bots - 1) for bot, value in worth.items()}
        return sorted(shares.items(), key=lambda one: (-round(one[1], 9), one[0]))


# Progress on stderr: how far a run is, how fast it goes, how long it will take, and who leads.


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
            self._rounds[record.game] = record.round
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


# The person at the terminal: Ctrl-C, and breakpoint() in bots that play in this process, with progress on stderr.


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
        replaced_streams(sys.stderr) if here else nullcontext(),
    ):
        yield stop, progress


# Plays a run for a person who waits: says who is confined, shows progress, and listens to Ctrl-C.


def play_watched(
    run: RunFolder,
    setup: RunSetup,
    limits: BotLimits,
    workers: int | None,
    quiet: bool,
    cluster: ClusterChoice = HERE,
    softly: bool = False,
) -> tuple[bool, FaultGroups]:
    """Plays what is missing of a run; whether it is complete now, and the faults of its bots. `softly` is for a
    notebook, whose process goes on after Ctrl-C."""
    tell_confinement(setup.entrants, limits.isolate, quiet, run, here=not cluster.address)
    with at_terminal("matches", setup.schedule, quiet, workers, softly) as (stop, progress):
        complete = play_run(
            run,
            setup,
            limits,
            workers,
            stop,
            progress.seen,
            progress.resumed,
            progress.disqualified,
            cluster,
            progress.playing,
        )
    return complete, progress.faults
