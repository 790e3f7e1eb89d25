"""Our own loop: matches through the referee, a view for each decision, bots that choose at random.

It is started by path, and may run in another version of Arena than this one. So it imports names of the façade only,
and knows one internal path: that of the referee.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any

from harness import Bot, MatchSpec, __version__, play_match

REFEREE = "harness.match.referee"
"""The module whose `play` is measured. It keeps this path, for the façade has no way to it: `play_match` looks for
installed plugins each time, which takes longer than the match."""


class RandomChooser(Bot):
    """Picks any legal action."""

    def start(self) -> None:
        """Bind the generator's method once."""
        self.random = self.rng.random

    def choose(self, view: Any, actions: Sequence[Any]) -> Any:
        """Return any legal action."""
        return actions[int(self.random() * len(actions))]


class Chooser:
    """An entrant as the referee needs it: a name, and a bot for each seat."""

    name = RandomChooser.name

    def seat(self, game: Any, seat: int, players: int, seed: int) -> Bot:
        """Return a bot for one seat of one match, not yet started."""
        return RandomChooser().seated(game, seat, players, seed, {})


def prepare(workload: str) -> Callable[[int], int]:
    """Return what plays a match of a game and a number of players, as in "el-paso/4".

    It returns the choices that were made. The referee carries out forced choices, which are not counted.
    """
    _, _, record = recorder(workload)

    return lambda seed: len(record(seed).actions)


def recorder(workload: str) -> tuple[Any, int, Callable[[int], Any]]:
    """Return the game, the number of players, and what plays a match of random bots and returns its record."""
    name, _, players = workload.partition("/")
    seats = ("random",) * int(players)
    game = play_match(name, seats, seed=0).game
    entrants = [Chooser()] * len(seats)
    play = import_module(REFEREE).play

    def record(seed: int) -> Any:
        return play(MatchSpec.single("bench", name, {}, seed, seats), game, entrants)

    return game, len(seats), record


def versions() -> dict[str, str]:
    """Return the version of Arena, and whether its referee is compiled."""
    form = "pure Python" if str(import_module(REFEREE).__file__).endswith(".py") else "compiled"
    return {"arena": f"{__version__} ({form})"}
