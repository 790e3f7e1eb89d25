"""The ratings of a run: of each game, or of what else one wants to tell apart, and the leaderboards they give."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Protocol

from harness.core.types import GameRecord
from harness.ratings.intervals import LEVEL
from harness.ratings.leaderboard import Leaderboard, leaderboards
from harness.ratings.ratings import Ratings, by_game, in_schedule_order


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
