"""Descriptions of the actions of X-Pasch as small whole numbers for a network."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from engines.x_pasch import Company, Found, Keep, Move, Place, Reroll, Swap, XPasch, XPaschView
from harness import Action

Board = tuple[int, ...]

LONG = 60
"""Euros to go at which an end counts as far away."""


def describe(game: XPasch, view: XPaschView, actions: Sequence[Action]) -> list[list[int]]:
    """Return the numbers of each action; how many there are depends on the kind of the action."""
    table = _Table(game, view)
    return [table.numbers(action) for action in actions]


class _Table:
    """Values that all actions of one decision share."""

    def __init__(self, game: XPasch, view: XPaschView) -> None:
        self.game, self.view, self.me = game, view, view.seat
        self.boards = dict(zip(view.table, view.members, strict=True))
        rivals = [euros for seat, euros in enumerate(view.euros) if seat != self.me]
        mine = view.euros[self.me]
        self.common = [
            min(LONG, game.tables.target - max(view.euros)),
            mine - max(rivals),
            view.supply[self.me],
            len(view.hand),
        ]
        self.dice = len(view.dice)
        self.reach = reaches(game)
        self.promises: dict[tuple[int, ...], tuple[int, int, int]] = {}

    def numbers(self, action: Action) -> list[int]:
        """Return the numbers of an action."""
        match action:
            case Found():
                return self.found(action)
            case Place():
                return self.place(action)
            case Move():
                return self.move(action)
            case Reroll():
                kept = list(self.view.dice)
                kept.remove(action.face)
                return [action.face, *self.promise(tuple(kept)), *self.promise(self.view.dice)]
            case Keep():
                return [int(self.view.phase == "swap"), *self.promise(self.view.dice)]
            case Swap():
                company = self.game.companies[action.card]
                reach = self.reach[action.card]
                return [company.income, reach, company.income * reach, company.founding]
            case _:  # draw or stop
                return [self.dice, self.view.pile, *self.common]

    def board(self, company: Company, board: Board, more: int) -> list[int]:
        """Return what a change of my members does to a board."""
        mine = board[self.me]
        first, second = sorted([*[each for seat, each in enumerate(board) if seat != self.me], 0, 0])[:-3:-1]
        before, after, income = mine - first, mine + more - first, company.income
        led = income * (first > second and first > mine)
        return [
            income,
            self.reach[company.company],
            mine,
            first,
            second,
            before,
            after,
            income * after if after <= 0 else 0,
            income * (after > 0) - income * (before > 0),
            led - income * (first > second and first > mine + more),
            self.view.euros[board.index(first)] - self.view.euros[self.me] if led else 0,
        ]

    def found(self, action: Found) -> list[int]:
        """Return the new board, and what it takes."""
        companies, company = self.game.companies, action.card
        while company in self.boards:
            company += 1  # the next of those printed alike
        bonus = min(companies[company].founding, self.view.supply[self.me])
        nothing = (0,) * self.view.players
        value = companies[company].income * self.reach[company]
        others = [companies[card].income * self.reach[card] for card in self.view.hand if card != action.card]
        return [
            *self.board(companies[company], nothing, bonus),
            bonus,
            value,
            value - max(others, default=0),
            len(action.dice),
            self.dice - len(action.dice),
            *self.best_other(action.dice),
            *self.common,
        ]

    def place(self, action: Place) -> list[int]:
        """Return the board before and after, and what it takes."""
        members = min(action.members, self.view.supply[self.me])
        return [
            *self.board(self.game.companies[action.company], self.boards[action.company], members),
            members,
            len(action.dice),
            self.dice - len(action.dice),
            *self.best_other(action.dice),
            *self.common,
        ]

    def move(self, action: Move) -> list[int]:
        """Return both boards before and after."""
        companies = self.game.companies
        return [
            *self.board(companies[action.source], self.boards[action.source], -1),
            *self.board(companies[action.target], self.boards[action.target], 1),
            self.dice,
            *self.common,
        ]

    def best_other(self, used: tuple[int, ...]) -> tuple[int, int, int]:
        """Return what the dice that are left could do best."""
        rest = list(self.view.dice)
        for face in used:
            rest.remove(face)
        return self.promise(tuple(rest))

    def promise(self, dice: tuple[int, ...]) -> tuple[int, int, int]:
        """Return the most that one placing with some of these dice changes, how many can be made, and the best
        founding."""
        if dice not in self.promises:
            self.promises[dice] = self._promise(dice)
        return self.promises[dice]

    def _promise(self, dice: tuple[int, ...]) -> tuple[int, int, int]:
        roll, supply, me = self.game.tables.rolls[dice], self.view.supply[self.me], self.me
        if not supply:
            return 0, 0, 0
        most, ways = 0, 0
        for company, board in self.boards.items():
            placings = [action for action in roll.place[company] if isinstance(action, Place)]
            ways += len(placings)
            if placings:
                mine, more = board[me], min(supply, max([action.members for action in placings]))
                first = max([each for seat, each in enumerate(board) if seat != me])
                changes = (mine <= first < mine + more) + (mine < first <= mine + more)
                most = max(most, changes * self.game.companies[company].income)
        found = [self.game.companies[card].income for card in self.view.hand if roll.found[card]]
        return most, ways, max(found, default=0)


@cache
def reaches(game: XPasch) -> list[int]:
    """Return how many members a roll brings on average to each company, in twenty-sevenths."""
    found = [0] * len(game.companies)
    for dice in game.tables.thrown:
        for company, placings in enumerate(game.tables.rolls[dice].place):
            found[company] += max([action.members for action in placings if isinstance(action, Place)], default=0)
    return [members // 8 for members in found]
