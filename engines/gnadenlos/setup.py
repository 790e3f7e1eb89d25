"""The set-up: piles, gold, hands, and the two ways to begin (GN-6 to GN-9)."""

# mypyc compiles this module: functions of typed values only; structs are in interpreted modules (core/compiled.py).

from __future__ import annotations

from typing import TYPE_CHECKING

from engines.gnadenlos.bags import minus
from engines.gnadenlos.events import shuffle_events
from engines.gnadenlos.hiring import NO_BID
from engines.gnadenlos.market import lists
from harness import Event

if TYPE_CHECKING:
    from engines.gnadenlos.state import GnadenlosState


def lay_out(state: GnadenlosState) -> None:
    """Lay out what both set-ups share: shuffled piles, gold, IOUs in hand, an empty market."""
    game, players = state.rules, state.players
    figures = game.figures
    state.number = state.start = state.undertaker = state.event_shuffles = state.reshuffles = 0
    state.fame = (figures.road.start,) * players
    state.gold = (figures.start.gold,) * players
    state.vultures = (0,) * players
    state.event = state.theft = state.announced = None
    state.queue = state.discard = state.offers = state.pairs = state.market = state.known_market = ()
    state.laid = state.bids = (None,) * players
    state.has_laid = (False,) * players
    state.totals = (NO_BID,) * players
    state.crews = state.known_crews = ((),) * players
    state.hands = state.known_hands = game.full_hands[:players]
    state.unseen_ious = ()
    state.unseen_adventurers = game.adventurers
    state.pile = tuple(state.chance.shuffled(game.adventurers, "adventurers", 0))
    if state.log is not None:
        begin = {"players": players, "start": 0, "gold": figures.start.gold, "field": figures.road.start}
        state.log.append(Event("set-up", {**begin, "variant": game.settings["variant"]}))
        state.log.append(Event("adventurers", {"reshuffle": 0, "order": lists(state.pile)}, to=()))
    shuffle_events(state)


def deal(state: GnadenlosState) -> None:
    """Deal two adventurers each from the top of the pile (GN-6), and the first IOUs of the market (GN-7)."""
    players, each = state.players, state.rules.first_adventurers
    pile = state.pile
    state.crews = tuple([tuple(sorted(pile[each * seat : each * (seat + 1)])) for seat in range(players)])
    state.known_crews = ((None,) * each,) * players
    state.pile = pile[each * players :]
    state.hands = state.known_hands = state.rules.first_hands[:players]
    state.unseen_ious = state.rules.first_market[players]
    state.market = tuple(state.chance.shuffled(state.unseen_ious, "market"))
    state.known_market = (None,) * len(state.market)
    if state.log is not None:
        for seat, crew in enumerate(state.crews):
            state.log.append(Event("dealt", {"seat": seat, "adventurers": lists(crew)}, to=(seat,)))
        state.log.append(Event("first market", {"ious": lists(state.unseen_ious)}))
        state.log.append(Event("market order", {"ious": lists(state.market)}, to=()))


def turn_up_pairs(state: GnadenlosState) -> None:
    """Turn up as many pairs as players, from the top of the pile (GN-9)."""
    pairs = [tuple(sorted(state.pile[2 * n : 2 * n + 2])) for n in range(state.players)]
    state.pairs = tuple(pairs)
    state.pile = state.pile[2 * state.players :]
    state.unseen_adventurers = minus(state.unseen_adventurers, [card for pair in pairs for card in pair])
    if state.log is not None:
        state.log.append(Event("pairs", {"pairs": [lists(pair) for pair in pairs]}))
