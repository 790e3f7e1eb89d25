"""Payday (GN-31 to GN-35) and the vultures (GN-36, GN-37)."""

# mypyc compiles this module: functions of typed values only; structs are in interpreted modules (core/compiled.py).

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from engines.gnadenlos.bags import minus, put
from engines.gnadenlos.cards import Iou
from engines.gnadenlos.market import close_up, give, lists
from harness import Event

if TYPE_CHECKING:
    from engines.gnadenlos.state import GnadenlosState

VULTURES: Final = "vultures"
"""Why a game ends when a player has lost (GN-36a)."""
LAST: Final = 0
"""The number of the payday after the end; those within a turn count from 1."""

COLOUR: Final = 1
"""Where an IOU has its colour."""

BLOCK: Final = 32  # dice drawn under one name; a payday seldom needs more


def hold(state: GnadenlosState, number: int) -> None:
    """Hold one payday: roll, turn up and pay until a column is empty or a player is broke (GN-32, GN-33)."""
    if state.log is not None:
        state.log.append(Event("payday", {"last": number == LAST}))
    columns, market = state.rules.columns, state.market
    end = len(market) - 1
    outermost = [end - (end - column) % columns for column in range(columns)]  # negative if there is none
    gold = list(state.gold)
    turned: list[int] = []
    broke = None
    # Dice come in blocks: one hash is enough for a usual payday.
    rolled, faces = 0, _roll(state, number, 0)
    while True:
        column = faces[rolled % BLOCK]
        rolled += 1
        if rolled % BLOCK == 0:
            faces = _roll(state, number, rolled // BLOCK)
        place = outermost[column]
        if place < 0:
            if state.log is not None:
                state.log.append(Event("die", {"column": column + 1, "place": None, "iou": None}))
            break
        outermost[column] = place - columns
        turned.append(place)
        value, debtor = market[place]
        paid = gold[debtor] >= value
        if paid:
            gold[debtor] -= value
        if state.log is not None:
            state.log.append(Event("die", {"column": column + 1, "place": place, "iou": [value, debtor]}))
            kind = "paid" if paid else "broke"
            state.log.append(Event(kind, {"seat": debtor, "paid": value if paid else 0, "gold": gold[debtor]}))
        if not paid:
            broke = debtor
            break
    state.gold = tuple(gold)
    if broke is not None:
        _vulture(state, broke)
    # The turned-up IOUs return even if a player is broke, and before it is checked whether that ends the game.
    _return(state, turned)
    if broke is not None and state.vultures[broke] >= state.rules.vultures_to_lose:
        state.fame = put(state.fame, broke, 0)
        state.cause = state.cause or VULTURES
        if state.log is not None:
            state.log.append(Event("lost", {"seat": broke}))


def _roll(state: GnadenlosState, number: int, block: int) -> tuple[int, ...]:
    return state.chance.dice(BLOCK, state.rules.columns, "payday", state.number, number, block)


def _vulture(state: GnadenlosState, seat: int) -> None:
    field = max(1, state.fame[seat] - state.rules.fields_lost_when_broke)
    state.vultures = put(state.vultures, seat, state.vultures[seat] + 1)
    state.fame = put(state.fame, seat, field)
    if state.log is not None:
        state.log.append(Event("vulture", {"seat": seat, "vultures": state.vultures[seat], "field": field}))


def _return(state: GnadenlosState, turned: list[int]) -> None:
    """Turned-up IOUs go back to the players of their colours, known to all; the market closes up (GN-34)."""
    if not turned:
        return
    market = state.market
    returned: list[list[Iou]] = [[] for _ in range(state.players)]
    for place in turned:
        iou = market[place]
        returned[iou[COLOUR]].append(iou)
    for seat, own in enumerate(returned):
        if own:
            ious = tuple(own)
            give(state, seat, ious)
            if state.log is not None:
                state.log.append(Event("returned", {"seat": seat, "ious": lists(sorted(ious))}))
    # Set-up IOUs that no seat had seen are public now.
    news = [market[place] for place in turned if state.known_market[place] is None]
    if news:
        state.unseen_ious = minus(state.unseen_ious, news)
    close_up(state, sorted(turned))
