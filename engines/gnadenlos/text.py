"""A Gnadenlos! view as text for a person."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import zip_longest
from typing import TYPE_CHECKING

from engines.gnadenlos.cards import COLOURS, Iou, ious_text
from engines.gnadenlos.view import GnadenlosView

if TYPE_CHECKING:
    from engines.gnadenlos.game import Gnadenlos


def render(game: Gnadenlos, view: GnadenlosView, names: Sequence[str]) -> str:
    """Return the table as this seat sees it."""
    own = _own(view) + _theft(view, names) + _hiring(view, names)
    parts = [_heading(game, view, names), _players(game, view, names), _hands(view, names), _market(game, view), own]
    return "\n\n".join("\n".join(lines) for lines in parts)


def _heading(game: Gnadenlos, view: GnadenlosView, names: Sequence[str]) -> list[str]:
    figures = game.figures
    if view.phase == "over":
        first = f"The game is over ({view.cause or 'stopped'})."
    elif view.cause:
        first = f"The game is ending ({view.cause}): last chance to buy fame."
    elif view.number:
        first = f"Turn {view.number}, {names[view.start]} holds the revolver"
    else:
        first = "Auction of pairs before the first turn"
    steps = figures.undertaker.steps
    seen = ", ".join(map(str, view.events_seen)) or "none"
    return [
        first,
        f"Undertaker: {'#' * view.undertaker}{'.' * (steps - view.undertaker)}   event: {view.event or '-'}",
        f"Events seen: {seen} ({len(game.event_cards) - len(view.events_seen)} to come)",
        f"Adventurers (gold/gun/cards): {view.pile} in the pile, {len(view.discard)} discarded",
    ]


def _players(game: Gnadenlos, view: GnadenlosView, names: Sequence[str]) -> list[str]:
    rows = [
        (
            ">" if seat == view.turn else "",
            names[seat],
            COLOURS[seat],
            f"{view.fame[seat] or '-'}/{game.figures.road.fields}",
            str(view.gold[seat]),
            str(view.vultures[seat]),
            f"{view.debt(seat)}{'+?' if None in view.market else ''}",
        )
        for seat in range(view.players)
    ]
    return _aligned([("", "player", "colour", "field", "gold", "vultures", "owes"), *rows])


def _hands(view: GnadenlosView, names: Sequence[str]) -> list[str]:
    # Apart from the other figures: with them, the lines would be wider than a terminal.
    lines = []
    for seat in range(view.players):
        laid = "  [laid one]" if view.laid[seat] else ""
        crew, ious = _cards(view.crews[seat]), _ious(view.hands[seat])
        lines += [f"{names[seat]}:", f"  adventurers: {crew}{laid}", f"  IOUs: {ious}"]
    return lines


def _market(game: Gnadenlos, view: GnadenlosView) -> list[str]:
    columns = game.figures.payday.columns
    full = view.players * columns
    rows: list[Sequence[str]] = [("", *(f"[{column}]" for column in range(1, columns + 1)))]
    cells = [str(iou) if iou else "?" for iou in view.market]
    for gap in view.theft.gaps if view.theft else ():
        cells.insert(gap, "(gap)")
    for start in range(0, len(cells), columns):
        places = cells[start : start + columns]
        rows.append((f"row {start // columns + 1}", *places, *("",) * (columns - len(places))))
    return [f"Market: {len(view.market)} IOUs, payday at {full}", *_aligned(rows)]


def _own(view: GnadenlosView) -> list[str]:
    laid = f"   laid: {view.my_laid}" if view.my_laid else ""
    return [f"Your adventurers: {_cards(view.crew)}{laid}", f"Your IOUs: {_ious(view.hand)}"]


def _theft(view: GnadenlosView, names: Sequence[str]) -> list[str]:
    theft = view.theft
    if theft is None:
        return []
    shown = [f"{names[seat]} {adventurer}" for seat, adventurer in enumerate(theft.shown) if adventurer]
    lines = [f"Turned up: {', '.join(shown)}"]
    for seat, steals in zip_longest(theft.thieves, theft.answers):
        answer = "has not answered" if steals is None else "has stolen" if steals else "leaves it"
        lines.append(f"  {names[seat]} may steal {theft.each}: {answer}")
    return lines


def _hiring(view: GnadenlosView, names: Sequence[str]) -> list[str]:
    lines = []
    if view.offers:
        lines.append(f"For hire: {_cards(view.offers)}")
    if view.pairs:
        pairs = [f"{n}: {_cards(pair) if pair else '(taken)'}" for n, pair in enumerate(view.pairs, 1)]
        lines.append(f"Pairs: {'   '.join(pairs)}")
    for seat, (ious, total) in enumerate(zip(view.bids, view.totals, strict=True)):
        if ious is not None:
            lines.append(f"  {names[seat]} bids {f'{total} ({ious_text(ious)})' if ious else 'nothing'}")
    if view.announced is not None:
        lines.append(f"  {names[view.turn]} bids {view.announced}")
    return lines


def _cards(cards: Iterable[object]) -> str:
    """Return cards in order; `?` is one that only its holder knows."""
    return "  ".join(str(card) if card else "?" for card in cards) or "-"


def _ious(ious: Iterable[Iou | None]) -> str:
    """Return IOUs colour by colour; `?` is one that only its holder knows."""
    hand = list(ious)
    known = ious_text([iou for iou in hand if iou is not None])
    return " ".join(filter(None, (known, "?" * hand.count(None)))) or "-"


def _aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
