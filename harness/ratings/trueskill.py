"""TrueSkill ratings, updated match by match."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Sequence
from dataclasses import dataclass, field
from math import erfc, exp, pi, sqrt
from statistics import NormalDist
from typing import Final, NamedTuple

import trueskill  # type: ignore[import-untyped]  # here and not in our settings: authors' checkers read this too
from msgspec.structs import replace

from harness.core.errors import StoreError
from harness.core.records import GameRecord, order
from harness.ratings.evidence import Evidence

# TrueSkill's update for tables of single players, written out for speed: the library's messages on a chain.
#
# Players stand in order of rank; each neighbouring pair has a difference of performances that is known to be positive
# (a win) or within the draw margin (a tie). For one-player teams the factor graph of the `trueskill` library is this
# chain, so the same messages in the same order give the same numbers, many times as fast.


# The library's constants, with the types that it does not publish.
MU: Final[float] = trueskill.MU
SIGMA: Final[float] = trueskill.SIGMA
BETA: Final[float] = trueskill.BETA
DELTA: Final[float] = trueskill.DELTA
DRAW_PROBABILITY: Final[float] = trueskill.DRAW_PROBABILITY
MOST_SWEEPS: Final = 10
"""As in the library: messages go up and down the chain until they settle, ten times at most."""

_NOISE: Final = BETA * BETA
_ROOT_HALF: Final = sqrt(0.5)
_PEAK: Final = 1 / sqrt(2 * pi)
_TWICE_PEAK: Final = 2 * _PEAK
_FAR: Final = -30.0  # beyond this the density and the tail are so small that their ratio needs its asymptote
_NEARLY_ONE: Final = 1 - 1e-9
_SETTLED: Final = DELTA**2
_normal = NormalDist()


def draw_margin(probability: float) -> float:
    """How near two performances must be to count as a draw, for draws of this probability."""
    return _normal.inv_cdf((probability + 1) / 2) * sqrt(2) * BETA


def rate(beliefs: Sequence[tuple[float, float]], ranks: tuple[int, ...], margin: float) -> list[tuple[float, float]]:
    """The (mu, sigma) of each seat after a match that ended with these ranks."""
    seats, ties = order(ranks)
    # Performances, best first: precision, and precision times mean, without what the neighbours say.
    own = [1.0 / (beliefs[seat][1] ** 2 + _NOISE) for seat in seats]
    own_tau = [weight * beliefs[seat][0] for weight, seat in zip(own, seats, strict=True)]
    heard, heard_tau = _settle(own, own_tau, ties, margin) if len(ties) > 1 else _told(own, own_tau, ties[0], margin)
    rated = list(beliefs)
    for place, seat in enumerate(seats):
        mu, sigma = beliefs[seat]
        weight, share = 1.0 / (sigma * sigma), 1.0 + _NOISE * heard[place]
        new = weight + heard[place] / share
        rated[seat] = ((weight * mu + heard_tau[place] / share) / new, sqrt(1.0 / new))
    return rated


def _told(own: list[float], own_tau: list[float], tied: bool, margin: float) -> tuple[list[float], list[float]]:
    """What two players hear from their result: a chain of one pair, which settles at once."""
    left, right = own
    left_mean, right_mean = own_tau[0] / left, own_tau[1] / right
    mean, variance = left_mean - right_mean, 1.0 / left + 1.0 / right
    spread = sqrt(variance)
    shift, gain = _cut(mean / spread, margin / spread, (mean - margin) / spread, tied)
    rest = 1.0 - gain
    weight = gain / (rest * variance)
    tau = weight * mean + shift / (rest * spread)
    above, below = 1.0 + weight / right, 1.0 + weight / left
    return [weight / above, weight / below], [(right_mean * weight + tau) / above, (left_mean * weight - tau) / below]


def _cut(difference: float, edge: float, beyond: float, tied: bool) -> tuple[float, float]:
    """The result cuts off a part of a difference of performances, which stands `beyond` the edge of a draw, all in
    units of its spread: TrueSkill's v and w."""
    if tied:
        shift, gain = _tie(difference, edge)
    elif beyond > _FAR:
        shift = _TWICE_PEAK * exp(-0.5 * beyond * beyond) / erfc(-beyond * _ROOT_HALF)
        gain = shift * (shift + beyond)
    else:
        shift, gain = -beyond - 1.0 / beyond, 1.0 - 1.0 / (beyond * beyond)
    return shift, min(gain, _NEARLY_ONE)


def _settle(
    own: list[float], own_tau: list[float], ties: tuple[bool, ...], margin: float
) -> tuple[list[float], list[float]]:
    """What each player hears from its neighbours' results: precision, and precision times mean."""
    pairs = len(ties)
    last = pairs - 1
    above, above_tau = [0.0] * (pairs + 1), [0.0] * (pairs + 1)  # from the pair with the player above
    below, below_tau = [0.0] * (pairs + 1), [0.0] * (pairs + 1)  # from the pair with the player below
    known, known_tau = [0.0] * pairs, [0.0] * pairs  # what the result says about each difference
    steps = [*range(last), *range(last, 0, -1)]  # down the chain and up again
    for _ in range(MOST_SWEEPS):
        moved = False
        down = True
        for pair in steps:
            under = pair + 1
            left, right = own[pair] + above[pair], own[under] + below[under]
            left_mean = (own_tau[pair] + above_tau[pair]) / left
            right_mean = (own_tau[under] + below_tau[under]) / right
            mean, variance = left_mean - right_mean, 1.0 / left + 1.0 / right
            spread = sqrt(variance)
            x = (mean - margin) / spread
            if x > _FAR and not ties[pair]:  # `_cut` without a call: there are some twenty of them in a match of four
                shift = _TWICE_PEAK * exp(-0.5 * x * x) / erfc(-x * _ROOT_HALF)
                gain = shift * (shift + x)
                if gain > _NEARLY_ONE:
                    gain = _NEARLY_ONE
            else:
                shift, gain = _cut(mean / spread, margin / spread, x, ties[pair])
            rest = 1.0 - gain
            weight, push = gain / (rest * variance), shift / (rest * spread)
            tau = weight * mean + push
            # As in the library: settled is a tau, and the root of a precision, that moves by no more than DELTA.
            if not moved and (abs(tau - known_tau[pair]) > DELTA or abs(weight - known[pair]) > _SETTLED):
                moved = True
            known[pair] = weight
            known_tau[pair] = tau
            if pair == last:
                down = False
            if down:  # on the way down the player below is told, on the way up the one above
                share = 1.0 + weight / left
                above[under] = weight / share
                above_tau[under] = (right_mean * weight - push) / share
            else:
                share = 1.0 + weight / right
                below[pair] = weight / share
                below_tau[pair] = (left_mean * weight + push) / share
        if not moved:
            break
    # The two ends of the chain are told at the last.
    right = own[1] + below[1]
    share = 1.0 + known[0] / right
    below[0] = known[0] / share
    below_tau[0] = ((own_tau[1] + below_tau[1]) / right * known[0] + known_tau[0]) / share
    left = own[-2] + above[-2]
    share = 1.0 + known[-1] / left
    above[-1] = known[-1] / share
    above_tau[-1] = ((own_tau[-2] + above_tau[-2]) / left * known[-1] - known_tau[-1]) / share
    return [a + b for a, b in zip(above, below, strict=True)], [
        a + b for a, b in zip(above_tau, below_tau, strict=True)
    ]


def _tie(x: float, edge: float) -> tuple[float, float]:
    size = abs(x)
    high, low = edge - size, -edge - size
    within = 0.5 * (erfc(-high * _ROOT_HALF) - erfc(-low * _ROOT_HALF))
    if within < 1e-300:  # a draw that nobody could expect: all of it at the edge
        return (high if x >= 0 else -high), _NEARLY_ONE
    at_high, at_low = _PEAK * exp(-0.5 * high * high), _PEAK * exp(-0.5 * low * low)
    v = (at_low - at_high) / within
    w = v * v + (high * at_high - low * at_low) / within
    return (v if x >= 0 else -v), w


# The ratings of a game: TrueSkill, and the evidence for all claims, taken in match by match.


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
