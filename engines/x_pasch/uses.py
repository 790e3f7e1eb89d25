"""The uses of the dice: what each does to the table."""

# mypyc compiles this module: functions of typed values only; structs are in interpreted modules (core/compiled.py).

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from engines.x_pasch import cards
from engines.x_pasch.actions import Found, Move, Place, Reroll
from engines.x_pasch.boards import leader, place_of, replaced
from engines.x_pasch.choices import DRAW, MOVE, PLACE
from engines.x_pasch.dice import FACES, without
from harness import Event

if TYPE_CHECKING:
    from engines.x_pasch.state import XPaschState


def second_chance(state: XPaschState, action: Any) -> None:
    """Roll one die again, or leave the dice as they are (XP-7)."""
    if action.kind == "reroll":
        reroll(state, action)
    else:
        keep_dice(state)


def use(state: XPaschState, action: Any) -> None:
    """Carry out a use of the dice (XP-8)."""
    kind: str = action.kind
    if kind == "move":
        move(state, action)
    elif kind == "place":
        place(state, action)
    elif kind == "found":
        found(state, action)
    elif kind == "draw":
        draw(state)
    else:
        stop(state)


def reroll(state: XPaschState, action: Reroll) -> None:
    """Roll one die again (XP-7). Its result does not depend on which die it is."""
    # The name has no die in it, so that the luck of a deal is the same whichever die a bot rolls again.
    (rolled,) = state.chance.dice(1, 6, "second-chance", state.round, state.seat)
    face = FACES[rolled]
    state.dice = tuple(sorted((*without(state.dice, (action.face,)), face)))
    if state.log is not None:
        data = {"seat": state.seat, "die": action.face, "face": face, "dice": list(state.dice)}
        state.log.append(Event("reroll", data))


def keep_dice(state: XPaschState) -> None:
    """Leave the second chance unused (XP-7)."""
    if state.log is not None:
        state.log.append(Event("keep", {"seat": state.seat, "what": "dice"}))


def found(state: XPaschState, action: Found) -> None:
    """Lay a card on the table with its bonus, or as many members as there are (XP-9, XP-13, XP-18)."""
    seat, tables = state.seat, state.rules.tables
    company = action.card
    while company in state.table:
        company += 1  # the next of those printed alike
    cards.discard(state, action.card)
    members = min(tables.founding[company], state.supply[seat])
    state.table += (company,)
    state.members += ((0,) * state.players,)
    state.placed += (members,)
    state.fresh += 1
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
    at = place_of(action.company, state.table)
    members = min(action.members, state.supply[seat])
    if not state.members[at][seat]:
        state.moves = None  # the company is now one to move to
    state.placed = replaced(state.placed, at, state.placed[at] + members)
    state.stage = PLACE
    state.dice = state.rules.tables.rolls[state.dice].rest[action.dice]
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
    source, target = place_of(action.source, state.table), place_of(action.target, state.table)
    boards = list(state.members)
    _add(state, boards, source, -1)
    _add(state, boards, target, 1)
    state.members = tuple(boards)
    state.moves = None
    state.stage = MOVE
    # Any die: after placing, only the number of dice counts.
    state.dice = state.dice[1:]
    if state.log is not None:
        state.log.append(Event("move", {"seat": seat, "source": action.source, "target": action.target}))


def draw(state: XPaschState) -> None:
    """Draw a card (XP-15)."""
    state.stage = DRAW
    state.dice = state.dice[1:]
    card = cards.take_top(state)
    if state.log is not None:
        state.log.append(Event("draw", {"seat": state.seat, "pile": len(state.pile)}))
        state.log.append(Event("drawn", {"seat": state.seat, "card": card}, (state.seat,)))


def stop(state: XPaschState) -> None:
    """Leave the other dice unused (XP-8)."""
    if state.log is not None:
        state.log.append(Event("stop", {"seat": state.seat, "dice": list(state.dice)}))
    state.dice = ()


def _put(state: XPaschState, at: int, members: int) -> None:
    """Bring members from the supply of the player on turn to the company at this place of the table."""
    seat, boards = state.seat, list(state.members)
    state.supply = replaced(state.supply, seat, state.supply[seat] - members)
    _add(state, boards, at, members)
    state.members = tuple(boards)


def _add(state: XPaschState, boards: list[tuple[int, ...]], at: int, members: int) -> None:
    """Change how many members the player on turn has on one of the boards; the incomes follow."""
    seat, before = state.seat, boards[at]
    after = boards[at] = replaced(before, seat, before[seat] + members)
    state.change_leader(at, leader(before), leader(after))
