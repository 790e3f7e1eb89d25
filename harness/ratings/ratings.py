"""The ratings of a game: TrueSkill, and the evidence for all claims, taken in match by match."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from msgspec.structs import replace

from harness.core.errors import StoreError
from harness.core.types import GameRecord
from harness.ratings.evidence import Evidence
from harness.ratings.skill_update import DRAW_PROBABILITY, MU, SIGMA, draw_margin, order, rate

DRAW_PAIRS = 10
"""The draw probability starts as if it had been seen in this many pairs; from there the records say what it is."""


MOST_TABLES = 10_000
"""Tables that are remembered; where there are more, they are found again."""


@dataclass(slots=True)
class BotRating:
    """One bot's line of a leaderboard."""

    bot: str
    number: int
    """Bots are numbered in the order of their first match; `Evidence` knows them by number."""
    mu: float = MU
    sigma: float = SIGMA
    matches: int = 0
    wins: float = 0.0
    rank_sum: int = 0
    score_sum: int = 0
    decisions: int = 0
    time: float = 0.0
    faults: int = 0
    """Matches in which it failed."""
    disqualified: int = 0
    """Matches that it lost without playing, because it had failed too often before."""

    @property
    def rating(self) -> float:
        """A rating that the bot is very probably worth: mu - 3 sigma."""
        return self.mu - 3 * self.sigma


class Table(NamedTuple):
    """Those who sit at a table."""

    lines: list[BotRating]
    numbers: tuple[int, ...]
    rated: bool
    """Whether a match of theirs says who is better."""


@dataclass(slots=True)
class Ratings:
    """Ratings of one game. The same records in the same order give the same ratings.

    A bot does not learn between the matches of a run, so skills do not drift: TrueSkill's tau is 0. A match in which a
    bot meets itself, or nobody, is counted but says nothing about who is better: it is not rated.
    """

    lines: dict[str, BotRating] = field(default_factory=dict)
    evidence: Evidence = field(default_factory=Evidence)
    matches: int = 0
    pairs: int = 0
    """Neighbours in the final order of a match, for the draw probability."""
    ties: int = 0
    _tables: dict[tuple[str, ...], Table] = field(default_factory=dict, repr=False, compare=False)

    def add(self, record: GameRecord, shares: Sequence[float] | None = None) -> None:
        """Takes in one match; `shares`, one for each seat and one half on average, stand in for those of the ranks in
        everything that is said about `ahead`."""
        seats, ranks, scores, decisions = record.seats, record.ranks, record.scores, record.decisions
        if not len(seats) == len(ranks) == len(scores) == len(decisions):
            raise StoreError(
                f"The record {record.id} does not have a rank, a score and decisions for each of its seats."
            )
        self.matches += 1
        table = self._tables.get(seats) or self._seated(seats)
        lines = table.lines
        for line, rank, score, made in zip(lines, ranks, scores, decisions, strict=True):
            line.matches += 1
            line.rank_sum += rank
            line.score_sum += score
            line.decisions += made
            if rank == 1:
                line.wins += 1 / ranks.count(1)
        if record.time:
            for line, spent in zip(lines, record.time, strict=False):
                line.time += spent
        if record.faults:
            self._count_faults(lines, record)
        if table.rated:
            self._rate(table, record, shares)

    def _count_faults(self, lines: Sequence[BotRating], record: GameRecord) -> None:
        failed = {fault.seat for fault in record.failures}
        out = {fault.seat for fault in record.faults if fault.kind == "disqualified"}
        for seat, line in enumerate(lines):
            line.faults += seat in failed
            line.disqualified += seat in out

    def _rate(self, table: Table, record: GameRecord, shares: Sequence[float] | None) -> None:
        ranks, lines = record.ranks, table.lines
        margin = draw_margin(self.draw_probability)
        for line, (mu, sigma) in zip(
            lines, rate([(line.mu, line.sigma) for line in lines], ranks, margin), strict=True
        ):
            line.mu = mu
            line.sigma = sigma
        ties = order(ranks)[1]
        self.pairs += len(ties)
        self.ties += sum(ties)
        self.evidence.add(record.seed, table.numbers, ranks, record.scores, shares)

    def _seated(self, seats: tuple[str, ...]) -> Table:
        """The lines of those who sit there, in that order; remembered, for the same come again."""
        lines = [self.lines.get(name) or self._new(name) for name in seats]
        if len(self._tables) >= MOST_TABLES:
            self._tables.clear()
        table = self._tables[seats] = Table(
            lines, tuple([line.number for line in lines]), len(set(seats)) == len(seats) > 1
        )
        return table

    def forget_tables(self) -> None:
        """Lets go of what is only there for speed."""
        self._tables = {}

    def _new(self, name: str) -> BotRating:
        line = self.lines[name] = BotRating(name, len(self.lines))
        return line

    @property
    def draw_probability(self) -> float:
        """How often neighbours tied so far."""
        return (self.ties + DRAW_PAIRS * DRAW_PROBABILITY) / (self.pairs + DRAW_PAIRS)


def by_game(record: GameRecord) -> str:
    """Ratings for each game: what a match counts for, as a rule."""
    return record.game


def by_players(record: GameRecord) -> str:
    """Ratings for each number of players."""
    return f"{record.game}, {len(record.seats)} players"


def by_option(record: GameRecord) -> str:
    """Ratings for each setting of a game's options."""
    settings = ", ".join(f"{name}={value}" for name, value in sorted(record.options.items()) if value != "")
    return f"{record.game}, {settings}" if settings else record.game


def in_schedule_order(records: Iterable[GameRecord]) -> Generator[GameRecord, None, None]:
    """The records in the order in which they are rated: that of the schedule, whatever the order they ended in.

    They come nearly in order, so only those that are early wait in memory, and without their actions.
    """
    waiting: dict[int, GameRecord] = {}
    due = 0
    for record in records:
        if record.index < due or record.index in waiting:
            raise placed_twice(record)
        if record.index > due:
            waiting[record.index] = replace(record, actions=()) if record.actions else record
            continue
        yield record
        due += 1
        while due in waiting:
            yield waiting.pop(due)
            due += 1
    for index in sorted(waiting):
        yield waiting[index]


def placed_twice(record: GameRecord) -> StoreError:
    """What to say of a record that has the place of another one."""
    return StoreError(
        f"The record {record.id} has place {record.index} of the schedule, and so has another one: a match is "
        f"rated once, and only together with its own run. 'arena verify' says which records are not the run's."
    )
