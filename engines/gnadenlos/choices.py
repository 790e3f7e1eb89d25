"""What may be chosen in each phase, in a stable order."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engines.gnadenlos.actions import MOST_FAME, MOST_LAST_FAME
from harness import Action

if TYPE_CHECKING:
    from engines.gnadenlos.state import GnadenlosState


def lays(state: GnadenlosState) -> tuple[Action, ...]:
    """GN-13: any adventurer of the hand; cards of the same skills are one choice."""
    lay = state.game.table.lay
    return tuple([lay[card] for card in dict.fromkeys(state.crews[state.seat])])


def thefts(state: GnadenlosState) -> tuple[Action, ...]:
    """GN-17: nothing, or all that the thief may take."""
    assert state.theft is not None, "only the thieves of a high noon are asked"
    steal = state.game.table.steal
    return steal[0], steal[state.theft.each]


def purchases(state: GnadenlosState) -> tuple[Action, ...]:
    """GN-22: as much as the player has and the road allows."""
    return _purchases(state, MOST_FAME)


def last_purchases(state: GnadenlosState) -> tuple[Action, ...]:
    """GN-38: the same, but less of it."""
    return _purchases(state, MOST_LAST_FAME)


def _purchases(state: GnadenlosState, most: int) -> tuple[Action, ...]:
    seat = state.seat
    left = state.game.figures.road.fields - state.fame[seat]
    return state.game.table.buys[min(most, state.gold[seat], left)]


def sums(state: GnadenlosState) -> tuple[Action, ...]:
    """GN-26: every sum that the hand can form and nobody has bid; there may be none."""
    return state.game.bids.sums(state.hands[state.seat], state.totals)


def ways(state: GnadenlosState) -> tuple[Action, ...]:
    """GN-25: the IOUs of the hand that make up the sum just named; there may be none only in an imagined hand."""
    assert state.announced is not None, "IOUs are chosen only after their sum was named"
    return state.game.bids.ways(state.hands[state.seat], state.announced)


def hires(state: GnadenlosState) -> tuple[Action, ...]:
    """GN-28, GN-9: what is turned up; cards and pairs of the same skills are one choice."""
    table, pairs = state.game.table, state.pairs
    if pairs:
        return tuple([table.take_pair[n] for n, pair in enumerate(pairs) if pair and pairs.index(pair) == n])
    return tuple([table.hire[card] for card in dict.fromkeys(state.offers)])


CHOICES = {
    "lay": lays,
    "steal": thefts,
    "fame": purchases,
    "bid": sums,
    "pay": ways,
    "hire": hires,
    "last fame": last_purchases,
}
"""The choices of each phase."""
