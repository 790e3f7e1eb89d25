"""How fast a bot thinks: decisions a second of its own time, at a table of random bots."""

from __future__ import annotations

from time import perf_counter
from typing import Any

from harness.bench.engine_speed import UNIFORM
from harness.core.game import Game
from harness.core.types import MatchSpec
from harness.match.referee import play
from harness.plugins.entrants import Entrant


def measure_bot(entrant: Entrant, game: Game[Any], players: int, seconds: float) -> float:
    """Decisions a second; at least one match is played, in seat 0."""
    seats = [entrant, *[UNIFORM] * (players - 1)]
    began, decisions, spent, number = perf_counter(), 0, 0.0, 0
    while not number or perf_counter() - began < seconds:
        number += 1
        names = tuple(each.name for each in seats)
        record = play(MatchSpec.single(f"bench-{number}", game.name, {}, number, names), game, seats)
        decisions += record.decisions[0]
        spent += record.time[0]
    return decisions / spent if spent else 0.0
