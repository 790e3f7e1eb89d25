"""A question to a bot about a recorded match: in whose place, at which decision; and what came of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from harness.core.errors import UnknownName, UsageError
from harness.core.game import Game
from harness.core.notes import DecisionNotes
from harness.core.types import Fault, GameRecord
from harness.match.ask_again import AskedDecision, BotDebugger, FailureNow, ask_again
from harness.match.asked_text import sentences_of
from harness.match.narration import HUMAN, names_at
from harness.match.positions import Position, positions
from harness.match.prospects import Cost, worst_decision
from harness.match.replay import describe_action
from harness.plugins.entrants import Entrant


@dataclass(frozen=True, slots=True)
class Wanted:
    """What somebody wants to know: of one decision, or, where nothing is said, of all."""

    seat: int | str | None = None
    """A seat by its number, or by the bot that sat there."""
    decision: int | None = None
    fault: bool = False
    """The decision at which the bot of the seat failed."""
    worst: bool = False
    """The decision that seems to have cost the seat most (harness.match.prospects)."""

    def check(self) -> None:
        """One decision is asked for in one way."""
        if (self.decision is not None) + self.fault + self.worst > 1:
            raise UsageError("Ask for one decision: by its number, by the fault, or for the worst one.")


@dataclass(frozen=True, slots=True, repr=False)
class Asked:
    """What a bot says to decisions of a match in which it, or another, has played."""

    game: Game[Any]
    record: GameRecord
    bot: str
    seat: int
    target: int | None
    """The decision that was asked for; None is the whole match."""
    decisions: tuple[AskedDecision, ...]
    """The one that was asked for, or all of the seat. If the bot fails, the last one is where."""
    fault: Fault | None = None
    """How the bot of the seat failed in the match, where that was asked for."""
    cost: Cost | None = None
    """What the decision seems to have cost, where the worst was asked for."""

    @property
    def differences(self) -> tuple[AskedDecision, ...]:
        """Where it chooses otherwise now."""
        return tuple(asked for asked in self.decisions if asked.failure is None and asked.differs)

    @property
    def failure(self) -> FailureNow | None:
        """How the bot failed now, if it did."""
        return self.decisions[-1].failure if self.decisions else None

    def story(self, width: int = 100) -> str:
        """All of it in words."""
        return "\n".join(sentences_of(self, width))

    def data(self) -> dict[str, object]:
        """All of it as JSON-ready data: docs/replay.md has the keys."""
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
            "cost": self._cost(),
            "decisions": [self._described(asked) for asked in self.decisions],
        }

    def _cost(self) -> dict[str, object] | None:
        cost = self.cost
        if cost is None:
            return None
        return {"points": cost.points, "error": cost.error, "worlds": cost.worlds, "best": cost.best.code}

    def _described(self, asked: AskedDecision) -> dict[str, object]:
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
            described["text"] = self.game.render(at.view)
        return described

    def __repr__(self) -> str:
        return self.story()


def ask_about(
    game: Game[Any],
    record: GameRecord,
    notes: Sequence[DecisionNotes],
    entrant: Entrant,
    wanted: Wanted,
    debugger: BotDebugger | None = None,
) -> Asked:
    """Finds the place and the decision, and asks the bot."""
    wanted.check()
    if not entrant.plays(game.name):
        raise UsageError(f"{entrant.name} does not play {game.title}.")
    made = list(positions(game, record))
    seat = _seat(record, made, entrant, wanted)
    own = [position for position in made if position.seat == seat]
    target, fault, cost = wanted.decision, None, None
    if wanted.fault:
        fault, target = _fault_of(record, own, seat)
    elif wanted.worst:
        cost = worst_decision(game, record, own)
        target = cost.decision if cost else None
    if not own:
        raise UsageError(f"{names_at(record.seats)[seat]} had nothing to decide in {record.id}.")
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


def _seat(record: GameRecord, made: Sequence[Position], entrant: Entrant, wanted: Wanted) -> int:
    """In whose place the bot is asked: as somebody said, or its own, or whose decision or fault it was."""
    if wanted.decision is not None and not 0 <= wanted.decision < len(made):
        raise UsageError(f"{record.id} has decisions 0 to {len(made) - 1}, not {wanted.decision}.")
    own = _places(record, entrant, wanted.seat)
    if wanted.decision is not None:
        decides = made[wanted.decision].seat
        if not own or decides in own:
            return decides
        near = [position.decision for position in made if position.seat in own]
        raise UsageError(
            f"Decision {wanted.decision} was made by {record.seats[decides]}: ask in its place with --seat {decides}, "
            f"or at one of {record.seats[own[0]]}'s: {_listed(near)}."
        )
    if wanted.fault:
        failed = [fault.seat for fault in record.failures]
        own = [seat for seat in failed if not own or seat in own] or own or failed
        if not own:
            raise UsageError(f"No bot failed in {record.id}.")
    if not own:
        seats = ", ".join(f"{seat} ({name})" for seat, name in enumerate(record.seats))
        raise UsageError(f"{entrant.name} did not play in {record.id}: say in whose place to ask it, --seat {seats}.")
    return own[0]


def _places(record: GameRecord, entrant: Entrant, asked: int | str | None) -> list[int]:
    """Seats that may be meant: those asked for, or those of the bot by its full name, or with other options, or the
    person's."""
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


def _fault_of(record: GameRecord, own: Sequence[Position], seat: int) -> tuple[Fault, int]:
    """How the bot of this seat failed, and the decision that was due."""
    name = names_at(record.seats)[seat]
    fault = next((fault for fault in record.failures if fault.seat == seat), None)
    if fault is None:
        others = sorted({record.seats[other.seat] for other in record.failures})
        who = f" {' and '.join(others)} did." if others else ""
        raise UsageError(f"{name} did not fail in {record.id}.{who}")
    due = next((position.decision for position in own if position.decision >= fault.decision), None)
    if due is None:
        raise UsageError(f"{name} failed in {record.id} after its last decision: there is none to ask about.")
    return fault, due


def _listed(numbers: Sequence[int], most: int = 8) -> str:
    shown = ", ".join(map(str, numbers[:most]))
    return f"{shown} ..." if len(numbers) > most else shown
