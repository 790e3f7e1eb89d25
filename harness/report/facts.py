"""Figures for pages, gathered in one pass over the records: series, rates, form, faults."""

from __future__ import annotations

from bisect import bisect_left
from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, fields
from itertools import accumulate
from typing import Any

from harness.core.plan import Design, Plan
from harness.core.records import GameRecord
from harness.ratings.counts import GameCounts
from harness.ratings.leaderboard import CountsByGame, Leaderboard
from harness.ratings.skill import LiveFit
from harness.report import without_bots
from harness.report.picks import Picks
from harness.runs.cache import StateClasses, replay_into
from harness.runs.monitor import FaultExample, FaultGroup, FaultGroups
from harness.runs.reader import ordered_results
from harness.runs.standings import CountedRun, counts_of
from harness.runs.store import RunFolder

# Summaries of bounded size, for runs of any length: curves and histograms.


POINT_GROWTH = 1.3
"""A curve has a point whenever there are this many times as many matches: 50 points for a million matches."""
MAX_CURVE_BOTS = 200
"""In a larger field the fits for a curve would take too long, so it has none."""
MAX_STEPS = 512
"""Maximum of steps of a histogram."""


class Curve:
    """The skills in the course of a run, fitted again whenever a point is due."""

    __slots__ = ("due", "live", "points")

    def __init__(self, design: Design = "fixed") -> None:
        self.due = 1
        self.live = LiveFit(fitted_prior=design == "seated")
        self.points: list[tuple[int, dict[str, float]]] = []

    def add(self, counts: GameCounts) -> None:
        """Add a point for counts to which a match was just added, if one is due."""
        if counts.matches < self.due:
            return
        self.due = int(self.due * POINT_GROWTH) + 1
        if len(counts.totals) <= MAX_CURVE_BOTS:
            mu = self.live.fit(counts.pairs, len(counts.totals)).mu
            self.points.append((counts.matches, {one.bot: mu[one.number] for one in counts.totals.values()}))

    @property
    def skills(self) -> dict[str, float]:
        """The skills at the last point."""
        return self.points[-1][1] if self.points else {}

    def to(self, board: Leaderboard) -> list[tuple[int, dict[str, float]]]:
        """Return all points; the last one has the skills of the leaderboard. Nothing in a large field."""
        if len(board.standings) > MAX_CURVE_BOTS:
            return []
        last = board.counts.matches, {one.bot: one.skill.value for one in board.standings}
        return [*(point for point in self.points if point[0] * POINT_GROWTH <= last[0]), last]


class Histogram:
    """Counts of integers in steps of equal width; the width doubles whenever there are too many steps."""

    __slots__ = ("counts", "width")

    def __init__(self) -> None:
        self.width = 1
        self.counts: dict[int, int] = {}

    def add(self, value: int) -> None:
        """Count a value."""
        counts, step = self.counts, value // self.width
        counts[step] = counts.get(step, 0) + 1
        while len(self.counts) > MAX_STEPS:
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
    """Counts, curves, times, faults and selected matches of a run."""

    counts: CountsByGame = field(default_factory=CountsByGame)
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
        """Add a match and count it; call it in the order of the schedule."""
        game = record.game
        curve = self.curves.get(game)
        if curve is None:
            curve = self.curves[game] = Curve(self.counts.design)
        # Before the match is counted: an upset is judged by the skills without it.
        self.picks.add(record, self.counts.of_game(game), curve.skills)
        self.counts.add(record)
        self.matches += 1
        counts = self.counts.of_game(game)
        assert counts is not None
        curve.add(counts)
        players = len(record.seats)
        no_time = (0.0,) * players
        times, slowest = record.time or no_time, record.slowest or no_time
        for bot, score, rank, decisions, spent, longest in zip(
            record.seats, record.scores, record.ranks, record.decisions, times, slowest, strict=True
        ):
            of = game, bot
            form = self.form.get(of)
            if form is None:
                form = self.form[of] = deque(maxlen=FORM)
                self.scores[of], self.pace[of] = Histogram(), Pace()
            self.scores[of].add(score)
            form.append((rank, players))
            if decisions and times is not no_time and slowest is not no_time:
                pace = self.pace[of]
                pace.typical.add(int(1e6 * spent / decisions))
                if longest > pace.slowest:
                    pace.slowest = longest
        if record.faults:
            self.failed += 1
            self.faults.add(record)

    def state(self) -> dict[str, object]:
        """Return everything but the counts, as objects of the classes in `STATE`."""
        return {name: getattr(self, name) for name in self.__slots__ if name != "counts"}

    def restore(self, state: dict[str, Any]) -> None:
        """Continue from a value that `state` returned."""
        for name, value in state.items():
            setattr(self, name, value)


STATE: StateClasses = {
    Curve: Curve.__slots__,
    LiveFit: LiveFit.__slots__,
    Histogram: Histogram.__slots__,
    Pace: ("typical", "slowest"),
    Picks: ("_best", "_failed"),
    FaultGroups: ("max_groups", "by_bot", "matches", "disqualified", "lost", "more", "_groups"),
    FaultGroup: tuple(each.name for each in fields(FaultGroup)),
    FaultExample: tuple(each.name for each in fields(FaultExample)),
}
"""The classes that may occur in the state of facts, with their attributes. The counts are cached separately."""


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
    if not facts.counts.cacheable:  # running tests cannot be restored from a cache
        return gather(ordered_results(run), run.info.plan)
    replay_into(run, CountedRun(facts.counts, count=False), GatheredRun(facts))
    return facts


def _some_facts(run: RunFolder, without: Sequence[str]) -> Facts:
    facts, chosen = Facts(counts_of(run.info.plan, whole=False)), without_bots(without)
    for record in ordered_results(run):
        if chosen(record):
            facts.add(record)
        else:
            facts.left_out += 1
    return facts
