"""Monitor a run: count, rate, time left, standings so far, faults and rounds, from the records as they come."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from time import monotonic

from harness.core.plan import Design
from harness.core.records import GameRecord
from harness.executors.base import Executor
from harness.match.faults import FaultGroups
from harness.ratings.counts import PairCounts
from harness.ratings.skill import LiveFit
from harness.runs.scheduler import Schedule

# How long a run will take, estimated from what its matches have cost so far.
#
# Games differ in length, bots in how long they think, and a schedule does not mix them well. So the work that is left
# is counted by bot: the seats that each bot has still to play in each game, times the mean cost of such a seat so far.
# Only the proportions of these costs matter: how fast work gets done is read from the clock.


DECISION_S, MATCH_S = 2e-5, 2e-4
"""Approximate seconds that an engine takes for a decision, and for a match apart from its decisions."""
MAX_COUNTED_MATCHES = 20_000
"""In a schedule of up to this length the seats of each bot are counted; in longer ones they are averaged."""
MIN_PACE_MATCHES = 20
"""Matches after which the time before the first result, in which workers start, no longer counts."""
UNSEEN_SHARE = 0.25
"""There is no estimate in this share of the matches while some bot has not played: it may be a slow one."""
RECENT_SHARE = 0.3
"""This latest share of the time counts twice: machines get busy and idle again."""
MAX_TABLES = 10_000
"""Tables (a game and its seats) whose costs are cached."""

Seat = tuple[str, str]
"""A game and a bot."""


@dataclass(frozen=True, slots=True)
class Workload:
    """What is known about a run before it is played."""

    total: int | None = None
    """Matches of all games together; None if unknown."""
    is_maximum: bool = False
    """Whether the total is only an upper limit."""
    matches: Mapping[str, int] = field(default_factory=dict)
    """Matches of each game."""
    seats: Mapping[Seat, float] = field(default_factory=dict)
    """How often each bot plays in each game; the mean where results decide, or where there are too many to count."""
    rounds: Mapping[str, int | None] = field(default_factory=dict)
    """Rounds of each game in which rounds depend on results; None if their number is unknown."""
    design: Design = "fixed"
    """What results decide."""

    @classmethod
    def of(cls, schedule: Schedule) -> Workload:
        """Return the workload of a schedule."""
        plan, chosen = schedule.plan, schedule.format
        counts = {game.name: chosen.count(game, plan) for game in plan.games}
        matches = {name: count for name, count in counts.items() if count is not None}
        rounds = {game.name: chosen.stages(game, plan) for game in plan.games} if chosen.adaptive else {}
        total = sum(matches.values()) if len(matches) == len(counts) else None
        seats: dict[Seat, float] = {}
        if not chosen.adaptive and total is not None and total <= MAX_COUNTED_MATCHES:
            seats = dict(Counter([(spec.game, bot) for spec in schedule.matches() for bot in spec.seats]))
        else:
            for game in plan.games:
                share = matches.get(game.name, 0) * game.players / len(game.entrants)
                seats |= {(game.name, bot): share for bot in game.entrants}
        return cls(total, any(count is None for count in rounds.values()), matches, seats, rounds, plan.design)


class TimeLeft:
    """Estimates when the last match of a run will end, from the matches that have ended."""

    def __init__(self, workload: Workload, began: float) -> None:
        self.workload = workload
        self._costs: dict[Seat, list[float]] = {}
        """Seats played and their cost, by game and bot."""
        self._matches: Counter[str] = Counter()
        self._tables: dict[tuple[str, tuple[str, ...]], list[list[float]]] = {}
        self.restart(began)

    def restart(self, now: float) -> None:
        """Measure the pace from now on. Matches added before still say what matches cost."""
        self._began, self._work, self._added = now, 0.0, 0
        self._first: tuple[float, float] | None = None
        self._past: deque[tuple[float, float]] = deque(maxlen=400)

    def add_record(self, record: GameRecord, now: float) -> None:
        """Add a match that has ended."""
        self._matches[record.game] += 1
        costs = self._table_costs(record.game, record.seats)
        each, work = MATCH_S / len(costs), 0.0
        for known, made, spent in zip(costs, record.decisions, record.time or (0.0,) * len(costs), strict=True):
            cost = each + DECISION_S * made + spent
            known[0] += 1
            known[1] += cost
            work += cost
        self._work += work
        self._added += 1
        self._first = self._first or (now, self._work)
        # Points are spaced by a share of the elapsed time, so that a limited number covers the recent part of it.
        if not self._past or now - self._past[-1][0] > 0.005 * (now - self._began):
            self._past.append((now, self._work))

    def _table_costs(self, game: str, seats: tuple[str, ...]) -> list[list[float]]:
        """Return the entries of `_costs` for a table; cached, because the same tables come again."""
        costs = self._tables.get((game, seats))
        if costs is None:
            if len(self._tables) >= MAX_TABLES:
                self._tables.clear()
            costs = self._tables[game, seats] = [self._costs.setdefault((game, bot), [0.0, 0.0]) for bot in seats]
        return costs

    def seconds(self, now: float) -> float | None:
        """Return the seconds until the end; None if there is no estimate."""
        total = self.workload.total
        if not self._work or total is None:
            return None
        if self._matches.total() < UNSEEN_SHARE * total and not self.workload.seats.keys() <= self._costs.keys():
            return None
        work = self._work_left()
        start, done = self._first if self._first and self._added >= MIN_PACE_MATCHES else (self._began, 0.0)
        pace = (self._work - done) / max(now - start, 1e-9)
        since = now - RECENT_SHARE * (now - start)
        recent = next(((when, did) for when, did in self._past if when >= since), None)
        if recent and now > recent[0] and self._work > recent[1]:
            pace = (pace + (self._work - recent[1]) / (now - recent[0])) / 2
        return work / pace if pace > 0 else None

    def _work_left(self) -> float:
        games: dict[str, list[float]] = {}
        for (game, _), (seats, cost) in self._costs.items():
            sums = games.setdefault(game, [0.0, 0.0])
            sums[0] += seats
            sums[1] += cost
        usual = sum(cost for _, cost in games.values()) / sum(seats for seats, _ in games.values())
        means = {game: cost / seats for game, (seats, cost) in games.items()}
        if self.workload.seats:
            left = 0.0
            for seat, total in self.workload.seats.items():
                played, cost = self._costs.get(seat, (0.0, 0.0))
                left += max(0.0, total - played) * (cost / played if played else means.get(seat[0], usual))
            return left
        tables = sum(seats for seats, _ in games.values()) / max(1, self._matches.total())
        return sum(
            max(0, total - self._matches[game]) * means.get(game, usual) * tables
            for game, total in self.workload.matches.items()
        )


# The standing while a run is played.


MAX_UNCOUNTED = 1000


class RunningStanding:
    """The bots of one game by skill: the fit of the leaderboard, each time started from the last one."""

    def __init__(self, design: Design = "fixed") -> None:
        self._results: Counter[tuple[tuple[str, ...], tuple[int, ...]]] = Counter()
        """Seats and ranks of matches that are still to be counted: most come up again and again."""
        self._numbers: dict[str, int] = {}
        self._pairs, self._fit = PairCounts(), LiveFit(fitted_prior=design == "seated")

    def add_record(self, record: GameRecord) -> None:
        """Add a match. One in which a bot meets itself says nothing."""
        self._results[record.seats, record.ranks] += 1
        if len(self._results) > MAX_UNCOUNTED:
            self._count()

    def _count(self) -> None:
        numbers = self._numbers
        for (seats, ranks), times in self._results.items():
            if 1 < len(seats) == len(set(seats)):
                bots = [numbers.setdefault(bot, len(numbers)) for bot in seats]
                self._pairs.add_match(bots, ranks, times)
        self._results.clear()

    def skills(self) -> list[tuple[str, float]]:
        """Return each bot with its skill, best first."""
        self._count()
        mu = self._fit.fit(self._pairs, len(self._numbers)).mu
        skills = {bot: mu[number] for bot, number in self._numbers.items()}
        # Rounded, so that bots with equal results are sorted by name in spite of rounding errors.
        return sorted(skills.items(), key=lambda one: (-round(one[1], 6), one[0]))


# The monitor behind the terminal's progress line, the live page and listeners.


class RunMonitor:
    """What is known about a run that is being played. It is given every record, and answers at any time.

    `Progress` draws it on a terminal, `LiveProgress` sends it to a page, `RunEvents` reports it to listeners.
    """

    def __init__(
        self, workload: Workload, now: float | None = None, *, earlier: int = 0, counts_only: bool = False
    ) -> None:
        """`earlier` matches are recorded already. With `counts_only` there are no estimates and no standings."""
        self.workload, self.counts_only = workload, counts_only
        self.done = self.earlier = earlier
        """Matches recorded so far, and those of them that were recorded before `start`."""
        self.faults = FaultGroups()
        self.began = monotonic() if now is None else now
        self._time_left = TimeLeft(workload, self.began)
        self._standings: dict[str, RunningStanding] = {}
        self._rounds: dict[str, int] = {}

    def follow_executor(self, executor: Executor) -> None:
        """Called with the executor before it plays."""

    def add_record(self, record: GameRecord, now: float | None = None) -> None:
        """Add a match that has ended."""
        self.done += 1
        if record.faults:
            self.faults.add(record)
        if self.counts_only:
            return
        self._time_left.add_record(record, monotonic() if now is None else now)
        if record.game not in self._standings:
            self._standings[record.game] = RunningStanding(self.workload.design)
        self._standings[record.game].add_record(record)
        if record.game in self.workload.rounds:
            self._rounds[record.game] = max(self._rounds.get(record.game, 0), record.round)

    def start(self, now: float | None = None) -> None:
        """Called when matches begin to be played: what was added so far says nothing about the rate."""
        self.earlier, self.began = self.done, monotonic() if now is None else now
        self._time_left.restart(self.began)

    def disqualify(self, bot: str, why: str) -> None:
        """Called when a bot is disqualified."""
        self.faults.disqualified[bot] = why

    def rate(self, now: float) -> float:
        """Return the matches per second since the start."""
        return (self.done - self.earlier) / max(now - self.began, 1e-9)

    def seconds_left(self, now: float) -> float | None:
        """Return the estimated seconds until the end; None if there is no estimate."""
        total, rate = self.workload.total, self.rate(now)
        if self._standings or total is None or not rate:
            return self._time_left.seconds(now)
        return max(0, total - self.done) / rate  # steps without records: all cost the same

    def round_text(self) -> str:
        """Return `"round 3 of 5"` for the game that is farthest behind; nothing where rounds need no results."""
        if not self._rounds:
            return ""
        game = min(self._rounds, key=lambda name: (self._rounds[name], name))
        known = self.workload.rounds[game]
        return f"round {self._rounds[game]}" + (f" of {known}" if known else "")

    def standings(self) -> dict[str, list[tuple[str, float]]]:
        """Return the bots of each game with their skills, best first."""
        return {game: standing.skills() for game, standing in sorted(self._standings.items())}
