"""Simulated results of bots whose strength is known: to look at a schedule in advance, for estimates and tests."""

from __future__ import annotations

from collections.abc import Mapping

from harness.core.chance import Chance
from harness.core.types import GameRecord, MatchSpec, ranks_of

SCALE = 1000
"""Scores are whole numbers: performances in thousandths."""


def simulated_record(spec: MatchSpec, strengths: Mapping[str, float], luck: Chance) -> GameRecord:
    """A record of bots that perform by a normal distribution about their strength (Thurstone's model)."""
    rng = luck.rng("rehearsal", spec.id)  # the name of a stream stays, so that simulations can be repeated
    scores = tuple(round(SCALE * rng.gauss(strengths.get(name, 0.0), 1.0)) for name in spec.seats)
    return GameRecord(
        id=spec.id,
        index=spec.index,
        set=spec.set,
        game=spec.game,
        rules="",
        options=spec.options,
        seed=spec.seed,
        seats=spec.seats,
        scores=scores,
        ranks=ranks_of(scores),
        ending="made up",
        actions=(),
        decisions=(0,) * len(spec.seats),
    )
