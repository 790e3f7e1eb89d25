"""How the seats of Gnadenlos! stand, as numbers for a value function."""

# mypyc compiles this module: functions of typed values only; structs are in interpreted modules (core/compiled.py).

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from engines.gnadenlos.cards import GOLD_RUSH, HIGH_NOON, SKILL
from engines.gnadenlos.view import GnadenlosView
from harness import ahead_of, compare_to_others

if TYPE_CHECKING:
    from engines.gnadenlos.game import Gnadenlos

# In fields of fame. Rough guesses are enough: the value function learns its own weights for the features.
GOLD = 0.6  # a gold piece
DEBT = 0.4  # each gold of debt in the market
VULTURE = 2.0  # a vulture, times their number
HAND = 1.5  # an adventurer who is shot

LAST_PURCHASE = 3  # GN-38


def features(game: Gnadenlos, views: Sequence[GnadenlosView]) -> list[list[float]]:
    """Return a row for each seat: the turn, its fame, gold and debts compared with those of the others, its adventurers
    and IOUs."""
    table = views[0]
    players, gold, fame = table.players, table.gold, table.fame
    debts = [float(table.debt(seat)) for seat in range(players)]
    for iou in table.unseen_ious:
        debts[iou.colour] += iou.value
    crews = [[max([card[skill] for card in view.crew], default=0) for skill in range(3)] for view in views]
    hands = [sum(best) + len(view.crew) for best, view in zip(crews, views, strict=True)]
    brings = _event_brings(game, table, crews)
    worth = [
        field + GOLD * has - DEBT * owes - VULTURE * vultures**2 + comes
        for field, has, owes, vultures, comes in zip(fame, gold, debts, table.vultures, brings, strict=True)
    ]
    last = [field + min(has, LAST_PURCHASE) + has / 100 for field, has in zip(fame, gold, strict=True)]
    common = [
        players,
        table.number,
        table.undertaker,
        max(fame),
        players * game.figures.payday.columns - len(table.market),
        float(table.cause != ""),
        0 if table.event is None else 1 + SKILL[table.event.kind],
        len(table.offers),
    ]
    return [
        [
            *common,
            (seat - table.start) % players,
            *compare_to_others(fame, seat),
            *compare_to_others(gold, seat),
            *compare_to_others(debts, seat)[::2],
            *compare_to_others(worth, seat),
            ahead_of(worth, seat),
            *compare_to_others(last, seat)[1:],
            ahead_of(last, seat),
            brings[seat],
            max(0.0, debts[seat] - gold[seat]),
            table.vultures[seat],
            max([has for other, has in enumerate(table.vultures) if other != seat]),
            len(view.crew),
            *crews[seat],
            *compare_to_others(hands, seat)[1:],
            sum([iou.value for iou in view.hand if iou.colour != seat]),
            sum([iou.value for iou in view.hand if iou.colour == seat]),
        ]
        for seat, view in enumerate(views)
    ]


def _event_brings(game: Gnadenlos, table: GnadenlosView, crews: Sequence[Sequence[int]]) -> list[float]:
    """Return what the event on the table brings to each seat if all lay their best (GN-15 to GN-20)."""
    brings = [0.0] * table.players
    event = table.event
    if event is None:
        return brings
    laid = [best[SKILL[event.kind]] for best in crews]
    values = sorted({value for value in laid if value})
    if len(values) < 2:
        return brings
    for seat, value in enumerate(laid):
        field = table.fame[seat]
        if value == values[-1]:
            brings[seat] = GOLD * event.first if event.kind == GOLD_RUSH else game.forward[field]
            if event.kind == HIGH_NOON:
                brings[seat] = 1.0
        elif event.kind == GOLD_RUSH:
            brings[seat] = GOLD * event.second if value == values[-2] else 0.0
        elif value == values[0]:
            brings[seat] = -HAND if event.kind == HIGH_NOON else game.back[field]
    return brings
