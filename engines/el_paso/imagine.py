"""Build a complete El Paso state that gives the same view as the real one (EP-28)."""

# mypyc compiles this module: functions of typed values only; structs are in interpreted modules (core/compiled.py).

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

from engines.el_paso.choices import choices
from engines.el_paso.components import SITES
from engines.el_paso.state import ElPasoState
from engines.el_paso.values import BySite, Values, minus
from engines.el_paso.view import ElPasoView
from harness import Chance

if TYPE_CHECKING:
    from engines.el_paso.game import ElPaso


def imagine(game: ElPaso, view: ElPasoView, rng: Random) -> ElPasoState:
    """Copy what the view shows and deal the hidden cards by `rng`."""
    state = ElPasoState(game, view.players, Chance(rng.getrandbits(48)))
    _copy_public(state, view)
    _deal_hidden(state, view, rng)
    state.laid = [view.laid if seat == view.seat else _imagined_card(state, seat, rng) for seat in range(view.players)]
    state.choosable = _choosable(view)
    state.legal = () if state.phase == "over" else choices(state, state.phase)
    return state


def _copy_public(state: ElPasoState, view: ElPasoView) -> None:
    state.seat, state.phase = view.turn, view.phase
    state.ending = "finished" if view.phase == "over" else ""
    state.town, state.round, state.lookout = view.town, view.round, view.lookout
    state.stars, state.roll, state.groups, state.leaving = view.stars, view.roll, view.groups, view.leaving
    state.queue, state.limit, state.carried = view.queue, view.limit, view.carried
    state.left, state.money, state.tiles = view.left, view.money, view.tiles
    state.stacks, state.bag = view.stacks, view.bag
    state.shown, state.faces, state.discards = view.hands, view.piles, view.discards
    state.played = view.played
    state.box = _box(state, view)


def _box(state: ElPasoState, view: ElPasoView) -> BySite:
    rest = minus(minus(state.rules.tiles, view.stacks), view.bag)
    for tiles in view.tiles:
        rest = minus(rest, tiles)
    return rest


def _deal_hidden(state: ElPasoState, view: ElPasoView, rng: Random) -> None:
    """Deal each site's unseen values over the places where a hidden card of that site lies."""
    known: list[BySite] = [view.hand if seat == view.seat else hand for seat, hand in enumerate(view.hands)]
    piles: list[Values] = []
    hands: list[list[Values]] = [[] for _ in known]
    for site in SITES:
        # A zero marks a hidden card; it is not a value, so it removes nothing from the unseen ones.
        seen = {*view.discards[site], *view.piles[site]}.union(*(hand[site] for hand in known))
        unseen = [value for value in state.rules.figures.cards.values if value not in seen]
        rng.shuffle(unseen)
        for hand, shown in zip(hands, known, strict=True):
            hand.append(tuple(sorted([value or unseen.pop() for value in shown[site]])))
        piles.append(tuple([value or unseen.pop() for value in view.piles[site]]))
    state.hands = [tuple(hand) for hand in hands]
    state.piles = piles


def _imagined_card(state: ElPasoState, seat: int, rng: Random) -> tuple[int, int] | None:
    """Return a card for a seat that has laid one already: any of its cards."""
    if state.phase != "play" or state.left[seat] or seat == state.seat or seat in state.queue:
        return None
    cards = [(site, value) for site, values in enumerate(state.hands[seat]) for value in values]
    return cards[int(rng.random() * len(cards))]


def _choosable(view: ElPasoView) -> tuple[tuple[int, int], ...]:
    """Return the tiles that a leaver may still carry: those after the last one chosen, in EP-19's order."""
    if view.phase != "carry":
        return ()
    owned = [(site, value) for site, values in enumerate(view.tiles[view.turn]) for value in values]
    carried = [(site, value) for site, values in enumerate(view.carried) for value in values]
    if not carried:
        return tuple(owned)
    last = carried[-1]
    return tuple(owned[owned.index(last) + carried.count(last) :])
