"""Who sits with whom in a league: every other table is set where most is learned, the ones between by lot.

The host of a telling table is the bot of which the next match tells most, as a rule a newcomer. A point near its
strength is drawn, and of the few who are nearest to it the most telling one sits down. Points are drawn wide: as wide
as is not known about the host, and never narrow, since who meets nobody but neighbours is known from next door and not
from afar.

The host of a table by lot is one that has waited long, so nobody starves. Such tables are there for honesty too: if
results alone decided who meets whom, the lucky would meet the lucky, would be taken for strong by each other, and
nothing would ever set it right. (If only neighbours meet, intervals of equal bots hold in 75 of 100 cases, not 95.)
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from math import exp, pi, sqrt
from random import Random
from typing import Any, NamedTuple

from harness.ratings.skill_update import BETA, DRAW_PROBABILITY, MU, SIGMA, draw_margin, order, rate

DRAW_PAIRS = 10
"""The draw probability starts as if it had been seen in this many pairs."""
WIDTH = 0.7 * BETA
"""How far from a host's strength opponents are looked for, besides what is not known about it. Who is so far away tells
nine tenths of what an equal would."""
NEAREST = 8
"""Of how many who are near to a point the most telling one is taken."""
LOTS = 2
"""Bots that are drawn for a seat at a table by lot."""
FIRST_SEATS, MORE_SEATS = 2, 4
"""Seats of a newcomer in a round: so many, and one for each so many matches that are known; then one learns more by
waiting for their results."""

_LUCK = 2 * BETA * BETA
_TELLS, _FALLS = 2 / pi, 1 - 2 / pi
"""What a match between equals tells, and how fast that falls with the distance, both in units of its luck."""


class Seeking(NamedTuple):
    """When a bot is known well enough."""

    spread: float = 0.7
    """In TrueSkill's points: some 9 points of `ahead` either way."""
    gain: float = 0.004
    """Or when one more match would take less than this share off what is not known: nobody near is left to meet."""
    matches: int = 500
    """Or after so many matches: who has beaten everybody that often is not going to be known better."""


class _Belief:
    """What is believed of one bot."""

    __slots__ = ("last", "matches", "mean", "spread")

    def __init__(self) -> None:
        self.mean, self.spread, self.matches, self.last = MU, SIGMA, 0, 0


class Beliefs:
    """What is believed of the bots of one game while they are being matched: cheap, match by match in the order of the
    schedule."""

    def __init__(self, seeking: Seeking | None = None) -> None:
        self.seeking = seeking or Seeking()
        self.played = 0
        """Matches that have been taken in."""
        self._bots: dict[str, _Belief] = {}
        self._pairs = self._ties = 0

    def add(self, seats: Sequence[str], ranks: Sequence[int]) -> None:
        """Takes in one match; one in which a bot meets itself tells nothing."""
        self.played += 1
        bots = [self._bots.get(name) or self._bots.setdefault(name, _Belief()) for name in seats]
        for bot in bots:
            bot.matches += 1
            bot.last = self.played
        if len(set(seats)) < len(seats) or len(seats) < 2:
            return
        known = tuple(ranks)
        draws = (self._ties + DRAW_PAIRS * DRAW_PROBABILITY) / (self._pairs + DRAW_PAIRS)
        rated = rate([(bot.mean, bot.spread) for bot in bots], known, draw_margin(draws))
        for bot, (mean, spread) in zip(bots, rated, strict=True):
            bot.mean, bot.spread = mean, spread
        ties = order(known)[1]
        self._pairs += len(ties)
        self._ties += sum(ties)

    def mean(self, bot: str) -> float:
        """How strong it probably is, in TrueSkill's points."""
        return self._bots[bot].mean if bot in self._bots else MU

    def spread(self, bot: str) -> float:
        """How well that is known: a standard deviation."""
        return self._bots[bot].spread if bot in self._bots else SIGMA

    def matches(self, bot: str) -> int:
        """How many matches of it are known."""
        return self._bots[bot].matches if bot in self._bots else 0

    def waited(self, bot: str) -> int:
        """How many matches were played since its last one, or since the league began."""
        return self.played - (self._bots[bot].last if bot in self._bots else 0)

    def state(self) -> object:
        """All of it, in lists, numbers and strings."""
        bots = [[name, one.mean, one.spread, one.matches, one.last] for name, one in self._bots.items()]
        return [self.played, self._pairs, self._ties, bots]

    def restore(self, state: Any) -> None:
        """Puts it back to where `state` was taken."""
        self.played, self._pairs, self._ties, bots = state
        self._bots = {}
        for name, mean, spread, matches, last in bots:
            one = self._bots[name] = _Belief()
            one.mean, one.spread, one.matches, one.last = mean, spread, matches, last


def seat_tables(
    beliefs: Beliefs, playing: Sequence[str], opponents: Sequence[str], seats: int, count: int, luck: Random
) -> list[tuple[str, ...]]:
    """Who sits at the next tables, in the order of seats: `playing` want to be known, `opponents` are there for them.

    The same arguments give the same tables; none if there are fewer bots than seats, or nobody who plays.
    """
    if not playing or len(playing) + len(opponents) < seats or seats < 2:
        return []
    room = _Room(beliefs, playing, opponents, seats, luck)
    return room.tables(count)


def is_settled(beliefs: Beliefs, playing: Sequence[str]) -> bool:
    """Whether every bot that plays is known as well as it is going to be worth."""
    seeking = beliefs.seeking
    doubtful = [
        name
        for name in playing
        if beliefs.spread(name) > seeking.spread and beliefs.matches(name) < seeking.matches
    ]  # fmt: skip
    if not doubtful:
        return True
    if len(playing) < 2:
        return False
    found = sorted((beliefs.mean(name), beliefs.spread(name) ** 2, name) for name in playing)
    means, variances = [one[0] for one in found], [one[1] for one in found]
    gains = dict(zip([one[2] for one in found], _gains(means, variances), strict=True))
    return all(gains[name] < seeking.gain for name in doubtful)


def _gain(gap: float, mine: float, its: float) -> float:
    """Which share of what is not known about one a match with another takes away, by the gap and both variances."""
    scale = _LUCK + mine + its
    return mine * _TELLS / scale * exp(-_FALLS * gap * gap / scale)


def _gains(means: Sequence[float], variances: Sequence[float]) -> list[float]:
    """The gain of each bot from a match with its neighbour, by means in order."""
    last = len(means) - 1
    found = []
    for at, (mean, variance) in enumerate(zip(means, variances, strict=True)):
        below = _gain(mean - means[at - 1], variance, variances[at - 1]) if at else 0.0
        above = _gain(means[at + 1] - mean, variance, variances[at + 1]) if at < last else 0.0
        found.append(max(below, above))
    return found


class _Room:
    """The bots of a game in order of strength, while the tables of a round are being set."""

    def __init__(
        self, beliefs: Beliefs, playing: Sequence[str], opponents: Sequence[str], seats: int, luck: Random
    ) -> None:
        plays = set(playing)
        names = sorted([*playing, *opponents])
        luck.shuffle(names)  # equals stand in an order of lot
        names.sort(key=beliefs.mean)
        self.names, self.seats, self.luck = names, seats, luck
        self.means = [beliefs.mean(name) for name in names]
        self.variances = [beliefs.spread(name) ** 2 for name in names]
        self.first = list(self.variances)
        self.plays = [name in plays for name in names]
        self.taken = [0] * len(names)
        self.most = [FIRST_SEATS + beliefs.matches(name) // MORE_SEATS for name in names]
        usual = max(1.0, len(names) / seats)
        self.waits = [beliefs.waited(name) for name in names]
        # Those who are there for others need not be fed.
        self.patience = [
            1.0 + min(3.0, wait / usual) if plays else 1.0 for wait, plays in zip(self.waits, self.plays, strict=True)
        ]
        gains = _gains(self.means, self.variances)
        self.needs = [gain if plays else -1.0 for gain, plays in zip(gains, self.plays, strict=True)]

    def tables(self, count: int) -> list[tuple[str, ...]]:
        """So many tables."""
        waiting = self._longest(count // 2)
        found = []
        for number in range(count):
            host = next((bot for bot in waiting if not self.taken[bot]), None) if number % 2 else None
            table = self._table(self._neediest()) if host is None else self._by_lot(host)
            self.luck.shuffle(table)
            found.append(tuple([self.names[bot] for bot in table]))
        return found

    def _longest(self, count: int) -> list[int]:
        """Of those who have waited longest so many, by lot: who sits at tables that are being played seems to wait."""
        bots = [bot for bot, plays in enumerate(self.plays) if plays]
        bots.sort(key=lambda bot: -self.waits[bot])
        bots = bots[: 2 * count]
        return self.luck.sample(bots, min(count, len(bots)))

    def _neediest(self) -> int:
        needs = self.needs
        best = max(range(len(needs)), key=needs.__getitem__)
        if needs[best] >= 0:
            return best
        # Everybody has as many seats as are worth having; the rest is shared out.
        return min((bot for bot, plays in enumerate(self.plays) if plays), key=lambda bot: self.taken[bot])

    def _table(self, host: int) -> list[int]:
        table = [host]
        width = sqrt(WIDTH * WIDTH + self.first[host])
        while len(table) < self.seats:
            table.append(self._companion(table, self.luck.gauss(self.means[host], width)))
        self._seat(table)
        return table

    def _by_lot(self, host: int) -> list[int]:
        """A table of anybody: of a few that are drawn for a seat, the one that has waited longest."""
        table = [host]
        bots = range(len(self.names))
        while len(table) < self.seats:
            drawn = self.luck.sample(bots, min(len(bots), LOTS + self.seats))
            free = [bot for bot in drawn if bot not in table][:LOTS]
            table.append(max(free, key=lambda bot: self.patience[bot] / (1 + self.taken[bot]) ** 2))
        self._seat(table)
        return table

    def _companion(self, table: list[int], point: float) -> int:
        """Of those nearest to a point the one of whom the host learns most, and who learns most itself."""
        host = table[0]
        mean, variance = self.means[host], self.variances[host]
        best, most = -1, -1.0
        for bot in self._nearest(point, table):
            its = self.variances[bot]
            gap = mean - self.means[bot]
            telling = _gain(gap, variance, its)
            if self.plays[bot]:
                telling += 0.5 * telling * its / variance
            telling *= self.patience[bot] / (1 + self.taken[bot]) ** 2 * (1 + self.luck.random())
            if telling > most:
                best, most = bot, telling
        return best

    def _nearest(self, point: float, table: list[int]) -> list[int]:
        means = self.means
        above = bisect_left(means, point)
        below, last = above - 1, len(means) - 1
        found: list[int] = []
        while len(found) < NEAREST and (below >= 0 or above <= last):
            if above > last or (below >= 0 and point - means[below] < means[above] - point):
                bot, below = below, below - 1
            else:
                bot, above = above, above + 1
            if bot not in table:
                found.append(bot)
        return found

    def _seat(self, table: list[int]) -> None:
        """Notes that these will play: what will be known of them then, nearly."""
        before = [self.variances[bot] for bot in table]
        for bot, mine in zip(table, before, strict=True):
            told = sum(
                [
                    _gain(self.means[bot] - self.means[other], mine, its)
                    for other, its in zip(table, before, strict=True)
                    if other != bot
                ]
            )
            self.taken[bot] += 1
            left = 1 / (1 + told * 2 / self.seats)
            self.variances[bot] = mine * left
            self.needs[bot] = self.needs[bot] * left if self.taken[bot] < self.most[bot] else -1.0
