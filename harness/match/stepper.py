"""Step through a match from outside: bots play their seats, and the caller answers for the others."""

from __future__ import annotations

import random
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from time import perf_counter
from typing import Any, Self

from harness.core.action import Action, View
from harness.core.bot import DecisionNotes
from harness.core.compiled import new_instance
from harness.core.errors import IllegalAction, UsageError, safe_repr
from harness.core.game import NOBODY, Game
from harness.core.records import Event, GameRecord, MatchSpec
from harness.match.referee import MatchPlay, visible_events
from harness.match.stdio import capturing_output
from harness.plugins.entrants import Entrant

EXTERNAL = "external"
"""Name of a seat without a bot in records."""


class MatchStepper:
    """A match that stops at each decision of a seat without a bot, for the caller to answer.

    `step_match` makes one. With the same answers it gives the same record as a match between bots: both are played by
    the referee. A mistake of the caller raises an error and changes nothing.

    Examples:
        >>> from harness import step_match
        >>> match = step_match("el-paso", ["outlaw", None], seed=7)
        >>> while match.advance():
        ...     match.answer(match.legal[0])
        >>> match.record().scores
        (37, 0)
    """

    def __init__(
        self,
        spec: MatchSpec,
        game: Game[Any],
        entrants: Sequence[Entrant | None],
        audit: Callable[[], None] | None = None,
    ) -> None:
        """`entrants` has None for a seat without a bot. `audit` is called after each answer of a bot, and may raise to
        end the match; without one, Ctrl-C ends it.
        """
        self._entrants, self._audit = tuple(entrants), audit
        self._asked = False
        """Whether `run` has stopped at a seat without a bot, which was not answered yet."""
        self._asked_at = 0.0
        self._closed = ""
        """Why the match cannot continue; empty if it can."""
        self._record: GameRecord | None = None
        self._luck = random.getstate()
        for entrant in self._entrants:
            if entrant is not None and entrant.isolated:
                entrant.warm_up(spec.seats.count(entrant.name), (spec.game, spec.seed))
        self._has_bots = any(entrant is not None for entrant in self._entrants)
        with self._bots_running(spec) as (status, check):
            self._play = MatchPlay(spec, game, entrants, status=status, audit=check, notes=[])

    @property
    def game(self) -> Game[Any]:
        """The game with its options."""
        return self._play.game

    @property
    def spec(self) -> MatchSpec:
        """The match: its id, seed and the name of each seat."""
        return self._play.spec

    @property
    def notes(self) -> Sequence[DecisionNotes]:
        """The bots' notes so far."""
        return self._play.notes or ()

    @property
    def seat(self) -> int:
        """The seat that decides next; `NOBODY` when the match is over."""
        return self._play.state.seat

    @property
    def decision(self) -> int:
        """How many decisions have been made."""
        return len(self._play.actions)

    @property
    def legal(self) -> tuple[Action, ...]:
        """The legal actions of that seat; empty when the match is over."""
        return self._play.state.legal

    @property
    def over(self) -> bool:
        """Whether the match is over."""
        return not self._play.state.legal

    @property
    def ending(self) -> str:
        """Why the match ended; empty before its end."""
        return self._play.state.ending

    @property
    def scores(self) -> tuple[int, ...]:
        """The current score of each seat."""
        return self._play.state.scores()

    def view(self, seat: int | None = None) -> View:
        """Return what a seat knows now, by default the one that decides next."""
        view: View = self._play.state.view(self._checked(seat))
        return view

    def events(self, seat: int | None = None) -> list[Event]:
        """Return what a seat could see since the deal, by default the one that decides next."""
        return visible_events(self._checked(seat), self._play.log or ())

    def news(self) -> list[Event]:
        """Return what the seat that decides next could see since its last decision."""
        seat = self._checked(None)
        return visible_events(seat, (self._play.log or [])[self._play.seats[seat].events_seen :])

    def _checked(self, seat: int | None) -> int:
        if seat is None and self.over:
            raise UsageError("The match is over: no seat decides. Name a seat.")
        players = len(self._play.seats)
        if seat is not None and seat not in range(players):
            raise UsageError(f"The match has seats 0 to {players - 1}, not {seat}.")
        return self.seat if seat is None else seat

    def advance(self) -> bool:
        """Let the bots play until a seat without a bot has to decide; return False if the match is over.

        Choices with a single legal action are made without asking.
        """
        self._check_open()
        if not self._asked and not self.over:
            if self._has_bots:
                with self._bots_running(self.spec) as (self._play.status, self._play.audit):
                    self._asked = self._play.run()
            else:  # ten times faster, and no code of bots runs
                self._asked = self._play.run()
            self._asked_at = perf_counter()
        return self._asked

    def answer(self, action: Action) -> None:
        """Make the decision of the seat at which `advance` stopped. The other seats play in the next `advance`."""
        self._check_open()
        if self.over:
            raise UsageError("The match is over: there is no decision to answer.")
        if not self._asked:
            raise UsageError("No seat waits for an answer: call advance() first.")
        legal = self.legal
        try:  # an object of the caller may raise when it is compared
            index = legal.index(action)
        except Exception:
            listed = ", ".join(map(str, legal))
            raise IllegalAction(f"{safe_repr(action)} is not legal now; legal: {listed}.") from None
        self._asked = False
        self._play.answer(legal[index], perf_counter() - self._asked_at)

    def record(self) -> GameRecord:
        """Return the record of the finished match. The bots get the result the first time it is asked for."""
        if self._record is None:
            self._check_open()
            if not self.over:
                raise UsageError("The match is not over: there is no record yet.")
            with self._bots_running(self.spec) as (self._play.status, self._play.audit):
                self._record = self._play.record()
        return self._record

    def clone(self) -> Self:
        """Return an independent copy: the match, and the bots with what they have learned so far.

        Bots in separate processes cannot be copied.
        """
        self._check_open()
        for entrant in self._entrants:
            if entrant is not None and entrant.isolated:
                raise UsageError(f"{entrant.name} plays in a separate process, which cannot be copied.")
        new: Self = new_instance(type(self))
        new.__dict__.update(self.__dict__)
        try:
            new._play = self._play.copy()
        except Exception as error:  # a bot may hold anything
            raise UsageError(f"A bot of this match cannot be copied: {type(error).__name__}: {error}.") from error
        return new

    def close(self) -> None:
        """End the processes of the bots. The record stays."""
        self._closed = "The match was closed."
        for entrant in self._entrants:
            if entrant is not None:
                entrant.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    def __repr__(self) -> str:
        waits = f"seat {self.seat} decides" if self.seat != NOBODY else "over"
        return f"<{type(self).__name__} {self.spec.id}, decision {self.decision}: {waits}>"

    def _check_open(self) -> None:
        if self._closed:
            raise UsageError(self._closed)

    @contextmanager
    def _bots_running(self, spec: MatchSpec) -> Iterator[tuple[list[float], Callable[[], None]]]:
        """Run code of bots: what they print goes to stderr, and they have the process's random numbers for themselves.

        Otherwise the caller's use of `random` would change the play of bots that use it.
        """
        callers_luck = random.getstate()
        random.setstate(self._luck)
        try:
            with capturing_output(spec) as status, self._interruptible() as audit:
                yield status, audit
        except BaseException:
            # A decision was cut off in the middle, and the bot that made it may have been blamed.
            self._closed = "The match was interrupted and cannot continue."
            raise
        finally:
            self._luck = random.getstate()
            random.setstate(callers_luck)

    def _interruptible(self) -> Any:
        return interruptible() if self._audit is None else nullcontext(self._audit)


@contextmanager
def interruptible() -> Iterator[Callable[[], None]]:
    """Let Ctrl-C end the match, and yield the audit to pass to the referee.

    Without it, the KeyboardInterrupt would be counted as a fault of the bot whose code it interrupts.
    """
    pressed: list[int] = []

    def press(number: int, _frame: object) -> None:
        pressed.append(number)
        raise KeyboardInterrupt

    # The referee calls this after each answer, outside the code of bots, which may have caught the first exception.
    def audit() -> None:
        if pressed:
            raise KeyboardInterrupt

    if threading.current_thread() is not threading.main_thread():  # only the main thread can set signal handlers
        yield audit
        return
    before = signal.signal(signal.SIGINT, press)
    try:
        yield audit
    finally:
        signal.signal(signal.SIGINT, before)
