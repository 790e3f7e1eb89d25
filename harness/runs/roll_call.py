"""Records beside the schedule that they should be of: both are gone through once, and side by side."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from harness.core.types import GameRecord, MatchSpec


class RollCall:
    """Goes through a schedule as records of it come in. Both have nearly the same order, so only matches that are late
    are held in memory, and what has not come in the end is what is missing."""

    def __init__(self, schedule: Iterable[MatchSpec]) -> None:
        self._coming = iter(schedule)
        self._called = -1
        self._late: dict[int, MatchSpec] = {}
        self.fitting = 0
        """Matches that have come."""

    def fits(self, record: GameRecord) -> bool:
        """Whether the record is of a match of the schedule that has not come yet."""
        index = record.index
        while index > self._called:
            spec = next(self._coming, None)
            if spec is None:
                break
            if spec.index > self._called:
                self._called = spec.index
            if spec.index == index and is_of(record, spec):  # as it comes as a rule: in its turn
                self.fitting += 1
                return True
            self._late[spec.index] = spec
        due = self._late.get(index)
        if due is None or not is_of(record, due):
            return False
        del self._late[index]
        self.fitting += 1
        return True

    def missing(self) -> Iterator[MatchSpec]:
        """The matches that have not come, in the order of the schedule."""
        yield from self._late.values()
        yield from self._coming


def is_of(record: GameRecord, spec: MatchSpec) -> bool:
    """Whether the record is of exactly this match."""
    return (
        record.id == spec.id
        and record.seed == spec.seed
        and record.seats == spec.seats
        and record.index == spec.index
        and record.game == spec.game
        and record.set == spec.set
        and record.options == spec.options
    )
