"""Tables for tests to start from: give the boards, hands and dice that matter, the rest is filled in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from engines.x_pasch import Company, XPasch, XPaschState
from engines.x_pasch.boards import leader
from engines.x_pasch.choices import CHOICES
from harness import Action, Event
from tests.support.luck import RiggedChance

A = TypeVar("A", bound=Action)
Faces = tuple[int, ...]

DULL: Faces = (1, 2, 4)
"""Dice for turns that a test is not about."""


def company(game: XPasch, *, number: int | None = None, pair: str | None = None) -> Company:
    """The first company with this requirement, with nothing besides if there is such a one."""
    fitting = [
        c
        for c in game.companies
        if (number is None or c.number == number) and (pair is None or c.pair == pair) and c.card == c.company
    ]
    return min(fitting, key=lambda c: ((c.number is None) != (number is None)) + ((c.pair is None) != (pair is None)))


def luck(
    rolls: Mapping[tuple[int, int], Faces] | None = None,
    again: Mapping[tuple[int, int], int] | None = None,
    deck: Sequence[int] | None = None,
) -> RiggedChance:
    """Luck with these faces at (round, seat), also for the die rolled again, and with this deck."""
    rigged: dict[tuple[str | int, ...], Any] = {}
    for where, faces in (rolls or {}).items():
        rigged["dice", *where] = tuple(face - 1 for face in faces)
    for where, face in (again or {}).items():
        rigged["second-chance", *where] = (face - 1,)
    if deck is not None:
        rigged["deck",] = deck
    return RiggedChance(rigged)


def at_table(
    dice: Faces,
    *,
    boards: Mapping[Company, tuple[int, ...]] | None = None,
    hand: Sequence[Company] = (),
    seat: int = 0,
    round: int = 2,  # noqa: A002 - the rules' own word
    euros: tuple[int, ...] = (0, 0, 0),
    supply: Mapping[int, int] | None = None,
    empty_pile: bool = False,
    chance: RiggedChance | None = None,
    game: XPasch | None = None,
    log: list[Event] | None = None,
) -> XPaschState:
    """A seat in the middle of the game with these dice still to use; the other seats hold no cards."""
    boards = boards or {}
    state = (game or XPasch.configure()).new(len(euros), chance or luck())
    tables = state.game.tables
    state.log = log
    state.seat, state.round, state.euros, state.dice = seat, round, euros, tuple(sorted(dice))
    state.phase = "dice"
    state.table = tuple(c.company for c in boards)
    state.members = tuple(boards.values())
    state.placed, state.fresh = (0,) * len(boards), 0
    state.income = tuple(
        sum(c.income for c, board in boards.items() if leader(board) == who) for who in range(state.players)
    )
    used = [sum(board[who] for board in boards.values()) for who in range(state.players)]
    state.supply = tuple((supply or {}).get(who, tables.members - used[who]) for who in range(state.players))
    state.hands = tuple(tuple(sorted(c.card for c in hand)) if who == seat else () for who in range(state.players))
    state.hand_sizes = tuple(map(len, state.hands))
    pile = list(tables.deck)
    for c in (*boards, *hand):
        pile.remove(c.card)
    state.pile = () if empty_pile else tuple(pile)
    state.under, state.sunk, state.swapped = (), ((),) * state.players, (0,) * state.players
    state.moves = None
    state.legal = CHOICES["dice"](state)
    return state


def legal(state: XPaschState, kind: type[A], **fields: object) -> list[A]:
    """The legal actions of a kind with these fields."""
    return [
        action
        for action in state.legal
        if isinstance(action, kind) and all(getattr(action, name) == value for name, value in fields.items())
    ]


def do(state: XPaschState, kind: type[A], **fields: object) -> A:
    """Carry out the one legal action of a kind with these fields."""
    (action,) = legal(state, kind, **fields)
    state.apply(action)
    return action


def members(state: XPaschState, c: Company) -> tuple[int, ...]:
    """Each seat's members on a company."""
    return state.members[state.table.index(c.company)]


def kinds(state: XPaschState) -> set[str]:
    """The kinds of action that are legal."""
    return {action.kind for action in state.legal}


def pass_turns(state: XPaschState, turns: int) -> None:
    """Let the next seats do nothing with their dice."""
    for _ in range(turns):
        seat, round_ = state.seat, state.round
        while (state.seat, state.round) == (seat, round_):
            state.apply(state.legal[-1])
