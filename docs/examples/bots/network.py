"""A network: loaded once, when the file is imported, from the weights beside it. Another bot plays the cards."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from features import features

from engines.el_paso import ElPasoView
from harness import Action, Bot, bot_named

with np.load(Path(__file__).parent / "weights.npz") as kept:  # read now: the file is not open when the bot plays
    HIDDEN, OUT = kept["hidden"], kept["out"]


class Network(Bot[ElPasoView]):
    """Leaves town when its network, trained on an expert's decisions, says so."""

    games = ("el-paso",)
    files = ("weights.npz",)

    def start(self) -> None:
        self.hands = bot_named("diehard")().seated(self.game, self.seat, self.players, self.seed, {})
        self.hands.start()

    def choose(self, view: ElPasoView, actions: Sequence[Action]) -> Action:
        if view.phase == "answer":
            stay, leave = actions
            return leave if np.tanh(features(view) @ HIDDEN) @ OUT > 0 else stay
        return self.hands.choose(view, actions)
