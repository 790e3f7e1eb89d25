"""An El Paso bot that stays to the last."""

from __future__ import annotations

from collections.abc import Sequence

from engines.el_paso import Carry, Draw, ElPasoView, Leave, Play, Stay
from harness import Action, Bot


class Diehard(Bot[ElPasoView]):
    """Goes where the richest tile lies and stays until one die alone is free."""

    games = ("el-paso",)

    def choose(self, view: ElPasoView, actions: Sequence[Action]) -> Action:
        """Return the best tile in town, the best tile to carry, or the longest pile."""
        if view.phase == "answer":
            run = view.stars >= 4 and any(view.my_tiles)
            return next(action for action in actions if isinstance(action, Leave if run else Stay))

        def wish(action: Action) -> int:
            if isinstance(action, Play):
                return 10 * max(view.stacks[action.site][:1], default=0) + action.value
            if isinstance(action, Carry):
                return action.value
            return len(view.piles[action.site]) if isinstance(action, Draw) else 0

        return max(actions, key=wish)
