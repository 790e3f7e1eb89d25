"""Ask a bot again: put it at a decision of a recorded match and compare its answer."""

from __future__ import annotations

import random
import traceback
from bdb import BdbQuit
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import sqrt
from random import Random
from time import perf_counter
from typing import Any, Protocol

import msgspec

from harness.core.action import Action
from harness.core.bot import Bot, DecisionNotes, NoteBuffer
from harness.core.errors import UnknownName, UsageError, printable
from harness.core.game import Game, State
from harness.core.records import Event, Fault, FaultKind, GameRecord
from harness.core.rng import Chance
from harness.match.faults import BotFault, illegal_answer, kind_of
from harness.match.referee import visible_events
from harness.match.replay import (
    HUMAN,
    Position,
    Replay,
    describe_action,
    note_text,
    positions,
    seat_names,
    sentences,
    wrapped_lines,
)
from harness.plugins.entrants import Entrant

# Asking a bot at the decisions of a recorded match


@dataclass(frozen=True, slots=True)
class BotFailure:
    """How the bot failed when it was asked again, with its full traceback."""

    kind: FaultKind
    detail: str


@dataclass(frozen=True, slots=True)
class AskedDecision:
    """A recorded decision, and another bot's answer to it."""

    position: Position
    """The recorded decision: what the seat knew, could do, and did."""
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


# Result in words


def describe(asked: Asked, width: int) -> Iterator[str]:
    """Yield lines: the match and its seats, then the decision, or all decisions that changed."""
    record, seat = asked.record, asked.seat
    yield f"{printable(record.id)}: {asked.game.title}, deal {record.seed}"
    here = "asked again" if record.seats[seat] == asked.bot else f"{asked.bot} is asked in its place"
    for at, name in enumerate(record.seats):
        yield f"  seat {at}: {printable(name)}" + (f"  <- {here}" if at == seat else "")
    yield ""
    if asked.target is None:
        yield from _describe_match(asked, width)
    else:
        yield from _describe_decision(asked, width)


def _describe_decision(asked: Asked, width: int) -> Iterator[str]:
    [one] = asked.decisions
    record, at = asked.record, one.position
    names = seat_names(record.seats)
    if at.decision != asked.target:
        yield f"Decision {asked.target} is not reached: {asked.bot} fails before, at this one."
    yield f"Decision {at.decision} of {len(record.actions)} ({at.view.phase}), as {names[asked.seat]} saw it"
    for sentence in sentences(asked.game, one.news, names, asked.seat):
        yield from wrapped_lines("  - ", sentence, width)
    yield ""
    yield asked.game.render(at.view, names)
    yield ""
    if asked.fault is not None:
        yield from wrapped_lines("fault  ", f"{asked.fault.kind} at decision {asked.fault.decision}", width)
        yield from (f"       {line}" for line in asked.fault.detail.splitlines())
    yield from wrapped_lines("then   ", _recorded_choice(one), width)
    yield from _note_lines("       note: ", at.notes, width)
    if one.failure is None:
        yield from wrapped_lines("now    ", str(one.now), width)
    else:
        yield from _failure_lines("now    ", one.failure, width)
    yield from _note_lines("       note: ", one.notes, width)
    yield from wrapped_lines("of     ", ", ".join(map(str, at.legal)), width)
    if asked.cost is not None:
        cost = asked.cost
        yield from wrapped_lines(
            "cost   ",
            f"about {cost.points:.3g} ± {cost.error:.2g} points against {cost.best}, by random play from "
            f"{cost.worlds} imagined worlds",
            width,
        )
    if one.failure is None:
        yield ""
        same = "Its choice has changed." if one.differs else "It chooses the same."
        yield "It answers now, where a stand-in had to." if at.stand_in else same


def _recorded_choice(one: AskedDecision) -> str:
    return f"{one.position.chosen}{' (by the stand-in of a bot that had failed)' if one.position.stand_in else ''}"


def _failure_lines(first: str, failure: BotFailure, width: int) -> Iterator[str]:
    yield f"{first}fails: {failure.kind}"
    indent = " " * len(first)
    if failure.kind == "exception":  # a traceback, whose lines must not be wrapped
        yield from (f"{indent}{line}" for line in failure.detail.splitlines())
    else:
        yield from wrapped_lines(indent, failure.detail, width)


def _describe_match(asked: Asked, width: int) -> Iterator[str]:
    name, shown = seat_names(asked.record.seats)[asked.seat], asked.differences
    for one in asked.decisions:
        first = f"{one.position.decision:4}  "
        if one.failure is not None:
            yield from wrapped_lines(first, f"then {_recorded_choice(one)}", width)
            yield from _failure_lines("      now ", one.failure, width)
        elif one.differs:
            yield from wrapped_lines(first, f"then {_recorded_choice(one)}, now {one.now}", width)
        else:
            continue
        yield from _note_lines("      note then: ", one.position.notes, width)
        yield from _note_lines("      note now: ", one.notes, width)
    if shown or asked.failure:
        yield ""
    same = sum(1 for one in asked.decisions if not one.differs)
    total = f"{len(asked.decisions)} decision{'s' * (len(asked.decisions) != 1)}"
    whose = "" if name == asked.bot else f" of {name}"
    said = f"{asked.bot} was asked at {total}{whose}: {same} the same, {len(shown)} changed."
    if asked.failure is not None:
        said += f" It fails at decision {asked.decisions[-1].position.decision}, and is not asked again."
    stand_ins = sum(1 for one in shown if one.position.stand_in)
    if stand_ins:
        said += f" Of these, {stand_ins} had been chosen by the stand-in of a bot that had failed."
    yield from wrapped_lines("", said, width)


def _note_lines(first: str, notes: Iterable[object], width: int) -> Iterator[str]:
    for said in notes:
        yield from wrapped_lines(first, note_text(said), width)


# Cost of a decision, by random play from imagined worlds
#
# A rough measure: it knows nothing of good play after the decision. But all actions of a decision are tried in the same
# worlds with the same luck, so it finds blunders.


FIRST_PASS_WORLDS = 8
SECOND_PASS_WORLDS = 64
"""Imagined worlds for each action: at every decision, and at the worst ones of the first pass."""
SECOND_PASS_DECISIONS = 8
MAX_ROLLOUT_STEPS = 2_000
"""An imagined game is cut off after this, and its scores count as they are."""


@dataclass(frozen=True, slots=True)
class DecisionCost:
    """Estimated cost of a decision against the best action."""

    decision: int
    best: Action
    """The action with the best expected result."""
    points: float
    """Difference in points ahead of the average of the others."""
    error: float
    """Standard error of `points`."""
    worlds: int
    """Number of imagined worlds for each action."""

    @property
    def lower_bound(self) -> float:
        """Cost minus its standard error; decisions are ordered by it."""
        return self.points - self.error


def worst_decision(game: Game[Any], record: GameRecord, choices: Sequence[Position]) -> DecisionCost | None:
    """Return the decision with the highest cost; None if there are none. Deterministic."""
    first = [rollout_cost(game, record, choice, FIRST_PASS_WORLDS) for choice in choices]
    first.sort(key=lambda cost: (-cost.lower_bound, cost.decision))
    again = {cost.decision for cost in first[:SECOND_PASS_DECISIONS]}
    # Estimates of the first pass are noisy, and the worst of many is biased: measure the candidates again.
    second = [rollout_cost(game, record, choice, SECOND_PASS_WORLDS) for choice in choices if choice.decision in again]
    return min(second, key=lambda cost: (-cost.lower_bound, cost.decision), default=None)


def rollout_cost(game: Game[Any], record: GameRecord, choice: Position, worlds: int) -> DecisionCost:
    """Estimate the cost of this decision."""
    rng = Chance(record.seed).rng("prospects", record.id, choice.decision)
    outcomes: dict[Action, list[float]] = {action: [] for action in choice.legal}
    for _ in range(worlds):
        # Common random numbers: every action gets the same world and the same luck, which cancels most noise.
        world, luck = game.imagine(choice.view, rng), rng.random()
        for action, rewards in outcomes.items():
            state = world.clone()
            state.step(action)
            rewards.append(_random_rollout(state, choice.seat, Random(luck)))
    best = max(outcomes, key=lambda action: sum(outcomes[action]))
    gaps = [ours - chosen for ours, chosen in zip(outcomes[best], outcomes[choice.chosen], strict=True)]
    mean = sum(gaps) / worlds
    spread = sum((gap - mean) ** 2 for gap in gaps) / max(1, worlds - 1)
    return DecisionCost(choice.decision, best, mean, sqrt(spread / worlds), worlds)


def _random_rollout(state: State[Any], seat: int, rng: Random) -> float:
    """Play at random to the end; return how far the seat is ahead of the average of the others."""
    step = state.step
    for _ in range(MAX_ROLLOUT_STEPS):
        legal = state.legal
        if not legal:
            break
        step(legal[int(rng.random() * len(legal))])
    scores = state.scores()
    return scores[seat] - (sum(scores) - scores[seat]) / max(1, len(scores) - 1)


# Query and result


MAX_NUMBERS_SHOWN = 8


@dataclass(frozen=True, slots=True)
class DecisionQuery:
    """Which decision to ask about; all of the seat by default."""

    seat: int | str | None = None
    """A seat by number, or by the name of its bot."""
    decision: int | None = None
    fault: bool = False
    """Ask about the decision at which the bot failed."""
    worst: bool = False
    """Ask about the decision with the highest estimated cost."""

    def check(self) -> None:
        """Raise UsageError if the decision is given in more than one way."""
        if (self.decision is not None) + self.fault + self.worst > 1:
            raise UsageError("Ask for one decision: by its number, by the fault, or for the worst one.")


@dataclass(frozen=True, slots=True, repr=False)
class Asked:
    """A bot's answers at decisions of a match that it, or another bot, has played."""

    game: Game[Any]
    record: GameRecord
    bot: str
    seat: int
    target: int | None
    """The requested decision; None for the whole match."""
    decisions: tuple[AskedDecision, ...]
    """The requested one, or all of the seat. If the bot fails, the last one is where."""
    fault: Fault | None = None
    """The recorded fault of the seat, if the query asked for it."""
    cost: DecisionCost | None = None
    """The estimated cost, if the query asked for the worst decision."""

    @property
    def differences(self) -> tuple[AskedDecision, ...]:
        """Decisions that changed."""
        return tuple(asked for asked in self.decisions if asked.failure is None and asked.differs)

    @property
    def failure(self) -> BotFailure | None:
        """How the bot failed now, if it did."""
        return self.decisions[-1].failure if self.decisions else None

    def story(self, width: int = 100) -> str:
        """Return everything in words."""
        return "\n".join(describe(self, width))

    def data(self) -> dict[str, object]:
        """Return everything as JSON-ready data: docs/replay.md has the keys."""
        costs, cost = None, self.cost
        if cost is not None:
            costs = {"points": cost.points, "error": cost.error, "worlds": cost.worlds, "best": cost.best.code}
        return {
            "match": self.record.id,
            "game": self.record.game,
            "bot": self.bot,
            "seat": self.seat,
            "played": self.record.seats[self.seat],
            "target": self.target,
            "asked": len(self.decisions),
            "differ": len(self.differences),
            "fault": msgspec.to_builtins(self.fault),
            "cost": costs,
            "decisions": [self._decision_data(asked) for asked in self.decisions],
        }

    def _decision_data(self, asked: AskedDecision) -> dict[str, object]:
        at, failure = asked.position, asked.failure
        described: dict[str, object] = {
            "decision": at.decision,
            "kind": at.view.phase,
            "legal": [describe_action(action) for action in at.legal],
            "then": at.chosen.code,
            "by": "stand-in" if at.stand_in else "bot",
            "now": asked.now.code if asked.now else None,
            "differs": asked.differs,
            "notes_then": list(at.notes),
            "notes": list(asked.notes),
            "failure": {"kind": failure.kind, "detail": failure.detail} if failure else None,
            "seconds": round(asked.seconds, 6),
        }
        if self.target is not None:
            described["view"] = msgspec.json.decode(self.game.view_to_json(at.view))
            described["text"] = self.game.render(at.view, seat_names(self.record.seats))
        return described

    def __repr__(self) -> str:
        return self.story()


def ask_about(
    game: Game[Any],
    record: GameRecord,
    notes: Sequence[DecisionNotes],
    entrant: Entrant,
    query: DecisionQuery,
    debugger: BotDebugger | None = None,
) -> Asked:
    """Find the seat and the decision, and ask the bot."""
    query.check()
    if not entrant.plays(game.name):
        raise UsageError(entrant.refusal(game))
    made = list(positions(game, record))
    seat = _find_seat(record, made, entrant, query)
    own = [position for position in made if position.seat == seat]
    target, fault, cost = query.decision, None, None
    if query.fault:
        fault, target = _find_fault(record, own, seat)
    elif query.worst:
        cost = worst_decision(game, record, own)
        target = cost.decision if cost else None
    if not own:
        raise UsageError(f"{seat_names(record.seats)[seat]} had nothing to decide in {record.id}.")
    asked = ask_again(game, record, entrant, seat, until=target, notes=notes, debugger=debugger)
    return Asked(
        game=game,
        record=record,
        bot=entrant.name,
        seat=seat,
        target=target,
        decisions=tuple(asked if target is None else asked[-1:]),
        fault=fault,
        cost=cost,
    )


def _find_seat(record: GameRecord, made: Sequence[Position], entrant: Entrant, query: DecisionQuery) -> int:
    """Return the seat: as given, or the bot's own, or that of the decision or fault."""
    if query.decision is not None and not 0 <= query.decision < len(made):
        raise UsageError(f"{record.id} has decisions 0 to {len(made) - 1}, not {query.decision}.")
    own = _candidate_seats(record, entrant, query.seat)
    if query.decision is not None:
        decides = made[query.decision].seat
        if not own or decides in own:
            return decides
        near = [position.decision for position in made if position.seat in own]
        raise UsageError(
            f"Decision {query.decision} was made by {record.seats[decides]}. {record.seats[own[0]]} made: "
            f"{', '.join(map(str, near[:MAX_NUMBERS_SHOWN]))}{' ...' * (len(near) > MAX_NUMBERS_SHOWN)}.",
            fix="ask-in-place",
            seat=decides,
        )
    if query.fault:
        failed = [fault.seat for fault in record.failures]
        # Of several seats of the bot, prefer one that failed.
        own = [seat for seat in failed if not own or seat in own] or own or failed
        if not own:
            raise UsageError(f"No bot failed in {record.id}.")
    if not own:
        seats = ", ".join(f"{seat} ({name})" for seat, name in enumerate(record.seats))
        raise UsageError(f"{entrant.name} did not play in {record.id}, which has the seats {seats}.", fix="ask-seat")
    return own[0]


def _candidate_seats(record: GameRecord, entrant: Entrant, asked: int | str | None) -> list[int]:
    """Return seats that match: as given, or those of the bot by full name, by name with other options, or the
    person's.
    """
    seats = record.seats
    if asked is not None and str(asked).isdecimal():
        if int(asked) >= len(seats):
            raise UsageError(f"{record.id} has seats 0 to {len(seats) - 1}, not {asked}.")
        return [int(asked)]
    if asked is not None and asked not in seats:
        raise UnknownName(f"seat of {record.id}", str(asked), {*seats, *map(str, range(len(seats)))})
    meant = [
        [seat for seat, name in enumerate(seats) if name == (asked or entrant.name)],
        [seat for seat, name in enumerate(seats) if name.partition(":")[0] == entrant.bot.name],
        [seat for seat, name in enumerate(seats) if name == HUMAN],
    ]
    return next(filter(None, meant), [])


def _find_fault(record: GameRecord, own: Sequence[Position], seat: int) -> tuple[Fault, int]:
    """Return the fault of this seat and the decision that was due."""
    name = seat_names(record.seats)[seat]
    fault = next((fault for fault in record.failures if fault.seat == seat), None)
    if fault is None:
        others = sorted({record.seats[other.seat] for other in record.failures})
        who = f" {' and '.join(others)} did." if others else ""
        raise UsageError(f"{name} did not fail in {record.id}.{who}")
    # A bot may fail between two of its decisions, in `observe` for example: the next one of its seat is meant.
    due = next((position.decision for position in own if position.decision >= fault.decision), None)
    if due is None:
        raise UsageError(f"{name} failed in {record.id} after its last decision: there is none to ask about.")
    return fault, due
