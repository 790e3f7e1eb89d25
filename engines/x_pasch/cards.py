"""Hands and the pile: the deal, drawing, and putting a card under the pile."""

# mypyc compiles this module: functions of typed values only; structs are in interpreted modules (core/compiled.py).

from __future__ import annotations

from typing import TYPE_CHECKING

from engines.x_pasch.actions import Swap
from engines.x_pasch.boards import replaced
from harness import Action, Event

if TYPE_CHECKING:
    from engines.x_pasch.state import XPaschState


def deal(state: XPaschState) -> None:
    """Shuffle, and deal to each seat in turn from the top (XP-4)."""
    tables = state.rules.tables
    deck = state.chance.shuffled(tables.deck, "deck")
    size = tables.hand_at_start
    state.hands = tuple(tuple(sorted(deck[seat * size : (seat + 1) * size])) for seat in range(state.players))
    state.hand_sizes = (size,) * state.players
    state.pile = tuple(deck[state.players * size :])
    state.under = ()
    state.sunk = ((),) * state.players
    if state.log is not None:
        state.log.append(Event("deal", {"players": state.players, "hand": size, "pile": len(state.pile)}))
        state.log.append(Event("deck", {"cards": list(deck)}, ()))
        for seat, hand in enumerate(state.hands):
            state.log.append(Event("hand", {"seat": seat, "cards": list(hand)}, (seat,)))


def discard(state: XPaschState, card: int) -> None:
    """Take a card out of the hand of the player on turn."""
    hand = list(state.hands[state.seat])
    hand.remove(card)
    _set_hand(state, tuple(hand))


def take_top(state: XPaschState) -> int:
    """Take the top card of the pile into the hand of the player on turn; returns the card."""
    card = _top(state)
    hand = list(state.hands[state.seat])
    hand.append(card)
    hand.sort()
    _set_hand(state, tuple(hand))
    return card


def swap(state: XPaschState, action: Action) -> None:
    """Put a card under the pile and take the top one, or keep the hand (XP-16)."""
    seat = state.seat
    if type(action) is not Swap:
        if state.log is not None:
            state.log.append(Event("keep", {"seat": seat, "what": "hand"}))
        return
    card = action.card
    state.pile += (card,)
    state.under += (seat,)
    state.sunk = replaced(state.sunk, seat, state.sunk[seat] + (card,))
    state.swapped = replaced(state.swapped, seat, state.swapped[seat] + 1)
    taken = _top(state)
    hand = list(state.hands[seat])
    hand[hand.index(card)] = taken
    hand.sort()
    state.hands = replaced(state.hands, seat, tuple(hand))
    if state.log is not None:
        state.log.append(Event("swap", {"seat": seat, "pile": len(state.pile)}))
        state.log.append(Event("swapped", {"seat": seat, "put": card, "took": taken}, (seat,)))


def _top(state: XPaschState) -> int:
    """Take the top card off the pile."""
    card = state.pile[0]
    state.pile = state.pile[1:]
    if len(state.under) > len(state.pile):  # it was put under the pile by a seat, which now loses track of it (XP-23)
        owner = state.under[0]
        state.under = state.under[1:]
        state.sunk = replaced(state.sunk, owner, state.sunk[owner][1:])
    return card


def _set_hand(state: XPaschState, hand: tuple[int, ...]) -> None:
    state.hands = replaced(state.hands, state.seat, hand)
    state.hand_sizes = replaced(state.hand_sizes, state.seat, len(hand))
