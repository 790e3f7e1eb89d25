"""OpenSpiel's loop: a game by its name, optionally with a seat's observation read at each decision.

Luck comes from `chance_outcomes`, as in its own examples. In these games they are equally likely, so one is picked as
cheaply as an action is, and "bare deals" does without the probabilities: no loop in Python can be quicker.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib.metadata import version
from random import Random
from typing import Any

import pyspiel


def prepare(workload: str) -> Callable[[int], int]:
    """A game and what is asked for, as in "hearts, information state"."""
    name, _, asked = workload.partition(", ")
    if name.startswith("python_"):
        import open_spiel.python.games  # noqa: F401 - registers them
    game = pyspiel.load_game(name)
    know, bare = _asked(asked, game), asked == "bare deals"

    def match(seed: int) -> int:
        random, choices = Random(seed).random, 0
        state = game.new_initial_state()
        while not state.is_terminal():
            seat = state.current_player()
            if seat < 0 and not bare:
                outcomes = state.chance_outcomes()
                state.apply_action(outcomes[int(random() * len(outcomes))][0])
                continue
            legal = state.legal_actions()
            if seat >= 0 and len(legal) > 1:
                choices += 1
                if know is not None:
                    know(state, seat)
            state.apply_action(legal[int(random() * len(legal))])
        return choices

    return match


def _asked(what: str, game: Any) -> Callable[[Any, int], object] | None:
    """The observation at each decision: none, a tensor as a list, or one that is written into a numpy array."""
    if what == "information state":
        return lambda state, seat: state.information_state_tensor(seat)
    if what == "observation":
        return lambda state, seat: state.observation_tensor(seat)
    if what == "numpy observer":
        from open_spiel.python.observation import make_observation

        recall = not game.get_type().provides_observation_tensor  # then it has the other one
        kind = pyspiel.IIGObservationType(perfect_recall=recall)
        write: Callable[[Any, int], object] = make_observation(game, kind).set_from
        return write
    return None


def versions() -> dict[str, str]:
    """Of what is measured."""
    return {"open_spiel": version("open_spiel")}
