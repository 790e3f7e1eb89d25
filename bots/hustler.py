"""An X-Pasch expert with an eye for boards, and no plan."""

from __future__ import annotations

from collections.abc import Sequence

from bots.tycoon import MEMBER, Tycoon, card_worth, foundings, servings
from engines.x_pasch import Found, Move, Place, Reroll, XPaschView
from harness import Action


class Hustler(Tycoon):
    """Sees what tycoon sees, but uses one die after another where it does most at the moment: a quick guide."""

    def choose(self, view: XPaschView, actions: Sequence[Action]) -> Action:
        """The best next step, whatever may follow."""
        if view.phase == "swap":
            return min(actions, key=self._promise)
        self.future = self._future(view)
        self.card = self.future * card_worth(len(view.hand), 1)
        self.member = self.future * MEMBER
        self.boards = {
            company: (self._ladder(company, board), board[self.seat])
            for company, board in zip(view.table, view.members, strict=True)
        }
        if view.phase == "reroll":
            return self._again(view, actions)
        return max(actions, key=lambda action: self._gain(view, action))

    def _gain(self, view: XPaschView, action: Action) -> float:
        """What a step adds to the worth of the table, less the cards that its dice could draw."""
        if isinstance(action, Place):
            members = min(action.members, view.supply[self.seat])
            return self._added(action.company, members) - self.member * members - self.card * len(action.dice)
        if isinstance(action, Move):
            return self._added(action.source, -1) + self._added(action.target, 1) - self.card
        if isinstance(action, Found):
            members = min(self.game.companies[action.card].founding, view.supply[self.seat])
            board = self._ladder(action.card, (0,) * self.players)
            return board[members] - self.member * members - self.card * (len(action.dice) + 1)
        return 0.0 if action.kind == "draw" else -self.card

    def _added(self, company: int, members: int) -> float:
        """What so many members more are worth on a board."""
        worth, mine = self.boards[company]
        return worth[mine + members] - worth[mine]

    def _again(self, view: XPaschView, actions: Sequence[Action]) -> Action:
        """Rolls a die once more that the best placing does not need, or any if none is worth it."""
        few = view.supply[self.seat] <= self.game.tables.small_supply
        placings = servings(self.game, view.table, view.dice, few) + foundings(self.game, view.hand, view.dice)
        best = max(placings, key=lambda action: self._gain(view, action), default=None)
        kept = list(best.dice) if best and self._gain(view, best) > 0 else []
        for action in actions:
            if isinstance(action, Reroll) and view.dice.count(action.face) > kept.count(action.face):
                return action
        return actions[-1]
