"""Ask a bot again: put it at the decisions of a recorded match and compare its answers."""

from __future__ import annotations

import random
import traceback
from bdb import BdbQuit
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any, Protocol

from harness.core.action import Action
from harness.core.bot import Bot, DecisionNotes, NoteBuffer
from harness.core.game import Game
from harness.core.records import Event, FaultKind, GameRecord
from harness.core.rng import Chance
from harness.match.faults import BotFault, illegal_answer, kind_of
from harness.match.referee import visible_events
from harness.match.replay import Position, Replay
from harness.plugins.entrants import Entrant


@dataclass(frozen=True, slots=True)
class BotFailure:
    """How the bot failed when it was asked again, with its full traceback."""

    kind: FaultKind
    detail: str


@dataclass(frozen=True, slots=True)
class AskedDecision:
    """A recorded decision, and another bot's answer to it."""

    position: Position
    """The recorded decision: view, legal actions and choice of the seat."""
    news: tuple[Event, ...]
    """Events that the seat could see since its last decision."""
    now: Action | None
    """The choice now; None if the bot fails."""
    notes: tuple[Any, ...] = ()
    """The bot's notes now."""
    failure: BotFailure | None = None
    seconds: float = 0.0

    @property
    def differs(self) -> bool:
        """Whether the choice has changed."""
        return self.now is not self.position.chosen


class BotDebugger(Protocol):
    """Steps through a bot's code; raises BdbQuit when the user quits."""

    def choose(self, bot: Bot, view: Any, legal: tuple[Action, ...]) -> Action:
        """Ask the bot at the decision of interest."""

    def failed(self, error: BaseException) -> None:
        """Called with what the bot has raised."""


_USER_EXCEPTIONS = (KeyboardInterrupt, BdbQuit)
"""Raised by the user, not by the bot."""


def ask_again(
    game: Game[Any],
    record: GameRecord,
    entrant: Entrant,
    seat: int,
    *,
    until: int | None = None,
    notes: Sequence[DecisionNotes] = (),
    debugger: BotDebugger | None = None,
) -> list[AskedDecision]:
    """Ask the bot at every decision of the seat, or up to `until`; after a failure it is not asked again.

    The match continues as recorded, whatever the bot answers. The bot sees all that the recorded one saw and gets the
    same random numbers, under any name, so only its thinking can differ.
    """
    luck = random.getstate()
    # As the referee does. The caller's generator is restored afterwards.
    random.seed(Chance(record.seed).derive("global", record.id))
    noted = {note.decision: note.said for note in notes}
    try:
        return _Requery(Replay(game, record), seat, until, noted, debugger).run(entrant)
    finally:
        random.setstate(luck)


@dataclass(slots=True)
class _Requery:
    replay: Replay
    seat: int
    until: int | None
    recorded_notes: Mapping[int, tuple[Any, ...]]
    debugger: BotDebugger | None
    note_buffer: NoteBuffer = field(default_factory=NoteBuffer)
    failure: BotFailure | None = None
    events_seen: int = 0

    def run(self, entrant: Entrant) -> list[AskedDecision]:
        """Return all decisions at which the bot was asked; if it fails in `start`, the first."""
        replay, asked = self.replay, list[AskedDecision]()
        bot = self._seat_bot(entrant)
        while not replay.over and (self.until is None or replay.decision <= self.until):
            if replay.state.seat == self.seat and len(replay.state.legal) > 1:
                asked.append(self._ask_decision(bot))
                if self.failure is not None:
                    break
            replay.step()
        return asked

    def _seat_bot(self, entrant: Entrant) -> Bot:
        """Return the bot in its seat; it may have failed already."""
        record, bot = self.replay.record, Bot()
        # Seeded by the name of the bot that played, so that a newer version has the same luck.
        seed = Chance(record.seed).derive("bot", record.id, self.seat, record.seats[self.seat])
        try:
            bot = entrant.seat(self.replay.game, self.seat, len(record.seats), seed)
            bot._note_buffer = self.note_buffer
            bot.start()
        except _USER_EXCEPTIONS:
            raise
        except BaseException as error:  # whatever a bot raises is its own fault, SystemExit included
            self._on_failure(error)
        return bot

    def _ask_decision(self, bot: Bot) -> AskedDecision:
        replay = self.replay
        position = replay.position(self.recorded_notes.get(replay.decision, ()))
        legal = position.legal
        seen, self.events_seen = self.events_seen, len(replay.log)
        news = visible_events(self.seat, replay.log[seen:])
        now, began = None, perf_counter()
        # A bot that failed in `start` is not asked: its first decision is still listed, with the failure.
        if self.failure is None:
            try:
                # Same order as in the referee: events first, then the question.
                if type(bot).observe is not Bot.observe:
                    bot.observe(news)
                if self.debugger is not None and position.decision == self.until:
                    answer: object = self.debugger.choose(bot, position.view, legal)
                else:
                    answer = bot.choose(position.view, legal)
            except _USER_EXCEPTIONS:
                raise
            except BaseException as error:
                self._on_failure(error)
            else:
                try:
                    now = legal[legal.index(answer)]
                except BaseException:  # an object may raise when it is compared
                    self.failure = BotFailure("illegal", illegal_answer(answer, legal))
        return AskedDecision(
            position=position,
            news=tuple(visible_events(self.seat, replay.log[seen:])),  # the bot may have changed its own copies
            now=now,
            notes=self.note_buffer.drain(),
            failure=self.failure,
            seconds=perf_counter() - began,
        )

    def _on_failure(self, error: BaseException) -> None:
        self.failure = BotFailure(kind_of(error), _full_traceback(error))
        if self.debugger is not None:
            self.debugger.failed(error)


def _full_traceback(error: BaseException) -> str:
    """Return the bot's part of the traceback, with full paths that an editor can open."""
    if isinstance(error, BotFault):
        return error.detail
    try:
        frames = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename != __file__]
        lines = [*traceback.format_list(frames), *traceback.format_exception_only(error)]
        return "".join(lines).rstrip()
    except BaseException:  # an exception whose text raises
        return type(error).__name__
