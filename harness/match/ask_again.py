"""Puts a bot in the place of one that has played: at each decision of a recorded match, as if it had sat there."""

from __future__ import annotations

import random
import traceback
from bdb import BdbQuit
from collections.abc import Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any, Protocol

from harness.core.action import Action
from harness.core.bot import Bot
from harness.core.chance import Chance
from harness.core.game import Game
from harness.core.notes import DecisionNotes, Notebook
from harness.core.types import Event, FaultKind, GameRecord
from harness.match.faults import BotFault, illegal_answer, kind_of
from harness.match.positions import Position
from harness.match.referee import news_for
from harness.match.replay import Replay
from harness.plugins.entrants import Entrant


@dataclass(frozen=True, slots=True)
class FailureNow:
    """The bot that was asked has failed: how, and what to say of it, with the whole of its traceback."""

    kind: FaultKind
    detail: str


@dataclass(frozen=True, slots=True)
class AskedDecision:
    """A decision that was made, and what another bot says to it."""

    position: Position
    """The decision as it was made: what the seat knew, what it could do, what it did."""
    news: tuple[Event, ...]
    """What the seat could see since its last decision."""
    now: Action | None
    """What is chosen now; None if the bot fails."""
    notes: tuple[Any, ...] = ()
    """What the bot notes now."""
    failure: FailureNow | None = None
    seconds: float = 0.0

    @property
    def differs(self) -> bool:
        """Whether it chooses otherwise now."""
        return self.now is not self.position.chosen


class BotDebugger(Protocol):
    """Lets somebody watch a bot think; raises BdbQuit if they have seen enough."""

    def choose(self, bot: Bot, view: Any, legal: tuple[Action, ...]) -> Action:
        """Asks the bot at the decision that is looked at."""

    def failed(self, error: BaseException) -> None:
        """The bot has raised this."""


_NOT_OF_THE_BOT = (KeyboardInterrupt, BdbQuit)
"""Raised by the person who asks, not by the bot."""


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
    """Asks the bot at every decision of the seat, or up to that decision; where it fails it is asked no more.

    The match goes on as it is recorded, whatever the bot says. The bot is told all that the one before it was told, and
    gets the luck of that one, under whatever name: what differs then is its thinking.
    """
    luck = random.getstate()
    random.seed(Chance(record.seed).derive("global", record.id))
    try:
        return _Asking(game, record, seat, until, notes, debugger).run(entrant)
    finally:
        random.setstate(luck)


class _Asking:
    def __init__(
        self,
        game: Game[Any],
        record: GameRecord,
        seat: int,
        until: int | None,
        notes: Sequence[DecisionNotes],
        debugger: BotDebugger | None,
    ) -> None:
        self.replay, self.seat, self.until, self.debugger = Replay(game, record), seat, until, debugger
        self.noted_then = {note.decision: note.said for note in notes}
        self.notebook = Notebook()
        self.failure: FailureNow | None = None
        self.seen = 0

    def run(self, entrant: Entrant) -> list[AskedDecision]:
        """All decisions that the bot was asked at; if it fails in `start`, the first."""
        replay, asked = self.replay, list[AskedDecision]()
        bot = self._sit(entrant)
        while not replay.over and (self.until is None or replay.decision <= self.until):
            if replay.state.seat == self.seat and len(replay.state.legal) > 1:
                asked.append(self._ask(bot))
                if self.failure is not None:
                    break
            replay.step()
        return asked

    def _sit(self, entrant: Entrant) -> Bot:
        """The bot in its seat; it may have failed already."""
        record, bot = self.replay.record, Bot()
        # By the name of the bot that played, so that a newer version of it has the same luck.
        seed = Chance(record.seed).derive("bot", record.id, self.seat, record.seats[self.seat])
        try:
            bot = entrant.seat(self.replay.game, self.seat, len(record.seats), seed)
            bot._notebook = self.notebook
            bot.start()
        except _NOT_OF_THE_BOT:
            raise
        except BaseException as error:  # whatever a bot raises is its own fault, SystemExit included
            self._failed(error)
        return bot

    def _ask(self, bot: Bot) -> AskedDecision:
        replay, record = self.replay, self.replay.record
        state, decision = replay.state, replay.decision
        legal, view = state.legal, state.view(self.seat)
        news = news_for(self.seat, replay.log[self.seen :])
        self.seen = len(replay.log)
        now, began = None, perf_counter()
        if self.failure is None:
            try:
                if type(bot).observe is not Bot.observe:
                    bot.observe(news)
                if self.debugger is not None and decision == self.until:
                    answer: object = self.debugger.choose(bot, view, legal)
                else:
                    answer = bot.choose(view, legal)
            except _NOT_OF_THE_BOT:
                raise
            except BaseException as error:
                self._failed(error)
            else:
                now = self._checked(answer, legal)
        return AskedDecision(
            position=Position(
                decision=decision,
                seat=self.seat,
                view=view,
                legal=legal,
                chosen=replay.next_action(),
                stand_in=record.has_stand_in(self.seat, decision),
                notes=self.noted_then.get(decision, ()),
            ),
            news=tuple(news_for(self.seat, news)),
            now=now,
            notes=self.notebook.take(),
            failure=self.failure,
            seconds=perf_counter() - began,
        )

    def _checked(self, answer: object, legal: tuple[Action, ...]) -> Action | None:
        try:
            return legal[legal.index(answer)]
        except BaseException:  # an object may raise when it is compared
            self.failure = FailureNow("illegal", illegal_answer(answer, legal))
            return None

    def _failed(self, error: BaseException) -> None:
        self.failure = FailureNow(kind_of(error), _whole_traceback(error))
        if self.debugger is not None:
            self.debugger.failed(error)


def _whole_traceback(error: BaseException) -> str:
    """All of the bot's part of the traceback, with paths that an editor can open."""
    if isinstance(error, BotFault):
        return error.detail
    try:
        frames = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename != __file__]
        lines = [*traceback.format_list(frames), *traceback.format_exception_only(error)]
        return "".join(lines).rstrip()
    except BaseException:  # an exception whose text raises
        return type(error).__name__
