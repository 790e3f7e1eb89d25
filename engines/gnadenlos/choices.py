"""What may be chosen in each phase, in a stable order."""

# mypyc compiles this module: functions of typed values only; structs are in interpreted modules (core/compiled.py).

from __future__ import annotations

from typing import TYPE_CHECKING

from engines.gnadenlos.actions import MAX_FAME_GOLD, MAX_LAST_FAME_GOLD
from harness import Action

if TYPE_CHECKING:
    from engines.gnadenlos.state import GnadenlosState


def choices(state: GnadenlosState) -> tuple[Action, ...]:
    """Return what the seat on turn may choose in this phase."""
    phase = state.phase  # compared in the order of their frequency
    if phase == "lay":
        return lays(state)
    if phase == "bid":
        return sums(state)
    if phase == "pay":
        return ways(state)
    if phase == "hire":
        return pairs(state) if state.pairs else hires(state)
    if phase == "fame":
        return purchases(state, MAX_FAME_GOLD)
    if phase == "steal":
        return thefts(state)
    return purchases(state, MAX_LAST_FAME_GOLD) if phase == "last fame" else ()


def lays(state: GnadenlosState) -> tuple[Action, ...]:
    """GN-13: any adventurer of the hand; cards of the same skills are one choice."""
    lay = state.rules.table.lay
    legal: list[Action] = []
    for card in state.crews[state.seat]:  # sorted: equal cards lie side by side
        action = lay[card]
        if not legal or legal[-1] is not action:
            legal.append(action)
    return tuple(legal)


def thefts(state: GnadenlosState) -> tuple[Action, ...]:
    """GN-17: nothing, or all that the thief may take."""
    assert state.theft is not None, "only the thieves of a high noon are asked"
    steal = state.rules.table.steal
    return steal[0], steal[state.theft.each]


def purchases(state: GnadenlosState, most: int) -> tuple[Action, ...]:
    """GN-22, GN-38: up to the most that may be spent, as much as the player has and the road allows."""
    seat = state.seat
    left = state.rules.goal - state.fame[seat]
    return state.rules.table.buys[min(most, min(state.gold[seat], left))]


def sums(state: GnadenlosState) -> tuple[Action, ...]:
    """GN-26: every sum that the hand can form and that is not bid yet; there may be none."""
    return state.rules.bids.sums(state.hands[state.seat], state.totals)


def ways(state: GnadenlosState) -> tuple[Action, ...]:
    """GN-25: the IOUs of the hand that make up the sum just named; there may be none only in an imagined hand."""
    assert state.announced is not None, "IOUs are chosen only after their sum was named"
    return state.rules.bids.ways(state.hands[state.seat], state.announced)


def hires(state: GnadenlosState) -> tuple[Action, ...]:
    """GN-28: what is turned up; cards of the same skills are one choice."""
    hire = state.rules.table.hire
    legal: list[Action] = []
    for card in state.offers:
        action = hire[card]
        if action not in legal:
            legal.append(action)
    return tuple(legal)


def pairs(state: GnadenlosState) -> tuple[Action, ...]:
    """GN-9: the pairs that are left; pairs of the same skills are one choice."""
    take_pair, offered = state.rules.table.take_pair, state.pairs
    return tuple([take_pair[n] for n, pair in enumerate(offered) if pair and offered.index(pair) == n])
