"""One-ply search: tries every action in worlds that fit the view, and takes the one after which things look best."""

from collections.abc import Sequence

from engines.x_pasch import XPaschView
from harness import Action, Bot, Option

ROUNDS = 6  # how many rounds of income are as good as money


class OnePly(Bot[XPaschView]):
    """Looks one action ahead, and counts money and income."""

    games = ("x-pasch",)
    options = (Option("worlds", 4, "imagined worlds a decision", kind="int", minimum=1),)

    def choose(self, view: XPaschView, actions: Sequence[Action]) -> Action:
        hopes = [0.0] * len(actions)
        for _ in range(self.settings["worlds"]):
            world = self.game.imagine(view, self.rng)
            for number, action in enumerate(actions):
                state = world.clone()
                state.apply(action)
                hopes[number] += self.worth(state.view(self.seat))
        return actions[hopes.index(max(hopes))]

    def worth(self, view: XPaschView) -> float:
        """How I stand compared with the best of the others; cards in hand are a little more than nothing."""
        total = [euros + ROUNDS * income for euros, income in zip(view.euros, view.income, strict=True)]
        others = [each for seat, each in enumerate(total) if seat != self.seat]
        return total[self.seat] - max(others) + len(view.hand)
