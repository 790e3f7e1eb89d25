"""An El Paso bot that runs at the second star."""

from __future__ import annotations

from collections.abc import Sequence

from engines.el_paso import ElPasoView, Leave, Play, Stay
from harness import Action, Bot, Option


class Skittish(Bot[ElPasoView]):
    """Plays its highest cards and leaves town at the second star."""

    games = ("el-paso",)
    options = (
        Option("stars", 2, "leave when this many dice are on the sheriff field", kind="int", minimum=1, maximum=5),
    )

    def choose(self, view: ElPasoView, actions: Sequence[Action]) -> Action:
        """Leave early, otherwise choose by value."""
        if view.phase == "answer":
            run = view.stars >= int(self.settings["stars"]) and any(view.my_tiles)
            return next(action for action in actions if isinstance(action, Leave if run else Stay))
        if view.phase == "play":
            return max(actions, key=lambda a: a.value if isinstance(a, Play) and view.stacks[a.site] else 0)
        return actions[-1]
