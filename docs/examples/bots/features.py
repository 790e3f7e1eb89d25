"""What the network sees of a view: a module beside the bot, which the training uses too."""

import numpy as np

from engines.el_paso import ElPasoView


def features(view: ElPasoView) -> np.ndarray:
    """Figures of about the same size."""
    mine = sorted(value for site in view.my_tiles for value in site)
    tops = [stack[0] for stack in view.stacks if stack]
    return np.array([
        1.0,
        view.stars / 5,
        view.town / 7,
        len(view.in_town) / view.players,
        view.next_limit / 5,
        bool(view.leaving),
        sum(mine) / 50,
        sum(mine[-view.next_limit :]) / 20,
        max(tops, default=0) / 10,
    ])  # fmt: skip
