"""Builds a complete X-Pasch state that a view cannot tell from the real one (XP-23)."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

from engines.x_pasch.choices import CHOICES, STAGES
from engines.x_pasch.state import XPaschState
from engines.x_pasch.view import XPaschView
from harness import Chance

if TYPE_CHECKING:
    from engines.x_pasch.game import XPasch


def imagine(game: XPasch, view: XPaschView, rng: Random) -> XPaschState:
    """Copies what the view shows and deals the hidden cards by `rng`."""
    state = XPaschState.blank(game, view.players, Chance(rng.getrandbits(48)))
    _copy_public(state, view)
    _deal_hidden(state, view, rng)
    state.servings, state.moves = {}, None
    state.legal = CHOICES[state.phase](state)
    return state


def _copy_public(state: XPaschState, view: XPaschView) -> None:
    state.seat, state.phase = view.turn, view.phase
    state.ending = ""
    if view.phase == "over":
        state.ending = "target" if max(view.euros) >= state.game.tables.target else "truncated"
    state.round, state.stage, state.dice = view.round, STAGES.index(view.stage), view.dice
    state.second_chance = view.second_chance
    state.euros, state.income, state.supply = view.euros, view.income, view.supply
    state.table, state.members, state.placed, state.fresh = view.table, view.members, view.placed, view.fresh
    state.hand_sizes, state.under, state.swapped = view.hand_sizes, view.under, view.swapped


def _deal_hidden(state: XPaschState, view: XPaschView, rng: Random) -> None:
    """Deals the unseen cards over the other hands and the places of the pile that this seat does not know."""
    tables = state.game.tables
    unseen = list(tables.deck)
    for company in view.table:
        unseen.remove(tables.deck[company])
    for card in (*view.hand, *view.sunk):
        unseen.remove(card)
    unseen.sort(key=lambda _card: rng.random())  # a shuffle at a third of its price: search imagines a lot
    state.hands = tuple(
        view.hand if seat == view.seat else tuple(sorted([unseen.pop() for _ in range(size)]))
        for seat, size in enumerate(view.hand_sizes)
    )
    known = iter(view.sunk)
    pile = [unseen.pop() for _ in range(view.pile - len(view.under))]
    sunk: list[list[int]] = [[] for _ in view.euros]
    for owner in view.under:
        card = next(known) if owner == view.seat else unseen.pop()
        pile.append(card)
        sunk[owner].append(card)
    state.pile, state.sunk = tuple(pile), tuple(map(tuple, sunk))
