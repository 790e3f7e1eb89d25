"""How long a run will go on, from what its matches have cost so far.

Matches are not alike: games differ in length and bots in how long they think, and a schedule has them in an order, not
mixed well. So what is left is counted bot by bot: the seats that each has still to play in each game, at what such a
seat has cost so far. Only the proportions of these costs matter; how fast work gets done is read off the clock.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from harness.core.types import GameRecord
    from harness.schedule import Schedule

DECISION, MATCH = 2e-5, 2e-4
"""Seconds, about, that the engine takes for a decision, and a match beside its decisions: only the proportion to the
time that bots think matters."""
MOST_COUNTED = 20_000
"""A schedule of up to so many matches is gone through to count who plays how often."""
ENOUGH = 20
"""Matches after which the time until the first one, in which workers start, no longer counts."""
UNSEEN = 0.25
"""The part of the matches in which nothing is said while some bot has not been seen."""
RECENT = 0.3
"""The latest part of the time counts twice: machines get busy and free again."""

MOST_ROWS = 10_000
"""Tables that are remembered."""

Seat = tuple[str, str]
"""A game and a bot."""


@dataclass(frozen=True, slots=True)
class Outlook:
    """What is known of a run beforehand."""

    total: int | None = None
    """Matches of all games together."""
    most: bool = False
    """Whether that is only the most that will be played."""
    matches: Mapping[str, int] = field(default_factory=dict)
    """Matches of each game."""
    seats: Mapping[Seat, float] = field(default_factory=dict)
    """How often each bot sits down in each game; where results decide, or there are too many to count, on average."""
    rounds: Mapping[str, int | None] = field(default_factory=dict)
    """Rounds of each game in which rounds depend on results; None if nobody knows how many."""

    @classmethod
    def of(cls, schedule: Schedule) -> Outlook:
        """What a schedule says of itself."""
        plan, chosen = schedule.plan, schedule.format
        counts = {game.name: chosen.count(game, plan) for game in plan.games}
        matches = {name: count for name, count in counts.items() if count is not None}
        rounds = {game.name: chosen.stages(game, plan) for game in plan.games} if chosen.adaptive else {}
        total = schedule.count()
        seats: dict[Seat, float] = {}
        if not chosen.adaptive and total is not None and total <= MOST_COUNTED:
            seats = dict(Counter((spec.game, bot) for spec in schedule.matches() for bot in spec.seats))
        else:
            for game in plan.games:
                share = matches.get(game.name, 0) * game.players / len(game.entrants)
                seats |= {(game.name, bot): share for bot in game.entrants}
        return cls(total, any(count is None for count in rounds.values()), matches, seats, rounds)

    def round_text(self, reached: Mapping[str, int]) -> str:
        """`"round 3 of 5"`: of the game that is farthest behind, by the rounds that games have reached."""
        if not reached:
            return ""
        game = min(reached, key=lambda name: (reached[name], name))
        known = self.rounds[game]
        return f"round {reached[game]}" + (f" of {known}" if known else "")


class TimeLeft:
    """Takes in matches as they end, and estimates when the last one will."""

    def __init__(self, outlook: Outlook, began: float) -> None:
        self.outlook = outlook
        self._costs: dict[Seat, list[float]] = {}
        self._matches: Counter[str] = Counter()
        self._rows: dict[tuple[str, tuple[str, ...]], list[list[float]]] = {}
        self.began_anew(began)

    def began_anew(self, now: float) -> None:
        """What was taken in so far was played before: it says what matches cost, and nothing about the pace."""
        self._began, self._work, self._seen = now, 0.0, 0
        self._first: tuple[float, float] | None = None
        self._past: deque[tuple[float, float]] = deque(maxlen=400)

    def add(self, record: GameRecord, now: float) -> None:
        """A match has ended."""
        table = record.game, record.seats
        self._matches[record.game] += 1
        rows = self._rows.get(table) or self._seated(table)
        each, work = MATCH / len(rows), 0.0
        for known, made, spent in zip(rows, record.decisions, record.time or (0.0,) * len(rows), strict=True):
            cost = each + DECISION * made + spent
            known[0] += 1
            known[1] += cost
            work += cost
        self._work += work
        self._seen += 1
        self._first = self._first or (now, self._work)
        if not self._past or now - self._past[-1][0] > 0.005 * (now - self._began):
            self._past.append((now, self._work))

    def _seated(self, table: tuple[str, tuple[str, ...]]) -> list[list[float]]:
        """What is known of those who sit there; remembered, for the same come again."""
        game, seats = table
        if len(self._rows) >= MOST_ROWS:
            self._rows.clear()
        rows = self._rows[table] = [self._costs.setdefault((game, bot), [0.0, 0.0]) for bot in seats]
        return rows

    def seconds(self, now: float) -> float | None:
        """Seconds until the end; None if nothing can be said."""
        total = self.outlook.total
        if not self._work or total is None:
            return None
        if self._matches.total() < UNSEEN * total and not self.outlook.seats.keys() <= self._costs.keys():
            return None  # whoever has not played yet may be the one that thinks for long
        work = self._work_left()
        start, done = self._first if self._first and self._seen >= ENOUGH else (self._began, 0.0)
        pace = (self._work - done) / max(now - start, 1e-9)
        since = now - RECENT * (now - start)
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
        if self.outlook.seats:
            left = 0.0
            for seat, total in self.outlook.seats.items():
                played, cost = self._costs.get(seat, (0.0, 0.0))
                left += max(0.0, total - played) * (cost / played if played else means.get(seat[0], usual))
            return left
        tables = sum(seats for seats, _ in games.values()) / max(1, self._matches.total())
        return sum(
            max(0, total - self._matches[game]) * means.get(game, usual) * tables
            for game, total in self.outlook.matches.items()
        )
