"""What may be chosen: the legal actions of each phase, in a stable order."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from engines.x_pasch.dice import Dice
from engines.x_pasch.tables import Actions

if TYPE_CHECKING:
    from engines.x_pasch.state import XPaschState

STAGES = ("found", "place", "move", "draw")
"""The kinds of dice use in their strict order (XP-8)."""
FOUND, PLACE, MOVE, DRAW = range(4)

Servings = dict[Dice, Actions]


def reroll(state: XPaschState) -> Actions:
    """One die of any face shown, or none (XP-7)."""
    tables = state.game.tables
    return (*[tables.rerolls[face] for face in dict.fromkeys(state.dice)], tables.keep)


def use_dice(state: XPaschState) -> Actions:
    """Every use of the dice that is still open (XP-8), and to stop."""
    tables, seat, stage = state.game.tables, state.seat, state.stage
    more = state.pile and state.hand_sizes[seat] < tables.hand_limit  # XP-15, XP-17
    legal = tables.draw_or_stop if more else tables.only_stop
    if stage < DRAW:
        legal = (_moves(state) if state.moves is None else state.moves) + legal
        if stage < MOVE and state.supply[seat]:  # XP-18
            legal = _placings(state) + legal
            if stage == FOUND:
                found = tables.rolls[state.dice].found
                legal = tuple([way for card in dict.fromkeys(state.hands[seat]) for way in found[card]]) + legal
    return legal


def swap(state: XPaschState) -> Actions:
    """Any card of the hand, or none (XP-16)."""
    tables = state.game.tables
    return (*[tables.swaps[card] for card in dict.fromkeys(state.hands[state.seat])], tables.keep)


def over(_state: XPaschState) -> Actions:
    """Nothing any more."""
    return ()


CHOICES: dict[str, Callable[[XPaschState], Actions]] = {
    "reroll": reroll,
    "dice": use_dice,
    "swap": swap,
    "over": over,
}


def _placings(state: XPaschState) -> Actions:
    tables = state.game.tables
    roll = tables.rolls[state.dice]
    if roll.triple and state.supply[state.seat] <= tables.small_supply:
        return tuple([action for company in state.table for action in roll.few[company]])
    legal = state.servings.get(state.dice)
    if legal is None:
        place = roll.place
        legal = state.servings[state.dice] = tuple([action for company in state.table for action in place[company]])
    return legal


def _moves(state: XPaschState) -> Actions:
    """Works out the moves that XP-14 leaves open, and keeps them until a board changes in a way that matters."""
    seat, table, rows = state.seat, state.table, state.game.tables.moves
    old = len(table) - state.fresh
    mine = [board[seat] for board in state.members]
    targets = [company for company, count in zip(table[:old], mine, strict=False) if count]
    sources = [company for company, count, new in zip(table, mine, state.placed, strict=True) if count > new]
    state.moves = tuple(
        [move for source in sources for row in (rows[source],) for target in targets if (move := row[target])]
    )
    return state.moves
