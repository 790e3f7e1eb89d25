"""What may be chosen in each phase, in a stable order."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness import Action

if TYPE_CHECKING:
    from engines.el_paso.state import ElPasoState


def answers(state: ElPasoState) -> tuple[Action, ...]:
    """EP-9: stay or leave."""
    return state.game.table.answers


def plays(state: ElPasoState) -> tuple[Action, ...]:
    """EP-12: any card of the hand."""
    play = state.game.table.play
    return tuple([play[site][value] for site, cards in enumerate(state.hands[state.seat]) for value in cards])


def draws(state: ElPasoState) -> tuple[Action, ...]:
    """EP-17: any pile that has cards (one that ran out was replaced by its discard)."""
    return tuple([draw for draw, pile in zip(state.game.table.draw, state.piles, strict=True) if pile])


def tiles(state: ElPasoState) -> tuple[Action, ...]:
    """EP-19: sell the rest, or carry one more tile that comes later in the fixed order."""
    table = state.game.table
    return (table.sell, *[table.carry[tile] for tile in dict.fromkeys(state.choosable)])


CHOICES = {"answer": answers, "play": plays, "draw": draws, "carry": tiles}
"""The choices of each phase."""


def ask_next(state: ElPasoState, phase: str) -> bool:
    """Ask the next seat of the queue for such a choice; False when all have chosen."""
    if not state.queue:
        return False
    state.seat, state.queue = state.queue[0], state.queue[1:]
    state.phase, state.legal = phase, CHOICES[phase](state)
    return True
