"""Ways of playing many matches. Each gives the same records for the same specs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from harness.entrants import Entrant
from harness.game import Game
from harness.referee import NO_LIMITS, Limits, play
from harness.types import GameRecord, MatchSpec


def serial(
    specs: Iterable[MatchSpec],
    games: Mapping[str, Game[Any]],
    entrants: Mapping[str, Entrant],
    limits: Limits = NO_LIMITS,
) -> Iterator[GameRecord]:
    """Plays the matches one after the other in this process."""
    for spec in specs:
        yield play(spec, games[spec.game], [entrants[name] for name in spec.seats], limits)
