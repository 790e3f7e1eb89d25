"""The ratings of a run: of each game, or of what else one wants to tell apart, and the leaderboards they give."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import fields
from typing import Protocol

from harness.core.types import GameRecord
from harness.ratings.evidence import Evidence, OpenDeal, SeatSums
from harness.ratings.intervals import LEVEL
from harness.ratings.leaderboard import Leaderboard, leaderboards
from harness.ratings.ratings import BotRating, Ratings, by_game, in_schedule_order
from harness.ratings.stages import Stages, WideStage

STATE: Mapping[type, Sequence[str]] = {
    Ratings: ("lines", "evidence", "matches", "pairs", "ties"),
    BotRating: tuple(each.name for each in fields(BotRating)),
    Evidence: Evidence.__slots__,
    OpenDeal: OpenDeal.__slots__,
    SeatSums: SeatSums.__slots__,
    Stages: Stages.__slots__,
    WideStage: WideStage._fields,
}
"""The classes that ratings are made of, and what of each has to be kept to go on from there."""


class RunningClaims(Protocol):
    """Tests that hold although results decide when to stop or which pairs to play."""

    def add(self, record: GameRecord) -> None:
        """Takes in one match, in schedule order."""

    def claims(self, level: float) -> Collection[tuple[str, str]]:
        """The pairs (better, worse) that may all be claimed."""


class RatingSet:
    """Ratings for each game (or what else `by` tells apart). Feed it matches as they end, or all at once."""

    def __init__(
        self,
        by: Callable[[GameRecord], str] = by_game,
        *,
        seated: bool = False,
        anytime: Mapping[str, RunningClaims] | None = None,
    ) -> None:
        """`seated`: results decide who meets whom; `anytime`: also when to stop, and this is what tests that, game by
        game. `rating_set_of` knows it of a run."""
        self._by, self._seated, self._anytime = by, seated, anytime
        self._ratings: dict[str, Ratings] = {}

    def add(self, record: GameRecord, shares: Sequence[float] | None = None) -> None:
        """Takes in one match; `shares` as in `Ratings.add`."""
        name = self._by(record)
        ratings = self._ratings.get(name)
        if ratings is None:
            ratings = self._ratings[name] = Ratings()
        ratings.add(record, shares)
        if self._anytime and name in self._anytime:
            self._anytime[name].add(record)

    @property
    def kept(self) -> bool:
        """Whether `state` has all of it: tests that go on with the run are not in it."""
        return not self._anytime

    def state(self) -> dict[str, Ratings]:
        """What was taken in so far; objects of the classes in `STATE`."""
        return self._ratings

    def restore(self, state: dict[str, Ratings]) -> None:
        """Goes on from what `state` gave."""
        self._ratings = state
        for ratings in state.values():
            ratings.forget_tables()

    def of(self, name: str) -> Ratings | None:
        """The ratings of one game, if it was played."""
        return self._ratings.get(name)

    def rated(self) -> dict[str, Ratings]:
        """The ratings in the order of their names."""
        return dict(sorted(self._ratings.items()))

    def boards(self) -> list[Leaderboard]:
        """Their leaderboards."""
        told = None if self._anytime is None else {name: tests.claims(LEVEL) for name, tests in self._anytime.items()}
        return leaderboards(self.rated(), told, seated=self._seated)


def rate_records(records: Iterable[GameRecord], by: Callable[[GameRecord], str] = by_game) -> dict[str, Ratings]:
    """Ratings for each game, or what else `by` tells apart."""
    rating_set = RatingSet(by)
    for record in in_schedule_order(records):
        rating_set.add(record)
    return rating_set.rated()
