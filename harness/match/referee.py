"""Play one match: ask the bots, check every answer, survive whatever they raise, and make the record.

mypyc compiles this module (`harness/core/compiled.py`). So it must hold no msgspec structs, dataclasses or named
tuples: mypyc silently loses what makes them frozen.
"""

from __future__ import annotations

import random
from collections.abc import Callable, MutableSequence, Sequence
from contextlib import suppress
from copy import deepcopy
from functools import partial
from math import inf
from time import perf_counter, process_time
from typing import Any, Final

from msgspec.structs import replace
from mypy_extensions import mypyc_attr

from harness.core.action import Action
from harness.core.bot import Bot, DecisionNotes, NoteBuffer, without_surrogates
from harness.core.compiled import new_instance
from harness.core.game import Game, State
from harness.core.records import MAX_SEATS, Event, Fault, FaultKind, GameRecord, MatchSpec, ranks_of
from harness.core.rng import Chance
from harness.match.faults import NO_LIMITS, BotFault, Limits, detail_of, illegal_answer, kind_of
from harness.plugins.entrants import Entrant

MATCH: Final = 0
ASKING: Final = 1
DEADLINE: Final = 2
SLOTS: Final = 3
"""Slots of the status that a referee keeps: its match, the bot it is asking (decision * MAX_SEATS + seat), its
deadline. Workers share it with their parent, which kills what hangs and blames the right bot.
"""
MIN_CALL_TIME_S: Final = 1e-3
"""Minimum time for `finish`, even if the bot has used up its time."""
IDLE: Final = -1
"""ASKING when no bot is asked."""


MIN_CPU_SHARE: Final = 0.5
"""Minimum share of processor time in a late answer. With less, something else may have delayed it, and the fault is
doubtful.
"""


class Seat:
    """One seat at the table: its bot, its times, and the random play that replaces a bot once it has failed."""

    __slots__ = (
        "bot", "choose", "decisions", "events_seen", "external", "fallback", "listens", "note_buffer", "slowest",
        "time",
    )  # fmt: skip

    def __init__(
        self,
        bot: Bot | None,
        fallback: Callable[[], random.Random] | random.Random,
        notes: NoteBuffer | None = None,
        external: bool = False,
    ) -> None:
        self.bot = bot
        self.external = external
        """Whether it has no bot from the start: the caller of `MatchPlay` answers for it."""
        self.note_buffer = notes
        """Notes of the bot, read after each of its decisions; they are not part of the match."""
        self.choose: Callable[[Any, Sequence[Action]], Action] | None = bot.choose if bot else None
        self.listens = bot is not None and type(bot).observe is not Bot.observe
        self.decisions = 0
        self.time = self.slowest = 0.0
        self.fallback: Callable[[], random.Random] | random.Random = fallback
        self.events_seen = 0

    def forfeit(self) -> None:
        """Play at random from now on."""
        self.bot = self.choose = None
        self.listens = False

    def copy(self, bot: Bot | None) -> Seat:
        """Return the same seat in a copy of the match, with a copy of its bot."""
        luck = deepcopy(self.fallback) if isinstance(self.fallback, random.Random) else self.fallback
        new = Seat(bot, luck, None if bot is None else bot._note_buffer, self.external)
        new.decisions, new.events_seen = self.decisions, self.events_seen
        new.time, new.slowest = self.time, self.slowest
        return new

    def random_action(self, legal: tuple[Action, ...]) -> Action:
        """Return an action for a bot that has failed: seeded, so that the match can be repeated."""
        # Created on first use: most bots never fail.
        if not isinstance(self.fallback, random.Random):
            self.fallback = self.fallback()
        return stand_in_action(self.fallback, legal)


def stand_in_action(luck: random.Random, legal: tuple[Action, ...]) -> Action:
    """Return the next action for a bot that has failed."""
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
    """Play the match with these entrants, seat by seat, and return its record.

    A seat in `forfeits` is not asked from that decision on: its bot is known to kill or hang the process. `status`
    shows which bot is being asked; `audit` is called after each answer, before that is cleared. Notes of bots are added
    to `notes`, if given. Faults that may have come from outside are also added to `doubts`.
    """
    match = MatchPlay(spec, game, entrants, limits, forfeits, status, audit, notes, doubts)
    match.run()
    return match.record()


@mypyc_attr(allow_interpreted_subclasses=True)  # otherwise `copy` could not make one without arguments
class MatchPlay:
    """One match while it is played. `play` runs it to its end at once; `MatchStepper` stops at seats without a bot."""

    def __init__(
        self,
        spec: MatchSpec,
        game: Game[Any],
        entrants: Sequence[Entrant | None],
        limits: Limits = NO_LIMITS,
        forfeits: Sequence[Fault] = (),
        status: MutableSequence[float] | memoryview[float] | None = None,
        audit: Callable[[], None] | None = None,
        notes: list[DecisionNotes] | None = None,
        doubts: list[Fault] | None = None,
    ) -> None:
        self.doubts = doubts
        self.cpu: dict[int, float] = {}
        self.began, self.cpu_at_start = perf_counter(), process_time()
        self.spec, self.game, self.limits, self.audit, self.notes = spec, game, limits, audit, notes
        self.status: Any = [0.0] * SLOTS if status is None else status
        self.forfeits = {fault.seat: fault for fault in forfeits}
        self.faults: list[Fault] = []
        self.actions: list[int] = []
        luck = Chance(spec.seed)
        # Bots that use the global generator get the same numbers each time the match is played.
        random.seed(luck.derive("global", spec.id))
        # The seed depends on match, seat and name, never on the order of play: any executor gives the same luck.
        names = [None if entrant is None else entrant.name for entrant in entrants]
        seeds = [0 if name is None else luck.derive("bot", spec.id, seat, name) for seat, name in enumerate(names)]
        # Seats before the deal: events are logged only if they are read.
        self.seats = [self._seat_bot(seat, entrants[seat], seed, luck) for seat, seed in enumerate(seeds)]
        self.log: list[Event] | None = [] if any(seat.listens or seat.external for seat in self.seats) else None
        self.state: State[Any] = game.new(len(self.seats), luck, self.log)

    def _seat_bot(self, number: int, entrant: Entrant | None, seed: int, luck: Chance) -> Seat:
        fallback = partial(luck.rng, "spare", self.spec.id, number)
        if entrant is None:
            return Seat(None, fallback, external=True)
        # It killed or hung the process in its constructor, in `start` or at the first decision: run nothing of it.
        if number in self.forfeits and self.forfeits[number].decision == 0:
            self.faults.append(self.forfeits[number])
            return Seat(None, fallback)
        self._mark_asking(number, min(self.limits.move_time or inf, self.limits.game_time or inf))
        note_buffer = None if self.notes is None else NoteBuffer()
        began = perf_counter()
        try:
            bot = entrant.seat(self.game, number, len(self.spec.seats), seed)
            bot._note_buffer = note_buffer
            bot.start()
        except BaseException as error:
            self._blame_error(error, number)
            bot = None
        took = perf_counter() - began
        self._mark_idle()
        # Only the time for the game is checked here. The deadline in the status, by which the parent of a worker
        # kills what hangs, has both limits.
        if bot is not None and self.limits.game_time and took > self.limits.game_time + self.limits.margin:
            self._blame_late(number, took, took)
            bot = None
        seat = Seat(bot, fallback, note_buffer)
        seat.time = took
        return seat

    def _mark_asking(self, number: int, allowed: float) -> None:
        """Note in the status that this bot is asked, for at most `allowed` seconds."""
        self.status[DEADLINE] = perf_counter() + allowed + self.limits.margin
        self.status[ASKING] = len(self.actions) * MAX_SEATS + number

    def _mark_idle(self) -> None:
        if self.audit:
            self.audit()
        self.status[ASKING] = IDLE

    # Blame. A seat fails once: the fault names the decision that was due, and from then on the seat plays at random, so
    # that the game of the others is finished and rated. A fault that may have a cause outside of the bot (its process
    # died, or a late answer took little processor time) is a doubt as well: executors/retry.py plays the match again,
    # and the fault counts only if it happens again.

    def _blame(self, number: int, kind: FaultKind, detail: str, phase: str = "", doubtful: bool = False) -> None:
        # The decision of a fault is the number of decisions made so far.
        self.faults.append(Fault(number, kind, len(self.actions), without_surrogates(detail), phase))
        if doubtful and self.doubts is not None:
            self.doubts.append(self.faults[-1])

    def _blame_error(self, error: BaseException, number: int, phase: str = "") -> None:
        # Only a separate process can fail for outside reasons. A timeout is doubtful only under the fair clock.
        doubtful = isinstance(error, BotFault) and error.doubtful
        doubtful = doubtful and (kind_of(error) != "timeout" or self.limits.clock == "fair")
        self._blame(number, kind_of(error), detail_of(error, __file__), phase, doubtful)

    def run(self) -> bool:  # noqa: C901 - one flat loop: every call saved here is saved at each decision
        """Play until a seat without a bot has to decide, or to the end; return whether such a seat has to decide.

        This loop is the hot path of a tournament.
        """
        state, seats, actions, now = self.state, self.seats, self.actions, perf_counter
        status, forfeits, audit, limits, shift = self.status, self.forfeits, self.audit, self.limits, MAX_SEATS
        limited = bool(limits.move_time or limits.game_time)
        move_time, margin = limits.move_time or inf, limits.margin
        bank = limits.game_time or inf
        status[DEADLINE] = inf
        while True:
            legal = state.legal
            # A single legal action is not a decision: the bot is not asked and the record does not list it.
            if len(legal) < 2:
                if not legal:
                    return False
                state.step(legal[0])
                continue
            number = state.seat
            seat = seats[number]
            choose = seat.choose
            if forfeits and choose is not None and self._is_forfeit(number):
                choose = None
            if choose is None:
                if seat.external:
                    return True
                action = seat.random_action(legal)
            else:
                view = state.view(number)
                began = now()
                # Written only with time limits: without them the deadline stays infinite.
                if limited:
                    status[DEADLINE] = began + margin + min(move_time, bank - seat.time)
                status[ASKING] = len(actions) * shift + number
                try:
                    if seat.listens:
                        self._send_events(number, seat)
                    answer = choose(view, legal)
                    took = now() - began
                except BaseException as error:  # whatever a bot raises is its fault, SystemExit included
                    took = now() - began
                    self._blame_error(error, number, state.phase)
                    action = self._forfeit(number, legal)
                else:
                    try:
                        for action in legal:
                            if action is answer:
                                break
                        else:  # take the object from our list: a bot's object could claim to equal anything, or raise
                            action = legal[legal.index(answer)]
                    except BaseException:
                        self._blame(number, "illegal", illegal_answer(answer, legal), state.phase)
                        action = self._forfeit(number, legal)
                if audit is not None:
                    audit()
                status[ASKING] = IDLE
                seat.time += took
                if took > seat.slowest:
                    seat.slowest = took
                # A bot that failed in this decision is not blamed a second time for being late.
                if limited and seat.choose is not None and (took > move_time + margin or seat.time > bank + margin):
                    self._blame_late(number, took, seat.time, state.phase)
                    action = self._forfeit(number, legal)
                if seat.note_buffer:
                    self._save_notes(number, seat.note_buffer)
            seat.decisions += 1
            actions.append(action.code)
            state.step(action)

    def answer(self, action: Action, took: float) -> None:
        """Make the decision of the seat without a bot at which `run` stopped; the action is legal."""
        seat = self.seats[self.state.seat]
        seat.time += took
        seat.slowest = max(seat.slowest, took)
        if self.log is not None:
            seat.events_seen = len(self.log)
        seat.decisions += 1
        self.actions.append(action.code)
        self.state.step(action)

    def copy(self) -> MatchPlay:
        """Return an independent copy of the match and its bots, which must live in this process."""
        new = new_instance(MatchPlay)
        new.spec, new.game, new.limits, new.audit, new.forfeits = (
            self.spec, self.game, self.limits, self.audit, self.forfeits,
        )  # fmt: skip
        new.began, new.cpu_at_start, new.cpu = self.began, self.cpu_at_start, dict(self.cpu)
        new.status, new.faults, new.actions = list(self.status), list(self.faults), list(self.actions)
        new.notes = None if self.notes is None else list(self.notes)
        new.doubts = None if self.doubts is None else list(self.doubts)
        # All at once: bots of one match may share objects.
        bots = deepcopy([seat.bot for seat in self.seats])
        new.seats = [seat.copy(bot) for seat, bot in zip(self.seats, bots, strict=True)]
        new.log = None if self.log is None else list(self.log)
        new.state = self.state.clone()
        new.state.log = new.log
        return new

    def _is_forfeit(self, number: int) -> bool:
        fault = self.forfeits.get(number)
        if fault is None or len(self.actions) < fault.decision:
            return False
        self._apply_forfeit(fault)
        return True

    def _apply_forfeit(self, fault: Fault) -> None:
        self.faults.append(fault)
        self.seats[fault.seat].forfeit()

    def _send_events(self, number: int, seat: Seat) -> None:
        assert self.log is not None
        assert seat.bot is not None
        news = visible_events(number, self.log[seat.events_seen :])
        seat.events_seen = len(self.log)
        seat.bot.observe(news)

    def _save_notes(self, number: int, note_buffer: NoteBuffer) -> None:
        assert self.notes is not None
        with suppress(Exception):  # a bot can reach and break its note buffer, which must not stop the match
            self.notes.append(DecisionNotes(len(self.actions), number, note_buffer.drain()))

    def _blame_late(self, number: int, took: float, in_all: float, phase: str = "") -> None:
        """Blame a late answer; it is doubtful if little of the time was processor time.

        The clock of the process is not read at every decision. So all time of the match before this answer is taken as
        processor time, which errs on the side of the bot.
        """
        limits = self.limits
        if phase and limits.move_time and took > limits.move_time:
            detail = f"took {took:.3f} s for one decision; {limits.move_time:g} s are allowed"
        else:
            detail = f"took {in_all:.3f} s for the match so far; {limits.game_time:g} s are allowed"
        used = process_time() - self.cpu_at_start - (perf_counter() - self.began - took)
        self._blame(number, "timeout", detail, phase, limits.clock == "fair" and used < MIN_CPU_SHARE * took)

    def _forfeit(self, number: int, legal: tuple[Action, ...]) -> Action:
        self._record_cpu(number)
        self.seats[number].forfeit()
        return self.seats[number].random_action(legal)

    def record(self) -> GameRecord:
        """Return the record of the finished match, after sending the result to the bots."""
        spec, state, seats = self.spec, self.state, self.seats
        # A forfeit that was not reached belongs to `finish`: all decisions are over.
        for fault in self.forfeits.values():
            if seats[fault.seat].bot is not None:  # the fault happened in its `finish`
                self._apply_forfeit(fault)
        scores = state.scores()
        record = GameRecord(
            spec.id, spec.index, spec.set, spec.game, self.game.version, spec.options, spec.seed, spec.seats,
            scores, ranks_with_faults(scores, self.faults), state.ending, tuple(self.actions),
            tuple([seat.decisions for seat in seats]),
            tuple([round(seat.time, 6) for seat in seats]), tuple([round(seat.slowest, 6) for seat in seats]),
            tuple(self.faults), round=spec.round, table=spec.table,
        )  # fmt: skip
        # without what names the deal: it is played again in the set's other seatings
        result = replace(record, id="", index=0, set="", seed=0, round=0, table=0)
        for number, seat in enumerate(seats):
            if seat.bot is not None and type(seat.bot).finish is not Bot.finish:
                self._finish(number, seat, result)
        time = tuple([round(seat.time, 6) for seat in seats])
        # A bot that failed in `finish` is ranked last as well.
        if len(self.faults) > len(record.faults):
            ranks = ranks_with_faults(scores, self.faults)
            record = replace(record, ranks=ranks, faults=tuple(self.faults))
        if self.cpu:
            record = replace(record, cpu=tuple([round(self.cpu.get(seat, 0.0), 6) for seat in range(len(seats))]))
        return record if time == record.time else replace(record, time=time)

    def _record_cpu(self, number: int) -> None:
        used = getattr(self.seats[number].bot, "_processor_time", None)
        if isinstance(used, float):
            self.cpu[number] = max(used, 0.0)  # the sum shrinks when a process dies

    def _finish(self, number: int, seat: Seat, result: GameRecord) -> None:
        assert seat.bot is not None
        limits = self.limits
        left = limits.game_time - seat.time if limits.game_time else inf
        self._mark_asking(number, min(limits.move_time or inf, max(left, MIN_CALL_TIME_S)))
        began, fine = perf_counter(), True
        with suppress(BaseException):  # the result stands whatever a bot does with it
            try:
                seat.bot.finish(result)
            except BotFault as fault:  # its process hung or died
                fine = False
                self._blame_error(fault, number)
        took = perf_counter() - began
        self._mark_idle()
        seat.time += took
        self._record_cpu(number)
        if fine and took > left + limits.margin:
            self._blame_late(number, took, seat.time)


def visible_events(seat: int, events: Sequence[Event]) -> list[Event]:
    """Return copies of the events that this seat could see, so that no bot can change them for another."""
    return [deepcopy(event) for event in events if event.to is None or seat in event.to]


def ranks_with_faults(scores: Sequence[int], faults: Sequence[Fault]) -> tuple[int, ...]:
    """Return ranks by score; seats that failed share the last place."""
    failed = {fault.seat for fault in faults}
    if not failed:
        return ranks_of(scores)
    lowest = min(scores) - 1
    return ranks_of([lowest if seat in failed else score for seat, score in enumerate(scores)])
