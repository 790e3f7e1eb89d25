"""Monitor a run: count, rate, time left, standings so far, faults and rounds, from the records as they come."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from time import monotonic
from typing import NamedTuple

from harness.core.plan import Design
from harness.core.records import Fault, GameRecord
from harness.executors.base import Executor
from harness.match.faults import cause_of
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
RECENT_S, RECENT_MATCHES = 60.0, 50
"""Rate and time left follow from the matches of this time, or from this number of matches if they took longer. A page
that was opened late then shows the same as the terminal, which has seen the whole run; machines also get busy and idle
again."""
UNSEEN_SHARE = 0.25
"""There is no estimate in this share of the matches while some bot has not played: it may be a slow one."""
MAX_TABLES = 10_000
"""Tables (a game and its seats) whose costs are cached."""

Seat = tuple[str, str]
"""A game and a bot."""


@dataclass(frozen=True, slots=True)
class Workload:
    """Facts about a run before it is played."""

    total: int | None = None
    """Matches of all games together; None if unknown."""
    is_maximum: bool = False
    """Whether the total is only an upper limit."""
    matches: Mapping[str, float] = field(default_factory=dict)
    """Matches of each game."""
    seats: Mapping[Seat, float] = field(default_factory=dict)
    """How often each bot plays in each game; the mean where results decide, or where there are too many to count."""
    rounds: Mapping[str, int | None] = field(default_factory=dict)
    """Rounds of each game in which rounds depend on results; None if their number is unknown."""
    design: Design = "fixed"
    """What results decide."""
    is_estimate: bool = False
    """Whether the total is estimated while the run is played."""
    is_ranked: bool = True
    """Whether the skill of the bots is of interest: not in a check of one bot."""

    @classmethod
    def of_schedule(cls, schedule: Schedule) -> Workload:
        """Return the workload of a schedule."""
        plan, chosen, matches = schedule.plan, schedule.format, schedule.counts()
        total = sum(matches.values()) if len(matches) == len(plan.games) else None
        rounds = {game.name: chosen.stages(game, plan) for game in plan.games} if chosen.adaptive else {}
        seats: dict[Seat, float] = {}
        if not chosen.adaptive and total is not None and total <= MAX_COUNTED_MATCHES:
            seats = dict(Counter([(spec.game, bot) for spec in schedule.matches() for bot in spec.seats]))
        else:
            for game in plan.games:
                share = matches.get(game.name, 0) * game.players / len(game.entrants)
                seats |= {(game.name, bot): share for bot in game.entrants}
        return cls(total, any(count is None for count in rounds.values()), matches, seats, rounds, plan.design)


class PacePoint(NamedTuple):
    """The amount of work that was done at some time since the start."""

    when: float
    work: float
    matches: int


class TimeLeft:
    """The pace of a run, and when its last match will end, from the matches that have ended."""

    def __init__(self, workload: Workload, began: float) -> None:
        self.workload = workload
        self._costs: dict[Seat, list[float]] = {}
        """Seats played and their cost, by game and bot."""
        self._matches: Counter[str] = Counter()
        self._tables: dict[tuple[str, tuple[str, ...]], list[list[float]]] = {}
        self.restart(began)

    def restart(self, now: float) -> None:
        """Measure the pace from now on. Matches added before still say what matches cost."""
        self._now = self._start = PacePoint(now, 0.0, 0)
        self._first: PacePoint | None = None
        self._past: deque[PacePoint] = deque()

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
        before = self._now
        self._now = PacePoint(now, before.work + work, before.matches + 1)
        self._first = self._first or self._now
        # Two points a second are exact enough, and more would fill memory.
        if not self._past or now - self._past[-1].when >= RECENT_S / 120:
            self._past.append(self._now)
        while len(self._past) > 1 and self._is_old(self._past[1], now):
            self._past.popleft()

    def _is_old(self, point: PacePoint, now: float) -> bool:
        return now - point.when >= RECENT_S and self._now.matches - point.matches >= RECENT_MATCHES

    def _table_costs(self, game: str, seats: tuple[str, ...]) -> list[list[float]]:
        """Return the entries of `_costs` for a table; cached, because the same tables come again."""
        costs = self._tables.get((game, seats))
        if costs is None:
            if len(self._tables) >= MAX_TABLES:
                self._tables.clear()
            costs = self._tables[game, seats] = [self._costs.setdefault((game, bot), [0.0, 0.0]) for bot in seats]
        return costs

    def _since(self, now: float) -> PacePoint:
        """Return the point from which the pace is measured."""
        if self._past and self._is_old(self._past[0], now):
            return self._past[0]
        return self._first if self._first and self._now.matches >= MIN_PACE_MATCHES else self._start

    def rate(self, now: float) -> float:
        """Return the matches per second of late."""
        since = self._since(now)
        return (self._now.matches - since.matches) / max(now - since.when, 1e-9)

    def seconds(self, now: float) -> float | None:
        """Return the seconds until the end; None if there is no estimate."""
        total = self.workload.total
        if not self._now.work or total is None:
            return None
        if self._matches.total() < UNSEEN_SHARE * total and not self.workload.seats.keys() <= self._costs.keys():
            return None
        since = self._since(now)
        pace = (self._now.work - since.work) / max(now - since.when, 1e-9)
        return sum(self.work_by_game().values()) / pace if pace > 0 else None

    @property
    def work(self) -> float:
        """The cost of the matches since the pace is measured."""
        return self._now.work

    @property
    def fewest_seats(self) -> float:
        """The matches of the bot that has played least often in some game."""
        return min([self._costs[seat][0] if seat in self._costs else 0.0 for seat in self.workload.seats], default=0.0)

    def matches_of(self, game: str, bot: str) -> float:
        """Return the seats that a bot has played in a game."""
        return self._table_costs(game, (bot,))[0][0]

    def work_by_game(self, whole: bool = False) -> dict[str, float]:
        """Return the work that is left of each game, or all of it."""
        games: dict[str, list[float]] = {}
        for (game, _), (seats, cost) in self._costs.items():
            sums = games.setdefault(game, [0.0, 0.0])
            sums[0] += seats
            sums[1] += cost
        # For a game of which nothing has been played yet, the mean seat of all games is the best guess.
        usual = sum(cost for _, cost in games.values()) / sum(seats for seats, _ in games.values())
        means = {game: cost / seats for game, (seats, cost) in games.items()}
        found: dict[str, float] = {}
        for seat, seats_in_all in self.workload.seats.items():
            played, cost = self._costs.get(seat, (0.0, 0.0))
            each = cost / played if played else means.get(seat[0], usual)
            found[seat[0]] = found.get(seat[0], 0.0) + max(0.0, seats_in_all - (0.0 if whole else played)) * each
        if found:
            return found
        tables = sum(seats for seats, _ in games.values()) / max(1, self._matches.total())
        if not self.workload.matches:
            return {"": max(0, (self.workload.total or 0) - self._matches.total()) * usual * tables}
        return {
            game: max(0, matches - (0 if whole else self._matches[game])) * means.get(game, usual) * tables
            for game, matches in self.workload.matches.items()
        }


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


# Groups of faults with one cause, for terminal, pages and notebooks


MAX_FAULT_GROUPS = 60
"""Maximum number of groups, so that bots which always fail in new ways do not fill memory."""
MAX_EXAMPLES = 3


@dataclass(frozen=True, slots=True, order=True)
class FaultExample:
    """One fault of a group; ordered by schedule."""

    index: int
    """Position of the match in the schedule."""
    match: str
    seat: int
    decision: int
    detail: str = field(compare=False)
    """Text of the fault."""


@dataclass(slots=True)
class FaultGroup:
    """Faults of one bot in one game with one cause."""

    bot: str
    game: str
    kind: str
    cause: str
    """Exception and line, phase of an illegal action, or exit of a process: not the bot's message."""
    count: int = 0
    examples: list[FaultExample] = field(default_factory=list)
    """The first ones in the schedule."""

    @property
    def first(self) -> FaultExample:
        """The first one in the schedule: the same for any number of workers."""
        return self.examples[0]

    def add(self, record: GameRecord, fault: Fault) -> None:
        """Count one more fault."""
        self.count += 1
        if len(self.examples) < MAX_EXAMPLES or record.index < self.examples[-1].index:
            one = FaultExample(record.index, record.id, fault.seat, fault.decision, fault.detail)
            self.examples = sorted([*self.examples, one])[:MAX_EXAMPLES]


class FaultGroups:
    """Groups faults of matches added in any order, in bounded memory. Disqualifications are counted separately."""

    def __init__(self, max_groups: int = MAX_FAULT_GROUPS) -> None:
        self.max_groups = max_groups
        self.by_bot: Counter[str] = Counter()
        """Faults of each bot, of all causes."""
        self.matches = 0
        """Matches with a fault."""
        self.disqualified: dict[str, str] = {}
        """Bot -> why it was disqualified: a sentence without its subject."""
        self.lost: Counter[str] = Counter()
        """Matches that bots lost because they were disqualified."""
        self.more = 0
        """Faults that are in no group because there were too many causes."""
        self._groups: dict[tuple[str, str, str, str], FaultGroup] = {}

    @property
    def total(self) -> int:
        """All faults."""
        return self.by_bot.total()

    def add(self, record: GameRecord) -> None:
        """Add the faults of a match."""
        if not record.faults:
            return
        self.matches += bool(record.failures)
        for fault in record.faults:
            bot = record.seats[fault.seat]
            if fault.kind == "disqualified":
                self.disqualified.setdefault(bot, fault.detail)
                self.lost[bot] += 1
            else:
                self.by_bot[bot] += 1
                self._add_to_group(record, fault, bot)

    def _add_to_group(self, record: GameRecord, fault: Fault, bot: str) -> None:
        key = bot, record.game, fault.kind, cause_of(fault)
        group = self._groups.get(key)
        if group is None:
            # Still counted for its bot, only without a group.
            if len(self._groups) == self.max_groups:
                self.more += 1
                return
            group = self._groups[key] = FaultGroup(*key)
        group.add(record, fault)

    def __iter__(self) -> Iterator[FaultGroup]:
        return iter(self.groups())

    def __len__(self) -> int:
        return len(self._groups)

    def __repr__(self) -> str:
        lines = [f"{group.bot}: {group.cause}, {group.count} in {group.game}" for group in self]
        return "\n".join([*lines, *(f"{bot} was {why}" for bot, why in self.disqualified.items())]) or "No faults."

    def groups(self) -> list[FaultGroup]:
        """Return the groups: bots with most faults first, then most frequent causes."""
        return sorted(
            self._groups.values(),
            key=lambda group: (-self.by_bot[group.bot], group.bot, -group.count, group.first, group.cause),
        )


# The monitor behind the terminal's progress line, the live page and listeners.


class RunMonitor:
    """The current state of a run that is being played. It is given every record, and answers at any time.

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
        # A resumed run reads its earlier records in seconds: counted as played, they would promise an end that is far
        # too early.
        self.earlier, self.began = self.done, monotonic() if now is None else now
        self._time_left.restart(self.began)

    def disqualify(self, bot: str, why: str) -> None:
        """Called when a bot is disqualified."""
        self.faults.disqualified[bot] = why

    def rate(self, now: float) -> float:
        """Return the matches per second of late; of steps without records those since the start."""
        if self._standings:
            return self._time_left.rate(now)
        return (self.done - self.earlier) / max(now - self.began, 1e-9)

    def seconds_left(self, now: float) -> float | None:
        """Return the estimated seconds until the end; None if there is no estimate."""
        total, rate = self.workload.total, self.rate(now)
        if self._standings or total is None or not rate:
            return self._time_left.seconds(now)
        return max(0, total - self.done) / rate  # steps without records: all cost the same

    def expect(self, total: int) -> None:
        """Set the estimated number of matches of a run that has no fixed number."""
        self.workload = self._time_left.workload = replace(self.workload, total=total, is_estimate=True)

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
