"""Who finished ahead of whom, less the luck of the match: values for a comparison, match after match."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from harness.core.game import Game
from harness.core.types import GameRecord
from harness.ratings.bounded_luck import bounded_value
from harness.ratings.expectations import Expectations
from harness.ratings.units import Duel
from harness.ratings.value_function import ValueFunction, Valuer

Judged = tuple[str, str, tuple[int, ...], tuple[float, ...]]
"""A match and one of its two bots, how it ended, and what was expected of it."""


class DuelJudge:
    """Takes the luck out of the matches of one game in a run."""

    def __init__(self, game: Game[Any], function: ValueFunction) -> None:
        self.game, self.function = game, function
        self._valuer = Valuer(function)
        self._known: dict[Judged, float] = {}

    def duel(self) -> Duel:
        """Judges the matches of a comparison, if it is shown them once each and in the order of the schedule: what it
        expects of a match comes from those that it was shown before, other deals only."""
        expectations = Expectations()

        def judged(record: GameRecord, one: str, other: str) -> float:
            return self._value(record, one, other, expectations.before(record))

        return judged

    def _value(self, record: GameRecord, one: str, other: str, expected: Sequence[float]) -> float:
        """Looked up if it is known: a run is judged while it is played, and again for its verdict."""
        key = (record.id, one, record.ranks, tuple(expected))
        if key not in self._known:
            seats = record.seats.index(one), record.seats.index(other)
            phases = self.function.phases
            self._known[key] = bounded_value(self.game, record, self._valuer, expected, seats, phases=phases)
        return self._known[key]
