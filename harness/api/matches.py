"""Play single matches from Python, and ask bots about decisions of recorded ones."""

from __future__ import annotations

import signal
import sys
import threading
import warnings
from bdb import BdbQuit
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, redirect_stdout
from html import escape
from typing import Any

from harness.core.action import View
from harness.core.bot import DecisionNotes
from harness.core.errors import UsageError
from harness.core.game import Game
from harness.core.options import BotLimits
from harness.core.records import Fault, GameRecord, Isolation, MatchSpec, Value
from harness.core.table import Table, columns
from harness.executors.base import Job, Roster, isolated
from harness.executors.retry import play_with_retry
from harness.match.ask import Asked, BotDebugger, DecisionQuery, ask_about
from harness.match.faults import Limits
from harness.match.replay import Position, narrate_match, positions, stream
from harness.match.stdio import printing_to_stderr
from harness.output.progress import Debugger
from harness.output.tables import grid_text
from harness.output.text import warn_about_isolation
from harness.plugins.registry import Registry
from harness.runs.request import SAFE_BITS, BotLike, RunRequest, draw_seed
from harness.runs.setup import installed

# Asking a bot about a match that was played: the door that scripts and the command line share.


def ask_bot(
    bot: BotLike,
    game: Game[Any],
    record: GameRecord,
    notes: Sequence[DecisionNotes],
    registry: Registry,
    wanted: DecisionQuery,
    *,
    isolate: Isolation = "auto",
    move_time: float = 0.0,
    debugger: BotDebugger | None = None,
) -> Asked:
    """Asks a bot, wherever it runs, and ends what it has started."""
    asked = registry.entrant(bot)
    warn_about_isolation({asked.name: asked}, isolate)
    roster = isolated(Roster({game.name: game}, {asked.name: asked}), BotLimits(move_time, isolate=isolate))
    [entrant] = roster.entrants.values()
    if debugger is not None and entrant.isolated:
        raise UsageError(
            f"{entrant.name} runs in a separate process, where no debugger can follow it.",
            fix="isolate-off" if asked.untrusted and not asked.isolated else "",
        )
    entrant.warm_up()
    try:
        with nullcontext() if debugger else redirect_stdout(sys.stderr):  # what bots print is not our output
            return ask_about(game, record, notes, entrant, wanted, debugger)
    finally:
        roster.close()


# One match: play it, read it, step through it.


class Match:
    """A match that was played: its result, and everything that happened in it."""

    def __init__(self, game: Game[Any], record: GameRecord, notes: Sequence[DecisionNotes] = ()) -> None:
        self.game, self.record = game, record
        self.notes = tuple(notes)
        """What bots noted: `decision`, `seat` and what was `said`."""

    @property
    def id(self) -> str:
        """Its name in its run."""
        return self.record.id

    @property
    def bots(self) -> tuple[str, ...]:
        """Who sat where."""
        return self.record.seats

    @property
    def scores(self) -> tuple[int, ...]:
        """The score of each seat."""
        return self.record.scores

    @property
    def ranks(self) -> tuple[int, ...]:
        """The rank of each seat: 1 is best, equals share one, who failed is last."""
        return self.record.ranks

    @property
    def faults(self) -> tuple[Fault, ...]:
        """What bots did wrong: seat, kind, decision and what they said."""
        return self.record.faults

    def story(self, seat: int | None = None) -> str:
        """The match in words; with a seat also its table at each of its decisions."""
        self._check_seat(seat)
        return "\n".join(narrate_match(self.game, self.record, seat, self.notes))

    def replay(self, seat: int | None = None) -> Iterator[dict[str, object]]:
        """Everything that happened, as data: docs/replay.md has the schema; with a seat also its view at each of its
        decisions."""
        self._check_seat(seat)
        return stream(self.game, self.record, self.notes, seat)

    def positions(self, seat: int | None = None) -> list[Position]:
        """The decisions of the match, or of one seat: view, legal actions, and what was chosen."""
        self._check_seat(seat)
        return [one for one in positions(self.game, self.record, self.notes) if seat in (None, one.seat)]

    def ask(
        self,
        bot: BotLike,
        *,
        decision: int | None = None,
        fault: bool = False,
        worst: bool = False,
        seat: int | str | None = None,
        isolate: Isolation = "auto",
    ) -> Asked:
        """What a bot, this one or another, does now: at one decision, at the one where the bot of the seat failed, at
        the one that seems to have cost most, or at every decision of the seat.

        Examples:
            >>> asked = play_match("el-paso", ["skittish", "diehard"], seed=7).ask("skittish:stars=4")
            >>> first = asked.differences[0]
            >>> first.position.decision, str(first.position.chosen), str(first.now)
            (4, 'leave', 'stay')
        """
        wanted = DecisionQuery(seat, decision, fault, worst)
        registry = installed_here(isolate)
        return ask_bot(bot, self.game, self.record, self.notes, registry, wanted, isolate=isolate)

    def _check_seat(self, seat: int | None) -> None:
        if seat is not None and seat not in range(len(self.bots)):
            raise UsageError(f"{self.id} has seats 0 to {len(self.bots) - 1}, not {seat}.")

    def view(self, decision: int) -> View:
        """What the seat knew that made this decision."""
        for one in positions(self.game, self.record):
            if one.decision == decision:
                return one.view
        raise UsageError(f"{self.id} has decisions 0 to {len(self.record.actions) - 1}, not {decision}.")

    def _table(self, table_format: str) -> str:
        failed = {fault.seat: fault.kind for fault in self.faults}
        order = sorted(range(len(self.bots)), key=lambda seat: (self.ranks[seat], seat))
        head = columns("text", "rank", "bot", "score", *(["fault"] if failed else []))
        rows = [
            [self.ranks[seat], self.bots[seat], self.scores[seat], failed.get(seat, "")][: len(head)] for seat in order
        ]
        return grid_text(Table(self.id, head, rows), table_format)

    def __repr__(self) -> str:
        return f"{self.game.title}, {self.id}\n\n{self._table('simple')}"

    def _repr_html_(self) -> str:
        return f"<h4>{escape(self.game.title)}, {escape(self.id)}</h4>{self._table('html')}"


def installed_here(isolate: Isolation = "auto", strict: bool = False) -> Registry:
    """What is installed, with a warning for each broken plugin."""
    registry = installed(isolate, strict)
    for problem in registry.problems:
        warnings.warn(problem, stacklevel=3)
    return registry


def play_match(
    game: str,
    bots: Sequence[BotLike],
    *,
    seed: int | None = None,
    options: Mapping[str, Value] | None = None,
    move_time: float = 0.0,
    isolate: Isolation = "auto",
) -> Match:
    """Plays one match in this process and gives back all of it.

    `bots` sit down in this order: names, classes, or functions `(view, actions) -> action`. The same seed and bots give
    the same match; without a seed one is drawn.

    Examples:
        >>> match = play_match("el-paso", ["outlaw", "diehard"], seed=7)
        >>> match.bots, match.scores
        (('outlaw', 'diehard'), (37, 26))
        >>> match.positions()[0].view.phase
        'play'
    """
    bots = tuple(bots.items()) if isinstance(bots, Mapping) else bots
    if isinstance(bots, str) or not isinstance(bots, Sequence):
        raise UsageError(f"The bots of a match are a list, one for each seat, not {bots!r}.")
    asked = RunRequest(
        games=(game,), bots=tuple(bots), options=dict(options or {}), seed=seed, move_time=move_time, isolate=isolate
    )
    registry = installed_here(isolate)
    rules = registry.game(game).configure(asked.options)
    if not rules.min_players <= len(bots) <= rules.max_players:
        raise UsageError(f"{rules.title} is for {rules.min_players} to {rules.max_players} players, not {len(bots)}.")
    entrants = registry.entrants(bots)
    if len(entrants) > len(bots):
        raise UsageError("One of the files has several bots; say which one is meant: path/to/bot.py::NAME.")
    by_name = {entrant.name: entrant for entrant in entrants}
    for entrant in entrants:
        if not entrant.plays(game):
            raise UsageError(f"{entrant.name} does not play {rules.title}.")
        if by_name[entrant.name].bot is not entrant.bot:
            raise UsageError(f"Two different bots are called {entrant.name}: give one of them another name.")
    warn_about_isolation(by_name, isolate)
    roster = isolated(Roster({game: rules}, by_name), BotLimits(move_time, memory=0, isolate=isolate))
    names = [entrant.name for entrant in entrants]
    spec = MatchSpec.single(
        f"{game}-1.1.1", game, rules.settings, draw_seed(SAFE_BITS) if seed is None else seed, names
    )
    notes: list[DecisionNotes] = []
    try:
        with Debugger() as debugger, printing_to_stderr(spec) as status, _interruptible() as audit:
            record = play_with_retry(Job(spec), roster, Limits(move_time), status, audit, notes)
    finally:
        roster.close()
    if debugger.quit:
        raise BdbQuit
    return Match(rules, record, notes)


@contextmanager
def _interruptible() -> Iterator[Callable[[], None]]:
    """Lets Ctrl-C end the match: without it the referee would take it for a fault of the bot that was thinking."""
    pressed: list[int] = []

    def press(number: int, _frame: object) -> None:
        pressed.append(number)
        raise KeyboardInterrupt

    def audit() -> None:
        if pressed:
            raise KeyboardInterrupt

    if threading.current_thread() is not threading.main_thread():
        yield audit
        return
    before = signal.signal(signal.SIGINT, press)
    try:
        yield audit
    finally:
        signal.signal(signal.SIGINT, before)
