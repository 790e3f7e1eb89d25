"""Build a complete X-Pasch state that gives the same view as the real one (XP-23)."""

# mypyc compiles this module: functions of typed values only; structs are in interpreted modules (core/compiled.py).

from __future__ import annotations

from itertools import compress
from random import Random
from typing import TYPE_CHECKING

from engines.x_pasch.choices import CHOICES, STAGES
from engines.x_pasch.state import XPaschState
from engines.x_pasch.view import XPaschView
from harness import Chance

if TYPE_CHECKING:
    from engines.x_pasch.game import XPasch


def imagine(game: XPasch, view: XPaschView, rng: Random) -> XPaschState:
    """Copy what the view shows and deal the hidden cards by `rng`."""
    state = XPaschState(game, len(view.euros), Chance(rng.getrandbits(48)))
    _copy_public(state, view)
    _deal_hidden(state, view, rng)
    state.moves = None
    state.legal = CHOICES[state.phase](state)
    return state


def _copy_public(state: XPaschState, view: XPaschView) -> None:
    state.seat, state.phase = view.turn, view.phase
    state.ending = ""
    if view.phase == "over":
        state.ending = "target" if max(view.euros) >= state.rules.tables.target else "truncated"
    state.round, state.stage, state.dice = view.round, STAGES.index(view.stage), view.dice
    state.second_chance = view.second_chance
    state.euros, state.income, state.supply = view.euros, view.income, view.supply
    state.table, state.members, state.placed, state.fresh = view.table, view.members, view.placed, view.fresh
    state.hand_sizes, state.under, state.swapped = view.hand_sizes, view.under, view.swapped


def _deal_hidden(state: XPaschState, view: XPaschView, rng: Random) -> None:
    """Deal the unseen cards over the other hands and the places of the pile that this seat does not know."""
    seat, sunk_here = view.seat, view.sunk
    cards = _shuffled(_unseen(state.rules.tables.deck, view.table, view.hand + sunk_here), rng)
    dealt = 0
    hands: list[tuple[int, ...]] = []
    for holder, size in enumerate(state.hand_sizes):
        if holder == seat:
            hands.append(view.hand)
        else:
            hands.append(tuple(sorted(cards[dealt : dealt + size])))
            dealt += size
    above = view.pile - len(state.under)
    pile = cards[dealt : dealt + above]
    dealt += above
    known = 0
    sunk: list[list[int]] = [[] for _ in hands]
    # The order of owners under the pile is public: each own card has its place, the others are dealt.
    for owner in state.under:
        if owner == seat:
            card = sunk_here[known]
            known += 1
        else:
            card = cards[dealt]
            dealt += 1
        pile.append(card)
        sunk[owner].append(card)
    state.hands, state.pile, state.sunk = tuple(hands), tuple(pile), tuple([tuple(put) for put in sunk])


def _unseen(deck: tuple[int, ...], table: tuple[int, ...], held: tuple[int, ...]) -> list[int]:
    """Return the cards of the deck that are neither on the table nor among those that the seat holds or has put
    away."""
    hidden = [True] * len(deck)
    for company in table:
        hidden[company] = False
    for card in held:
        while not hidden[card]:
            card += 1  # the next of those printed alike
        hidden[card] = False
    return list(compress(deck, hidden))


def _shuffled(cards: list[int], rng: Random) -> list[int]:
    """Return the cards in any order, at a third of the price of a shuffle: search imagines a lot."""
    random = rng.random
    drawn = [random() for _ in cards]
    order = sorted(range(len(cards)), key=drawn.__getitem__)
    order.reverse()
    return [cards[at] for at in order]
