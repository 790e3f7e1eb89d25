"""How the seats of El Paso stand, as numbers for a value function."""

# mypyc compiles this module: functions of typed values only; structs are in interpreted modules (core/compiled.py).

from __future__ import annotations

from collections.abc import Sequence
from math import fsum
from typing import TYPE_CHECKING

from engines.el_paso.view import ElPasoView
from harness import ahead_of, compare_to_others

if TYPE_CHECKING:
    from engines.el_paso.game import ElPaso


def features(game: ElPaso, views: Sequence[ElPasoView]) -> list[list[float]]:
    """Return a row for each seat: the town, its goods compared with those of the others, what the sheriffs may take,
    its cards."""
    table = views[0]
    players, money, inside = table.players, table.money, [float(not group) for group in table.left]
    goods = _goods(game, table)
    loose = [worth * there for worth, there in zip(goods, inside, strict=True)]
    wealth = [float(has + worth) for has, worth in zip(money, goods, strict=True)]
    sizes = [sum(map(len, hand)) for hand in table.hands]
    reach = [_reach(view) for view in views]
    common = [players, table.town, table.round, table.stars, sum(map(sum, table.stacks)), table.groups, fsum(inside)]
    return [
        [
            *common,
            (seat - table.lookout) % players,
            inside[seat],
            *compare_to_others(wealth, seat),
            ahead_of(wealth, seat),
            *compare_to_others(money, seat)[1:],
            goods[seat],
            *compare_to_others(loose, seat),
            sum(map(sum, view.hand)),
            *compare_to_others(sizes, seat)[::2],
            *compare_to_others(reach, seat)[::2],
        ]
        for seat, view in enumerate(views)
    ]


def _goods(game: ElPaso, table: ElPasoView) -> list[float]:
    """Return what the tiles of each seat are worth: sold here, but for as many as it may carry on, or all if it has
    left."""
    rate, here = game.figures.towns[table.town].rate, game.sites_of[table.town]
    limit = table.limit or table.next_limit
    worths = []
    for tiles, group in zip(table.tiles, table.left, strict=True):
        if group:
            worths.append(float(sum(map(sum, tiles))))
            continue
        sold = fsum([sum(values) / rate if site in here else sum(values) for site, values in enumerate(tiles)])
        best = sorted([value for site in here for value in tiles[site]], reverse=True)[:limit]
        worths.append(sold + sum(best) * (1 - 1 / rate))
    return worths


def _reach(view: ElPasoView) -> float:
    """Return what the cards of a seat can get of this town's tiles."""
    return float(sum([sum(cards) * stack[0] for cards, stack in zip(view.hand, view.stacks, strict=True) if stack]))
