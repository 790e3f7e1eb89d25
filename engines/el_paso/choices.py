"""What may be chosen in each phase, in a stable order."""

# mypyc compiles this module: functions of typed values only; structs are in interpreted modules (core/compiled.py).

from __future__ import annotations

from typing import TYPE_CHECKING

from harness import Action

if TYPE_CHECKING:
    from engines.el_paso.state import ElPasoState


def answers(state: ElPasoState) -> tuple[Action, ...]:
    """EP-9: stay or leave."""
    return state.rules.table.answers


def plays(state: ElPasoState) -> tuple[Action, ...]:
    """EP-12: any card of the hand."""
    play, hand = state.rules.table.play, state.hands[state.seat]
    return tuple([play[site][value] for site in range(len(hand)) for value in hand[site]])


def draws(state: ElPasoState) -> tuple[Action, ...]:
    """EP-17: any pile that has cards (one that ran out was replaced by its discard)."""
    piles = state.piles
    for pile in piles:
        if not pile:
            break
    else:
        return state.rules.table.draw
    return tuple([draw for site, draw in enumerate(state.rules.table.draw) if piles[site]])


def tiles(state: ElPasoState) -> tuple[Action, ...]:
    """EP-19: sell the rest, or carry one more tile that comes later in the fixed order."""
    carry, legal = state.rules.table.carry, [state.rules.table.sell]
    for site, value in state.choosable:
        action = carry[site][value]
        if action is not legal[-1]:  # equal tiles lie side by side, and are one choice
            legal.append(action)
    return tuple(legal)


def choices(state: ElPasoState, phase: str) -> tuple[Action, ...]:
    """Return what the seat on turn may choose in such a phase."""
    if phase == "play":
        return plays(state)
    if phase == "draw":
        return draws(state)
    if phase == "answer":
        return answers(state)
    return tiles(state)


def ask_next(state: ElPasoState, phase: str) -> bool:
    """Ask the next seat of the queue for such a choice; False when all have chosen."""
    if not state.queue:
        return False
    state.seat, state.queue = state.queue[0], state.queue[1:]
    state.phase, state.legal = phase, choices(state, phase)
    return True
