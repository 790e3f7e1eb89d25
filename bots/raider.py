"""An X-Pasch character: lets others found companies, and takes them."""

from __future__ import annotations

from collections.abc import Sequence

from engines.x_pasch import Draw, Found, Move, Place, XPasch, XPaschView, leader
from harness import NOBODY, Action, Bot


class Raider(Bot[XPaschView]):
    """Packs its members where others collect, to take or spoil the income; founds only while the table is bare."""

    games = ("x-pasch",)
    game: XPasch

    def choose(self, view: XPaschView, actions: Sequence[Action]) -> Action:
        """Return the use of the dice that hurts most."""
        return max(actions, key=lambda action: self._harm(view, action))

    def _harm(self, view: XPaschView, action: Action) -> float:
        match action:
            case Place():
                return self._swing(view, action.company, action.members) + action.members / 10
            case Move():
                return self._swing(view, action.source, -1) + self._swing(view, action.target, 1)
            case Found() if len(view.table) < view.players:
                return self.game.companies[action.card].income
            case Draw():
                return 0.05
            case _:
                return 0 if action.kind in ("keep", "stop") else -1

    def _swing(self, view: XPaschView, company: int, members: int) -> int:
        """Return what this does to the company's income: mine counts, and so does what others lose."""
        board = list(view.on(company))
        before = leader(tuple(board))
        board[self.seat] += members
        after = leader(tuple(board))
        mine = (after == self.seat) - (before == self.seat)
        theirs = (after not in (self.seat, NOBODY)) - (before not in (self.seat, NOBODY))
        return self.game.companies[company].income * (mine - theirs)
