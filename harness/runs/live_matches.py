"""The matches of a run whose results decide what comes next, given out while others are being played."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, MutableMapping
from typing import Self

from harness.core.types import GameRecord, MatchSpec
from harness.schedule.course import Course

Known = MutableMapping[str, GameRecord]
"""Records of before, by their matches."""


class LiveMatches:
    """An iterator that may have more again after it has ended: as soon as results allow it."""

    def __init__(self, course: Course, known: Known, check: Callable[[MatchSpec, GameRecord], None]) -> None:
        """Matches that are `known` are not given out: their records, which `check` may refuse, are taken from there."""
        self.course, self._known, self._check = course, known, check
        self._waiting: deque[MatchSpec] = deque()
        self.out: set[str] = set()
        """Matches that were given out and have no record."""
        self.given = 0
        """How many were given out."""

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> MatchSpec:
        if not self.ready():
            raise StopIteration
        spec = self._waiting.popleft()
        self.out.add(spec.id)
        self.given += 1
        return spec

    def ready(self) -> bool:
        """Whether there is a match to be given out now."""
        while not self._waiting and (specs := self.course.more()):
            for spec in specs:
                if spec.id in self._known:
                    self._check(spec, self._known[spec.id])
                    self.course.take(self._known.pop(spec.id))
                else:
                    self._waiting.append(spec)
        return bool(self._waiting)

    def take(self, record: GameRecord) -> None:
        """Takes in the record of a match that was given out."""
        self.out.remove(record.id)
        self.course.take(record)


def play_live(
    matches: LiveMatches, play: Callable[[Iterator[MatchSpec]], Iterable[GameRecord]], given_up: Collection[str]
) -> bool:
    """Plays to the end whatever results lead to; whether there it is. `play` may end before it is given the last match;
    one that it was given and has not played is among those `given_up`, or somebody has stopped it."""
    while matches.ready():
        before = matches.given
        for record in play(matches):
            matches.take(record)
        if matches.given == before or not matches.out.issubset(given_up):
            return False
    return bool(matches.course.outcomes)
