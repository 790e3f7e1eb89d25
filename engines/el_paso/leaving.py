"""Stay or leave, what to carry, what the rest sells for (EP-9, EP-10, EP-18 to EP-22)."""

# mypyc compiles this module: functions of typed values only; structs are in interpreted modules (core/compiled.py).

from __future__ import annotations

from typing import TYPE_CHECKING

from engines.el_paso.choices import tiles
from engines.el_paso.town import give_back
from engines.el_paso.values import NOTHING, at_site, how_many, minus, put, replaced
from harness import Action, Event

if TYPE_CHECKING:
    from engines.el_paso.state import ElPasoState


def answer(state: ElPasoState, action: Action) -> None:
    """Record an answer, which is public at once (EP-9)."""
    leaves = action is state.rules.table.leave
    if leaves:
        state.leaving = (*state.leaving, state.seat)
    if state.log is not None:
        state.log.append(Event("answer", {"seat": state.seat, "leaves": leaves}))


def leave(state: ElPasoState, seats: tuple[int, ...], limit: int) -> None:
    """EP-18: these seats leave as one group; they choose their tiles in this order (EP-19)."""
    state.groups += 1
    state.limit = limit
    state.queue, state.leaving = seats, ()
    for seat in seats:
        state.left = replaced(state.left, seat, state.groups)
    state.choosable = ()
    state.seat = seats[0]
    if state.log is not None:
        state.log.append(Event("leave", {"seats": list(seats), "group": state.groups, "limit": limit}))


def ask_tile(state: ElPasoState) -> bool:
    """Ask a leaver which tile to carry on; False when all leavers have sold and gone.

    A leaver with nothing to choose (no tile, the limit reached) sells without being asked.
    """
    while True:
        if state.choosable:
            state.phase = "carry"
            state.legal = tiles(state)
            return True
        if not state.queue:
            return False
        state.seat, state.queue = state.queue[0], state.queue[1:]
        state.carried = NOTHING
        owned = state.tiles[state.seat]
        state.choosable = tuple([(site, value) for site, values in enumerate(owned) for value in values])
        if not state.choosable:
            _sell(state)


def choose_tile(state: ElPasoState, action: Action) -> None:
    """EP-19: carry one more tile, or sell the rest."""
    if action is not state.rules.table.sell:
        site, value = state.rules.table.named[action.code]
        state.carried = at_site(state.carried, site, put(state.carried[site], value))
        # Only later tiles of the fixed order can follow: each set of tiles has one sequence of choices.
        state.choosable = state.choosable[state.choosable.index((site, value)) + 1 :]
        if state.choosable and how_many(state.carried) < state.limit:
            return
    state.choosable = ()
    _sell(state)


def _sell(state: ElPasoState) -> None:
    """Sell the tiles that are not carried (EP-20) and return them to the bag or the box (EP-21)."""
    seat = state.seat
    sold = minus(state.tiles[seat], state.carried)
    here = state.rules.sites_of[state.town]
    in_town = elsewhere = 0
    for site, values in enumerate(sold):
        for value in values:
            if site in here:
                in_town += value
            else:
                elsewhere += value
    # Rounded down once for the whole sale, not tile by tile (EP-20).
    paid = in_town // state.rules.rates[state.town] + elsewhere
    state.money = replaced(state.money, seat, state.money[seat] + paid)
    state.tiles = replaced(state.tiles, seat, state.carried)
    give_back(state, sold)
    if state.log is not None:
        state.log.append(
            Event(
                "sale",
                {
                    "seat": seat,
                    "carried": [list(values) for values in state.carried],
                    "sold": [list(values) for values in sold],
                    "paid": paid,
                    "money": state.money[seat],
                },
            )
        )
    state.carried = NOTHING
