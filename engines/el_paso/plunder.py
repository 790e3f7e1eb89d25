"""A round of plunder: cards, roll, sheriffs or loot, discard, refill (EP-12 to EP-17)."""

# mypyc compiles this module: functions of typed values only; structs are in interpreted modules (core/compiled.py).

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from engines.el_paso.components import SITES, Site
from engines.el_paso.town import give_back, take_tile
from engines.el_paso.values import NOTHING, at_site, drop, put, replaced
from harness import Action, Event

if TYPE_CHECKING:
    from engines.el_paso.state import ElPasoState

NEEDED: Final = tuple([{Site.SALOON: "six", Site.CATTLE: "brand"}.get(site, "") for site in SITES])
"""EP-15: the face that this roll must show before a site is plundered; "" where any roll will do."""


def lay(state: ElPasoState, action: Action) -> None:
    """EP-12: a card is laid face down. It counts as in hand until all are turned up."""
    state.laid[state.seat] = state.rules.table.named[action.code]
    if state.log is not None:
        state.log.append(Event("laid", {"seat": state.seat}))


def resolve(state: ElPasoState) -> None:
    """Turn up the cards, roll, let the sheriffs or the loot come, discard, and fix the order of drawing."""
    _turn_up(state)
    _roll(state)
    by_site = _by_site(state)
    if state.stars == state.rules.dice:
        _sheriffs(state)
    else:
        _loot(state, by_site)
    _discard(state, by_site)
    # All seats are in the order, even those that have left: the luck of the others must not depend on them.
    seats = state.rules.orders[state.players][0]
    order = state.chance.shuffled(seats, "drawing order", state.town, state.round)
    state.queue = tuple([seat for seat in order if state.played[seat] is not None])  # EP-17
    if state.log is not None:
        state.log.append(Event("drawing-order", {"seats": list(state.queue)}))


def _turn_up(state: ElPasoState) -> None:
    state.played = tuple(state.laid)
    state.laid = [None] * state.players
    for seat, card in enumerate(state.played):
        if card is None:
            continue
        site, value = card
        hand, shown = state.hands[seat], state.shown[seat]
        state.hands[seat] = at_site(hand, site, drop(hand[site], value))
        # A card that was public takes its value from what is known of the hand, a hidden one takes a zero.
        known = at_site(shown, site, drop(shown[site], value if value in shown[site] else 0))
        state.shown = replaced(state.shown, seat, known)
    if state.log is not None:
        cards = [{"seat": s, "site": c[0], "value": c[1]} for s, c in enumerate(state.played) if c is not None]
        state.log.append(Event("cards", {"cards": cards}))


def _roll(state: ElPasoState) -> None:
    faces = state.rules.faces
    # Stars stay on the sheriff field: only the other dice are rolled.
    rolled = state.chance.dice(state.rules.dice - state.stars, len(faces), "dice", state.town, state.round)
    state.roll = tuple([faces[face] for face in rolled])
    state.stars += state.roll.count("star")  # EP-13
    if state.log is not None:
        state.log.append(Event("roll", {"faces": list(state.roll), "stars": state.stars}))


def _sheriffs(state: ElPasoState) -> None:
    """EP-14: everyone still in town loses all tiles."""
    for seat in range(state.players):
        if state.left[seat]:
            continue
        tiles = state.tiles[seat]
        give_back(state, tiles)
        state.tiles = replaced(state.tiles, seat, NOTHING)
        if state.log is not None:
            state.log.append(Event("sheriffs", {"seat": seat, "lost": [list(values) for values in tiles]}))


def _by_site(state: ElPasoState) -> list[list[tuple[int, int]]]:
    """Return (value, seat) of the cards played, site by site, highest value first."""
    played: list[list[tuple[int, int]]] = [[] for _ in SITES]
    for seat, card in enumerate(state.played):
        if card is not None:
            played[card[0]].append((card[1], seat))
    for cards in played:
        if len(cards) > 1:
            cards.sort(reverse=True)
    return played


def _loot(state: ElPasoState, by_site: list[list[tuple[int, int]]]) -> None:
    """Give the tiles of each plundered site to its players, highest card first (EP-15)."""
    for site, cards in enumerate(by_site):
        if not cards or (NEEDED[site] and NEEDED[site] not in state.roll):
            continue
        # With more cards than tiles the lowest cards get none.
        for _, seat in cards[: len(state.stacks[site])]:
            value = take_tile(state, seat, site)
            if state.log is not None:
                state.log.append(Event("loot", {"seat": seat, "site": site, "value": value}))


def _discard(state: ElPasoState, by_site: list[list[tuple[int, int]]]) -> None:
    """EP-16: the cards played are put on their site's discard, the highest first."""
    for site, cards in enumerate(by_site):
        if cards:
            discard = state.discards[site] + tuple([value for value, _ in cards])
            state.discards = at_site(state.discards, site, discard)
            if state.log is not None:
                state.log.append(Event("discard", {"site": site, "values": [value for value, _ in cards]}))
            _turn_over(state, site)


def _turn_over(state: ElPasoState, site: int) -> None:
    """EP-17: an empty pile is replaced by its discard at once; from then on all know its cards (EP-28)."""
    if state.piles[site] or not state.discards[site]:
        return
    state.piles[site] = state.discards[site]
    state.faces = at_site(state.faces, site, state.discards[site])
    state.discards = at_site(state.discards, site, ())
    if state.log is not None:
        state.log.append(Event("turned-over", {"site": site, "order": list(state.piles[site])}))


def draw(state: ElPasoState, action: Action) -> None:
    """EP-17: the top card of a pile goes into the hand."""
    site, seat = state.rules.table.named[action.code][0], state.seat
    pile, faces = state.piles[site], state.faces[site]
    hand, shown = state.hands[seat], state.shown[seat]
    state.hands[seat] = at_site(hand, site, put(hand[site], pile[0]))
    state.shown = replaced(state.shown, seat, at_site(shown, site, put(shown[site], faces[0])))
    state.piles[site], state.faces = pile[1:], at_site(state.faces, site, faces[1:])
    if state.log is not None:
        state.log.append(Event("draw", {"seat": seat, "site": site, "value": faces[0]}))
        # The drawer alone sees the value of a hidden card.
        if not faces[0]:
            state.log.append(Event("card", {"seat": seat, "site": site, "value": pile[0]}, to=(seat,)))
    _turn_over(state, site)
