"""Claims about bots that hold however often a run is looked at, and whenever it stops: testing by betting."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from itertools import combinations
from math import exp, log
from operator import mul
from random import Random
from typing import NamedTuple

from harness.core.plan import GamePlan, Plan
from harness.core.records import GameRecord
from harness.ratings.betting import EProcess
from harness.ratings.counts import pair_outcomes
from harness.ratings.statistics import LEVEL, Matrix, cholesky

# The joint posterior of the strengths of some bots, from how often they finished ahead of each other.
#
# Bradley and Terry's model with a normal prior, and the Laplace approximation of its posterior: a normal distribution
# with the posterior's mode and curvature. The covariances matter. In a chain of bots of which only neighbours have met
# each link is well known, and the distance from end to end is not; one mean and one variance for each bot, as
# TrueSkill keeps them, cannot express that. This posterior chooses tables; claims are made by betting, below.


PRIOR_SD = 1.0
"""Prior standard deviation of a strength, in log-odds."""
PRIOR_DISPERSION_SETS = 20
"""Number of imaginary sets without overdispersion, with which the estimate of the dispersion starts."""
MAX_NEWTON_STEPS = 20
"""One or two are usual, because each fit starts from the one before."""
MAX_STEP, CONVERGED_STEP = 1.0, 0.01
"""In log-odds: the limit for a step of one strength, and the step below which the fit has converged."""


class PairSums(NamedTuple):
    """The duplicate sets in which two bots met: their number, the sum of the first bot's shares, and of the squares."""

    sets: int
    ahead: float
    squares: float


NEVER_MET = PairSums(0, 0.0, 0.0)


class JointPosterior:
    """The strengths of bots, by number, with their covariances."""

    def __init__(self, bots: int) -> None:
        self.bots = bots
        self.means = [0.0] * bots
        self.information = 2.0
        """The Fisher information of a set about a pair is this times p (1 - p)."""
        self._factor: Matrix = [[(row == column) / PRIOR_SD for column in range(bots)] for row in range(bots)]
        """The Cholesky factor of the precision matrix."""

    def fit(self, met: Mapping[tuple[int, int], PairSums], seats: int) -> None:
        """Fit all results so far, at tables of `seats` seats."""
        self.information = 2 / self._dispersion(met, seats)
        for _ in range(MAX_NEWTON_STEPS):
            if self._newton_step(met) < CONVERGED_STEP:
                break

    def _dispersion(self, met: Mapping[tuple[int, int], PairSums], seats: int) -> float:
        """Return the variance of sets relative to sets of independent matches."""
        # The matches of a duplicate set share a deal, so they are correlated, positively or negatively.
        seen = expected = PRIOR_DISPERSION_SETS / 4 / seats
        for pair, (sets, ahead, squares) in met.items():
            chance = self.chance_ahead(*pair)
            seen += squares - ahead * ahead / sets
            expected += (sets - 1) * chance * (1 - chance) / seats
        return seen / expected

    def chance_ahead(self, one: int, other: int) -> float:
        """Return the probability that one bot finishes ahead of another, at the posterior means."""
        return 1 / (1 + exp(self.means[other] - self.means[one]))

    def _newton_step(self, met: Mapping[tuple[int, int], PairSums]) -> float:
        """Move the means towards the mode; return the longest step of any of them."""
        weight = 1 / PRIOR_SD**2
        precision = [[weight * (row == column) for column in range(self.bots)] for row in range(self.bots)]
        gradient = [-weight * mean for mean in self.means]
        # With a weight of 2 / seats the pairs of a table have as much information together as the results of its bots;
        # a set has `seats` matches, hence the 2.
        for (one, other), (sets, ahead, _) in met.items():
            chance = self.chance_ahead(one, other)
            pull = self.information * (ahead - sets * chance)
            curvature = self.information * sets * chance * (1 - chance)
            gradient[one] += pull
            gradient[other] -= pull
            precision[one][one] += curvature
            precision[other][other] += curvature
            precision[max(one, other)][min(one, other)] -= curvature
        self._factor = cholesky(precision)
        steps = _solve_transposed(self._factor, _solve(self._factor, gradient))
        for bot, step in enumerate(steps):
            self.means[bot] += max(-MAX_STEP, min(MAX_STEP, step))
        return max(map(abs, steps))

    def sample(self, rng: Random) -> list[float]:
        """Return strengths drawn from the posterior."""
        gauss = rng.gauss
        deviations = _solve_transposed(self._factor, [gauss(0.0, 1.0) for _ in range(self.bots)])
        return [mean + deviation for mean, deviation in zip(self.means, deviations, strict=True)]

    def ranked(self) -> list[int]:
        """Return the bots by posterior mean, best first."""
        return sorted(range(self.bots), key=lambda bot: -self.means[bot])


def _solve(factor: Matrix, values: Sequence[float]) -> list[float]:
    """Solve factor * x = values."""
    solved: list[float] = []
    for row, value in zip(factor, values, strict=True):
        solved.append((value - sum(map(mul, solved, row))) / row[len(solved)])
    return solved


def _solve_transposed(factor: Matrix, values: Sequence[float]) -> list[float]:
    """Solve transposed factor * x = values."""
    solved = list(values)
    for at in range(len(solved) - 1, -1, -1):
        row = factor[at]
        value = solved[at] = solved[at] / row[at]
        if value:
            for before in range(at):
                solved[before] -= row[before] * value
    return solved


# Claims where results decide which bots play next and when to stop.
#
# The next table is chosen from past results only. So if one bot is not better than another, the wealth of the bet that
# it is does not grow on average, for any choice of tables and any time to stop. The mean of several such wealths does
# not grow either. The values that are bet on:
#
# - `AnytimeClaims`: the duplicate sets in which two bots met, by the share of the matches in which the first finished
#   ahead of the second (a tie is one half). This makes no assumption on how tables are chosen. The set is the sampling
#   unit, not the match, because the matches of a set share a deal and are not independent.
# - `RandomRoundClaims`: half of the wealth on that, and half on all sets of two bots, even those in which they do not
#   meet, by the difference of the shares of the table that they finished ahead of in a round. This needs rounds in
#   which the seating within a group is random, so that two bots of the group have the same distribution of opponents.
#   To order many bots it needs far fewer matches.
#
# All claims of a run together are wrong in at most 1 - level of all runs:
#
# - Pairs. A pair can be claimed wrongly in two directions, a pair that was claimed correctly in one. So with P pairs
#   of which C are claimed, wealth of (2P - C) / (1 - level) is enough: if a claim were wrong, the mean wealth of all
#   bets against true hypotheses would have been at least 1 / (1 - level) at that time, and by Ville's inequality that
#   happens in at most 1 - level of the runs. This is the step-down of Holm's procedure, for e-processes. A claim is
#   never withdrawn: the largest wealth that a bet ever had counts.
# - The best bot. For each bot there is one bet against it at every table where it sits, on the opponent there that has
#   been refuted least. Against a bot that no other bot beats this does not pay. If all bots but one are refuted, that
#   one is the best, if there is a best one. If several bots were equally good at the top, all of them but one would
#   have to be refuted, and the mean of their wealths would be at least half of what each needs: so wealth of
#   2 / (1 - level) is enough for any number of bots. In a cycle, where every bot is beaten by another, there is no best
#   bot; so the one that is left must also have met all others and have been ahead of each at least half of the time.
#
# A run with a goal (the best bot, or some of the pairs) spends GOAL_SHARE of the error probability on its goal, and the
# rest on all pairs.


GOAL_SHARE = 0.8
"""The share of the error probability that is spent on the goal of a run."""
Claim = tuple[str, str]
"""The better and the worse bot."""


class AnytimeClaims:
    """What may be claimed about some bots, from the matches so far, in schedule order."""

    KINDS = 1
    """Kinds of values that are bet on for a pair, each with the same share of the initial wealth."""

    def __init__(self, names: Sequence[str], goal_pairs: Collection[frozenset[str]] = (), best: bool = False) -> None:
        """`goal_pairs` are the pairs that the run is about, all pairs if empty; `best`: it is about the best bot."""
        self.names = tuple(names)
        every = list(map(frozenset, combinations(names, 2)))
        self.goal_pairs = frozenset(goal_pairs) or frozenset(every)
        self._best = best and len(names) > 2  # of two bots the better one is the best
        rest = len(every) - len(self.goal_pairs)
        self._pairs_share = 1 - GOAL_SHARE if self._best else 1.0
        """The share of the error probability that is spent on pairs."""
        self._shares = (GOAL_SHARE if rest else 1.0) / max(1, len(self.goal_pairs)), (1 - GOAL_SHARE) / max(1, rest)
        """Of that, the share of each pair that is a goal, and of each other pair."""
        self._e_processes: dict[Claim, EProcess] = {}
        self.meetings: dict[tuple[str, str], PairSums] = {}
        """For each pair that has met, in the order of their names, the results of the first of the two."""
        self._against = {name: EProcess() for name in names}
        """For each bot, the bet that it is not the best."""
        self._unit: dict[Claim, tuple[float, int, int]] = {}
        """The deal being played: for each pair the sum of its values, their number, and 0 if the seats are balanced."""
        self._set, self._seed, self._round, self._closed = "", -1, 0, False

    @classmethod
    def for_plan(cls, game: GamePlan, plan: Plan) -> AnytimeClaims:
        """Return the claims of a run with this plan, before its first match."""
        goal, chosen = plan.settings.get("goal"), set(plan.candidates)
        if goal == "order":
            return RandomRoundClaims(game.entrants, game.players, plan.number("until-separated") or LEVEL)
        every = map(frozenset, combinations(game.entrants, 2))
        return cls(game.entrants, [pair for pair in every if pair & chosen], goal == "best")

    def add(self, record: GameRecord) -> None:
        """Add a match."""
        self.add_match(record.seats, record.ranks, record.set, record.seed, record.round)

    def add_match(self, seats: Sequence[str], ranks: tuple[int, ...], set_: str, seed: int, round_: int) -> None:
        """Add a match. Consecutive matches of one set or of one deal are one sampling unit."""
        if set_ != self._set and seed != self._seed:
            self._end_deal()
            self._closed = False
        self._set, self._seed, self._round = set_, seed, round_
        if self._closed or len(set(seats)) < len(seats):
            return  # claims were already read in the middle of this deal, or a bot met itself
        unit = self._unit
        for left, right, share in pair_outcomes(ranks):
            one, other = seats[left], seats[right]
            # Each seat has its own digit, so the sum over a set is 0 only if both bots sat equally often in each seat.
            balance = (1 << 20 * left) - (1 << 20 * right)
            if one > other:
                one, other, share, balance = other, one, 1 - share, -balance
            had = unit.get((one, other))
            unit[one, other] = (share, 1, balance) if had is None else (had[0] + share, had[1] + 1, had[2] + balance)

    def _end_deal(self) -> None:
        """Settle the bets on a deal, except for pairs with unbalanced seats because the deal was cut off."""
        values: dict[Claim, float] = {}
        for (one, other), (ahead, met, unbalanced) in self._unit.items():
            if not unbalanced:
                values[one, other], values[other, one] = ahead / met, 1 - ahead / met
                sets, total, squares = self.meetings.get((one, other), NEVER_MET)
                value = ahead / met
                self.meetings[one, other] = PairSums(sets + 1, total + value, squares + value * value)
        self._unit = {}
        if values:
            self._settle_bets(values)

    def _settle_bets(self, values: dict[Claim, float]) -> None:
        for pair, value in values.items():
            self._bet(pair, value)
        if self._best:
            self._bet_against(values)

    def _bet(self, pair: Claim, value: float, kind: int = 0) -> None:
        process = self._e_processes.get(pair)
        if process is None:
            process = self._e_processes[pair] = EProcess(self.KINDS)
        process.add_value(value, kind)

    def _bet_against(self, values: dict[Claim, float]) -> None:
        against = self._against
        least_refuted = sorted(
            {name for pair in values for name in pair}, key=lambda name: (against[name].log_wealth, name)
        )
        results = []
        for name in least_refuted:
            rival = next((each for each in least_refuted if (each, name) in values), None)
            if rival:
                results.append((name, values[rival, name]))
        # Only now, because rivals are chosen by the wealth before this deal: otherwise the bet would not be fair.
        for name, value in results:
            against[name].add_value(value)

    def claims(self, level: float = LEVEL) -> set[Claim]:
        """Return the pairs (better, worse) that may all be claimed. Call it between two deals."""
        self._close()
        best, pairs = self.best_bot(level), self._significant_pairs(level)
        return pairs | {(best, name) for name in self.names if name != best} if best else pairs

    def best_bot(self, level: float = LEVEL) -> str | None:
        """Return the bot that is better than all others, if the run is about that and it is known."""
        left = self.contenders(level)
        if not self._best or len(left) != 1:
            return None
        shown = all(self._share_ahead(left[0], other) >= 0.5 for other in self.names if other != left[0])
        return left[0] if shown else None

    def _share_ahead(self, one: str, other: str) -> float:
        """Return the share of the matches in which one bot finished ahead of another; 0 if they have not met."""
        sets, ahead, _ = self.meetings.get((min(one, other), max(one, other)), NEVER_MET)
        return 0.0 if not sets else (ahead if one < other else sets - ahead) / sets

    def contenders(self, level: float = LEVEL) -> list[str]:
        """Return the bots that may still be the best."""
        self._close()
        threshold = log(2 / (1 - level) / GOAL_SHARE)
        beaten = {worse for _, worse in self._significant_pairs(level)}
        return [name for name in self.names if self._against[name].max_log_wealth < threshold and name not in beaten]

    def open_pairs(self, level: float = LEVEL) -> list[tuple[str, str]]:
        """Return the goal pairs without a significant difference."""
        claimed = set(map(frozenset, self.claims(level)))
        return [pair for pair in combinations(self.names, 2) if frozenset(pair) in self.goal_pairs - claimed]

    def sets_met(self, one: str, other: str) -> int:
        """Return the number of whole sets in which two bots have met."""
        return self.meetings.get((min(one, other), max(one, other)), NEVER_MET).sets

    def _close(self) -> None:
        """Settle the open deal. Its later matches are ignored, because their luck has been seen."""
        self._end_deal()
        self._closed = True

    def _significant_pairs(self, level: float) -> set[Claim]:
        error, goals = self._pairs_share * (1 - level), self.goal_pairs
        shares = {pair: self._shares[frozenset(pair) not in goals] for pair in self._e_processes}
        ranked = sorted(
            ((process.max_log_wealth + log(shares[pair]), pair) for pair, process in self._e_processes.items()),
            reverse=True,
        )
        claimed: set[Claim] = set()
        left = 2.0
        for weighted, pair in ranked:
            if pair[::-1] in claimed or not self.sets_met(*pair):
                continue
            if weighted < log(left / error):
                break
            claimed.add(pair)
            left -= shares[pair]
        return claimed


class RandomRoundClaims(AnytimeClaims):
    """Claims from rounds with random seating, within groups of bots without significant differences."""

    KINDS = 2

    def __init__(self, names: Sequence[str], seats: int, level: float = LEVEL) -> None:
        """`seats` at a table; bots that are significantly different at `level` need not meet any more."""
        super().__init__(names)
        self._table, self._level = seats, level
        self._open_round: int | None = None
        self._closed_round: int | None = None
        self._shares_ahead: dict[str, tuple[float, int]] = {}
        self.groups: list[list[str]] = [list(names)]
        """Groups within which the next round seats bots at random; bots in no group do not play."""

    def _settle_bets(self, values: dict[Claim, float]) -> None:
        super()._settle_bets(values)
        if self._round != self._open_round:
            self._end_round()
            self._open_round = self._round
        if self._round == self._closed_round:
            return
        table = sorted({one for one, _ in values})
        for name in table:
            ahead, sets = self._shares_ahead.get(name, (0.0, 0))
            share = sum([values[name, other] for other in table if other != name]) / (len(table) - 1)
            self._shares_ahead[name] = ahead + share, sets + 1

    def _end_round(self) -> None:
        """Settle the bets on a round that is over, and form the groups of the next one."""
        if not self._shares_ahead:
            return
        shares = {name: ahead / sets for name, (ahead, sets) in self._shares_ahead.items()}
        self._shares_ahead = {}
        for group in self.groups:
            for one, other in combinations([name for name in group if name in shares], 2):
                value = round(0.5 + (shares[one] - shares[other]) / 2, 9)  # rounded, so that few values are cached
                self._bet((one, other), value, 1)
                self._bet((other, one), 1 - value, 1)
        self.groups = self._make_groups()

    def _close(self) -> None:
        super()._close()
        self._end_round()
        self._closed_round = self._open_round

    def _make_groups(self) -> list[list[str]]:
        """Return bots linked by pairs that are not significantly different, with neighbours if too few for a table."""
        claimed = self._significant_pairs(self._level)
        won = Counter(better for better, _ in claimed)
        left = sorted(self.names, key=lambda name: -won[name])
        groups: list[list[str]] = []
        while left:
            group = [left.pop(0)]
            for name in group:
                linked = [other for other in left if (name, other) not in claimed and (other, name) not in claimed]
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
