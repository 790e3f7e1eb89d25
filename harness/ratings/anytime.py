"""Claims that hold however often one looks at a run, and whenever it stops."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache
from itertools import combinations, repeat
from math import exp, log, sqrt
from operator import mul
from random import Random
from typing import NamedTuple

from harness.core.plan import GamePlan, Plan
from harness.core.records import GameRecord
from harness.ratings.evidence import LEVEL, pairs

# Is a mean above one half? A test that may look after every observation, and an interval that holds at every look.
#
# It is a game of bets. Somebody who believes that the mean of values in [0, 1] is above m stakes a fraction of the
# wealth on each next value, at odds that are fair if the mean is m. If it is m or less, wealth does not grow on
# average, and the chance that it is ever k times what it was is at most 1/k, whenever one looks and whatever the
# values look like (Ville's inequality). So wealth of 40 is evidence at 2.5%: no variance to know, no model of draws,
# no number of looks to fix. The wealth is split over ten fractions here, since the best one depends on what is not
# known yet.
#
# The same with the roles changed tests "below m", and all m that neither gambler can refute are a confidence
# sequence. Method: Waudby-Smith and Ramdas, Estimating means of bounded random variables by betting (2024).


FRACTIONS = tuple(map(mul, repeat(0.98), map(pow, repeat(1.5), range(0, -10, -1))))
"""Of the wealth, each for one gambler. From bold, for clear cases, to careful, for a percent or two."""
CAREFUL_PURSES = (0.11, 0.06, 0.06, 0.06, 0.06, 0.11, 0.19, 0.19, 0.11, 0.05)
"""What each gambler begins with, of all wealth. Those who live on a few percent have more: clear cases are short
anyway, and small edges are what takes long."""
WIDE_PURSES = (0.19, 0.06, 0.06, 0.11, 0.19, 0.19, 0.11, 0.05, 0.02, 0.02)
"""The same stakes, two places bolder, on values that keep nearer to one half since they could have gone farther."""

_BISECTIONS = 40


class Bets:
    """Values from 0 to 1 as they come in. They must be independent of each other and few different ones."""

    def __init__(self, purses: tuple[float, ...] = CAREFUL_PURSES) -> None:
        self.purses = purses
        self.counts: dict[float, int] = {}

    def add(self, value: float) -> None:
        """One more value."""
        self.counts[value] = self.counts.get(value, 0) + 1

    def followed_by(self, value: float, count: int) -> Bets:
        """These values, and so many more of this one."""
        more = Bets(self.purses)
        more.counts = {**self.counts, value: self.counts.get(value, 0) + count}
        return more

    def above(self, mean: float) -> float:
        """The logarithm of the wealth of those who bet that the mean is above this."""
        return self._wealth(self.counts, mean)

    def below(self, mean: float) -> float:
        """The logarithm of the wealth of those who bet that the mean is below this."""
        return self._wealth({1 - value: count for value, count in self.counts.items()}, 1 - mean)

    def interval(self, level: float) -> tuple[float, float]:
        """The means that are not refuted; the truth is among them at all times together with this chance."""
        mirrored = {1 - value: count for value, count in self.counts.items()}
        needed = enough(level)
        return self._lowest(self.counts, needed), 1 - self._lowest(mirrored, needed)

    def _wealth(self, counts: Mapping[float, int], mean: float) -> float:
        by_value = [(count, _growths(value, mean)) for value, count in counts.items()]
        growths = [sum([count * growth[each] for count, growth in by_value]) for each in range(len(FRACTIONS))]
        best = max(growths)
        parts = zip(self.purses, growths, strict=True)
        return best + log(sum([purse * exp(growth - best) for purse, growth in parts]))

    def _lowest(self, counts: Mapping[float, int], needed: float) -> float:
        """The lowest mean that is not refuted from below; wealth falls as the mean rises, so bisection finds it."""
        low, high = 0.0, 1.0
        for _ in range(_BISECTIONS):
            middle = (low + high) / 2
            low, high = (middle, high) if self._wealth(counts, middle) >= needed else (low, middle)
        return low


@lru_cache(maxsize=8192)  # there are few values, and few means are asked about after each of them
def _growths(value: float, mean: float) -> tuple[float, ...]:
    """The logarithm of what each gambler's wealth is multiplied by, if the next value is this."""
    return tuple([log(1 + fraction * (value / mean - 1)) for fraction in FRACTIONS])


def enough(level: float) -> float:
    """The logarithm of the wealth that refutes, for an interval or a two-sided test at this level: each has half."""
    return log(2 / (1 - level))


def enough_on_one_side(level: float) -> float:
    """The logarithm of the wealth that refutes on one side only, at this level."""
    return log(1 / (1 - level))


# What is believed of the strengths of some bots together, from how often they finished ahead of each other.
#
# Bradley and Terry's model with a normal prior, and the normal distribution that fits its posterior at the peak:
# means and covariances. A chain of bots of whom only neighbours have met is well known link by link and badly from
# end to end; beliefs about each bot alone, such as TrueSkill's, cannot say that. Duplicate sets vary more or less
# than matches of their own would; how much is measured and allowed for. All of this chooses tables; claims are made
# elsewhere.


PRIOR = 1.0
"""The spread of strengths before anything is known: odds of e to one are a strength of 1."""
DISPERSION_SETS = 20
"""How many sets must be seen before the measured spread of sets counts as much as that of matches on their own."""
MOST_STEPS = 20
"""Of Newton's method, from the strengths before: one or two, as a rule."""
LONGEST_STEP, SMALL_STEP = 1.0, 0.01

Matrix = list[list[float]]


class Meetings(NamedTuple):
    """The sets in which two bots met: how many, the sum of the shares in which the one was ahead, and of squares."""

    sets: int
    ahead: float
    squares: float


class JointBeliefs:
    """Strengths of bots, by number, and how they vary together."""

    def __init__(self, bots: int) -> None:
        self.bots = bots
        self.means = [0.0] * bots
        self.information = 2.0
        """What a set says about a pair: this many times p (1 - p)."""
        self._factor: Matrix = [[(row == column) / PRIOR for column in range(bots)] for row in range(bots)]

    def learn(self, met: Mapping[tuple[int, int], Meetings], seats: int) -> None:
        """Takes in all that has been seen, at tables of so many seats."""
        self.information = 2 / self._dispersion(met, seats)
        for _ in range(MOST_STEPS):
            if self._step(met) < SMALL_STEP:
                break

    def _dispersion(self, met: Mapping[tuple[int, int], Meetings], seats: int) -> float:
        """How many times as much sets vary as if their matches had nothing in common."""
        seen = expected = DISPERSION_SETS / 4 / seats
        for pair, (sets, ahead, squares) in met.items():
            chance = self.chance(*pair)
            seen += squares - ahead * ahead / sets
            expected += (sets - 1) * chance * (1 - chance) / seats
        return seen / expected

    def chance(self, one: int, other: int) -> float:
        """The probability that one finishes ahead of the other, for the means."""
        return 1 / (1 + exp(self.means[other] - self.means[one]))

    def _step(self, met: Mapping[tuple[int, int], Meetings]) -> float:
        """Moves the means towards the peak; returns the longest step that any of them made."""
        weight = 1 / PRIOR**2
        precision = [[weight * (row == column) for column in range(self.bots)] for row in range(self.bots)]
        slope = [-weight * mean for mean in self.means]
        # All pairs of a table say as much as its bots' results do if each counts 2 / seats; a set has `seats` matches.
        for (one, other), (sets, ahead, _) in met.items():
            chance = self.chance(one, other)
            pull = self.information * (ahead - sets * chance)
            known = self.information * sets * chance * (1 - chance)
            slope[one] += pull
            slope[other] -= pull
            precision[one][one] += known
            precision[other][other] += known
            precision[max(one, other)][min(one, other)] -= known
        self._factor = _cholesky(precision)
        steps = _back(self._factor, _forward(self._factor, slope))
        for bot, step in enumerate(steps):
            self.means[bot] += max(-LONGEST_STEP, min(LONGEST_STEP, step))
        return max(map(abs, steps))

    def drawn(self, luck: Random) -> list[float]:
        """Strengths that the bots may have together."""
        gauss = luck.gauss
        away = _back(self._factor, [gauss(0.0, 1.0) for _ in range(self.bots)])
        return [mean + step for mean, step in zip(self.means, away, strict=True)]

    def order(self) -> list[int]:
        """The bots, the probably strongest first."""
        return sorted(range(self.bots), key=lambda bot: -self.means[bot])


def _dot(left: Sequence[float], right: Sequence[float]) -> float:
    """The sum of the products, as far as the shorter of the two goes."""
    return sum([one * other for one, other in zip(left, right, strict=False)])


def _cholesky(matrix: Matrix) -> Matrix:
    """The lower triangle whose product with its own mirror image is this; it takes the place of the matrix."""
    for column, row in enumerate(matrix):
        head = row[:column]
        row[column] = sqrt(row[column] - _dot(head, head))
        for below in matrix[column + 1 :]:
            below[column] = (below[column] - _dot(head, below)) / row[column]
    return matrix


def _forward(factor: Matrix, values: Sequence[float]) -> list[float]:
    solved: list[float] = []
    for row, value in zip(factor, values, strict=True):
        solved.append((value - _dot(solved, row)) / row[len(solved)])
    return solved


def _back(factor: Matrix, values: Sequence[float]) -> list[float]:
    solved = list(values)
    for at in range(len(solved) - 1, -1, -1):
        row = factor[at]
        value = solved[at] = solved[at] / row[at]
        if value:
            for before in range(at):
                solved[before] -= row[before] * value
    return solved


# Which bots are told apart where results decide who plays next and when to stop: claims that hold at any time.
#
# Claims come from bets, as in betting.py. Who sits at the next table is chosen from the past only; so if one bot is
# not the better of two, the wealth of those who bet on it does not grow on average, whoever meets whom and whenever
# one stops. The mean of several such wealths does not grow either. What is bet on:
#
# - `AnytimeClaims`: the duplicate sets in which two bots met, by the share of the matches in which the one finished
# ahead of the other (a tie is half of one). This asks nothing of how tables are chosen. - `EvenRounds`: half of the
# wealth on that, and half on all sets of two bots, whomever they met, by the difference of the shares of the table
# that they finished ahead of in a round. This needs rounds in which lots alone decide who of a group sits with whom,
# so that the opponents of one bot are as likely to be those of another; to order many bots it needs far fewer
# matches.
#
# All claims of a run together are wrong in at most 1 - level of all runs:
#
# - Pairs. A pair can be claimed wrongly in two ways, a pair that was claimed rightly in one. So with P pairs of which
# C are claimed, wealth of (2P - C) / (1 - level) is enough: were a claim wrong, the mean wealth of all bets that are
# in truth unfavourable would have been 1 / (1 - level) at that time, which comes to pass in so many runs at most. A
# claim stays: the greatest wealth that a bet ever had counts. - The best. Each bot has one gambler who bets against
# it at every table where it sits, on the rival there who has been refuted least. Against a bot that nobody beats that
# does not pay. Who is left when all others are refuted is the best, if there is a best one. Were several bots level
# at the top, all of them but one would have to be refuted, and the mean of their wealths would be at least half of
# what each needs: wealth of 2 / (1 - level) is enough for any number of bots. Where everybody is beaten by somebody
# nobody is the best; so the one that is left must also have met all others and have been ahead of each at least half
# of the time.
#
# A run that is about the best bot, or about some of the pairs, spends ABOUT of the doubt on that, the rest on all
# pairs.


ABOUT = 0.8
"""The part of the doubt that goes to what a run is about."""
NEVER = Meetings(0, 0.0, 0.0)
Claim = tuple[str, str]
"""The better and the worse bot."""


class Gamblers:
    """They bet that a mean is above one half: one for each fraction, and that for each kind of bets."""

    __slots__ = ("growths", "peak")

    def __init__(self, kinds: int = 1) -> None:
        self.growths = [(0.0,) * len(FRACTIONS)] * kinds
        self.peak = 0.0
        """The logarithm of the most that they have ever had together."""

    def bet(self, value: float, kind: int = 0) -> None:
        """Takes in a value from 0 to 1."""
        grown = tuple([had + more for had, more in zip(self.growths[kind], growth(value), strict=True)])
        self.growths[kind] = grown
        if max(grown) > self.peak:  # together they never have more than the richest of them
            self.peak = max(self.peak, self.wealth)

    @property
    def wealth(self) -> float:
        """The logarithm of what they have together now."""
        every = [each for kind in self.growths for each in kind]
        best = max(every)
        return best + log(sum([exp(each - best) for each in every]) / len(every))


@lru_cache(maxsize=10_000)
def growth(value: float) -> tuple[float, ...]:
    """By how much a value makes the logarithm of each fraction's wealth grow."""
    return tuple(log(1 + fraction * (2 * value - 1)) for fraction in FRACTIONS)


class AnytimeClaims:
    """What may be claimed of some bots, from the matches so far, in schedule order."""

    KINDS = 1
    """Kinds of bets on a pair, with equal wealth at the beginning."""

    def __init__(self, names: Sequence[str], about: Collection[frozenset[str]] = (), best: bool = False) -> None:
        """`about` are the pairs that the run is about, all of them if none are named; `best`: it is about the best."""
        self.names = tuple(names)
        every = list(map(frozenset, combinations(names, 2)))
        self.about = frozenset(about) or frozenset(every)
        self._best = best and len(names) > 2  # of two bots the better one is the best
        rest = len(every) - len(self.about)
        self._doubt = 1 - ABOUT if self._best else 1.0
        """The part of the doubt that goes to pairs."""
        self._shares = (ABOUT if rest else 1.0) / max(1, len(self.about)), (1 - ABOUT) / max(1, rest)
        """Of that, what goes to each pair that the run is about, and to each other one."""
        self._bets: dict[Claim, Gamblers] = {}
        self.meetings: dict[tuple[str, str], Meetings] = {}
        """For each pair that has met, in the order of their names, what came of it for the first of the two."""
        self._against = {name: Gamblers() for name in names}
        self._unit: dict[Claim, tuple[float, int, int]] = {}
        """The deal being played: for each pair the sum of its values, how many, and 0 if both sat in the same seats."""
        self._set, self._seed, self._round, self._settled = "", -1, 0, False

    @classmethod
    def of(cls, game: GamePlan, plan: Plan) -> AnytimeClaims:
        """What may be claimed in a run with this plan, before its first match."""
        goal, chosen = plan.settings.get("goal"), set(plan.candidates)
        if goal == "order":
            return EvenRounds(game.entrants, game.players, plan.number("until-separated") or LEVEL)
        every = list(map(frozenset, combinations(game.entrants, 2)))
        if goal is None and chosen:  # a comparison
            return cls(game.entrants, [pair for pair in every if pair <= chosen])
        return cls(game.entrants, [pair for pair in every if pair & chosen], goal == "best")

    def add(self, record: GameRecord) -> None:
        """Takes in one match."""
        self.see(record.seats, record.ranks, record.set, record.seed, record.round)

    def see(self, seats: Sequence[str], ranks: tuple[int, ...], set_: str, seed: int, round_: int) -> None:
        """Takes in a match. Those of one set or of one deal that follow each other are one piece of luck."""
        if set_ != self._set and seed != self._seed:
            self._settle()
            self._settled = False
        self._set, self._seed, self._round = set_, seed, round_
        if self._settled or len(set(seats)) < len(seats):
            return  # the luck of this deal has been seen before, or a bot met itself
        unit = self._unit
        for left, right, share in pairs(ranks):
            one, other, seated = seats[left], seats[right], (1 << 20 * left) - (1 << 20 * right)
            if one > other:
                one, other, share, seated = other, one, 1 - share, -seated
            had = unit.get((one, other))
            unit[one, other] = (share, 1, seated) if had is None else (had[0] + share, had[1] + 1, had[2] + seated)

    def _settle(self) -> None:
        """Pays the bets on a deal. Where it was cut off, and the seats of a pair were not even, it says nothing."""
        values: dict[Claim, float] = {}
        for (one, other), (ahead, met, uneven) in self._unit.items():
            if not uneven:
                values[one, other], values[other, one] = ahead / met, 1 - ahead / met
                sets, sum_, squares = self.meetings.get((one, other), NEVER)
                value = ahead / met
                self.meetings[one, other] = Meetings(sets + 1, sum_ + value, squares + value * value)
        self._unit = {}
        if values:
            self._pay(values)

    def _pay(self, values: dict[Claim, float]) -> None:
        for pair, value in values.items():
            self._bet(pair, value)
        if self._best:
            self._bet_against(values)

    def _bet(self, pair: Claim, value: float, kind: int = 0) -> None:
        gamblers = self._bets.get(pair)
        if gamblers is None:
            gamblers = self._bets[pair] = Gamblers(self.KINDS)
        gamblers.bet(value, kind)

    def _bet_against(self, values: dict[Claim, float]) -> None:
        against = self._against
        sit = sorted({name for pair in values for name in pair}, key=lambda name: (against[name].wealth, name))
        lost = []
        for name in sit:
            rival = next((each for each in sit if (each, name) in values), None)
            if rival:
                lost.append((name, values[rival, name]))
        for name, value in lost:
            against[name].bet(value)

    def claims(self, level: float = LEVEL) -> set[Claim]:
        """The pairs (better, worse) that may all be claimed; to be asked between two deals."""
        self._close()
        best, told = self.best(level), self._told_apart(level)
        return told | {(best, name) for name in self.names if name != best} if best else told

    def best(self, level: float = LEVEL) -> str | None:
        """The bot that is better than all others, if the run is about that and it is known."""
        left = self.contenders(level)
        if not self._best or len(left) != 1:
            return None
        shown = all(self._ahead(left[0], other) >= 0.5 for other in self.names if other != left[0])
        return left[0] if shown else None

    def _ahead(self, one: str, other: str) -> float:
        """The share of the matches in which the one finished ahead of the other; 0 if they have not met."""
        sets, ahead, _ = self.meetings.get((min(one, other), max(one, other)), NEVER)
        return 0.0 if not sets else (ahead if one < other else sets - ahead) / sets

    def contenders(self, level: float = LEVEL) -> list[str]:
        """Who may still be the best."""
        self._close()
        needed, beaten = log(2 / (1 - level) / ABOUT), {worse for _, worse in self._told_apart(level)}
        return [name for name in self.names if self._against[name].peak < needed and name not in beaten]

    def open_pairs(self, level: float = LEVEL) -> list[tuple[str, str]]:
        """The pairs that the run is about and that are not told apart."""
        told = set(map(frozenset, self.claims(level)))
        return [pair for pair in combinations(self.names, 2) if frozenset(pair) in self.about - told]

    def sets(self, one: str, other: str) -> int:
        """In how many whole sets these two have met."""
        return self.meetings.get((min(one, other), max(one, other)), NEVER).sets

    def _close(self) -> None:
        self._settle()
        self._settled = True

    def _told_apart(self, level: float) -> set[Claim]:
        doubt, about = self._doubt * (1 - level), self.about
        shares = {pair: self._shares[frozenset(pair) not in about] for pair in self._bets}
        ranked = sorted(
            ((gamblers.peak + log(shares[pair]), pair) for pair, gamblers in self._bets.items()), reverse=True
        )
        claimed: set[Claim] = set()
        left = 2.0
        for worth, pair in ranked:
            if pair[::-1] in claimed or not self.sets(*pair):
                continue
            if worth < log(left / doubt):
                break
            claimed.add(pair)
            left -= shares[pair]
        return claimed


class EvenRounds(AnytimeClaims):
    """Claims from rounds in which lots decide who sits with whom, within groups that are not told apart."""

    KINDS = 2

    def __init__(self, names: Sequence[str], seats: int, level: float = LEVEL) -> None:
        """`seats` at a table; bots that are told apart with `level` need not meet any more."""
        super().__init__(names)
        self._table, self._level = seats, level
        self._open_round: int | None = None
        self._paid_round: int | None = None
        self._shares_ahead: dict[str, tuple[float, int]] = {}
        self.groups: list[list[str]] = [list(names)]
        """Those whom the lots of the next round seat together; others have no use for it."""

    def _pay(self, values: dict[Claim, float]) -> None:
        super()._pay(values)
        if self._round != self._open_round:
            self._pay_round()
            self._open_round = self._round
        if self._round == self._paid_round:
            return
        table = sorted({one for one, _ in values})
        for name in table:
            ahead, sets = self._shares_ahead.get(name, (0.0, 0))
            share = sum([values[name, other] for other in table if other != name]) / (len(table) - 1)
            self._shares_ahead[name] = ahead + share, sets + 1

    def _pay_round(self) -> None:
        """Pays the bets on a round that is over, and makes the groups of the next one."""
        if not self._shares_ahead:
            return
        shares = {name: ahead / sets for name, (ahead, sets) in self._shares_ahead.items()}
        self._shares_ahead = {}
        for group in self.groups:
            for one, other in combinations([name for name in group if name in shares], 2):
                value = round(0.5 + (shares[one] - shares[other]) / 2, 9)
                self._bet((one, other), value, 1)
                self._bet((other, one), 1 - value, 1)
        self.groups = self._grouped()

    def _close(self) -> None:
        super()._close()
        self._pay_round()
        self._paid_round = self._open_round

    def _grouped(self) -> list[list[str]]:
        """Bots that are linked by pairs not told apart, with their neighbours where they are too few for a table."""
        told = self._told_apart(self._level)
        won = Counter(better for better, _ in told)
        left = sorted(self.names, key=lambda name: -won[name])
        groups: list[list[str]] = []
        while left:
            group = [left.pop(0)]
            for name in group:
                linked = [other for other in left if (name, other) not in told and (other, name) not in told]
                group += linked
                left = [other for other in left if other not in linked]
            groups.append(group)
        at = 0
        while at < len(groups):
            if 1 < len(groups[at]) < self._table:
                near = at + 1 if at + 1 < len(groups) else at - 1
                groups[min(at, near)] += groups.pop(max(at, near))
                at = min(at, near)
            else:
                at += 1
        return [group for group in groups if len(group) > 1] or [list(self.names)]
