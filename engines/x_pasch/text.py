"""An X-Pasch view as text for a person."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import wrap
from typing import TYPE_CHECKING

from engines.x_pasch.boards import leader
from engines.x_pasch.choices import STAGES
from engines.x_pasch.dice import shown
from engines.x_pasch.view import XPaschView
from harness import NOBODY

if TYPE_CHECKING:
    from engines.x_pasch.game import XPasch

WAYS_WIDTH = 50


def render(game: XPasch, view: XPaschView, names: Sequence[str]) -> str:
    """Return the table as this seat sees it."""
    blocks = [_heading(game, view, names), _seats(view, names), _companies(game, view), _cards(game, view)]
    return "\n\n".join("\n".join(block) for block in blocks if block)


def _heading(game: XPasch, view: XPaschView, names: Sequence[str]) -> list[str]:
    if view.phase == "over":
        return [f"Over in round {view.round}"]
    lines = [f"Round {view.round}, to {game.tables.target} euro"]
    dice_of = "Your dice" if view.turn == view.seat else f"Dice of {names[view.turn]}"
    dice = f"{dice_of}: {' '.join(map(str, view.dice))}"
    if view.phase == "dice":
        lines.append(f"{dice}   still open: {', '.join(STAGES[STAGES.index(view.stage) :])}")
    elif view.phase == "reroll":
        lines.append(f"{dice}   second chance: one die may be rolled again")
    else:
        whose = "your turn" if view.turn == view.seat else f"the turn of {names[view.turn]}"
        lines.append(f"End of {whose}: a card may be swapped")
    return lines


def _seats(view: XPaschView, names: Sequence[str]) -> list[str]:
    rows: list[tuple[str, ...]] = [("", "player", "euro", "income", "supply", "hand", "")]
    for seat in range(view.players):
        notes = ["on turn"] if seat == view.turn else []
        notes += ["second chance"] if seat == view.second_chance else []
        figures = (view.euros[seat], view.income[seat], view.supply[seat], view.hand_sizes[seat])
        rows.append((f"s{seat}", names[seat], *map(str, figures), ", ".join(notes)))
    return _aligned(rows)


def _companies(game: XPasch, view: XPaschView) -> list[str]:
    rows = [("company", "needs", "income", *(f"s{seat}" for seat in range(view.players)), "collects")]
    by_number = sorted(zip(view.table, view.members, range(len(view.table)), strict=True))
    for number, board, at in by_number:
        company, collects = game.companies[number], leader(board)
        mark = "*" if at >= len(view.table) - view.fresh else ""
        rows.append(
            (
                f"#{number}{mark}",
                company.requirement,
                str(company.income),
                *(str(count) if count else "." for count in board),
                "-" if collects == NOBODY else f"s{collects}",
            )
        )
    notes = ["* founded this turn"] if view.fresh else []
    placed = [
        f"{count} on #{company}" for company, count in zip(view.table, view.placed, strict=True) if count and view.dice
    ]
    if placed:
        notes.append(f"Put down this turn, not to be moved: {', '.join(placed)}")
    return [*_aligned(rows), *notes] if view.table else ["No company on the table"]


def _cards(game: XPasch, view: XPaschView) -> list[str]:
    rows: list[tuple[str, ...]] = [("your hand", "income", "bonus", "dice")]
    for card in view.hand:
        company = game.companies[card]
        # All of them in one line would be wider than a terminal.
        ways, *more = wrap(" ".join(map(shown, company.ways)), WAYS_WIDTH) or [""]
        rows.append((company.requirement, str(company.income), str(company.founding), ways))
        rows += [("", "", "", each) for each in more]
    pile = f"Pile: {view.pile}"
    if view.under:
        pile += f", under it from {' '.join(f's{seat}' for seat in view.under)}"
    if view.sunk:
        pile += f"; yours: {', '.join(game.companies[card].requirement for card in view.sunk)}"
    return [*_aligned(rows), pile] if view.hand else ["Your hand is empty", pile]


def _aligned(rows: list[tuple[str, ...]]) -> list[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
