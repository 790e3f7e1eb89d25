"""Our own loop: matches through the referee, a view for each decision, bots that choose at random.

It may run in an older arena than this one, and so uses only names that have been there for long.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import harness.match.referee as referee
from harness._version import VERSION
from harness.core.bot import Bot
from harness.core.types import MatchSpec
from harness.plugins.entrants import enter
from harness.plugins.registry import load


class RandomChooser(Bot):
    """Picks any legal action."""

    def start(self) -> None:
        """Binds the generator's method once."""
        self.random = self.rng.random

    def choose(self, view: Any, actions: Sequence[Any]) -> Any:
        """Any legal action."""
        return actions[int(self.random() * len(actions))]


def prepare(workload: str) -> Callable[[int], tuple[int, int]]:
    """A game and its number of players, as in "el-paso/4"; the referee carries out what is forced uncounted."""
    _, _, record = recorder(workload)

    def match(seed: int) -> tuple[int, int]:
        return len(record(seed).actions), 0

    return match


def recorder(workload: str) -> tuple[Any, int, Callable[[int], Any]]:
    """The game, the number of players, and what plays a match of random bots."""
    name, _, players = workload.partition("/")
    game, seats = load().game(name).configure(), ("random",) * int(players)
    entrants = [enter(RandomChooser, {}, "", "", "")] * len(seats)
    play = referee.play

    def record(seed: int) -> Any:
        return play(MatchSpec.single("bench", name, {}, seed, seats), game, entrants)

    return game, len(seats), record


def versions() -> dict[str, str]:
    """Of arena, and whether its referee is compiled."""
    form = "pure Python" if str(referee.__file__).endswith(".py") else "compiled"
    return {"arena": f"{VERSION} ({form})"}
