"""Plays one match: asks the bots, checks every answer, survives whatever they raise, and writes the record."""

from __future__ import annotations

import random
import re
import traceback
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from time import perf_counter
from typing import Any

from msgspec import Struct

from harness.bot import Bot
from harness.chance import Chance
from harness.entrants import Entrant
from harness.game import Action, Game, State
from harness.types import Event, Fault, FaultKind, GameRecord, MatchSpec, ranks_of

TRACEBACK_LINES = 12
DETAIL_LENGTH = 2000


class Limits(Struct, frozen=True):
    """What a bot may use; 0 is no limit. Wall-clock seconds."""

    move_time: float = 0.0
    """Seconds for one decision."""


NO_LIMITS = Limits()


class Seat:
    """One bot at the table: asks it, times it, and plays at random for it once it has failed."""

    __slots__ = ("bot", "choose", "decisions", "listens", "seen", "slowest", "spare", "time")

    def __init__(self, bot: Bot | None, spare: Callable[[], random.Random]) -> None:
        self.bot = bot
        self.choose: Callable[[Any, Sequence[Action]], Action] | None = bot.choose if bot else None
        self.listens = bot is not None and type(bot).observe is not Bot.observe
        self.decisions = 0
        self.time = self.slowest = 0.0
        self.spare: Callable[[], random.Random] | random.Random = spare
        self.seen = 0

    def forfeit(self) -> None:
        """From now on this seat plays at random."""
        self.bot = self.choose = None
        self.listens = False

    def random_action(self, legal: tuple[Action, ...]) -> Action:
        """What a seat plays whose bot has failed: seeded, so that the match can be repeated."""
        if not isinstance(self.spare, random.Random):
            self.spare = self.spare()
        return legal[int(self.spare.random() * len(legal))]


def play(spec: MatchSpec, game: Game[Any], entrants: Sequence[Entrant], limits: Limits = NO_LIMITS) -> GameRecord:
    """Plays the match with these entrants, seat by seat, to its end."""
    match = _Match(spec, game, entrants, limits)
    match.run()
    return match.record()


class _Match:
    def __init__(self, spec: MatchSpec, game: Game[Any], entrants: Sequence[Entrant], limits: Limits) -> None:
        self.spec, self.game, self.limits = spec, game, limits
        self.faults: list[Fault] = []
        self.actions: list[int] = []
        luck = Chance(spec.seed)
        # Bots that use the global generator get the same numbers each time the match is played.
        random.seed(luck.derive("global", spec.id))
        self.seats = [self._sit(seat, entrant, luck) for seat, entrant in enumerate(entrants)]
        self.log: list[Event] | None = [] if any(seat.listens for seat in self.seats) else None
        self.state: State[Any] = game.new(len(self.seats), luck, self.log)

    def _sit(self, number: int, entrant: Entrant, luck: Chance) -> Seat:
        where = (self.spec.id, number)
        try:
            bot = entrant.seat(self.game, number, len(self.spec.seats), luck.derive("bot", *where, entrant.name))
            bot.start()
        except BaseException as error:
            self._blame(number, _kind_of(error), _trimmed(error))
            return Seat(None, lambda: luck.rng("spare", *where))
        return Seat(bot, lambda: luck.rng("spare", *where))

    def _blame(self, number: int, kind: FaultKind, detail: str) -> None:
        self.faults.append(Fault(number, kind, len(self.actions), detail))

    def run(self) -> None:
        """Every decision of the match: this loop is the hot path of a tournament."""
        state, seats, actions, now = self.state, self.seats, self.actions, perf_counter
        move_time = self.limits.move_time or float("inf")
        while True:
            legal = state.legal
            if len(legal) < 2:
                if not legal:
                    return
                state.step(legal[0])
                continue
            number = state.seat
            seat = seats[number]
            seat.decisions += 1
            choose = seat.choose
            if choose is None:
                action = seat.random_action(legal)
            else:
                view = state.view(number)
                if seat.listens:
                    self._tell(number, seat)
                began = now()
                try:
                    answer = choose(view, legal)
                    took = now() - began
                except BaseException as error:  # whatever a bot raises is its own fault, SystemExit included
                    took = now() - began
                    action = self._failed(number, legal, error)
                else:
                    try:  # the object from our own list: a bot's object could say it equals anything, or raise
                        action = legal[legal.index(answer)]
                    except BaseException:
                        action = self._illegal(number, legal, answer)
                seat.time += took
                if took > seat.slowest:
                    seat.slowest = took
                    if took > move_time and seat.choose is not None:
                        action = self._late(number, legal, took)
            actions.append(action.code)
            state.step(action)

    def _tell(self, number: int, seat: Seat) -> None:
        assert self.log is not None
        assert seat.bot is not None
        news = [event for event in self.log[seat.seen :] if event.to is None or number in event.to]
        seat.seen = len(self.log)
        try:
            seat.bot.observe(news)
        except BaseException as error:
            self._blame(number, _kind_of(error), _trimmed(error))
            seat.forfeit()

    def _failed(self, number: int, legal: tuple[Action, ...], error: BaseException) -> Action:
        self._blame(number, _kind_of(error), _trimmed(error))
        return self._forfeit(number, legal)

    def _illegal(self, number: int, legal: tuple[Action, ...], answer: object) -> Action:
        offered = ", ".join(map(str, legal))
        self._blame(number, "illegal", f"answered {_short(answer)}, which is not one of: {offered}"[:DETAIL_LENGTH])
        return self._forfeit(number, legal)

    def _late(self, number: int, legal: tuple[Action, ...], took: float) -> Action:
        self._blame(number, "timeout", f"took {took:.3f} s for one decision; {self.limits.move_time:g} s are allowed")
        return self._forfeit(number, legal)

    def _forfeit(self, number: int, legal: tuple[Action, ...]) -> Action:
        self.seats[number].forfeit()
        return self.seats[number].random_action(legal)

    def record(self) -> GameRecord:
        """The record of the finished match; tells the bots too."""
        spec, state, seats = self.spec, self.state, self.seats
        scores = state.scores()
        record = GameRecord(
            spec.id, spec.index, spec.set, spec.game, self.game.version, spec.options, spec.seed, spec.seats,
            scores, ranks_with_faults(scores, self.faults), state.ending, tuple(self.actions),
            tuple([seat.decisions for seat in seats]),
            tuple([round(seat.time, 6) for seat in seats]), tuple([round(seat.slowest, 6) for seat in seats]),
            tuple(self.faults),
        )  # fmt: skip
        for seat in seats:
            if seat.bot is not None and type(seat.bot).finish is not Bot.finish:
                _let_finish(seat.bot, record)
        return record


def ranks_with_faults(scores: Sequence[int], faults: Sequence[Fault]) -> tuple[int, ...]:
    """Ranks from the scores; seats that failed share the last place behind all others."""
    failed = {fault.seat for fault in faults}
    if not failed:
        return ranks_of(scores)
    lowest = min(scores) - 1
    return ranks_of([lowest if seat in failed else score for seat, score in enumerate(scores)])


def _let_finish(bot: Bot, record: GameRecord) -> None:
    """The result stands whatever a bot does with it."""
    with suppress(BaseException):
        bot.finish(record)


def _kind_of(error: BaseException) -> FaultKind:
    return "memory" if isinstance(error, MemoryError) else "exception"


def _short(answer: object) -> str:
    try:
        text = repr(answer)
    except BaseException:
        text = f"an object of type {type(answer).__name__}"
    return _without_addresses(text if len(text) <= 200 else text[:200] + "...")


def _without_addresses(text: str) -> str:
    """Memory addresses differ from run to run; records must not."""
    return re.sub(r"0x[0-9a-fA-F]{6,}", "0x...", text)


def _trimmed(error: BaseException) -> str:
    """The bot's part of the traceback, paths shortened so that records are the same on every machine."""
    try:
        frames = [f for f in traceback.extract_tb(error.__traceback__) if f.filename != __file__]
        lines = [f"{Path(f.filename).name}:{f.lineno} in {f.name}: {f.line or ''}" for f in frames[-TRACEBACK_LINES:]]
        lines.append(f"{type(error).__name__}: {error}")
        return _without_addresses("\n".join(lines))[-DETAIL_LENGTH:]
    except BaseException:  # an exception whose text raises
        return type(error).__name__
