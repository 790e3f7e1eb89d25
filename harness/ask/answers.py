"""Ask a bot about a recorded match: which decision is meant, its answers, and these in words."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import nullcontext, redirect_stdout
from dataclasses import dataclass
from typing import Any

import msgspec

from harness.ask.cost import DecisionCost, worst_decision
from harness.ask.decisions import AskedDecision, BotDebugger, BotFailure, ask_again
from harness.core.bot import DecisionNotes
from harness.core.errors import UnknownName, UsageError, printable
from harness.core.game import Game
from harness.core.options import BotLimits
from harness.core.records import Fault, GameRecord
from harness.executors.base import Roster, isolated
from harness.match.replay import (
    HUMAN,
    Position,
    describe_action,
    note_text,
    positions,
    seat_names,
    sentences,
    wrapped_lines,
)
from harness.output.text import warn_about_isolation
from harness.plugins.entrants import Entrant
from harness.plugins.registry import Registry
from harness.runs.request import BotLike

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
            raise UsageError("Select a decision in one way only: by its number, by the fault, or the worst one.")


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


def ask_bot(
    bot: BotLike,
    game: Game[Any],
    record: GameRecord,
    notes: Sequence[DecisionNotes],
    registry: Registry,
    limits: BotLimits,
    debugger: BotDebugger | None = None,
    *,
    decision: int | None = None,
    fault: bool = False,
    worst: bool = False,
    seat: int | str | None = None,
) -> Asked:
    """Return a bot's answers at decisions of a recorded match, and end the processes that were started for it.

    Raise UsageError if there is a `debugger` and the bot runs in a separate process.
    """
    asked = registry.entrant(bot)
    warn_about_isolation({asked.name: asked}, limits.isolate)
    roster = isolated(Roster({game.name: game}, {asked.name: asked}), limits)
    [entrant] = roster.entrants.values()
    if debugger is not None and entrant.isolated:
        raise UsageError(
            f"{entrant.name} runs in a separate process, where no debugger can follow it.",
            fix="isolate-off" if asked.untrusted and not asked.isolated else "",
        )
    entrant.warm_up()
    try:
        with nullcontext() if debugger else redirect_stdout(sys.stderr):  # stdout is for results
            return ask_about(game, record, notes, entrant, DecisionQuery(seat, decision, fault, worst), debugger)
    finally:
        roster.close()


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
