"""An X-Pasch character: founds whatever it can and builds its own boards."""

from __future__ import annotations

from collections.abc import Sequence

from engines.x_pasch import Draw, Found, Place, XPasch, XPaschView
from harness import Action, Bot


class Founder(Bot[XPaschView]):
    """Founds the richest company it can, then packs the boards where it already sits; never moves, never swaps."""

    games = ("x-pasch",)
    game: XPasch

    def choose(self, view: XPaschView, actions: Sequence[Action]) -> Action:
        """Return the proudest use of the dice."""
        return max(actions, key=lambda action: self._pride(view, action))

    def _pride(self, view: XPaschView, action: Action) -> tuple[int, int]:
        companies = self.game.companies
        match action:
            case Found():
                return 4, companies[action.card].income
            case Place() if view.on(action.company)[self.seat]:
                return 3, companies[action.company].income * action.members
            case Draw():
                return 2, 0
            case _:
                return int(action.kind in ("keep", "stop")), 0
