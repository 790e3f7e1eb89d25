"""The event phase: turning a card, and what the laid adventurers bring about (GN-11 to GN-21)."""

# mypyc compiles this module: functions of typed values only; structs are in interpreted modules (core/compiled.py).

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from engines.gnadenlos.bags import NOWHERE, known_shown, place_of, put, shared, without
from engines.gnadenlos.cards import GOLD_RUSH, HIGH_NOON, SKILL, Adventurer, EventCard
from engines.gnadenlos.market import can_be_robbed, fill_gaps
from engines.gnadenlos.view import Theft
from harness import Event

if TYPE_CHECKING:
    from engines.gnadenlos.state import GnadenlosState

UNDERTAKER: Final = "undertaker"
"""Why a game ends at the undertaker's last step (GN-36b)."""

Laid = tuple[Adventurer | None, ...]
"""The laid adventurer of each seat."""


def shuffle_events(state: GnadenlosState) -> None:
    """Shuffle all event cards into a new face-down pile (GN-8, GN-11)."""
    state.event_pile = tuple(state.chance.shuffled(state.rules.event_cards, "events", state.event_shuffles))
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
    card = state.event_pile[0]
    state.event_pile = state.event_pile[1:]
    state.events_seen += (card,)
    if state.log is not None:
        state.log.append(Event("event", {"card": list(card), "carried_out": carried_out}))
    if card.kind == HIGH_NOON:
        state.undertaker += 1
        if state.undertaker == state.rules.undertaker_steps:
            state.cause = UNDERTAKER
        if state.log is not None:
            state.log.append(Event("undertaker", {"step": state.undertaker}))


def carry_out(state: GnadenlosState) -> None:
    """Turn up the laid adventurers and carry out the event, up to the theft (GN-13 to GN-21)."""
    card, laid = state.event, state.laid
    assert card is not None, "an event is carried out only after its card was turned"
    kind = card.kind
    values = _values(laid, SKILL[kind])
    seats = [seat for seat in state.from_start() if values[seat]]
    _show(state, laid, seats)
    state.laid = (None,) * state.players
    state.has_laid = (False,) * state.players
    ranked = [values[seat] for seat in seats]
    ranked.sort()
    lowest, highest = ranked[0], ranked[-1]
    best = [seat for seat in seats if values[seat] == highest]
    if kind == HIGH_NOON and lowest < highest:
        state.theft = Theft(laid, tuple(best))
        if not can_be_robbed(state, state.theft):
            end_high_noon(state)
        return
    state.event = None
    if lowest == highest:  # GN-15
        if state.log is not None:
            state.log.append(Event("all equal", {}))
        return
    if kind == GOLD_RUSH:
        second = ranked[-len(best) - 1]
        _pay_out(state, card, best, [seat for seat in seats if values[seat] == second])
    else:
        _cheat(state, best, [seat for seat in seats if values[seat] == lowest])
    _discard(state, laid, best, "best")


def end_high_noon(state: GnadenlosState) -> None:
    """Close up the market after the theft, and discard the worst and the best adventurers."""
    theft = state.theft
    assert theft is not None, "a high noon ends after its theft"
    state.event = state.theft = None
    if theft.gaps:
        fill_gaps(state, theft.gaps)
    laid, thieves = theft.shown, theft.thieves
    values = _values(laid, SKILL[HIGH_NOON])
    lowest = min([value for value in values if value])
    order = state.from_start()
    _discard(state, laid, [seat for seat in order if values[seat] == lowest], "shot")  # GN-19
    _discard(state, laid, [seat for seat in order if seat in thieves], "best")


def _values(laid: Laid, skill: int) -> list[int]:
    """Return what counts of each seat's adventurer; 0 without one."""
    return [0 if adventurer is None else adventurer[skill] for adventurer in laid]


def _show(state: GnadenlosState, laid: Laid, seats: list[int]) -> None:
    """Make these adventurers in the hands of their players public (GN-41)."""
    for seat in seats:
        adventurer, known = laid[seat], state.known_crews[seat]
        assert adventurer is not None, "those who have laid nothing show nothing"
        if place_of(known, adventurer) == NOWHERE:
            known = shared(known_shown(known, (adventurer,)), state.crews[seat])
            state.known_crews = put(state.known_crews, seat, known)
            state.unseen_adventurers = without(state.unseen_adventurers, adventurer)
    if state.log is not None:
        shown = [(seat, laid[seat]) for seat in seats]
        state.log.append(Event("shown", {"laid": [[seat, list(card)] for seat, card in shown if card is not None]}))


def _pay_out(state: GnadenlosState, card: EventCard, best: list[int], second: list[int]) -> None:
    """Pay out a gold rush (GN-16)."""
    for seats, amount in ((best, card.first), (second, card.second)):
        for seat in seats:
            state.gold = put(state.gold, seat, state.gold[seat] + amount)
            if state.log is not None:
                state.log.append(Event("gold", {"seat": seat, "found": amount, "gold": state.gold[seat]}))


def _cheat(state: GnadenlosState, best: list[int], worst: list[int]) -> None:
    """Move hats by the numbers of the zones they are in (GN-20)."""
    goal = state.rules.goal
    for seats, moves in ((best, state.rules.forward), (worst, state.rules.back)):
        for seat in seats:
            field = state.fame[seat]
            state.fame = put(state.fame, seat, min(goal, max(1, field + moves[field])))
            if state.log is not None:
                state.log.append(Event("hat", {"seat": seat, "from": field, "to": state.fame[seat]}))


def _discard(state: GnadenlosState, laid: Laid, seats: list[int], why: str) -> None:
    for seat in seats:
        adventurer = laid[seat]
        assert adventurer is not None, "those who have laid nothing lose nothing"
        before, known = state.crews[seat], state.known_crews[seat]
        crew = without(before, adventurer)
        state.crews = put(state.crews, seat, crew)
        state.known_crews = put(state.known_crews, seat, crew if known is before else without(known, adventurer))
        state.discard += (adventurer,)
        if state.log is not None:
            state.log.append(Event("discarded", {"seat": seat, "adventurer": list(adventurer), "why": why}))
