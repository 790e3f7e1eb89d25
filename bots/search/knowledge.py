"""The part of a view that all seats share, found by comparing views: engines need not declare what they hide."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from operator import attrgetter
from random import Random
from typing import Any

from harness import Chance, Game, View

PRACTICE_GAMES = 3


@lru_cache(maxsize=64)
def public_part(game: Game[Any], players: int) -> Callable[[View], object]:
    """Return a function from a view to the part of it that all seats share, for use as a key.

    A field that ever differs between two seats' views in a few practice games is treated as private, as a whole:
    leaving out too much only makes the search coarser, letting in too much would let it see hidden things.
    """
    rng = Random(0)  # the same practice on every machine: the answer belongs to the rules alone
    private = {"seat"}
    for _ in range(PRACTICE_GAMES):
        _practise(game, players, rng, private)
    shared = [field for field in game.view_type.__struct_fields__ if field not in private]
    return attrgetter(*shared)


def _practise(game: Game[Any], players: int, rng: Random, private: set[str]) -> None:
    """Play one random game and add the fields in which views differ to `private`."""
    state = game.new(players, Chance(rng.getrandbits(48)))
    while state.legal:
        first, *others = [state.view(seat) for seat in range(players)]
        for field in first.__struct_fields__:
            if field not in private and any(getattr(view, field) != getattr(first, field) for view in others):
                private.add(field)
        state.step(state.legal[int(rng.random() * len(state.legal))])
