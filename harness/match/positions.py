"""The decisions of a recorded match, one by one: what the seat knew, what it could do, what it did."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from harness.core.game import Action, Game, View
from harness.core.types import GameRecord
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


def positions(game: Game[Any], record: GameRecord) -> Iterator[Position]:
    """Every decision of the match in order; raises ReplayError where the record does not fit the rules."""
    replay = Replay(game, record)
    replay.state.log = None
    while not replay.over:
        state = replay.state
        if len(state.legal) > 1:
            yield Position(replay.decision, state.seat, state.view(state.seat), state.legal, replay.next_action())
        replay.step()
    replay.check_end()
