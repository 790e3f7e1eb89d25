"""An X-Pasch expert with an eye for boards, and no plan."""

# mypyc compiles this module. `mypyc_attr` keeps methods overridable for plain Python subclasses. Structs and
# dataclasses are in other modules: mypyc silently loses what makes them frozen.

from __future__ import annotations

from collections.abc import Sequence

from mypy_extensions import mypyc_attr

from bots.tycoon import LONG, MEMBER, REMEMBERED, Board, Ladder, Tycoon, card_worth, foundings, servings
from engines.x_pasch import Found, Move, Place, Reroll, XPaschView
from harness import Action


@mypyc_attr(allow_interpreted_subclasses=True)
class Hustler(Tycoon):
    """Sees what tycoon sees, but uses one die after another where it does most at the moment: a quick guide."""

    def start(self) -> None:
        """Forget plans, but not the known boards."""
        super().start()
        if not hasattr(self, "known"):
            self.known: dict[tuple[int, Board], Changes] = {}

    def choose(self, view: XPaschView, actions: Sequence[Action]) -> Action:
        """Return the best next step, whatever may follow."""
        if view.phase == "swap":
            return min(actions, key=self._promise)
        moment = Moment(self, view)
        if view.phase == "reroll":
            return self._again(view, actions, moment)
        return moment.best(actions)

    def changes(self, company: int, board: Board) -> Changes:
        """Return what members that come or go are worth on this board."""
        found = self.known.get((company, board))
        if found is None:
            if len(self.known) > REMEMBERED:
                self.known.clear()
            found = self.known[company, board] = Changes(self._ladder(company, board), board[self.seat])
        return found

    def _again(self, view: XPaschView, actions: Sequence[Action], moment: Moment) -> Action:
        """Return the re-roll of a die that the best placing does not need, or of any if none is worth it."""
        few = moment.supply <= self.game.tables.small_supply
        placings = servings(self.game, view.table, view.dice, few) + foundings(self.game, view.hand, view.dice)
        best = moment.best(placings) if placings else None
        kept = list(best.dice) if isinstance(best, Place | Found) and moment.gain(best) > 0 else []
        for action in actions:
            if isinstance(action, Reroll) and view.dice.count(action.face) > kept.count(action.face):
                return action
        return actions[-1]


class Changes:
    """A board in my turn: what it is worth by the number of my members, relative to what it is worth now."""

    __slots__ = ("fewer", "ladder", "mine", "more")

    def __init__(self, ladder: Ladder, mine: int) -> None:
        self.ladder, self.mine = ladder, mine
        self.more: float = ladder[mine + 1] - ladder[mine]
        """What one member more adds."""
        self.fewer: float = ladder[mine - 1] - ladder[mine] if mine else 0.0
        """What one member fewer adds, if there is one."""


class Moment:
    """Values that are computed once for all steps that can be taken now."""

    __slots__ = ("_changes", "bot", "card", "empty", "member", "supply")

    def __init__(self, bot: Hustler, view: XPaschView) -> None:
        self.bot, self.supply = bot, view.supply[bot.seat]
        future = future_of(bot.game.tables.target, view)
        self.card: float = future * card_worth(len(view.hand), 1)
        """The worth of a card in hand."""
        self.member: float = future * MEMBER
        """The worth of a member that is not placed."""
        self.empty: Board = (0,) * bot.players
        changes = bot.changes
        self._changes: dict[int, Changes] = {}
        for company, board in zip(view.table, view.members, strict=True):
            self._changes[company] = changes(company, board)

    def best(self, actions: Sequence[Action]) -> Action:
        """Return the first of the steps that gain most."""
        best, most = actions[0], float("-inf")
        changes, card = self._changes, self.card
        for action in actions:
            if isinstance(action, Move):  # by far the most
                gain = changes[action.source].fewer + changes[action.target].more - card
            else:
                gain = self.gain(action)
            if gain > most:
                best, most = action, gain
        return best

    def gain(self, action: Action) -> float:
        """Return what a step other than a move adds to the worth of the table, less the cards that its dice could
        draw."""
        if isinstance(action, Place):
            members, change = min(action.members, self.supply), self._changes[action.company]
            added = change.ladder[change.mine + members] - change.ladder[change.mine]
            return added - self.member * members - self.card * len(action.dice)
        if isinstance(action, Found):
            members = min(self.bot.game.companies[action.card].founding, self.supply)
            board = self.bot.changes(action.card, self.empty).ladder
            return board[members] - self.member * members - self.card * (len(action.dice) + 1)
        return 0.0 if action.kind == "draw" else -self.card


def future_of(target: int, view: XPaschView) -> float:
    """Return the weight of unused cards and members: 1 when the end is far away, down to 0."""
    least, euros, income = float(LONG), view.euros, view.income
    for seat in range(len(euros)):
        to_go = (target - euros[seat]) / max(1, income[seat])
        if to_go < least:
            least = to_go
    return max(0.0, least / LONG)
