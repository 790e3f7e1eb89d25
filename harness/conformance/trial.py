"""A trial is one play of a game under which the laws are checked."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

from harness.core.action import Action
from harness.core.chance import Chance
from harness.core.game import Game, State
from harness.core.types import Event

Policy = Callable[[Any, Sequence[Action], Random], Action]


def at_random(_view: object, legal: Sequence[Action], rng: Random) -> Action:
    """Any legal action."""
    return legal[int(rng.random() * len(legal))]


@dataclass(frozen=True, slots=True)
class Trial:
    """A game, a number of players, a deal, and who chooses. Random play misses what only thrift leads to:
    try other policies too."""

    game: Game[Any]
    players: int
    seed: int = 1
    policy: Policy = at_random
    most_decisions: int = 20_000

    def new(self, log: list[Event] | None = None) -> State[Any]:
        """The state at the first choice."""
        return self.game.new(self.players, Chance(self.seed), log)

    def rng(self) -> Random:
        """The generator behind the policy."""
        return Random(self.seed)

    def play(self, state: State[Any]) -> Iterator[State[Any]]:
        """Plays on; yields the state at each choice, before it is made, and once more when the game is over."""
        from harness.core.errors import ConformanceError

        rng = self.rng()
        for _ in range(self.most_decisions):
            yield state
            if not state.legal:
                return
            state.step(self.policy(state.view(state.seat), state.legal, rng))
        raise ConformanceError(f"{self} has not ended after {self.most_decisions} choices.")


def check_game(game: Game[Any], seeds: Sequence[int] = (1, 2, 3), policy: Policy = at_random) -> None:
    """Every law at every player count; raises ConformanceError at the first one that is broken."""
    from harness.conformance.laws import LAWS

    for players in range(game.min_players, game.max_players + 1):
        for seed in seeds:
            for law in LAWS:
                law(Trial(game, players, seed, policy))
