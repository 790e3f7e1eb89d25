"""Matchmaking of a league: tables are seated where a match says most about the bots."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from math import exp, pi, sqrt
from random import Random
from typing import Any, Final, NamedTuple
from zlib import crc32

from harness.core.errors import StoreError
from harness.core.records import GameRecord
from harness.ratings.skill import (
    BETA,
    DELTA,
    DRAW_PROBABILITY,
    MU,
    SIGMA,
    draw_margin,
    tie_derivatives,
    win_derivatives,
)

# Seating: every other table is an informative one, those between are random.
#
# The host of an informative table is the bot about which the next match says most, usually a newcomer. A point near
# its strength is drawn, and of the few bots nearest to that point the most informative one sits down. The distribution
# of points is as wide as the host's uncertainty, and never narrow: a bot that only meets its neighbours is well
# compared with them, but not with the rest of the field.
#
# The host of a random table is one that has waited long, so every bot keeps playing. Random tables also keep the
# intervals honest: if results alone decided the pairings, lucky bots would meet lucky bots, rate each other as
# strong, and nothing would correct it. (If only neighbours meet, 95% intervals of equal bots hold in 75 of 100 cases.)


DRAW_PAIRS = 10
"""The draw probability starts as if it had been observed in this many pairs."""
OPPONENT_DISTANCE = 0.7 * BETA
"""Standard deviation of the distance between a host and its opponents, besides the host's uncertainty. A match at this
distance says nine tenths of what one between equals does."""
NEAREST_BOTS = 8
"""Of this many bots near a point the most informative one is chosen."""
RANDOM_CANDIDATES = 2
"""Bots that are drawn for a seat at a random table."""
FIRST_ROUND_SEATS, MATCHES_PER_SEAT = 2, 4
"""Seats of a newcomer in a round: the first number, and one more for each `MATCHES_PER_SEAT` known results. With more,
its opponents would be chosen before its first results show which ones are suitable."""

_MATCH_VARIANCE = 2 * BETA * BETA
_INFORMATION, _DECAY = 2 / pi, 1 - 2 / pi
"""What a match between equals says, and how fast that falls with the distance, both in units of the match variance: an
approximation of the information in the sign of a normal variable."""


class SettledRule(NamedTuple):
    """When a bot is known well enough: one of these conditions is met."""

    spread: float = 0.7
    """Its standard deviation is at most this, in TrueSkill points: about 9 percentage points of `ahead` either way."""
    gain: float = 0.004
    """One more match would reduce the uncertainty by less than this share: no bot near it is left to meet."""
    matches: int = 500
    """It has played this many matches: a bot that beats all others never reaches the other two."""


class _Rating:
    """The running rating of one bot."""

    __slots__ = ("last", "matches", "mean", "spread")

    def __init__(self) -> None:
        self.mean, self.spread, self.matches, self.last = MU, SIGMA, 0, 0


class RunningRatings:
    """TrueSkill ratings of the bots of one game for matchmaking: updated match by match in the order of the schedule.

    They are cheap and depend on that order; the league's table does not use them.
    """

    def __init__(self, settled_rule: SettledRule | None = None) -> None:
        self.settled_rule = settled_rule or SettledRule()
        self.played = 0
        """Matches that were added."""
        self._bots: dict[str, _Rating] = {}
        self._pairs = self._ties = 0

    def add_match(self, seats: Sequence[str], ranks: Sequence[int]) -> None:
        """Add one match; one in which a bot meets itself changes no rating."""
        self.played += 1
        bots = [self._bots.get(name) or self._bots.setdefault(name, _Rating()) for name in seats]
        for bot in bots:
            bot.matches += 1
            bot.last = self.played
        if len(set(seats)) < len(seats) or len(seats) < 2:
            return
        known = tuple(ranks)
        # Games differ in how often they are drawn, so the draw probability is estimated along the way.
        draws = (self._ties + DRAW_PAIRS * DRAW_PROBABILITY) / (self._pairs + DRAW_PAIRS)
        rated = rate([(bot.mean, bot.spread) for bot in bots], known, draw_margin(draws))
        for bot, (mean, spread) in zip(bots, rated, strict=True):
            bot.mean, bot.spread = mean, spread
        ties = order(known)[1]
        self._pairs += len(ties)
        self._ties += sum(ties)

    def mean(self, bot: str) -> float:
        """Return the estimated strength, in TrueSkill points."""
        return self._bots[bot].mean if bot in self._bots else MU

    def spread(self, bot: str) -> float:
        """Return the standard deviation of the estimate."""
        return self._bots[bot].spread if bot in self._bots else SIGMA

    def matches(self, bot: str) -> int:
        """Return how many matches of a bot were added."""
        return self._bots[bot].matches if bot in self._bots else 0

    def waited(self, bot: str) -> int:
        """Return how many matches were added since a bot's last one, or since the league began."""
        return self.played - (self._bots[bot].last if bot in self._bots else 0)

    def state(self) -> object:
        """Return everything as lists, numbers and strings, for the cache."""
        bots = [[name, one.mean, one.spread, one.matches, one.last] for name, one in self._bots.items()]
        return [self.played, self._pairs, self._ties, bots]

    def restore(self, state: Any) -> None:
        """Restore what `state()` returned."""
        self.played, self._pairs, self._ties, bots = state
        self._bots = {}
        for name, mean, spread, matches, last in bots:
            one = self._bots[name] = _Rating()
            one.mean, one.spread, one.matches, one.last = mean, spread, matches, last


def seat_tables(
    ratings: RunningRatings, playing: Sequence[str], opponents: Sequence[str], seats: int, count: int, luck: Random
) -> list[tuple[str, ...]]:
    """Return the next tables, each in the order of seats: `playing` are to be rated, `opponents` sit with them.

    The same arguments give the same tables; none if there are fewer bots than seats, or no bot is playing.
    """
    if not playing or len(playing) + len(opponents) < seats or seats < 2:
        return []
    return _RoundSeating(ratings, playing, opponents, seats, luck).seat_tables(count)


def is_settled(ratings: RunningRatings, playing: Sequence[str]) -> bool:
    """Return whether every playing bot is known well enough."""
    rule = ratings.settled_rule
    uncertain = [
        name for name in playing if ratings.spread(name) > rule.spread and ratings.matches(name) < rule.matches
    ]
    if not uncertain:
        return True
    if len(playing) < 2:
        return False
    found = sorted((ratings.mean(name), ratings.spread(name) ** 2, name) for name in playing)
    means, variances = [one[0] for one in found], [one[1] for one in found]
    gains = dict(zip([one[2] for one in found], _neighbour_gains(means, variances), strict=True))
    return all(gains[name] < rule.gain for name in uncertain)


def matches_to_settle(ratings: RunningRatings, playing: Sequence[str]) -> dict[str, float]:
    """Return about how many matches each bot must still play until it is known well enough, from what its matches have
    taught so far; at most as many as the rule allows, which are also returned for a bot without a match."""
    rule = ratings.settled_rule
    found = sorted((ratings.mean(name), ratings.spread(name) ** 2, name) for name in playing)
    gains = _neighbour_gains([mean for mean, _, _ in found], [variance for _, variance, _ in found])
    needed = {}
    for (_, variance, name), gain in zip(found, gains, strict=True):
        played = ratings.matches(name)
        # What a match says is about proportional to the variance, so this is where it falls below `rule.gain`.
        enough = max(rule.spread**2, variance * rule.gain / gain if gain else 0.0)
        learned = 1 / variance - 1 / SIGMA**2  # precision grows by about the same with each match
        more = (1 / enough - 1 / variance) * played / learned if learned > 0 else rule.matches
        needed[name] = min(max(0.0, more), max(0, rule.matches - played))
    return needed


def _gain(gap: float, mine: float, its: float) -> float:
    """Return the share of a bot's variance that a match with another removes, by the gap and both variances."""
    scale = _MATCH_VARIANCE + mine + its
    return mine * _INFORMATION / scale * exp(-_DECAY * gap * gap / scale)


def _neighbour_gains(means: Sequence[float], variances: Sequence[float]) -> list[float]:
    """Return the gain of each bot from a match with its better neighbour; means are sorted."""
    last = len(means) - 1
    found = []
    for at, (mean, variance) in enumerate(zip(means, variances, strict=True)):
        below = _gain(mean - means[at - 1], variance, variances[at - 1]) if at else 0.0
        above = _gain(means[at + 1] - mean, variance, variances[at + 1]) if at < last else 0.0
        found.append(max(below, above))
    return found


class _RoundSeating:
    """The bots of a game in order of strength, while the tables of a round are seated. Bots are numbered by place."""

    def __init__(
        self, ratings: RunningRatings, playing: Sequence[str], opponents: Sequence[str], seats: int, luck: Random
    ) -> None:
        plays = set(playing)
        # Sorted, then shuffled: tables depend on the luck, and not on the order in which the caller lists the bots.
        names = sorted([*playing, *opponents])
        luck.shuffle(names)  # equal bots stand in random order
        names.sort(key=ratings.mean)
        self.names, self.seats, self.luck = names, seats, luck
        self.means = [ratings.mean(name) for name in names]
        self.variances = [ratings.spread(name) ** 2 for name in names]
        """Falls with each seat in this round, as if the results were known."""
        self.first_variances = list(self.variances)
        self.plays = [name in plays for name in names]
        self.seats_taken = [0] * len(names)
        self.max_seats = [FIRST_ROUND_SEATS + ratings.matches(name) // MATCHES_PER_SEAT for name in names]
        usual = max(1.0, len(names) / seats)
        self.waits = [ratings.waited(name) for name in names]
        # Older versions are opponents only: they gain no priority by waiting.
        self.priority = [
            1.0 + min(3.0, wait / usual) if plays else 1.0 for wait, plays in zip(self.waits, self.plays, strict=True)
        ]
        gains = _neighbour_gains(self.means, self.variances)
        self.needs = [gain if plays else -1.0 for gain, plays in zip(gains, self.plays, strict=True)]
        """The gain of a bot from hosting a table; negative: it hosts none."""

    def seat_tables(self, count: int) -> list[tuple[str, ...]]:
        """Return `count` tables, informative and random ones by turns."""
        waiting = self._longest_waiting(count // 2)
        found = []
        for number in range(count):
            host = next((bot for bot in waiting if not self.seats_taken[bot]), None) if number % 2 else None
            table = self._informative_table(self._neediest()) if host is None else self._random_table(host)
            self.luck.shuffle(table)
            found.append(tuple([self.names[bot] for bot in table]))
        return found

    def _longest_waiting(self, count: int) -> list[int]:
        """Return `count` of the bots that have waited longest.

        They are drawn from twice as many, since a bot whose matches are in progress also seems to wait.
        """
        bots = [bot for bot, plays in enumerate(self.plays) if plays]
        bots.sort(key=lambda bot: -self.waits[bot])
        bots = bots[: 2 * count]
        return self.luck.sample(bots, min(count, len(bots)))

    def _neediest(self) -> int:
        needs = self.needs
        best = max(range(len(needs)), key=needs.__getitem__)
        if needs[best] >= 0:
            return best
        # All bots have as many seats as are useful in one round; share out the rest.
        return min((bot for bot, plays in enumerate(self.plays) if plays), key=lambda bot: self.seats_taken[bot])

    def _informative_table(self, host: int) -> list[int]:
        table = [host]
        width = sqrt(OPPONENT_DISTANCE * OPPONENT_DISTANCE + self.first_variances[host])
        while len(table) < self.seats:
            table.append(self._choose_opponent(table, self.luck.gauss(self.means[host], width)))
        self._take_seats(table)
        return table

    def _random_table(self, host: int) -> list[int]:
        """Return a table of any bots: of a few that are drawn for a seat, the one with the highest priority sits."""
        table = [host]
        bots = range(len(self.names))
        while len(table) < self.seats:
            drawn = self.luck.sample(bots, min(len(bots), RANDOM_CANDIDATES + self.seats))
            free = [bot for bot in drawn if bot not in table][:RANDOM_CANDIDATES]
            table.append(max(free, key=lambda bot: self.priority[bot] / (1 + self.seats_taken[bot]) ** 2))
        self._take_seats(table)
        return table

    def _choose_opponent(self, table: list[int], point: float) -> int:
        """Return the bot near a point with which the host gains most, and which gains most itself."""
        host = table[0]
        mean, variance = self.means[host], self.variances[host]
        best, most = -1, -1.0
        for bot in self._nearest(point, table):
            its = self.variances[bot]
            gap = mean - self.means[bot]
            score = _gain(gap, variance, its)
            if self.plays[bot]:
                score += 0.5 * score * its / variance
            # The random factor keeps a bot from meeting the same opponents all the time.
            score *= self.priority[bot] / (1 + self.seats_taken[bot]) ** 2 * (1 + self.luck.random())
            if score > most:
                best, most = bot, score
        return best

    def _nearest(self, point: float, table: list[int]) -> list[int]:
        means = self.means
        above = bisect_left(means, point)
        below, last = above - 1, len(means) - 1
        found: list[int] = []
        while len(found) < NEAREST_BOTS and (below >= 0 or above <= last):
            if above > last or (below >= 0 and point - means[below] < means[above] - point):
                bot, below = below, below - 1
            else:
                bot, above = above, above + 1
            if bot not in table:
                found.append(bot)
        return found

    def _take_seats(self, table: list[int]) -> None:
        """Update what the other tables of the round depend on: seats, and variances as they will be, approximately."""
        before = [self.variances[bot] for bot in table]
        for bot, mine in zip(table, before, strict=True):
            others = [(self.means[other], its) for other, its in zip(table, before, strict=True) if other != bot]
            gain = sum([_gain(self.means[bot] - mean, mine, its) for mean, its in others])
            self.seats_taken[bot] += 1
            # The pairs of one table are not independent: together they say 2 / seats of what as many matches would.
            left = 1 / (1 + gain * 2 / self.seats)
            self.variances[bot] = mine * left
            self.needs[bot] = self.needs[bot] * left if self.seats_taken[bot] < self.max_seats[bot] else -1.0


# Recorded rounds, as far as planning the next round depends on them.


HELD_ROUNDS = 3
"""Rounds that are not rated yet: the last two may be unfinished, and both were planned without the two before them."""


class SeatedMatch(NamedTuple):
    """The part of a record that matchmaking needs; it is stored in the cache."""

    place: int
    id: str
    game: str
    seed: int
    seats: tuple[str, ...]
    ranks: tuple[int, ...]

    @classmethod
    def from_record(cls, record: GameRecord) -> SeatedMatch:
        """Return the part of a record that matchmaking needs."""
        return cls(record.index, record.id, record.game, record.seed, tuple(record.seats), tuple(record.ranks))


class RoundHistory:
    """The recorded rounds of an era: earlier ones are rated, the last ones are held back until they are complete."""

    classes: Mapping[type, Sequence[str]] = {SeatedMatch: SeatedMatch._fields}

    def __init__(self, banned: Collection[str]) -> None:
        """Matches of `banned` bots are not rated."""
        self.banned = frozenset(banned)
        # The name of the cache entry: ratings depend on which bots are banned.
        self.name = f"league-{crc32(repr(sorted(self.banned)).encode()):08x}"
        self._ratings: dict[str, RunningRatings] = {}
        self.newest = 0
        """The last round with a record."""
        self.rated = 0
        """The last round that was rated."""
        self.held: dict[int, dict[str, SeatedMatch]] = {}
        """Matches of later rounds, by round and id."""
        self.counts: Counter[int] = Counter()
        """Records of each round."""
        self.faults: Counter[str] = Counter()
        """Faults of each bot."""

    def add(self, record: GameRecord) -> None:
        """Add one record; records come in the order of the schedule."""
        if record.round > self.newest:
            self.rate_rounds(record.round - HELD_ROUNDS)
        self.hold_match(record)

    def hold_match(self, record: GameRecord) -> None:
        """Keep a match until its round is rated."""
        round_ = record.round
        if round_ < 1:
            raise StoreError(f"The record {record.id} is not one of a league: it has no round.")
        self.newest = max(self.newest, round_)
        self.held.setdefault(round_, {})[record.id] = SeatedMatch.from_record(record)
        self.counts[round_] += 1
        for fault in record.failures if record.faults else ():
            self.faults[record.seats[fault.seat]] += 1

    def rate_rounds(self, last: int) -> None:
        """Rate all rounds up to `last`."""
        for each in sorted(number for number in self.held if number <= last):
            # In the order of the schedule: workers finish matches in any order, and ratings depend on it.
            for match in sorted(self.held.pop(each).values()):
                if self.banned.isdisjoint(match.seats):
                    self.ratings(match.game).add_match(match.seats, match.ranks)
        self.rated = max(self.rated, last)

    def ratings(self, game: str) -> RunningRatings:
        """Return the ratings of a game."""
        return self._ratings.setdefault(game, RunningRatings())

    def matches(self) -> Iterator[SeatedMatch]:
        """Yield the matches that are held back."""
        for matches in self.held.values():
            yield from matches.values()

    def state(self) -> object:
        """Return everything, for the cache."""
        return {
            "beliefs": {game: each.state() for game, each in self._ratings.items()},
            "newest": self.newest,
            "taken": self.rated,
            "held": self.held,
            "faults": self.faults,
            "counts": self.counts,
        }

    def restore(self, state: Any) -> None:
        """Restore what `state()` returned."""
        for game, each in state["beliefs"].items():
            self.ratings(game).restore(each)
        self.newest, self.rated, self.held = state["newest"], state["taken"], state["held"]
        self.faults, self.counts = state["faults"], state["counts"]


# TrueSkill's update after one match of single players: expectation propagation on a chain, written out for speed.
#
# Players are in order of rank; each pair of neighbours has a difference of performances that is known to be positive (a
# win) or within the draw margin (a tie). For teams of one player the factor graph of the `trueskill` package is this
# chain, so the same messages in the same order give the same numbers, twenty times as fast: rating must not cost more
# than playing. Normal distributions are kept as precision (1 / variance) and `tau` (precision times mean), in which
# multiplying densities is addition.


MAX_SWEEPS: Final = 10
"""As in the package: messages are passed down and up the chain until they converge, at most ten times."""

_PERFORMANCE_VARIANCE: Final = BETA * BETA
_MAX_W: Final = 1 - 1e-9  # at 1 the variance would become 0
_CONVERGED_PRECISION: Final = DELTA**2


@lru_cache(maxsize=100_000)
def order(ranks: tuple[int, ...]) -> tuple[tuple[int, ...], tuple[bool, ...]]:
    """Return the seats from first to last, and for each but the last whether the next one has the same rank."""
    seats = sorted(range(len(ranks)), key=ranks.__getitem__)
    return tuple(seats), tuple(ranks[a] == ranks[b] for a, b in pairwise(seats))


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
    shift, gain = tie_derivatives(difference, edge) if tied else win_derivatives(beyond)
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
