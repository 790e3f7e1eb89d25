"""What may be chosen: the legal actions of each phase, in a stable order."""

# mypyc compiles this module: functions of typed values only; structs are in interpreted modules (core/compiled.py).

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from engines.x_pasch.tables import Actions, Roll
from harness import Action

if TYPE_CHECKING:
    from engines.x_pasch.state import XPaschState

STAGES: Final[tuple[str, ...]] = ("found", "place", "move", "draw")
"""The kinds of dice use in their strict order (XP-8)."""
FOUND: Final = 0
PLACE: Final = 1
MOVE: Final = 2
DRAW: Final = 3


def reroll(state: XPaschState) -> Actions:
    """Return one die of any face shown, or none (XP-7)."""
    return state.rules.tables.rolls[state.dice].again


def use_dice(state: XPaschState) -> Actions:
    """Return every use of the dice that is still open (XP-8), and to stop."""
    tables, seat, stage = state.rules.tables, state.seat, state.stage
    more = state.pile and state.hand_sizes[seat] < tables.hand_limit  # XP-15, XP-17
    last = tables.draw_or_stop if more else tables.only_stop
    if stage == DRAW:
        return last
    moves = state.moves
    if moves is None:
        moves = state.moves = _moves(state)
    if stage == MOVE or not state.supply[seat]:  # XP-18
        return moves + last
    roll = tables.rolls[state.dice]
    legal = _foundings(state, roll) if stage == FOUND else []
    place = _placings(state, roll)
    for company in state.table:
        for way in place[company]:
            legal.append(way)
    legal += moves
    legal += last
    return tuple(legal)


def swap(state: XPaschState) -> Actions:
    """Return any card of the hand, or none (XP-16)."""
    tables = state.rules.tables
    legal: list[Action] = []
    last = -1
    for card in state.hands[state.seat]:
        if card != last:  # those of one print lie side by side
            legal.append(tables.swaps[card])
            last = card
    legal.append(tables.keep)
    return tuple(legal)


def over(_state: XPaschState) -> Actions:
    """Return no actions: the game is over."""
    return ()


CHOICES: dict[str, Callable[[XPaschState], Actions]] = {
    "reroll": reroll,
    "dice": use_dice,
    "swap": swap,
    "over": over,
}


def _foundings(state: XPaschState, roll: Roll) -> list[Action]:
    """Return what can be founded of the hand (XP-9, XP-13)."""
    found = roll.found
    legal: list[Action] = []
    last = -1
    for card in state.hands[state.seat]:
        if card != last:
            for way in found[card]:
                legal.append(way)  # noqa: PERF402 - there are few or none: `extend` takes longer
            last = card
    return legal


def _placings(state: XPaschState, roll: Roll) -> tuple[Actions, ...]:
    """Return what can be placed on each company (XP-11, XP-13, XP-18)."""
    few = roll.triple and state.supply[state.seat] <= state.rules.tables.small_supply
    return roll.few if few else roll.place


def _moves(state: XPaschState) -> Actions:
    """Return the moves that XP-14 leaves open. They are kept until a board changes in a way that matters."""
    seat, table, placed, rows = state.seat, state.table, state.placed, state.rules.tables.moves
    # Members cannot move to companies of this turn, and not away if they came from the supply in this turn.
    old = len(table) - state.fresh
    sources: list[tuple[Action | None, ...]] = []
    targets: list[int] = []
    for at, board in enumerate(state.members):
        mine = board[seat]
        if mine:
            company = table[at]
            if at < old:
                targets.append(company)
            if mine > placed[at]:
                sources.append(rows[company])
    legal: list[Action] = []
    for row in sources:
        for target in targets:
            move = row[target]
            if move is not None:
                legal.append(move)
    return tuple(legal)
