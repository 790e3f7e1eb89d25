"""Plays one match: asks the bots, checks every answer, survives whatever they raise, and writes the record."""

from __future__ import annotations

import random
from collections.abc import Callable, MutableSequence, Sequence
from contextlib import suppress
from copy import deepcopy
from math import inf
from time import perf_counter, process_time
from typing import Any, Final

from msgspec.structs import replace

from harness.core.action import Action
from harness.core.bot import Bot
from harness.core.chance import Chance
from harness.core.game import Game, State
from harness.core.notes import DecisionNotes, Notebook
from harness.core.types import Event, Fault, FaultKind, GameRecord, MatchSpec, ranks_of
from harness.match.faults import BotFault, detail_of, illegal_answer, kind_of, whole_characters
from harness.match.time_limits import NO_LIMITS, Limits
from harness.plugins.entrants import Entrant

MATCH: Final = 0
ASKING: Final = 1
DEADLINE: Final = 2
SLOTS: Final = 3
"""Slots of the status that a referee keeps: its match, whom it is asking (decision * SEATS + seat), until when."""
SEATS: Final = 64
TICK: Final = 1e-3
"""Seconds that a bot has at least for what must be told it."""
IDLE: Final = -1
"""ASKING when no bot is being asked."""


LITTLE: Final = 0.5
"""Share of the time of a late answer that was processor time: with less, something else held it up."""


class Seat:
    """One bot at the table: asks it, times it, and plays at random for it once it has failed."""

    __slots__ = ("bot", "choose", "decisions", "listens", "noted", "seen", "slowest", "spare", "time")

    def __init__(self, bot: Bot | None, spare: Callable[[], random.Random], noted: Notebook | None = None) -> None:
        self.bot = bot
        self.noted = noted
        """What the bot notes is found here after each of its decisions; it is no part of the match."""
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
        return stand_in_action(self.spare, legal)


def stand_in_action(luck: random.Random, legal: tuple[Action, ...]) -> Action:
    """What is played next for a bot that has failed."""
    return legal[int(luck.random() * len(legal))]


def play(
    spec: MatchSpec,
    game: Game[Any],
    entrants: Sequence[Entrant],
    limits: Limits = NO_LIMITS,
    forfeits: Sequence[Fault] = (),
    status: MutableSequence[float] | memoryview[float] | None = None,
    audit: Callable[[], None] | None = None,
    notes: list[DecisionNotes] | None = None,
    doubts: list[Fault] | None = None,
) -> GameRecord:
    """Plays the match with these entrants, seat by seat, to its end.

    A seat of `forfeits` is not asked from that decision on: its bot is known to kill or hang the process. Whom the
    referee is asking is noted in `status`; `audit` is called after each answer, before the note is taken away. What
    bots note about their decisions is added to `notes`, if somebody keeps them. Faults that may have come from outside
    are added to `doubts`, too.
    """
    match = _Match(spec, game, entrants, limits, forfeits, status, audit, notes, doubts)
    match.run()
    return match.record()


class _Match:
    def __init__(
        self,
        spec: MatchSpec,
        game: Game[Any],
        entrants: Sequence[Entrant],
        limits: Limits,
        forfeits: Sequence[Fault],
        status: MutableSequence[float] | memoryview[float] | None,
        audit: Callable[[], None] | None,
        notes: list[DecisionNotes] | None,
        doubts: list[Fault] | None,
    ) -> None:
        self.doubts = doubts
        self.cpu: dict[int, float] = {}
        self.began, self.used = perf_counter(), process_time()
        self.spec, self.game, self.limits, self.audit, self.notes = spec, game, limits, audit, notes
        self.status: Any = [0.0] * SLOTS if status is None else status
        self.forfeits = {fault.seat: fault for fault in forfeits}
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

        def spare() -> random.Random:
            return luck.rng("spare", *where)

        if number in self.forfeits and self.forfeits[number].decision == 0:
            self.faults.append(self.forfeits[number])
            return Seat(None, spare)
        self._ask(number, min(self.limits.move_time or inf, self.limits.game_time or inf))
        noted = None if self.notes is None else Notebook()
        began = perf_counter()
        try:
            bot = entrant.seat(self.game, number, len(self.spec.seats), luck.derive("bot", *where, entrant.name))
            bot._notebook = noted
            bot.start()
        except BaseException as error:
            self._blame_for(error, number)
            bot = None
        took = perf_counter() - began
        self._asked()
        if bot is not None and self.limits.game_time and took > self.limits.game_time + self.limits.margin:
            self._blame_late(number, took, took)
            bot = None
        seat = Seat(bot, spare, noted)
        seat.time = took
        return seat

    def _ask(self, number: int, allowed: float) -> None:
        """Notes that this bot has the word, for at most so many seconds."""
        self.status[DEADLINE] = perf_counter() + allowed + self.limits.margin
        self.status[ASKING] = len(self.actions) * SEATS + number

    def _asked(self) -> None:
        if self.audit:
            self.audit()
        self.status[ASKING] = IDLE

    def _blame(self, number: int, kind: FaultKind, detail: str, phase: str = "", doubtful: bool = False) -> None:
        self.faults.append(Fault(number, kind, len(self.actions), whole_characters(detail), phase))
        if doubtful and self.doubts is not None:
            self.doubts.append(self.faults[-1])

    def _blame_for(self, error: BaseException, number: int, phase: str = "") -> None:
        doubtful = isinstance(error, BotFault) and error.doubtful
        doubtful = doubtful and (kind_of(error) != "timeout" or self.limits.clock == "fair")
        self._blame(number, kind_of(error), detail_of(error, __file__), phase, doubtful)

    def run(self) -> None:  # noqa: C901 - one flat loop: every call saved here is saved at each decision
        """Every decision of the match: this loop is the hot path of a tournament."""
        state, seats, actions, now = self.state, self.seats, self.actions, perf_counter
        status, forfeits, audit, limits, shift = self.status, self.forfeits, self.audit, self.limits, SEATS
        limited = bool(limits.move_time or limits.game_time)
        move_time, margin = limits.move_time or inf, limits.margin
        bank = limits.game_time or inf
        status[DEADLINE] = inf
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
            if forfeits and choose is not None and self._is_forfeit(number):
                choose = None
            if choose is None:
                action = seat.random_action(legal)
            else:
                view = state.view(number)
                began = now()
                if limited:
                    status[DEADLINE] = began + margin + min(move_time, bank - seat.time)
                status[ASKING] = len(actions) * shift + number
                try:
                    if seat.listens:
                        self._tell(number, seat)
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
                if audit is not None:
                    audit()
                status[ASKING] = IDLE
                seat.time += took
                if took > seat.slowest:
                    seat.slowest = took
                if limited and seat.choose is not None and (took > move_time + margin or seat.time > bank + margin):
                    action = self._late(number, legal, took)
                if seat.noted:
                    self._keep(number, seat.noted)
            actions.append(action.code)
            state.step(action)

    def _is_forfeit(self, number: int) -> bool:
        fault = self.forfeits.get(number)
        if fault is None or len(self.actions) < fault.decision:
            return False
        self._forfeit_by(fault)
        return True

    def _forfeit_by(self, fault: Fault) -> None:
        self.faults.append(fault)
        self.seats[fault.seat].forfeit()

    def _tell(self, number: int, seat: Seat) -> None:
        assert self.log is not None
        assert seat.bot is not None
        news = news_for(number, self.log[seat.seen :])
        seat.seen = len(self.log)
        seat.bot.observe(news)

    def _keep(self, number: int, noted: Notebook) -> None:
        assert self.notes is not None
        with suppress(Exception):  # a bot can reach its notebook: what it does to it must not stop the match
            self.notes.append(DecisionNotes(len(self.actions), number, noted.take()))

    def _failed(self, number: int, legal: tuple[Action, ...], error: BaseException) -> Action:
        self._blame_for(error, number, self.state.phase)
        return self._forfeit(number, legal)

    def _illegal(self, number: int, legal: tuple[Action, ...], answer: object) -> Action:
        self._blame(number, "illegal", illegal_answer(answer, legal), self.state.phase)
        return self._forfeit(number, legal)

    def _late(self, number: int, legal: tuple[Action, ...], took: float) -> Action:
        self._blame_late(number, took, self.seats[number].time, self.state.phase)
        return self._forfeit(number, legal)

    def _blame_late(self, number: int, took: float, in_all: float, phase: str = "") -> None:
        """It is doubtful if little of the time was processor time: what the match has used before is taken for all that
        it has lasted, since nobody looks at that clock at every decision."""
        limits = self.limits
        if phase and limits.move_time and took > limits.move_time:
            detail = f"took {took:.3f} s for one decision; {limits.move_time:g} s are allowed"
        else:
            detail = f"took {in_all:.3f} s for the match so far; {limits.game_time:g} s are allowed"
        used = process_time() - self.used - (perf_counter() - self.began - took)
        self._blame(number, "timeout", detail, phase, limits.clock == "fair" and used < LITTLE * took)

    def _forfeit(self, number: int, legal: tuple[Action, ...]) -> Action:
        self._take_processor_time(number)
        self.seats[number].forfeit()
        return self.seats[number].random_action(legal)

    def record(self) -> GameRecord:
        """The record of the finished match; tells the bots too."""
        spec, state, seats = self.spec, self.state, self.seats
        for fault in self.forfeits.values():
            if seats[fault.seat].bot is not None:  # it was its `finish` that did not return
                self._forfeit_by(fault)
        scores = state.scores()
        record = GameRecord(
            spec.id, spec.index, spec.set, spec.game, self.game.version, spec.options, spec.seed, spec.seats,
            scores, ranks_with_faults(scores, self.faults), state.ending, tuple(self.actions),
            tuple([seat.decisions for seat in seats]),
            tuple([round(seat.time, 6) for seat in seats]), tuple([round(seat.slowest, 6) for seat in seats]),
            tuple(self.faults),
        )  # fmt: skip
        told = replace(record, id="", index=0, set="", seed=0)  # the deal comes up again, in the set's other seatings
        for number, seat in enumerate(seats):
            if seat.bot is not None and type(seat.bot).finish is not Bot.finish:
                self._finish(number, seat, told)
        time = tuple([round(seat.time, 6) for seat in seats])
        if len(self.faults) > len(record.faults):
            ranks = ranks_with_faults(scores, self.faults)
            record = replace(record, ranks=ranks, faults=tuple(self.faults))
        if self.cpu:
            record = replace(record, cpu=tuple([round(self.cpu.get(seat, 0.0), 6) for seat in range(len(seats))]))
        return record if time == record.time else replace(record, time=time)

    def _take_processor_time(self, number: int) -> None:
        used = getattr(self.seats[number].bot, "_processor_time", None)
        if isinstance(used, float):
            self.cpu[number] = max(used, 0.0)  # a process that died takes its time out of the sum

    def _finish(self, number: int, seat: Seat, told: GameRecord) -> None:
        assert seat.bot is not None
        limits = self.limits
        left = limits.game_time - seat.time if limits.game_time else inf
        self._ask(number, min(limits.move_time or inf, max(left, TICK)))
        began, fine = perf_counter(), True
        with suppress(BaseException):  # the result stands whatever a bot does with it
            try:
                seat.bot.finish(told)
            except BotFault as fault:  # its own process hung or died over it
                fine = False
                self._blame_for(fault, number)
        took = perf_counter() - began
        self._asked()
        seat.time += took
        self._take_processor_time(number)
        if fine and took > left + limits.margin:
            self._blame_late(number, took, seat.time)


def news_for(seat: int, events: Sequence[Event]) -> list[Event]:
    """Those of the events that this seat could see, as copies: what one bot does to them must not reach another."""
    return [deepcopy(event) for event in events if event.to is None or seat in event.to]


def ranks_with_faults(scores: Sequence[int], faults: Sequence[Fault]) -> tuple[int, ...]:
    """Ranks from the scores; seats that failed share the last place behind all others."""
    failed = {fault.seat for fault in faults}
    if not failed:
        return ranks_of(scores)
    lowest = min(scores) - 1
    return ranks_of([lowest if seat in failed else score for seat, score in enumerate(scores)])
