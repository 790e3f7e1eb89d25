"""An El Paso view as text for a person."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from engines.el_paso.components import SITES
from engines.el_paso.values import Values
from engines.el_paso.view import ElPasoView

if TYPE_CHECKING:
    from engines.el_paso.game import ElPaso

WIDTH = max(len(site.label) for site in SITES) + 1


def render(game: ElPaso, view: ElPasoView, names: Sequence[str]) -> str:
    """Return the table as this seat sees it."""
    return "\n".join([*_heading(game, view, names), "", *_sites(game, view), "", *_seats(view, names)])


def _heading(game: ElPaso, view: ElPasoView, names: Sequence[str]) -> list[str]:
    if view.phase == "over":
        return ["The last town is behind you."]
    town = game.figures.towns[view.town]
    dice = game.figures.dice.count
    lines = [
        f"{town.name} (town {view.town + 1} of {len(game.figures.towns)}, {town.rate}:1), round {view.round}, "
        f"{names[view.lookout]} is the lookout",
        f"Sheriff field: {'*' * view.stars}{'.' * (dice - view.stars)}"
        + (f"   last roll: {' '.join(view.roll)}" if view.roll else ""),
        f"The next group to leave carries {view.next_limit} each",
    ]
    if view.phase == "carry":
        chosen = [f"{site.label} {value}" for site in SITES for value in view.carried[site]]
        lines.append(
            f"{names[view.turn]} leaves and may carry {view.limit}; chosen so far: {', '.join(chosen) or 'nothing'}"
        )
    if view.laid:
        lines.append(f"You have laid {SITES[view.laid[0]].label} {view.laid[1]} face down")
    return lines


def _sites(game: ElPaso, view: ElPasoView) -> list[str]:
    town = game.figures.towns[view.town]
    rows = [("site", "in town", "your tiles", "your cards", "pile", "discard", "bag")]
    for site in SITES:
        stack = _values(view.stacks[site]) if town.has(site) else "(none)"
        rows.append(
            (
                site.label,
                stack,
                _values(view.my_tiles[site]),
                _values(view.hand[site]),
                _values(view.piles[site]),
                _values(view.discards[site]),
                _values(view.bag[site]),
            )
        )
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]


def _seats(view: ElPasoView, names: Sequence[str]) -> list[str]:
    lines = []
    for seat in range(view.players):
        where = f"left in group {view.left[seat]}" if view.left[seat] else "in town"
        if seat in view.leaving:
            where = "is leaving"
        card = view.played[seat]
        played = f", played {SITES[card[0]].label} {card[1]}" if card else ""
        tiles = [f"{site.label} {_values(view.tiles[seat][site])}" for site in SITES if view.tiles[seat][site]]
        cards = [f"{site.label} {_values(view.hands[seat][site])}" for site in SITES if view.hands[seat][site]]
        mark = ">" if seat == view.turn else " "
        lines.append(f"{mark} {names[seat]}: {view.money[seat]} nuggets, {where}{played}")
        lines.append(f"    tiles: {', '.join(tiles) or 'none'}")
        if seat != view.seat:
            lines.append(f"    cards: {', '.join(cards)}")
    return lines


def _values(values: Values) -> str:
    """Return values in order; `?` is one that only its owner knows."""
    return " ".join(str(value) if value else "?" for value in values) or "-"
