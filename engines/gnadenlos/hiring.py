"""Hiring: adventurers turned up, bids, choices, and where the IOUs go (GN-24 to GN-30)."""

# mypyc compiles this module: functions of typed values only; structs are in interpreted modules (core/compiled.py).

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from engines.gnadenlos.bags import known_plus, known_shown, minus, news_in, plus, put, shared, without, without_all
from engines.gnadenlos.cards import Adventurer, Iou
from engines.gnadenlos.market import give, lists
from harness import Event

if TYPE_CHECKING:
    from engines.gnadenlos.state import GnadenlosState

NO_BID: Final = -1
"""Stands for the sum of a player without a bid: below every sum (GN-27)."""


def turn_up(state: GnadenlosState) -> bool:
    """Turn up one adventurer fewer than players, as far as there are any; whether there are (GN-24)."""
    wanted = state.players - 1
    offers = _draw(state, wanted)
    if len(offers) < wanted and state.discard:
        state.reshuffles += 1
        # Sorted, so that the new pile does not depend on the order in which cards were discarded.
        state.pile = tuple(state.chance.shuffled(sorted(state.discard), "adventurers", state.reshuffles))
        state.discard = ()
        if state.log is not None:
            state.log.append(Event("discard shuffled", {"size": len(state.pile)}))
            order = {"reshuffle": state.reshuffles, "order": lists(state.pile)}
            state.log.append(Event("adventurers", order, to=()))
        offers += _draw(state, wanted - len(offers))
    state.offers = offers
    if state.log is not None and offers:
        state.log.append(Event("offers", {"adventurers": lists(offers)}))
    return bool(offers)


def _draw(state: GnadenlosState, count: int) -> tuple[Adventurer, ...]:
    drawn = state.pile[:count]
    state.pile = state.pile[count:]
    # After a reshuffle the pile holds only cards that were seen before.
    if not state.reshuffles:
        for adventurer in drawn:
            state.unseen_adventurers = without(state.unseen_adventurers, adventurer)
    return drawn


def bid(state: GnadenlosState, ious: tuple[Iou, ...], total: int) -> None:
    """Lay the public bid of the seat on turn (GN-25)."""
    seat = state.seat
    before, known = state.hands[seat], state.known_hands[seat]
    hand = without_all(before, ious)
    state.hands = put(state.hands, seat, hand)
    # The same object means that the whole hand was public, so the new one is, too.
    known = hand if known is before else shared(minus(_show(state, known, ious), ious), hand)
    state.known_hands = put(state.known_hands, seat, known)
    state.bids = put(state.bids, seat, ious)
    state.totals = put(state.totals, seat, total)
    state.announced = None
    if state.log is not None:
        state.log.append(Event("bid", {"seat": seat, "total": total, "ious": lists(ious)}))


def show_hand(state: GnadenlosState, seat: int) -> None:
    """Show all IOUs of a player who cannot form a new sum and bids nothing (GN-27)."""
    hand = state.hands[seat]
    _show(state, state.known_hands[seat], hand)
    state.known_hands = put(state.known_hands, seat, hand)
    state.bids = put(state.bids, seat, ())
    if state.log is not None:
        state.log.append(Event("no bid", {"seat": seat, "hand": lists(hand)}))


def _show(state: GnadenlosState, known: tuple[Iou | None, ...], ious: tuple[Iou, ...]) -> tuple[Iou | None, ...]:
    """Return the known hand after these IOUs were shown, stolen ones that were secret among them."""
    news = news_in(known, ious)
    if news:
        state.unseen_ious = minus(state.unseen_ious, news)
    return known_shown(known, news)


def ranking(state: GnadenlosState) -> tuple[int, ...]:
    """Return all seats from the highest bid down; without a bid the earlier in turn order comes first (GN-27,
    GN-28)."""
    totals = state.totals
    order: list[int] = []
    for seat in state.from_start():
        place = len(order)
        # Strictly less: equal totals (players without a bid) stay in turn order.
        while place and totals[order[place - 1]] < totals[seat]:
            place -= 1
        order.insert(place, seat)
    return tuple(order)


def hire(state: GnadenlosState, adventurer: Adventurer) -> None:
    """Give a public adventurer to the seat on turn (GN-28)."""
    state.offers = without(state.offers, adventurer)
    _take(state, (adventurer,))


def take_pair(state: GnadenlosState, number: int) -> None:
    """Give a pair to the seat on turn (GN-9)."""
    pair = state.pairs[number]
    state.pairs = put(state.pairs, number, ())
    _take(state, pair)


def _take(state: GnadenlosState, cards: tuple[Adventurer, ...]) -> None:
    seat = state.seat
    before, known = state.crews[seat], state.known_crews[seat]
    crew = plus(before, cards)
    state.crews = put(state.crews, seat, crew)
    state.known_crews = put(state.known_crews, seat, crew if known is before else known_plus(known, cards))
    if state.log is not None:
        state.log.append(Event("hired", {"seat": seat, "adventurers": lists(cards)}))


def settle(state: GnadenlosState) -> None:
    """Move the bids of those who hired to the market, highest first; the others take theirs back (GN-29, GN-30)."""
    order = ranking(state)
    hired = order.index(state.seat) + 1  # the seat on turn was the last to choose
    for rank, seat in enumerate(order):
        ious = state.bids[seat]
        if not ious:
            continue
        if rank < hired:
            if state.log is not None:
                place = len(state.market)
                state.log.append(Event("to market", {"seat": seat, "place": place, "ious": lists(ious)}))
            state.market += ious
            state.known_market += ious
        else:
            give(state, seat, ious)
            if state.log is not None:
                state.log.append(Event("bid back", {"seat": seat, "ious": lists(ious)}))
    state.bids = (None,) * state.players
    state.totals = (NO_BID,) * state.players
    state.pairs = ()
