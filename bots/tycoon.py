"""An X-Pasch expert: plans the whole turn, and counts which majorities will last."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from itertools import product
from math import exp
from typing import NamedTuple

from msgspec.structs import replace

from engines.x_pasch import Draw, Found, Move, Place, Reroll, Swap, XPasch, XPaschState, XPaschView
from harness import Action, Bot

Dice = tuple[int, ...]

FACES = range(1, 7)

# Worth is counted in euros a turn. Most figures were found by playing, some are guesses.
GRIP = 1.3  # how soon a lead counts as safe
ANYWHERE = 0.4  # members that a rival brings to any company, whatever it requires: by triples and by moves
SPITE = 0.35  # what a euro that a rival expects costs me
CARD, SPARE_CARD, HANDFUL = 0.6, 0.15, 3  # each card in hand up to a handful, and each one beyond
MEMBER = 0.08  # each member that I have not placed yet
GOOD_CARD = 1.2  # income times reach of a card that is not put back
LONG = 8  # with so many rounds to go, cards and members are worth all of that; towards the end less and less


class Plan(NamedTuple):
    """What to do with the dice, and what the table is worth to me after it."""

    worth: float
    steps: tuple[Action, ...]


class Tycoon(Bot):
    """Tries every use of its dice to the end of the turn, and wants majorities that rivals cannot easily break."""

    games = ("x-pasch",)
    game: XPasch

    def start(self) -> None:
        """Works out how easily each company is served."""
        self.reach = [reach(company.ways) for company in self.game.companies]
        self.round = 0
        self.steps: list[Action] = []

    def choose(self, view: XPaschView, actions: Sequence[Action]) -> Action:
        """The next step of this turn's plan."""
        if view.phase == "swap":
            return min(actions, key=self._promise)
        # Steps without an alternative are not asked for, so a plan can have some left over when its turn ends.
        if not self.steps or self.round != view.round or self.steps[0] not in actions:
            self.round, self.future = view.round, self._future(view)
            self.boards: dict[tuple[int, tuple[int, ...]], float] = {}
            if view.phase == "reroll":
                return max(actions, key=lambda action: self._second_chance(view, action))
            self.steps = list(self._plan(self.game.imagine(view, self.rng)).steps)
        return self.steps.pop(0)

    def _plan(self, state: XPaschState, after: int = 0) -> Plan:
        """The best use of the dice. Two placings can be made in either order: only that of their codes is tried."""
        best = self._finish(state)
        for action in state.legal:
            if isinstance(action, Found | Place) and action.code >= after:
                then = state.clone()
                then.step(action)
                rest = self._plan(then, action.code) if self._has_dice(then) else Plan(self._worth(then), ())
                if rest.worth > best.worth:
                    best = Plan(rest.worth, (action, *rest.steps))
        return best

    def _finish(self, state: XPaschState) -> Plan:
        """The dice left go into moves, the best one first, while a move helps more than a card; then into cards."""
        state = state.clone()
        steps: list[Action] = []
        while moves := [action for action in state.legal if isinstance(action, Move)]:
            gain, move = max(((self._gain(state, move), move) for move in moves), key=lambda pair: pair[0])
            if gain <= self.future * _card(len(state.hands[self.seat])):
                break
            state.step(move)
            steps.append(move)
            if not self._has_dice(state):
                return Plan(self._worth(state), tuple(steps))
        last = state.legal[-1]
        worth = self._worth(state)
        for action in state.legal:
            if isinstance(action, Draw):
                held = len(state.hands[self.seat])
                worth += self.future * sum(_card(held + drawn) for drawn in range(len(state.dice)))
                last = action
        return Plan(worth, (*steps, last))

    def _has_dice(self, state: XPaschState) -> bool:
        return state.seat == self.seat and bool(state.dice)

    def _gain(self, state: XPaschState, move: Move) -> float:
        """What a move adds to the worth of its two boards."""
        total = 0.0
        for company, change in ((move.source, -1), (move.target, 1)):
            board = state.members[state.table.index(company)]
            moved = (*board[: self.seat], board[self.seat] + change, *board[self.seat + 1 :])
            total += self._board(company, moved) - self._board(company, board)
        return total

    def _worth(self, state: XPaschState) -> float:
        boards = sum(self._board(company, board) for company, board in zip(state.table, state.members, strict=True))
        cards = sum(_card(held) for held in range(len(state.hands[self.seat])))
        return boards + self.future * (cards + MEMBER * state.supply[self.seat])

    def _board(self, company: int, board: tuple[int, ...]) -> float:
        """The income that I can expect from a board, less some of what others can expect of it."""
        worth = self.boards.get((company, board))
        if worth is None:
            worth = 0.0
            doubt = (ANYWHERE + self.reach[company]) / GRIP
            for seat, members in enumerate(board):
                if members:
                    rival = max(other for place, other in enumerate(board) if place != seat)
                    collects = 1 / (1 + exp((rival + 0.5 - members) / doubt))  # a tie pays nobody
                    worth += collects if seat == self.seat else -SPITE * collects
            worth *= self.game.companies[company].income
            self.boards[company, board] = worth
        return worth

    def _future(self, view: XPaschView) -> float:
        """From 1, when the end is far away, down to 0: what cards and members not yet used can still bring."""
        to_go = [(self.game.tables.target - euros) / max(1, view.income[s]) for s, euros in enumerate(view.euros)]
        return max(0.0, min(1.0, min(to_go) / LONG))

    def _second_chance(self, view: XPaschView, action: Action) -> float:
        """The worth of the best plan, averaged over what the die may show when it is rolled again."""
        rolls = _rerolled(view.dice, action.face) if isinstance(action, Reroll) else [view.dice]
        views = [replace(view, phase="dice", dice=dice) for dice in rolls]
        return sum(self._plan(self.game.imagine(then, self.rng)).worth for then in views) / len(views)

    def _promise(self, action: Action) -> float:
        if isinstance(action, Swap):
            return self.game.companies[action.card].income * self.reach[action.card]
        return GOOD_CARD


@cache
def reach(ways: tuple[Dice, ...]) -> float:
    """How many members one roll brings on average to a company that is served in these ways."""
    rolls = list(product(FACES, repeat=3))
    return sum(max((len(way) for way in ways if _holds(roll, way)), default=0) for roll in rolls) / len(rolls)


def _holds(roll: Dice, way: Dice) -> bool:
    return all(roll.count(face) >= way.count(face) for face in way)


def _rerolled(dice: Dice, face: int) -> list[Dice]:
    kept = list(dice)
    kept.remove(face)
    return [tuple(sorted((*kept, new))) for new in FACES]


def _card(held: int) -> float:
    """The worth of one more card in a hand that holds so many."""
    return CARD if held < HANDFUL else SPARE_CARD
