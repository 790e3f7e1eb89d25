"""The uses of the dice: what each does to the table."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from engines.x_pasch import cards
from engines.x_pasch.actions import Draw, Found, Keep, Move, Place, Reroll, Stop
from engines.x_pasch.boards import replaced
from engines.x_pasch.choices import DRAW, MOVE, PLACE
from engines.x_pasch.dice import FACES, without
from harness import Event

if TYPE_CHECKING:
    from engines.x_pasch.state import XPaschState


def reroll(state: XPaschState, action: Reroll) -> None:
    """Roll one die once more (XP-7). Which die it is does not change what it will show."""
    (rolled,) = state.chance.dice(1, 6, "second-chance", state.round, state.seat)
    face = FACES[rolled]
    state.dice = tuple(sorted((*without(state.dice, (action.face,)), face)))
    if state.log is not None:
        data = {"seat": state.seat, "die": action.face, "face": face, "dice": list(state.dice)}
        state.log.append(Event("reroll", data))


def keep_dice(state: XPaschState, _action: Keep) -> None:
    """Leave the second chance unused (XP-7)."""
    if state.log is not None:
        state.log.append(Event("keep", {"seat": state.seat, "what": "dice"}))


def found(state: XPaschState, action: Found) -> None:
    """Lay a card on the table with its bonus, or as many members as there are (XP-9, XP-13, XP-18)."""
    seat, tables = state.seat, state.game.tables
    company = action.card
    while company in state.table:
        company += 1  # the next of those printed alike
    cards.discard(state, action.card)
    members = min(tables.companies[company].founding, state.supply[seat])
    state.table += (company,)
    state.members += ((0,) * state.players,)
    state.placed += (members,)
    state.fresh += 1
    state.servings = {}
    state.dice = tables.rolls[state.dice].rest[action.dice]
    _put(state, len(state.table) - 1, members)
    if state.log is not None:
        data = {
            "seat": seat, "company": company, "card": action.card, "dice": list(action.dice), "members": members,
            "supply": state.supply[seat],
        }  # fmt: skip
        state.log.append(Event("found", data))


def place(state: XPaschState, action: Place) -> None:
    """Put members on a company, as many as the dice give and the supply has (XP-11, XP-13, XP-18)."""
    seat = state.seat
    at = state.table.index(action.company)
    members = min(action.members, state.supply[seat])
    if not state.members[at][seat]:
        state.moves = None  # the company is now one to move to
    state.placed = replaced(state.placed, at, state.placed[at] + members)
    state.stage = PLACE
    state.dice = state.game.tables.rolls[state.dice].rest[action.dice]
    _put(state, at, members)
    if state.log is not None:
        data = {
            "seat": seat, "company": action.company, "dice": list(action.dice), "members": members,
            "supply": state.supply[seat],
        }  # fmt: skip
        state.log.append(Event("place", data))


def move(state: XPaschState, action: Move) -> None:
    """Move a member from one company to another (XP-14)."""
    seat = state.seat
    for company, change in ((action.source, -1), (action.target, 1)):
        at = state.table.index(company)
        board = state.members[at]
        state.set_board(at, replaced(board, seat, board[seat] + change))
    state.moves = None
    state.stage = MOVE
    state.dice = state.dice[1:]
    if state.log is not None:
        state.log.append(Event("move", {"seat": seat, "source": action.source, "target": action.target}))


def draw(state: XPaschState, _action: Draw) -> None:
    """Draw a card (XP-15)."""
    state.stage = DRAW
    state.dice = state.dice[1:]
    card = cards.take_top(state)
    if state.log is not None:
        state.log.append(Event("draw", {"seat": state.seat, "pile": len(state.pile)}))
        state.log.append(Event("drawn", {"seat": state.seat, "card": card}, (state.seat,)))


def stop(state: XPaschState, _action: Stop) -> None:
    """Leave the other dice unused (XP-8)."""
    if state.log is not None:
        state.log.append(Event("stop", {"seat": state.seat, "dice": list(state.dice)}))
    state.dice = ()


SECOND_CHANCE: dict[str, Callable[[XPaschState, Any], None]] = {"reroll": reroll, "keep": keep_dice}
USES: dict[str, Callable[[XPaschState, Any], None]] = {
    "found": found,
    "place": place,
    "move": move,
    "draw": draw,
    "stop": stop,
}


def _put(state: XPaschState, at: int, members: int) -> None:
    """Bring members from the supply of the player on turn to the company at this place of the table."""
    seat, board = state.seat, state.members[at]
    state.supply = replaced(state.supply, seat, state.supply[seat] - members)
    state.set_board(at, replaced(board, seat, board[seat] + members))
