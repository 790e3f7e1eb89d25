"""Everything that the pages say about a run, gathered in one pass over its records."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

from harness.core.format import Plan
from harness.core.types import GameRecord
from harness.output.pages.left_out import without_bots
from harness.output.pages.picks import Picks
from harness.output.pages.samples import Curve, Histogram
from harness.ratings import Ratings, RatingSet
from harness.runs.boards import RatedRun, rating_set_of
from harness.runs.fault_groups import FaultExample, FaultGroup, FaultGroups
from harness.runs.plain_state import Known
from harness.runs.remembered import feed
from harness.runs.schedule_order import ordered_results
from harness.runs.store import RunFolder

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
    left_out: int = 0
    """Matches of bots that are left out."""

    def add(self, record: GameRecord) -> None:
        """Takes in one match, in the order of the schedule, and rates it."""
        game = record.game
        self.picks.add(record, self.rating_set.of(game))
        self.rating_set.add(record)
        self.matches += 1
        ratings = self.rating_set.of(game)
        assert ratings is not None
        (self.curves.get(game) or self.curves.setdefault(game, Curve())).add(ratings)
        self._time(game, record)
        players = len(record.seats)
        for bot, score, rank in zip(record.seats, record.scores, record.ranks, strict=True):
            of = game, bot
            form = self.form.get(of)
            if form is None:
                form = self.form[of] = deque(maxlen=FORM)
                self.scores[of] = Histogram()
            self.scores[of].add(score)
            form.append((rank, players))
        if record.faults:
            self.failed += 1
            self.faults.add(record)

    def state(self) -> dict[str, object]:
        """All that was gathered but the ratings; objects of the classes in `STATE`."""
        return {name: getattr(self, name) for name in self.__slots__ if name != "rating_set"}

    def restore(self, state: dict[str, Any]) -> None:
        """Goes on from what `state` gave."""
        for name, value in state.items():
            setattr(self, name, value)

    def rated(self) -> dict[str, Ratings]:
        """The ratings of each game."""
        return self.rating_set.rated()

    def _time(self, title: str, record: GameRecord) -> None:
        for bot, spent, slowest, decisions in zip(
            record.seats, record.time, record.slowest, record.decisions, strict=False
        ):
            pace = self.pace.get((title, bot)) or self.pace.setdefault((title, bot), Pace())
            if decisions:
                pace.typical.add(int(1e6 * spent / decisions))
                if slowest > pace.slowest:
                    pace.slowest = slowest


STATE: Known = {
    Curve: Curve.__slots__,
    Histogram: Histogram.__slots__,
    Pace: ("typical", "slowest"),
    Picks: ("_best", "_failed"),
    FaultGroups: ("most", "by_bot", "matches", "disqualified", "lost", "more", "_groups"),
    FaultGroup: tuple(each.name for each in fields(FaultGroup)),
    FaultExample: tuple(each.name for each in fields(FaultExample)),
}
"""The classes that facts are made of, beside those of the ratings."""


def gather(records: Iterable[GameRecord], plan: Plan | None = None) -> Facts:
    """Reads all records once, in the order of the schedule and in bounded memory; the plan is that of their run."""
    facts = Facts(rating_set_of(plan) if plan else RatingSet())
    for record in records:
        facts.add(record)
    return facts


class GatheredRun:
    """The facts of a whole run, to be remembered."""

    name, known = "facts", STATE

    def __init__(self, facts: Facts) -> None:
        self.add, self.state, self.restore = facts.add, facts.state, facts.restore


def facts_of(run: RunFolder, without: Sequence[str] = ()) -> Facts:
    """The facts of a run, `without` the matches of these bots."""
    if without:
        return _some_facts(run, without)
    facts = Facts(rating_set_of(run.info.plan))
    if not facts.rating_set.kept:
        return gather(ordered_results(run), run.info.plan)
    feed(run, RatedRun(facts.rating_set, rate=False), GatheredRun(facts))
    return facts


def _some_facts(run: RunFolder, without: Sequence[str]) -> Facts:
    facts, chosen = Facts(rating_set_of(run.info.plan, whole=False)), without_bots(without)
    for record in ordered_results(run):
        if chosen(record):
            facts.add(record)
        else:
            facts.left_out += 1
    return facts
