"""Everything that the pages say about a run, gathered in one pass over its records."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field

from harness.core.format import Plan
from harness.core.types import GameRecord
from harness.output.pages.picks import Picks
from harness.output.pages.samples import Curve, Histogram
from harness.ratings import Ratings, RatingSet, in_schedule_order
from harness.runs.boards import rating_set_of
from harness.runs.fault_groups import FaultGroups

FORM = 20
"""How many of a bot's latest matches are its form."""

OfBot = tuple[str, str]
"""A leaderboard's title and a bot."""


@dataclass(slots=True)
class Pace:
    """How long a bot thinks in one game, or in all."""

    typical: Histogram = field(default_factory=Histogram)
    """Microseconds a decision, match by match."""
    slowest: float = 0.0
    """Seconds of its slowest decision of all."""


@dataclass(slots=True)
class Facts:
    """What was gathered."""

    rating_set: RatingSet = field(default_factory=RatingSet)
    curves: dict[str, Curve] = field(default_factory=dict)
    scores: dict[OfBot, Histogram] = field(default_factory=dict)
    pace: dict[OfBot, Pace] = field(default_factory=dict)
    form: dict[OfBot, deque[tuple[int, int]]] = field(default_factory=dict)
    """Rank and number of players of each bot's latest matches, by game."""
    faults: FaultGroups = field(default_factory=FaultGroups)
    picks: Picks = field(default_factory=Picks)
    matches: int = 0
    failed: int = 0
    """Matches in which a bot failed, or was disqualified before."""

    def add(self, record: GameRecord) -> None:
        """Takes in one match, in the order of the schedule."""
        self.picks.add(record, self.rated().get(record.game))
        self.rating_set.add(record)
        self.matches += 1
        self.failed += bool(record.faults)
        self._curve(record.game).add(self.rated()[record.game])
        self._time(record.game, record)
        for seat, bot in enumerate(record.seats):
            of = record.game, bot
            (self.scores.get(of) or self.scores.setdefault(of, Histogram())).add(record.scores[seat])
            if of not in self.form:
                self.form[of] = deque(maxlen=FORM)
            self.form[of].append((record.ranks[seat], len(record.seats)))
        self.faults.add(record)

    def rated(self) -> dict[str, Ratings]:
        """The ratings of each game."""
        return self.rating_set.rated()

    def _curve(self, title: str) -> Curve:
        return self.curves.get(title) or self.curves.setdefault(title, Curve())

    def _time(self, title: str, record: GameRecord) -> None:
        for bot, spent, slowest, decisions in zip(
            record.seats, record.time, record.slowest, record.decisions, strict=False
        ):
            pace = self.pace.get((title, bot)) or self.pace.setdefault((title, bot), Pace())
            if decisions:
                pace.typical.add(int(1e6 * spent / decisions))
                pace.slowest = max(pace.slowest, slowest)


def gather(records: Iterable[GameRecord], plan: Plan | None = None) -> Facts:
    """Reads all records once, in bounded memory; the plan is that of their run."""
    facts = Facts(rating_set_of(plan) if plan else RatingSet())
    for record in in_schedule_order(records):
        facts.add(record)
    return facts
