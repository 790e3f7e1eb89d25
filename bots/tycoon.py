"""An X-Pasch expert: plans the whole turn, and counts which majorities will last."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache
from itertools import combinations, product
from math import exp, fsum
from operator import getitem
from typing import NamedTuple, cast

from engines.x_pasch import Found, Move, Place, Reroll, Swap, XPasch, XPaschView
from harness import Action, Bot, Option

Dice = tuple[int, ...]
Board = tuple[int, ...]
Cards = tuple[int, ...]

FACES = range(1, 7)
ROLLS = Counter(tuple(sorted(roll)) for roll in product(FACES, repeat=3))
"""How many of the 216 ways to throw three dice show the same faces."""

# Worth is counted in euros a turn. Most figures were found by playing, some are guesses.
GRIP = 1.3  # how soon a lead counts as safe
ANYWHERE = 0.4  # members that a rival brings to any company, whatever it requires: by triples and by moves
SPITE = 0.35  # what a euro that a rival expects costs me
CARD, SPARE_CARD, HANDFUL = 0.6, 0.15, 3  # each card in hand up to a handful, and each one beyond
MEMBER = 0.08  # each member that I have not placed yet
GOOD_CARD = 1.2  # income times reach of a card that is not put back
LONG = 8  # with this many rounds left, cards and members have their full worth; towards the end less and less

REMEMBERED = 1 << 14  # boards, and tables with dice, that are kept in mind: most come up again soon


class Plan(NamedTuple):
    """What to do with the dice, and what the table is worth to me after it."""

    worth: float
    steps: tuple[Action, ...]


class Ladder(dict[int, float]):
    """The worth of a board to me by the number of my members, as rivals do not change it in my turn."""

    __slots__ = ("income", "reach", "rivals", "seat")

    def __init__(self, income: int, reach: float, seat: int, rivals: Board) -> None:
        super().__init__()
        self.income, self.reach, self.seat, self.rivals = income, reach, seat, rivals

    def __missing__(self, mine: int) -> float:
        """Return the income that I can expect from the board, less some of what others can expect of it."""
        board = _replaced(self.rivals, self.seat, mine)
        *_, second, most = sorted(board)
        share = 0.0
        for seat, members in enumerate(board):
            if members:
                collects = lasting(self.reach, members - (second if members == most else most))
                share += collects if seat == self.seat else -SPITE * collects
        worth = self[mine] = share * self.income
        return worth


@dataclass(slots=True, eq=False)
class Position:
    """A point of my turn: the part of the game that foundings and placings change."""

    stage: str
    hand: Cards
    supply: int
    table: tuple[int, ...]
    ladders: tuple[Ladder, ...]
    mine: tuple[int, ...]
    """For each company on the table, my members there."""
    then: dict[Action, Position] = field(default_factory=dict)
    """Where placings lead from here. Rolls that have dice in common share positions, which are worked out once."""
    finish: Plan | None = None
    """The best use of the other dice if nothing more is placed: their faces do not count for that."""


class Tycoon(Bot[XPaschView]):
    """Tries every use of its dice to the end of the turn, and wants majorities that rivals cannot easily break."""

    games = ("x-pasch",)
    options = (Option("explain", False, "note the reason for each choice", kind="bool"),)
    game: XPasch

    def start(self) -> None:
        """Compute how easily each company is served."""
        self.reach = reaches(self.game)
        self.round = 0
        self.steps: list[Action] = []

    def choose(self, view: XPaschView, actions: Sequence[Action]) -> Action:
        """Return the next step of this turn's plan."""
        action = self._next_step(view, actions)
        if self.settings.get("explain"):
            self.note(self._reason(view, action, actions))
        return action

    def _reason(self, view: XPaschView, action: Action, actions: Sequence[Action]) -> str:
        """Return why I choose so, in euros a turn."""
        if view.phase == "swap":
            least = min(map(self._promise, (each for each in actions if isinstance(each, Swap))))
            return (
                f"My least promising card should earn {least:.1f} euros a turn; a new card should earn {GOOD_CARD:.1f}."
            )
        position = self._look(view)
        now = self._worth(position, position.mine)
        if view.phase == "reroll":
            chances = [chance - now for chance in self._chances(position, view.dice, actions)]
            each = [f"{other} {chance:.1f}" for other, chance in zip(actions, chances, strict=True)]
            return f"What my turn adds, in euros a turn, on average: {', '.join(each)}."
        adds = self._plan(position, view.dice).worth - now
        return (
            f"My plan for these dice: {', then '.join(map(str, (action, *self.steps)))}. It adds {adds:.1f} euros a "
            "turn: what my majorities will pay while they last, less what others expect."
        )

    def _next_step(self, view: XPaschView, actions: Sequence[Action]) -> Action:
        if view.phase == "swap":
            return min(actions, key=self._promise)
        # Steps without an alternative are not asked for, so a plan can have some left over when its turn ends.
        if not self.steps or self.round != view.round or self.steps[0] not in actions:
            position = self._look(view)
            if view.phase == "reroll":
                self.steps = []
                chances = self._chances(position, view.dice, actions)
                return actions[chances.index(max(chances))]
            self.steps = list(self._plan(position, view.dice).steps)
        return self.steps.pop(0)

    def _look(self, view: XPaschView) -> Position:
        """Return where the plan starts. What is the same all through the plan is noted."""
        self.round, self.pile, self.future = view.round, view.pile, self._future(view)
        self.old = view.table[: len(view.table) - view.fresh]  # members do not move to or from the others
        mine = tuple([board[self.seat] for board in view.members])
        self.movable = [count - new for count, new in zip(mine, view.placed, strict=True)]
        ladders = tuple(map(self._ladder, view.table, view.members))
        return Position(view.stage, view.hand, view.supply[self.seat], view.table, ladders, mine)

    def _plan(self, position: Position, dice: Dice, after: int = 0) -> Plan:
        """Return the best use of the dice. Two placings can be made in either order: only that of their codes is
        tried."""
        best = position.finish
        if best is None:
            best = position.finish = self._finish(position, len(dice))
        rest = self.game.tables.rolls[dice].rest
        for action in self._placings(position, dice):
            if action.code >= after:
                then = position.then.get(action)
                if then is None:
                    then = position.then[action] = self._placed(position, action)
                left = rest[action.dice]
                worth, steps = self._plan(then, left, action.code) if left else (self._worth(then, then.mine), ())
                if worth > best.worth:
                    best = Plan(worth, (action, *steps))
        return best

    def _placings(self, position: Position, dice: Dice) -> tuple[Found | Place, ...]:
        """Return what can be founded and placed, in the order of the legal actions."""
        if not position.supply or position.stage not in ("found", "place"):
            return ()
        few = position.supply <= self.game.tables.small_supply
        placings = servings(self.game, position.table, dice, few)
        return placings if position.stage == "place" else foundings(self.game, position.hand, dice) + placings

    def _placed(self, position: Position, action: Found | Place) -> Position:
        """Return the position that a founding or a placing leads to."""
        if isinstance(action, Found):
            return self._founded(position, action.card)
        members = min(action.members, position.supply)
        at = position.table.index(action.company)
        mine = _replaced(position.mine, at, position.mine[at] + members)
        return Position("place", position.hand, position.supply - members, position.table, position.ladders, mine)

    def _founded(self, position: Position, card: int) -> Position:
        company = card
        while company in position.table:
            company += 1  # the next of those printed alike
        members = min(self.game.companies[company].founding, position.supply)
        at = position.hand.index(card)
        hand = position.hand[:at] + position.hand[at + 1 :]
        ladders = (*position.ladders, self._ladder(company, (0,) * self.players))
        table, mine = (*position.table, company), (*position.mine, members)
        return Position("found", hand, position.supply - members, table, ladders, mine)

    def _finish(self, position: Position, dice: int) -> Plan:
        """Return the dice left go into moves, the best one first, while a move helps more than a card; then into
        cards."""
        held = len(position.hand)
        mine, movable, card = list(position.mine), self.movable.copy(), self.future * card_worth(held, 1)
        steps: list[Action] = []
        while dice and (best := self._best_move(position, mine, movable, card)):
            move, source, target = best
            for at, change in ((source, -1), (target, 1)):
                mine[at] += change
                movable[at] += change
            steps.append(move)
            dice -= 1
        worth = self._worth(position, mine)
        if dice:
            draw, stop = self.game.tables.draw_or_stop
            can_draw = self.pile and held < self.game.tables.hand_limit
            steps.append(draw if can_draw else stop)
            worth += self.future * card_worth(held, dice) if can_draw else 0.0
        return Plan(worth, tuple(steps))

    def _best_move(
        self, position: Position, mine: list[int], movable: list[int], least: float
    ) -> tuple[Move, int, int] | None:
        """Return the move that adds most to the worth of its two boards, if more than the least, and where they lie."""
        if position.stage == "draw":
            return None
        sources, targets = [], []
        for at, ladder in enumerate(position.ladders[: len(self.old)]):
            if members := mine[at]:
                worth = ladder[members]
                targets.append((at, ladder[members + 1] - worth))
                if movable[at]:
                    sources.append((at, ladder[members - 1] - worth))
        best, old, moves = None, self.old, self.game.tables.moves
        for source, fewer in sources:
            for target, more in targets:
                if fewer + more > least and (move := moves[old[source]][old[target]]):
                    least, best = fewer + more, (move, source, target)
        return best

    def _ladder(self, company: int, board: Board) -> Ladder:
        rivals = _replaced(board, self.seat, 0)
        return ladder(self.game.companies[company].income, self.reach[company], self.seat, rivals)

    def _worth(self, position: Position, mine: Iterable[int]) -> float:
        boards = fsum(map(getitem, position.ladders, mine))
        return boards + self.future * (card_worth(0, len(position.hand)) + MEMBER * position.supply)

    def _future(self, view: XPaschView) -> float:
        """Return the weight of unused cards and members: 1 when the end is far away, down to 0."""
        to_go = [(self.game.tables.target - euros) / max(1, view.income[s]) for s, euros in enumerate(view.euros)]
        return max(0.0, min(1.0, min(to_go) / LONG))

    def _chances(self, position: Position, dice: Dice, actions: Sequence[Action]) -> list[float]:
        """Return what each second chance is worth: the best plan, averaged over what the die may show."""
        rolls = [_rerolled(dice, action.face) if isinstance(action, Reroll) else [dice] for action in actions]
        worth = {roll: self._plan(position, roll).worth for roll in {roll for after in rolls for roll in after}}
        return [fsum([worth[roll] for roll in after]) / len(after) for after in rolls]

    def _promise(self, action: Action) -> float:
        if isinstance(action, Swap):
            return self.game.companies[action.card].income * self.reach[action.card]
        return GOOD_CARD


@cache
def reaches(game: XPasch) -> list[float]:
    """Return the reach of each company."""
    return [reach(company.ways) for company in game.companies]


@cache
def reach(ways: tuple[Dice, ...]) -> float:
    """Return how many members one roll brings on average to a company that is served in these ways."""
    known = frozenset(ways)
    served = {roll: [size for size in (3, 2, 1) if not known.isdisjoint(combinations(roll, size))] for roll in ROLLS}
    return sum(max(served[roll], default=0) * times for roll, times in ROLLS.items()) / ROLLS.total()


@lru_cache(REMEMBERED)
def foundings(game: XPasch, hand: Cards, dice: Dice) -> tuple[Found | Place, ...]:
    """Return what can be founded of a hand with these dice."""
    found = game.tables.rolls[dice].found
    return cast("tuple[Found, ...]", tuple(action for card in dict.fromkeys(hand) for action in found[card]))


@lru_cache(REMEMBERED)
def servings(game: XPasch, table: tuple[int, ...], dice: Dice, few: bool) -> tuple[Found | Place, ...]:
    """Return what can be placed on this table with these dice; with few members a triple's bonus adds nothing."""
    roll = game.tables.rolls[dice]
    place = roll.few if few and roll.triple else roll.place
    return cast("tuple[Place, ...]", tuple(action for company in table for action in place[company]))


@lru_cache(REMEMBERED)
def ladder(income: int, reach: float, seat: int, rivals: Board) -> Ladder:
    """Return the ladder of a board, with what was worked out of it before."""
    return Ladder(income, reach, seat, rivals)


@cache
def lasting(reach: float, lead: int) -> float:
    """Return the probability that a lead in a company of this reach lasts until it pays."""
    doubt = (ANYWHERE + reach) / GRIP
    return 1 / (1 + exp((0.5 - lead) / doubt))  # a tie pays no one


def _replaced(counts: tuple[int, ...], at: int, count: int) -> tuple[int, ...]:
    return (*counts[:at], count, *counts[at + 1 :])


def _rerolled(dice: Dice, face: int) -> list[Dice]:
    kept = list(dice)
    kept.remove(face)
    return [tuple(sorted((*kept, new))) for new in FACES]


@cache
def card_worth(held: int, more: int) -> float:
    """Return the worth of `more` cards in a hand that holds `held`."""
    return fsum(CARD if count < HANDFUL else SPARE_CARD for count in range(held, held + more))
