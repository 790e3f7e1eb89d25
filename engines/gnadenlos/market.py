"""The market of IOUs: theft (GN-17), closing up (GN-18), and IOUs that come to hand."""

# mypyc compiles this module: functions of typed values only; structs are in interpreted modules (core/compiled.py).

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, TypeVar

from engines.gnadenlos.bags import known_plus, plus, put, with_card
from engines.gnadenlos.cards import Iou
from engines.gnadenlos.view import Theft
from harness import Event

if TYPE_CHECKING:
    from engines.gnadenlos.state import GnadenlosState

T = TypeVar("T")


def lists(cards: Iterable[tuple[int, ...]]) -> list[list[int]]:
    """Return cards as JSON has them."""
    return [list(card) for card in cards]


def give(state: GnadenlosState, seat: int, ious: tuple[Iou, ...]) -> None:
    """Put public IOUs into a hand."""
    before = state.hands[seat]
    hand = plus(before, ious)
    known = state.known_hands[seat]
    state.hands = put(state.hands, seat, hand)
    state.known_hands = put(state.known_hands, seat, hand if known is before else known_plus(known, ious))


def can_be_robbed(state: GnadenlosState, theft: Theft) -> bool:
    """Return whether the market holds all that the thieves could take; if not, none of them may take any (GN-17)."""
    wanted = theft.each * len(theft.thieves)
    enough = len(state.market) >= wanted
    if state.log is not None and not enough:
        state.log.append(Event("market too short", {"wanted": wanted, "size": len(state.market)}))
    return enough


def steal(state: GnadenlosState, ious: int) -> None:
    """Record the public answer of the thief on turn and draw this many IOUs (GN-17)."""
    theft, seat = state.theft, state.seat
    assert theft is not None, "only the thieves of a high noon are asked"
    if state.log is not None:
        state.log.append(Event("theft", {"seat": seat, "steals": ious > 0}))
    gaps = theft.gaps
    first = len(theft.answers)  # a draw keeps its name whatever those before have answered
    for draw in range(first, first + ious):
        index = state.chance.pick(len(state.market), "theft", state.number, draw)
        place = _take(state, seat, index, gaps)
        gaps = tuple(sorted([*gaps, place]))
    state.theft = Theft(theft.shown, theft.thieves, (*theft.answers, ious > 0), gaps)


def _take(state: GnadenlosState, seat: int, index: int, gaps: tuple[int, ...]) -> int:
    """Move an IOU from the market to a hand; the place it came from, counted with the gaps."""
    iou, known = state.market[index], state.known_market[index]
    state.market = state.market[:index] + state.market[index + 1 :]
    state.known_market = state.known_market[:index] + state.known_market[index + 1 :]
    place = index
    # Each earlier gap shifts the place by one: the market leaves gaps out, players see them.
    for gap in gaps:
        place += gap <= place
    if known is not None:
        give(state, seat, (iou,))
    else:
        state.hands = put(state.hands, seat, with_card(state.hands[seat], iou))
        state.known_hands = put(state.known_hands, seat, state.known_hands[seat] + (None,))
    if state.log is not None:
        state.log.append(Event("stolen", {"seat": seat, "place": place, "iou": known and list(known)}))
        if known is None:
            state.log.append(Event("stolen secret", {"seat": seat, "place": place, "iou": list(iou)}, to=(seat,)))
    return place


def fill_gaps(state: GnadenlosState, gaps: tuple[int, ...]) -> None:
    """Fill the gaps, given in ascending order and left out of the market, from its end (GN-18)."""
    size = len(state.market)
    moves = moves_into(list(gaps), size + len(gaps))
    sources = list(range(size))  # of each place
    for source, target in moves:
        sources[target] = source
    # `sources` counts places with the gaps, the market has no entries for them.
    order = [source - len([gap for gap in gaps if gap < source]) for source in sources]
    state.market = tuple([state.market[index] for index in order])
    state.known_market = tuple([state.known_market[index] for index in order])
    _tell_moves(state, moves)


def close_up(state: GnadenlosState, gaps: list[int]) -> None:
    """Fill the gaps, given in ascending order, from the end of the market (GN-18)."""
    moves = moves_into(gaps, len(state.market))
    size = len(state.market) - len(gaps)
    state.market, state.known_market = _moved(state.market, moves, size), _moved(state.known_market, moves, size)
    _tell_moves(state, moves)


def _tell_moves(state: GnadenlosState, moves: list[tuple[int, int]]) -> None:
    if state.log is not None:
        data = {"moves": [list(move) for move in moves], "size": len(state.market)}
        state.log.append(Event("market closed up", data))


def moves_into(gaps: list[int], size: int) -> list[tuple[int, int]]:
    """Return which place moves into which: the last card into the first gap until there is no gap."""
    moves = []
    last, behind = size - 1, len(gaps) - 1
    for gap in gaps:
        while behind >= 0 and gaps[behind] == last:
            last, behind = last - 1, behind - 1
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
