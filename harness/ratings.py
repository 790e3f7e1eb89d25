"""TrueSkill over the records of a run, taken in schedule order."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import trueskill

from harness.types import GameRecord

OVERALL = "overall"


@dataclass(slots=True)
class Line:
    """One bot's line of a leaderboard."""

    bot: str
    mu: float
    sigma: float
    matches: int = 0
    wins: float = 0.0
    rank_sum: int = 0
    score_sum: int = 0
    decisions: int = 0
    time: float = 0.0
    faults: int = 0

    @property
    def rating(self) -> float:
        """A rating that the bot is very probably worth: mu - 3 sigma."""
        return self.mu - 3 * self.sigma


@dataclass(slots=True)
class Book:
    """Ratings of one game, or of several together. The same records in the same order give the same book."""

    lines: dict[str, Line] = field(default_factory=dict)
    # A bot does not learn between the matches of a run, so skills do not drift: tau is 0.
    env: trueskill.TrueSkill = field(default_factory=lambda: trueskill.TrueSkill(tau=0.0))

    def add(self, record: GameRecord) -> None:
        """Takes in one match."""
        lines = [self.lines.setdefault(name, self._new(name)) for name in record.seats]
        teams = [(trueskill.Rating(line.mu, line.sigma),) for line in lines]
        failed = {fault.seat for fault in record.faults}
        winners = record.ranks.count(1)
        for seat, (line, (rating,)) in enumerate(zip(lines, self.env.rate(teams, record.ranks), strict=True)):
            line.mu, line.sigma = rating.mu, rating.sigma
            line.matches += 1
            line.wins += (record.ranks[seat] == 1) / winners
            line.rank_sum += record.ranks[seat]
            line.score_sum += record.scores[seat]
            line.decisions += record.decisions[seat]
            line.time += record.time[seat] if record.time else 0.0
            line.faults += seat in failed

    def _new(self, name: str) -> Line:
        return Line(name, self.env.mu, self.env.sigma)

    def standing(self) -> list[Line]:
        """The lines, best rating first."""
        return sorted(self.lines.values(), key=lambda line: (-line.rating, line.bot))


def books(records: Iterable[GameRecord]) -> dict[str, Book]:
    """A book for each game, and one over all if there are several games."""
    in_order = sorted(records, key=lambda record: record.index)
    by_game: dict[str, Book] = {}
    overall = Book()
    for record in in_order:
        by_game.setdefault(record.game, Book()).add(record)
        overall.add(record)
    if len(by_game) > 1:
        by_game[OVERALL] = overall
    return by_game
