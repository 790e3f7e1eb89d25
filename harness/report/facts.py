"""Figures for pages, gathered in one pass over the records: series, rates, highlights."""

from __future__ import annotations

from bisect import bisect_left
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, fields
from itertools import accumulate
from typing import Any

from harness.core.plan import Plan
from harness.core.records import GameRecord
from harness.match.faults import FaultExample, FaultGroup, FaultGroups
from harness.ratings.leaderboard import CountsByGame
from harness.report import without_bots
from harness.runs.cache import StateClasses, replay_into
from harness.runs.reader import ordered_results
from harness.runs.standings import CountedRun, counts_of
from harness.runs.store import RunFolder

# Summaries of bounded size, for runs of any length: curves and histograms.


MOST_POINTS = 128
"""Maximum of points of a curve."""
MOST_STEPS = 512
"""Maximum of steps of a histogram."""


class Curve:
    """Ratings after every nth match; n doubles whenever there are too many points."""

    __slots__ = ("every", "points")

    def __init__(self) -> None:
        self.every = 1
        self.points: list[tuple[int, dict[str, float]]] = []

    def add(self, ratings: Ratings) -> None:
        """Add a point for ratings that were just updated by a match, if one is due."""
        if ratings.matches % self.every:
            return
        self.points.append(_point(ratings))
        if len(self.points) == MOST_POINTS:
            # The points at multiples of the new interval are those with an odd index.
            self.points = self.points[1::2]
            self.every *= 2

    def to(self, ratings: Ratings) -> list[tuple[int, dict[str, float]]]:
        """Return all points; the last one is the current ratings."""
        last = _point(ratings)
        return self.points if self.points and self.points[-1][0] == last[0] else [*self.points, last]


def _point(ratings: Ratings) -> tuple[int, dict[str, float]]:
    return ratings.matches, {line.bot: line.rating for line in ratings.lines.values()}


class Histogram:
    """Counts of integers in steps of equal width; the width doubles whenever there are too many steps."""

    __slots__ = ("counts", "width")

    def __init__(self) -> None:
        self.width = 1
        self.counts: dict[int, int] = {}

    def add(self, value: int) -> None:
        """Count a value."""
        step = value // self.width
        self.counts[step] = self.counts.get(step, 0) + 1
        while len(self.counts) > MOST_STEPS:
            self._widen()

    def _widen(self) -> None:
        self.width *= 2
        counts: dict[int, int] = {}
        for step, count in self.counts.items():
            counts[step // 2] = counts.get(step // 2, 0) + count
        self.counts = counts

    def quantiles(self, shares: Sequence[float]) -> list[float]:
        """Return the quantiles of the values, each as the middle of its step."""
        steps = sorted(self.counts)
        sums = list(accumulate(self.counts[step] for step in steps))
        middle = (self.width - 1) / 2
        return [steps[bisect_left(sums, max(1, share * sums[-1]))] * self.width + middle for share in shares]


# Matches worth watching: close ones, upsets, and those in which a bot failed.


EACH = 2
"""Maximum of matches for each game and reason."""
SETTLED = 10
"""Matches after which a bot's rating is good enough to call its defeat an upset."""

Candidate = tuple[float, int, str]
"""Sort key of a match (the smallest is the most remarkable), its place in the schedule, its id."""


@dataclass(frozen=True, slots=True)
class Pick:
    """A match to be shown, and the reason: close, upset or fault."""

    match: str
    reason: str


@dataclass(slots=True)
class Picks:
    """Selects a few matches worth watching from all matches of a run."""

    _best: dict[tuple[str, str], list[Candidate]] = field(default_factory=dict)
    _failed: set[tuple[str, str, str]] = field(default_factory=set)

    def add(self, record: GameRecord, before: Ratings | None) -> None:
        """Add a match; `before` has the ratings of its game without it."""
        if record.faults:
            for fault in record.faults:
                how = record.game, record.seats[fault.seat], fault.kind
                if fault.kind != "disqualified" and how not in self._failed and len(self._failed) < 1000:
                    self._failed.add(how)  # one match per bot and kind of fault: the others would look the same
                    self._keep(record, "fault", 0.0)
            return
        if len(record.scores) > 1:
            first, second = sorted(record.scores, reverse=True)[:2]
            self._keep(record, "close", (first - second) / max(1, abs(first)))
        gap = _upset(record, before)
        if gap > 0:
            self._keep(record, "upset", -gap)

    def _keep(self, record: GameRecord, reason: str, value: float) -> None:
        best = self._best.setdefault((record.game, reason), [])
        if len(best) == EACH and (value, record.index) >= best[-1][:2]:
            return
        best.append((value, record.index, record.id))
        best.sort()
        del best[EACH:]

    def chosen(self) -> Iterator[Pick]:
        """Yield the selected matches, each once: the best of every game and reason, then the second best."""
        seen = set()
        for place in range(EACH):
            for (_, reason), best in sorted(self._best.items()):
                if place < len(best) and best[place][2] not in seen:
                    seen.add(best[place][2])
                    yield Pick(best[place][2], reason)


def _upset(record: GameRecord, before: Ratings | None) -> float:
    """Return how far the best rated bot is above the winner; 0 without a single winner or with too few matches."""
    if before is None or record.ranks.count(1) != 1:
        return 0.0
    lines = [before.lines.get(name) for name in record.seats]
    skills = [line.mu for line in lines if line is not None and line.matches >= SETTLED]
    if len(skills) < len(lines):
        return 0.0
    return max(skills) - skills[record.ranks.index(1)]


# All figures of the pages of a run, gathered in one pass over its records.


FORM = 20
"""Number of a bot's latest matches that make up its form."""

OfBot = tuple[str, str]
"""The title of a leaderboard and the name of a bot."""


@dataclass(slots=True)
class Pace:
    """Thinking time of a bot in one game."""

    typical: Histogram = field(default_factory=Histogram)
    """Mean microseconds per decision, one value per match."""
    slowest: float = 0.0
    """Seconds of its slowest decision."""


@dataclass(slots=True)
class Facts:
    """Ratings, curves, times, faults and selected matches of a run."""

    rating_set: CountsByGame = field(default_factory=CountsByGame)
    curves: dict[str, Curve] = field(default_factory=dict)
    scores: dict[OfBot, Histogram] = field(default_factory=dict)
    pace: dict[OfBot, Pace] = field(default_factory=dict)
    form: dict[OfBot, deque[tuple[int, int]]] = field(default_factory=dict)
    """Rank and number of players in each of a bot's latest matches."""
    faults: FaultGroups = field(default_factory=FaultGroups)
    picks: Picks = field(default_factory=Picks)
    matches: int = 0
    failed: int = 0
    """Matches in which a bot failed or was already disqualified."""
    left_out: int = 0
    """Matches left out because of their bots."""

    def add(self, record: GameRecord) -> None:
        """Add a match and rate it; call it in the order of the schedule."""
        game = record.game
        # Before the match is rated: an upset is judged by the ratings without it.
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
        """Return everything but the ratings, as objects of the classes in `STATE`."""
        return {name: getattr(self, name) for name in self.__slots__ if name != "rating_set"}

    def restore(self, state: dict[str, Any]) -> None:
        """Continue from a value that `state` returned."""
        for name, value in state.items():
            setattr(self, name, value)

    def rated(self) -> dict[str, Ratings]:
        """Return the ratings of each game."""
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


STATE: StateClasses = {
    Curve: Curve.__slots__,
    Histogram: Histogram.__slots__,
    Pace: ("typical", "slowest"),
    Picks: ("_best", "_failed"),
    FaultGroups: ("max_groups", "by_bot", "matches", "disqualified", "lost", "more", "_groups"),
    FaultGroup: tuple(each.name for each in fields(FaultGroup)),
    FaultExample: tuple(each.name for each in fields(FaultExample)),
}
"""The classes that may occur in the state of facts, with their attributes. The ratings are cached separately."""


def gather(records: Iterable[GameRecord], plan: Plan | None = None) -> Facts:
    """Return the facts of records, which must be in the order of the schedule; `plan` is the plan of their run.

    Memory does not grow with the number of records.
    """
    facts = Facts(counts_of(plan) if plan else CountsByGame())
    for record in records:
        facts.add(record)
    return facts


class GatheredRun:
    """The facts of a whole run, in the form that the cache of a run folder stores."""

    name, classes = "facts", STATE

    def __init__(self, facts: Facts) -> None:
        self.add, self.state, self.restore = facts.add, facts.state, facts.restore


def facts_of(run: RunFolder, without: Sequence[str] = ()) -> Facts:
    """Return the facts of a run, `without` the matches of these bots."""
    if without:
        return _some_facts(run, without)
    facts = Facts(counts_of(run.info.plan))
    if not facts.rating_set.cacheable:  # running tests cannot be restored from a cache
        return gather(ordered_results(run), run.info.plan)
    replay_into(run, CountedRun(facts.rating_set, rate=False), GatheredRun(facts))
    return facts


def _some_facts(run: RunFolder, without: Sequence[str]) -> Facts:
    facts, chosen = Facts(counts_of(run.info.plan, whole=False)), without_bots(without)
    for record in ordered_results(run):
        if chosen(record):
            facts.add(record)
        else:
            facts.left_out += 1
    return facts
