"""Seats a search bot at a game, as the referee does."""

from __future__ import annotations

from random import Random
from typing import Any, TypeVar

from bots.search.base import SearchBot
from harness import Chance, Game, State, View
from harness.plugins.entrants import enter

B = TypeVar("B", bound=SearchBot)


def seated(bot: type[B], game: Game[Any], view: View, players: int = 2, seed: int = 1, **options: object) -> B:
    """The bot in the seat of this view, started."""
    player = enter(bot, options, "", "", "").seat(game, view.seat, players, seed)
    assert isinstance(player, bot)
    player.start()
    return player


def some_states(game: Game[Any], players: int, seed: int, wanted: int) -> list[State[Any]]:
    """Copies of states spread over one random game, each with a choice to be made."""
    state, rng, met = game.new(players, Chance(seed)), Random(seed), []
    while state.legal:
        if len(state.legal) > 1:
            met.append(state.clone())
        state.step(rng.choice(state.legal))
    return met[:: max(1, len(met) // wanted)][:wanted]
