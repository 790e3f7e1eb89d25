"""Which deals of a run are still secret: some match of theirs is not played yet, and whoever sits down to it must not
have seen the cards."""

from __future__ import annotations

from harness.core.format import Plan
from harness.core.types import GameRecord

OWN_DEALS = frozenset(("round-robin", "swiss", "knockout", "ladder"))
"""Formats in which every duplicate set has a deal of its own: it is over when everybody has sat in every seat."""
GAUNTLET = "gauntlet"
"""Here each candidate plays the deal in every seat."""
LEAGUE = "league"
"""Here every match has a deal of its own."""

Deal = tuple[str, int]
"""A game and a seed."""


class OpenDeals:
    """Takes in results, in any order, and says of which deals all matches have been played.

    Of other formats nobody here knows how many matches a deal has. But matches of one deal follow each other in the
    schedule of a game: so it is over when everything up to the beginning of a later one has been played.
    """

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self.all_over = False
        """Whether the run is finished."""
        self._counts = plan.format in (*OWN_DEALS, GAUNTLET, LEAGUE)
        self._candidates = {game.name: len(set(game.entrants) & set(plan.candidates)) for game in plan.games}
        self._open: dict[Deal, set[str]] = {}
        self._newest: dict[str, tuple[int, int]] = {}
        """Game -> the deal that was reached in the order of the schedule, and the place of its first match."""

    def add(self, record: GameRecord) -> None:
        """Takes in one match, in any order."""
        if not self._counts:
            return
        deal = record.game, record.seed
        played = self._open.setdefault(deal, set())
        played.add(record.id)
        if len(played) >= self._matches_of_deal(record):
            del self._open[deal]

    def _matches_of_deal(self, record: GameRecord) -> int:
        if self._plan.format == LEAGUE:
            return 1
        return len(record.seats) * (self._candidates.get(record.game, 1) if self._plan.format == GAUNTLET else 1)

    def reach(self, record: GameRecord) -> None:
        """Takes in one match in the order of the schedule: everything before it has been played."""
        newest = self._newest.get(record.game)
        if newest is None or newest[0] != record.seed:
            self._newest[record.game] = record.seed, record.index

    def is_open(self, record: GameRecord) -> bool:
        """Whether the deal of this match, which has been played, is still to be played by others."""
        if self.all_over:
            return False
        if self._counts:
            return (record.game, record.seed) in self._open
        newest = self._newest.get(record.game)
        return newest is None or record.index >= newest[1]
