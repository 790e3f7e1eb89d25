"""How many programs wait for their next match in one process of arena's: a bounded number, whatever the field."""

from __future__ import annotations

from functools import cache
from typing import Protocol

MOST_KEPT = 16
"""Programs that wait, in each worker: more than sit at any table, and far fewer than a large field has."""


class ProgramKeeper(Protocol):
    """Whoever keeps the programs of one entrant."""

    @property
    def waiting(self) -> int:
        """How many of them wait for a match."""

    def close_one(self) -> None:
        """Ends the one that has waited longest."""


class KeptPrograms:
    """The keepers of this process, and the bound on what they keep together. Whose bot has not played for the longest
    time loses a program first: it is started again when it is asked again."""

    def __init__(self, most: int = MOST_KEPT) -> None:
        self.most = most
        self._keepers: dict[int, ProgramKeeper] = {}
        """By identity, the one that was used last at the end."""

    def used(self, keeper: ProgramKeeper) -> None:
        """Notes that this keeper's bot plays now, or has just played, and ends programs beyond the bound."""
        self._keepers.pop(id(keeper), None)
        self._keepers[id(keeper)] = keeper
        beyond = sum(each.waiting for each in self._keepers.values()) - self.most
        for number, each in list(self._keepers.items()):
            while beyond > 0 and each.waiting:
                each.close_one()
                beyond -= 1
            if not each.waiting and each is not keeper:
                del self._keepers[number]


@cache
def kept_here() -> KeptPrograms:
    """Those of this process."""
    return KeptPrograms()
