"""The market of IOUs: theft (GN-17), closing up (GN-18), and IOUs that come to hand."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, TypeVar

from engines.gnadenlos.bags import known_plus, plus, put
from engines.gnadenlos.cards import Iou
from harness import Event

if TYPE_CHECKING:
    from engines.gnadenlos.state import GnadenlosState

T = TypeVar("T")

ALONE = 2
"""IOUs that a thief takes who is alone in front; one each if there are several (GN-17)."""


def lists(cards: Iterable[tuple[int, ...]]) -> list[list[int]]:
    """Cards as JSON has them."""
    return [list(card) for card in cards]


def give(state: GnadenlosState, seat: int, ious: Sequence[Iou]) -> None:
    """Put IOUs that everybody knows into a hand."""
    before = state.hands[seat]
    hand = plus(before, ious)
    known = state.known_hands[seat]
    state.hands = put(state.hands, seat, hand)
    state.known_hands = put(state.known_hands, seat, hand if known is before else known_plus(known, ious))


def steal(state: GnadenlosState, thieves: list[int]) -> None:
    """The thieves, in seat order from the start player, draw from the market (GN-17)."""
    draws = thieves if len(thieves) > 1 else thieves * ALONE
    if len(state.market) < len(draws):
        if state.log is not None:
            state.log.append(Event("market too short", {"wanted": len(draws), "size": len(state.market)}))
        return
    left = list(range(len(state.market)))
    for draw, seat in enumerate(draws):
        place = left.pop(state.chance.pick(len(left), "theft", state.number, draw))
        iou = state.market[place]
        if state.known_market[place] is not None:
            give(state, seat, (iou,))
        else:
            state.hands = put(state.hands, seat, plus(state.hands[seat], (iou,)))
            state.known_hands = put(state.known_hands, seat, (*state.known_hands[seat], None))
        if state.log is not None:
            known = state.known_market[place]
            state.log.append(Event("stolen", {"seat": seat, "place": place, "iou": known and list(known)}))
            if known is None:
                state.log.append(Event("stolen secret", {"seat": seat, "place": place, "iou": list(iou)}, to=(seat,)))
    close_up(state, sorted(set(range(len(state.market))).difference(left)))


def close_up(state: GnadenlosState, gaps: list[int]) -> None:
    """Fill the gaps, given in ascending order, from the end of the market (GN-18)."""
    moves = moves_into(gaps, len(state.market))
    size = len(state.market) - len(gaps)
    state.market, state.known_market = _moved(state.market, moves, size), _moved(state.known_market, moves, size)
    if state.log is not None:
        state.log.append(Event("market closed up", {"moves": [list(move) for move in moves], "size": size}))


def moves_into(gaps: list[int], size: int) -> list[tuple[int, int]]:
    """Which place moves into which: the last card into the first gap until there is no gap."""
    moves = []
    last = size - 1
    for gap in gaps:
        while last in gaps:
            last -= 1
        if last < gap:
            break
        moves.append((last, gap))
        last -= 1
    return moves


def _moved(places: tuple[T, ...], moves: list[tuple[int, int]], size: int) -> tuple[T, ...]:
    after = list(places)
    for source, target in moves:
        after[target] = after[source]
    return tuple(after[:size])
