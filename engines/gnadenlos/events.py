"""The event phase: turning a card, and what the laid adventurers bring about (GN-11 to GN-21)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engines.gnadenlos.bags import known_shown, minus, put
from engines.gnadenlos.cards import GOLD_RUSH, HIGH_NOON, SKILL, Adventurer, EventCard
from engines.gnadenlos.market import can_be_robbed, fill_gaps
from engines.gnadenlos.view import Theft
from harness import Event

if TYPE_CHECKING:
    from engines.gnadenlos.state import GnadenlosState

UNDERTAKER = "undertaker"
"""Why a game ends at the undertaker's last step (GN-36b)."""

Laid = list[tuple[int, Adventurer]]
"""Seats with what they laid, clockwise from the start player."""


def shuffle_events(state: GnadenlosState) -> None:
    """All event cards into a new face-down pile (GN-8, GN-11)."""
    state.event_pile = tuple(state.chance.shuffled(state.game.event_cards, "events", state.event_shuffles))
    state.events_seen = ()
    if state.log is not None:
        state.log.append(Event("events shuffled", {"shuffle": state.event_shuffles}))
        order = [list(card) for card in state.event_pile]
        state.log.append(Event("events", {"shuffle": state.event_shuffles, "order": order}, to=()))


def turn_card(state: GnadenlosState) -> None:
    """Turn the top card; the last of the pile gives way to the first of a new pile (GN-11, GN-12)."""
    if len(state.event_pile) == 1:
        _turn_top(state, carried_out=False)
        if state.cause:
            return
        state.event_shuffles += 1
        shuffle_events(state)
    _turn_top(state, carried_out=True)
    if not state.cause:
        state.event = state.events_seen[-1]


def _turn_top(state: GnadenlosState, carried_out: bool) -> None:
    card, *rest = state.event_pile
    state.event_pile = tuple(rest)
    state.events_seen = (*state.events_seen, card)
    if state.log is not None:
        state.log.append(Event("event", {"card": list(card), "carried_out": carried_out}))
    if card.kind == HIGH_NOON:
        state.undertaker += 1
        if state.undertaker == state.game.figures.undertaker.steps:
            state.cause = UNDERTAKER
        if state.log is not None:
            state.log.append(Event("undertaker", {"step": state.undertaker}))


def carry_out(state: GnadenlosState) -> None:
    """All adventurers are laid: turn them up and carry out the event, as far as the theft (GN-13 to GN-21)."""
    card, laid = state.event, state.laid
    assert card is not None, "an event is carried out only after its card was turned"
    shown = _in_order(state, laid)
    _show(state, shown)
    skill = SKILL[card.kind]
    by_value: dict[int, list[int]] = {}
    for seat, adventurer in shown:
        by_value.setdefault(adventurer[skill], []).append(seat)
    state.laid = (None,) * state.players
    state.has_laid = (False,) * state.players
    values = sorted(by_value, reverse=True)
    best = by_value[values[0]]
    if card.kind == HIGH_NOON and len(values) > 1:
        state.theft = Theft(laid, tuple(best))
        if not can_be_robbed(state, state.theft):
            end_high_noon(state)
        return
    state.event = None
    if len(values) == 1:  # GN-15
        if state.log is not None:
            state.log.append(Event("all equal", {}))
        return
    if card.kind == GOLD_RUSH:
        _pay_out(state, card, best, by_value[values[1]])
    else:
        _cheat(state, best, by_value[values[-1]])
    _discard(state, [(seat, adventurer) for seat, adventurer in shown if seat in best], "best")


def end_high_noon(state: GnadenlosState) -> None:
    """All thieves have answered, or none may steal: the market closes up, the worst and the best are discarded."""
    theft = state.theft
    assert theft is not None, "a high noon ends after its theft"
    state.event = state.theft = None
    if theft.gaps:
        fill_gaps(state, theft.gaps)
    shown = _in_order(state, theft.shown)
    lowest = min([adventurer.gun for _, adventurer in shown])
    _discard(state, [(seat, adventurer) for seat, adventurer in shown if adventurer.gun == lowest], "shot")  # GN-19
    _discard(state, [(seat, adventurer) for seat, adventurer in shown if seat in theft.thieves], "best")


def _in_order(state: GnadenlosState, laid: tuple[Adventurer | None, ...]) -> Laid:
    return [(seat, adventurer) for seat in state.from_start() if (adventurer := laid[seat]) is not None]


def _show(state: GnadenlosState, laid: Laid) -> None:
    """From now on everybody knows these adventurers in their hands (GN-41)."""
    known_crews = list(state.known_crews)
    for seat, adventurer in laid:
        known_crews[seat], news = known_shown(known_crews[seat], (adventurer,))
        if news:
            state.unseen_adventurers = minus(state.unseen_adventurers, news)
    state.known_crews = tuple(known_crews)
    if state.log is not None:
        state.log.append(Event("shown", {"laid": [[seat, list(adventurer)] for seat, adventurer in laid]}))


def _pay_out(state: GnadenlosState, card: EventCard, best: list[int], second: list[int]) -> None:
    """A gold rush (GN-16)."""
    for seats, amount in ((best, card.first), (second, card.second)):
        for seat in seats:
            state.gold = put(state.gold, seat, state.gold[seat] + amount)
            if state.log is not None:
                state.log.append(Event("gold", {"seat": seat, "found": amount, "gold": state.gold[seat]}))


def _cheat(state: GnadenlosState, best: list[int], worst: list[int]) -> None:
    """Hats move by the figures of the zones they stand in (GN-20)."""
    goal = state.game.figures.road.fields
    for seats, moves in ((best, state.game.forward), (worst, state.game.back)):
        for seat in seats:
            field = state.fame[seat]
            state.fame = put(state.fame, seat, min(goal, max(1, field + moves[field])))
            if state.log is not None:
                state.log.append(Event("hat", {"seat": seat, "from": field, "to": state.fame[seat]}))


def _discard(state: GnadenlosState, laid: Laid, why: str) -> None:
    for seat, adventurer in laid:
        state.crews = put(state.crews, seat, minus(state.crews[seat], (adventurer,)))
        state.known_crews = put(state.known_crews, seat, minus(state.known_crews[seat], (adventurer,)))
        state.discard = (*state.discard, adventurer)
        if state.log is not None:
            state.log.append(Event("discarded", {"seat": seat, "adventurer": list(adventurer), "why": why}))
