"""TrueSkill: the model of skills, performances and draws, and the ratings of a game, updated match by match.

`rate` is the only function that knows the model. Another fit of the same model, such as one to all matches at once,
belongs beside it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import erfc, exp, pi, sqrt
from statistics import NormalDist
from typing import Final, NamedTuple

import trueskill  # type: ignore[import-untyped]  # here and not in our settings: authors' checkers read this too

from harness.core.errors import StoreError
from harness.core.records import GameRecord, order
from harness.ratings.evidence import Evidence

# TrueSkill's update after one match of single players: expectation propagation on a chain, written out for speed.
#
# Players are in order of rank; each pair of neighbours has a difference of performances that is known to be positive (a
# win) or within the draw margin (a tie). For teams of one player the factor graph of the `trueskill` package is this
# chain, so the same messages in the same order give the same numbers, twenty times as fast: rating must not cost more
# than playing. Normal distributions are kept as precision (1 / variance) and `tau` (precision times mean), in which
# multiplying densities is addition.


# The constants of the package, with the types that it does not publish.
MU: Final[float] = trueskill.MU
SIGMA: Final[float] = trueskill.SIGMA
BETA: Final[float] = trueskill.BETA
DELTA: Final[float] = trueskill.DELTA
DRAW_PROBABILITY: Final[float] = trueskill.DRAW_PROBABILITY
MAX_SWEEPS: Final = 10
"""As in the package: messages are passed down and up the chain until they converge, at most ten times."""

_PERFORMANCE_VARIANCE: Final = BETA * BETA
_ROOT_HALF: Final = sqrt(0.5)
_DENSITY_AT_0: Final = 1 / sqrt(2 * pi)
_TWICE_DENSITY_AT_0: Final = 2 * _DENSITY_AT_0
_FAR_TAIL: Final = -30.0  # beyond this density and tail underflow, and their ratio needs its asymptote
_MAX_W: Final = 1 - 1e-9  # at 1 the variance would become 0
_CONVERGED_PRECISION: Final = DELTA**2
_normal = NormalDist()


def draw_margin(probability: float) -> float:
    """Return how close two performances must be to count as a draw, for a given probability of draws."""
    return _normal.inv_cdf((probability + 1) / 2) * sqrt(2) * BETA


def rate(beliefs: Sequence[tuple[float, float]], ranks: tuple[int, ...], margin: float) -> list[tuple[float, float]]:
    """Return (mu, sigma) of each seat after a match with these ranks."""
    seats, ties = order(ranks)
    # The performances, best first, without messages from neighbours.
    own = [1.0 / (beliefs[seat][1] ** 2 + _PERFORMANCE_VARIANCE) for seat in seats]
    own_tau = [weight * beliefs[seat][0] for weight, seat in zip(own, seats, strict=True)]
    if len(ties) > 1:
        message, message_tau = _chain_messages(own, own_tau, ties, margin)
    else:
        message, message_tau = _pair_messages(own, own_tau, ties[0], margin)
    rated = list(beliefs)
    for place, seat in enumerate(seats):
        mu, sigma = beliefs[seat]
        weight, share = 1.0 / (sigma * sigma), 1.0 + _PERFORMANCE_VARIANCE * message[place]
        new = weight + message[place] / share
        rated[seat] = ((weight * mu + message_tau[place] / share) / new, sqrt(1.0 / new))
    return rated


def _pair_messages(
    own: list[float], own_tau: list[float], tied: bool, margin: float
) -> tuple[list[float], list[float]]:
    """Return precision and tau of the messages to two players: a chain of one pair, which needs no iteration."""
    left, right = own
    left_mean, right_mean = own_tau[0] / left, own_tau[1] / right
    mean, variance = left_mean - right_mean, 1.0 / left + 1.0 / right
    spread = sqrt(variance)
    shift, gain = _truncation(mean / spread, margin / spread, (mean - margin) / spread, tied)
    rest = 1.0 - gain
    weight = gain / (rest * variance)
    tau = weight * mean + shift / (rest * spread)
    above, below = 1.0 + weight / right, 1.0 + weight / left
    return [weight / above, weight / below], [(right_mean * weight + tau) / above, (left_mean * weight - tau) / below]


def _truncation(difference: float, edge: float, beyond: float, tied: bool) -> tuple[float, float]:
    """Return TrueSkill's v and w: how a result shifts and narrows a normal difference of performances by truncation.

    All arguments are in standard deviations; `beyond` is the distance from the edge of a draw.
    """
    if tied:
        shift, gain = _tie(difference, edge)
    elif beyond > _FAR_TAIL:
        shift = _TWICE_DENSITY_AT_0 * exp(-0.5 * beyond * beyond) / erfc(-beyond * _ROOT_HALF)
        gain = shift * (shift + beyond)
    else:
        shift, gain = -beyond - 1.0 / beyond, 1.0 - 1.0 / (beyond * beyond)
    return shift, min(gain, _MAX_W)


def _chain_messages(
    own: list[float], own_tau: list[float], ties: tuple[bool, ...], margin: float
) -> tuple[list[float], list[float]]:
    """Return precision and tau of the messages to each player from the results against its neighbours."""
    pairs = len(ties)
    last = pairs - 1
    above, above_tau = [0.0] * (pairs + 1), [0.0] * (pairs + 1)  # from the pair with the player above
    below, below_tau = [0.0] * (pairs + 1), [0.0] * (pairs + 1)  # from the pair with the player below
    known, known_tau = [0.0] * pairs, [0.0] * pairs  # messages from the results to the differences
    steps = [*range(last), *range(last, 0, -1)]  # down the chain and up again
    for _ in range(MAX_SWEEPS):
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
            # `_truncation` without a call, because a match of four has about twenty of them.
            if x > _FAR_TAIL and not ties[pair]:
                shift = _TWICE_DENSITY_AT_0 * exp(-0.5 * x * x) / erfc(-x * _ROOT_HALF)
                gain = shift * (shift + x)
                if gain > _MAX_W:
                    gain = _MAX_W
            else:
                shift, gain = _truncation(mean / spread, margin / spread, x, ties[pair])
            rest = 1.0 - gain
            weight, push = gain / (rest * variance), shift / (rest * spread)
            tau = weight * mean + push
            # As in the package: converged if tau and the root of the precision change by at most DELTA.
            if not moved and (abs(tau - known_tau[pair]) > DELTA or abs(weight - known[pair]) > _CONVERGED_PRECISION):
                moved = True
            known[pair] = weight
            known_tau[pair] = tau
            if pair == last:
                down = False
            if down:  # messages go to the player below on the way down, to the one above on the way up
                share = 1.0 + weight / left
                above[under] = weight / share
                above_tau[under] = (right_mean * weight - push) / share
            else:
                share = 1.0 + weight / right
                below[pair] = weight / share
                below_tau[pair] = (left_mean * weight + push) / share
        if not moved:
            break
    # The messages to the two ends of the chain come last.
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
    if within < 1e-300:  # a very unlikely draw: all probability is at the edge
        return (high if x >= 0 else -high), _MAX_W
    at_high, at_low = _DENSITY_AT_0 * exp(-0.5 * high * high), _DENSITY_AT_0 * exp(-0.5 * low * low)
    v = (at_low - at_high) / within
    w = v * v + (high * at_high - low * at_low) / within
    return (v if x >= 0 else -v), w


# The ratings of a game: TrueSkill, and the statistics for all claims, updated match by match.


DRAW_PRIOR_PAIRS = 10
"""Weight, in pairs of neighbours, of the package's draw probability; the records determine the rest."""


MAX_CACHED_TABLES = 10_000
"""The cache of tables is emptied when it has this many."""


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
    """Matches that it lost without playing, because it had failed too often."""

    @property
    def rating(self) -> float:
        """TrueSkill's conservative rating: mu - 3 sigma."""
        return self.mu - 3 * self.sigma


class Table(NamedTuple):
    """The bots at a table, in order of seats."""

    lines: list[BotRating]
    numbers: tuple[int, ...]
    rated: bool
    """Whether matches are rated: not if a bot meets itself, or has no opponent."""


@dataclass(slots=True)
class Ratings:
    """Ratings of one game. The same records in the same order give the same ratings.

    A bot does not learn between the matches of a run, so skills do not drift: TrueSkill's dynamics factor is 0. A match
    in which a bot meets itself, or has no opponent, is counted but not rated.
    """

    lines: dict[str, BotRating] = field(default_factory=dict)
    evidence: Evidence = field(default_factory=Evidence)
    matches: int = 0
    pairs: int = 0
    """Pairs of neighbours in the final orders of matches, for the draw probability."""
    ties: int = 0
    _tables: dict[tuple[str, ...], Table] = field(default_factory=dict, repr=False, compare=False)

    def add(self, record: GameRecord, shares: Sequence[float] | None = None) -> None:
        """Add a match; `shares`, one for each seat with mean one half, replace those of the ranks in beat rates."""
        seats, ranks, scores, decisions = record.seats, record.ranks, record.scores, record.decisions
        if not len(seats) == len(ranks) == len(scores) == len(decisions):
            raise StoreError(
                f"The record {record.id} does not have a rank, a score and decisions for each of its seats."
            )
        self.matches += 1
        table = self._tables.get(seats) or self._make_table(seats)
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
        self.evidence.add_match(record.seed, table.numbers, ranks, record.scores, shares)

    def _make_table(self, seats: tuple[str, ...]) -> Table:
        """Return the table with these seats, and cache it, because the same bots meet many times."""
        lines = [self.lines.get(name) or self._new(name) for name in seats]
        if len(self._tables) >= MAX_CACHED_TABLES:
            self._tables.clear()
        table = self._tables[seats] = Table(
            lines, tuple([line.number for line in lines]), len(set(seats)) == len(seats) > 1
        )
        return table

    def clear_table_cache(self) -> None:
        """Empty the cache, which is needed when `lines` were replaced."""
        self._tables = {}

    def _new(self, name: str) -> BotRating:
        line = self.lines[name] = BotRating(name, len(self.lines))
        return line

    @property
    def draw_probability(self) -> float:
        """The estimated probability that neighbours tie."""
        return (self.ties + DRAW_PRIOR_PAIRS * DRAW_PROBABILITY) / (self.pairs + DRAW_PRIOR_PAIRS)


def by_game(record: GameRecord) -> str:
    """Return the game: the default key of ratings."""
    return record.game


def by_players(record: GameRecord) -> str:
    """Return game and number of players, for separate ratings."""
    return f"{record.game}, {len(record.seats)} players"


def by_option(record: GameRecord) -> str:
    """Return game and options, for separate ratings."""
    settings = ", ".join(f"{name}={value}" for name, value in sorted(record.options.items()) if value != "")
    return f"{record.game}, {settings}" if settings else record.game
