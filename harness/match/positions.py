"""The decisions of a recorded match, one by one: what the seat knew, what it could do, what it did."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from harness.core.action import Action
from harness.core.game import Game
from harness.core.notes import DecisionNotes
from harness.core.types import GameRecord
from harness.core.view import View
from harness.match.replay import Replay


@dataclass(frozen=True, slots=True)
class Position:
    """One decision of a match."""

    decision: int
    """Its number in the match, from 0."""
    seat: int
    view: View
    """What the seat knew."""
    legal: tuple[Action, ...]
    chosen: Action
    stand_in: bool = False
    """Whether this was chosen at random, for the bot of the seat had failed."""
    notes: tuple[Any, ...] = ()
    """What the bot noted."""


def positions(game: Game[Any], record: GameRecord, notes: Sequence[DecisionNotes] = ()) -> Iterator[Position]:
    """Every decision of the match in order; raises ReplayError where the record does not fit the rules."""
    replay = Replay(game, record)
    replay.state.log = None
    noted = {note.decision: note.said for note in notes}
    while not replay.over:
        state, decision = replay.state, replay.decision
        if len(state.legal) > 1:
            yield Position(
                decision=decision,
                seat=state.seat,
                view=state.view(state.seat),
                legal=state.legal,
                chosen=replay.next_action(),
                stand_in=record.has_stand_in(state.seat, decision),
                notes=noted.get(decision, ()),
            )
        replay.step()
    replay.check_end()
