"""Build a complete Gnadenlos! state that gives the same view as the real one (GN-41)."""

# mypyc compiles this module: functions of typed values only; structs are in interpreted modules (core/compiled.py).

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING, cast

from engines.gnadenlos.bags import C, minus
from engines.gnadenlos.cards import Adventurer, Iou
from engines.gnadenlos.choices import choices
from engines.gnadenlos.hiring import NO_BID
from engines.gnadenlos.state import TRUNCATED, GnadenlosState
from engines.gnadenlos.view import GnadenlosView
from harness import Chance

if TYPE_CHECKING:
    from engines.gnadenlos.game import Gnadenlos


def imagine(game: Gnadenlos, view: GnadenlosView, rng: Random) -> GnadenlosState:
    """Copy what the view shows and deal the hidden cards by `rng`."""
    state = GnadenlosState(game, view.players, Chance(rng.getrandbits(48)))
    _copy_public(state, view)
    _deal_events(state, rng)
    _deal_adventurers(state, view, rng)
    _lay_for_others(state, view, rng)
    while True:
        _deal_ious(state, view, rng)
        state.legal = choices(state)
        # The bidder is known to be able to bid, and to have IOUs for the sum just named: deal again until this holds.
        if state.legal or state.phase == "over":
            return state


def _copy_public(state: GnadenlosState, view: GnadenlosView) -> None:
    state.seat, state.phase, state.cause = view.turn, view.phase, view.cause
    state.ending = (view.cause or TRUNCATED) if view.phase == "over" else ""
    state.number, state.start, state.queue = view.number, view.start, view.queue
    state.fame, state.gold, state.vultures = view.fame, view.gold, view.vultures
    state.undertaker, state.event, state.events_seen = view.undertaker, view.event, view.events_seen
    state.theft = view.theft
    state.known_crews, state.offers, state.pairs = view.crews, view.offers, view.pairs
    state.discard, state.unseen_adventurers = view.discard, view.unseen_adventurers
    state.announced, state.bids = view.announced, view.bids
    state.totals = tuple([NO_BID if total is None else total for total in view.totals])
    state.known_hands, state.known_market, state.unseen_ious = view.hands, view.market, view.unseen_ious


def _deal_events(state: GnadenlosState, rng: Random) -> None:
    rest = list(minus(state.rules.event_cards, state.events_seen))
    rng.shuffle(rest)
    state.event_pile = tuple(rest)
    state.event_shuffles = 0


def _deal_adventurers(state: GnadenlosState, view: GnadenlosView, rng: Random) -> None:
    """Deal secret cards, which were never seen, to hands; the pile is the rest, or after a reshuffle all others."""
    secret = list(view.secret_adventurers)
    rng.shuffle(secret)
    crews: list[tuple[Adventurer, ...]] = []
    for seat, known in enumerate(view.crews):
        crews.append(view.crew if seat == view.seat else _filled(known, secret))
    state.crews = tuple(crews)
    state.reshuffles = 0
    if len(secret) < view.pile:
        state.reshuffles = 1
        elsewhere = [*view.discard, *view.offers, *(card for cards in (*crews, *view.pairs) for card in cards)]
        secret = list(minus(state.rules.adventurers, elsewhere))
        rng.shuffle(secret)
    state.pile = tuple(secret)


def _filled(known: tuple[C | None, ...], secret: list[C]) -> tuple[C, ...]:
    """Return the whole hand, with secret cards where the table knows none; the same object where it knows all."""
    if not known or known[-1] is not None:
        return cast("tuple[C, ...]", known)
    return tuple(sorted([secret.pop() if card is None else card for card in known]))


def _lay_for_others(state: GnadenlosState, view: GnadenlosView, rng: Random) -> None:
    """Choose an adventurer for each other seat that has laid one, among all that it holds."""
    laid: list[Adventurer | None] = []
    for seat, has_laid in enumerate(view.laid):
        if seat == view.seat or not has_laid:
            laid.append(view.my_laid if has_laid else None)
        else:
            laid.append(rng.choice(list(dict.fromkeys(state.crews[seat]))))
    state.laid, state.has_laid = tuple(laid), view.laid


def _deal_ious(state: GnadenlosState, view: GnadenlosView, rng: Random) -> None:
    """Deal the set-up IOUs that were not shown over the places where the view has None."""
    secret = list(view.secret_ious)
    rng.shuffle(secret)
    hands: list[tuple[Iou, ...]] = []
    for seat, known in enumerate(view.hands):
        hands.append(view.hand if seat == view.seat else _filled(known, secret))
    state.hands = tuple(hands)
    state.market = tuple([iou or secret.pop() for iou in view.market])
