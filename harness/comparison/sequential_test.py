"""Is one bot better than another? A test that stops as soon as the answer is known."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from math import ceil, inf, log10, sqrt
from statistics import NormalDist
from typing import Literal, Protocol

from msgspec import Struct

from harness.comparison.sampling_units import (
    ComparisonSpec,
    PairScore,
    Pilot,
    PilotResult,
    Unit,
    pair_score,
    table_share,
    unit_size,
    unit_values,
)
from harness.core.records import GameRecord
from harness.ratings.anytime import (
    MIXTURE_WEIGHTS,
    WIDE_MIXTURE_WEIGHTS,
    ConfidenceSequence,
    log_threshold,
    one_sided_log_threshold,
)
from harness.ratings.statistics import LEVEL

Answer = Literal["better", "worse", "equal", "unknown"]

# How much sharing deals changes the variance: duplicate sets compared with as many independent matches.


class SharedDealGain(Struct, frozen=True):
    """The variance of a duplicate set's mean, as observed and as it would be if each match had a separate deal."""

    shared: float
    unshared: float

    @property
    def saved(self) -> float | None:
        """The share of the matches that shared deals save; negative if they cost some. None if nothing varies."""
        return 1 - self.shared / self.unshared if self.unshared else None


class SetVariance:
    """The variance of duplicate sets, and of the matches at each position of a set."""

    def __init__(self, matches: int) -> None:
        self.sets = 0
        self._means = [0.0, 0.0]
        self._positions = [[0.0, 0.0] for _ in range(matches)]
        """For each position, the sum of the values and of their squares."""

    def add_set(self, values: Sequence[float]) -> None:
        """Add one value for each match of a set, in the order in which sets seat the bots."""
        self.sets += 1
        mean = sum(values) / len(values)
        for sums, value in zip((*self._positions, self._means), (*values, mean), strict=True):
            sums[0] += value
            sums[1] += value * value

    @property
    def mean(self) -> float:
        """The mean over all sets."""
        return self._means[0] / self.sets

    @property
    def variance(self) -> float:
        """The variance of a set's mean."""
        return self._variance(self._means)

    def gain(self) -> SharedDealGain:
        """Return how much sharing deals changed the variance.

        Matches with separate deals would be independent: the variance of their mean is the mean of the variances of
        the positions, divided by their number. What differs from that is the covariance that the deal causes.
        """
        unshared = sum(self._variance(sums) for sums in self._positions) / len(self._positions) ** 2
        return SharedDealGain(self.variance, unshared)

    def _variance(self, sums: Sequence[float]) -> float:
        if self.sets < 2:
            return 0.0
        return max(0.0, sums[1] - sums[0] ** 2 / self.sets) / (self.sets - 1)


# Stopping rules: when is the answer of a comparison known? One rule for each of two questions.


_BISECTION_STEPS = 12
"""Of the search for a mean; the result errs on the side of fewer units at once."""
_TERNARY_STEPS = 30
"""Of the search for the minimum of a convex function; each leaves two thirds of the range."""
Sums = tuple[int, float, float]
"""Number of units, sum of their distances from one half, sum of the squares of these."""


class StoppingRule(Protocol):
    """Decides when the values seen so far answer the question."""

    def add_unit(self, unit: Unit, share: float) -> None:
        """Add the value of a unit, as a share of matches in which the first bot finishes ahead."""

    def answer(self) -> Answer:
        """Return what is known so far."""

    def can_stop_within(self, unit: Unit, count: int) -> bool:
        """Return whether `count` more of these units could bring an answer. May be True in error, never False."""


class BettingRule:
    """Stop when one half is refuted, or everything outside of the margin: see ratings/anytime.py.

    "Better" and "worse" have an error of 2.5% each. "Equal" refutes two hypotheses, that the first bot is better by
    more than the margin and that it is worse by more; at most one of them is true, so each may use all 5%
    (intersection-union test). All answers together are wrong in at most 5%, whatever the truth: evidence that refutes
    one half from above refutes the margin as well.
    """

    def __init__(self, values: ConfidenceSequence, spec: ComparisonSpec) -> None:
        self._values = values
        self._margin = spec.margin / spec.stretch
        self._threshold = log_threshold(LEVEL)
        self._equal_threshold = one_sided_log_threshold(LEVEL)

    def add_unit(self, unit: Unit, share: float) -> None:
        """Do nothing: the confidence sequence already has the value."""

    def answer(self) -> Answer:
        """Return what is known so far."""
        values, margin = self._values, self._margin
        if values.log_wealth_above(0.5) >= self._threshold:
            return "better"
        if values.log_wealth_below(0.5) >= self._threshold:
            return "worse"
        needed = self._equal_threshold
        if values.log_wealth_above(0.5 - margin) >= needed and values.log_wealth_below(0.5 + margin) >= needed:
            return "equal"
        return "unknown"

    def can_stop_within(self, _unit: Unit, count: int) -> bool:
        """Return whether `count` more units could bring an answer, if all went one way or all were ties."""
        values, margin = self._values, self._margin
        won, lost = values.with_more(1.0, count), values.with_more(0.0, count)
        if won.log_wealth_above(0.5) >= self._threshold or lost.log_wealth_below(0.5) >= self._threshold:
            return True
        low, high, needed = 0.5 - margin, 0.5 + margin, self._equal_threshold
        if not margin or won.log_wealth_above(low) < needed or lost.log_wealth_below(high) < needed:
            return False
        # For a given mean of the units to come, wealth grows most if every unit has that mean, because the logarithm
        # is concave. So the lowest mean that refutes everything below the margin is the best case for both sides.
        too_low, sufficient = 0.0, 1.0
        for _ in range(_BISECTION_STEPS):
            mean = (too_low + sufficient) / 2
            reached = values.with_more(mean, count).log_wealth_above(low) >= needed
            too_low, sufficient = (too_low, mean) if reached else (mean, sufficient)
        return values.with_more(too_low, count).log_wealth_below(high) >= needed


class IndifferenceRule:
    """Is there a difference of at least `indifference`, or none? A generalised sequential probability ratio test.

    Two of Wald's tests run side by side: the mean is one half, against one half plus the indifference, and against one
    half minus it. The first to accept its difference says "better" or "worse"; "equal" is said when both have accepted
    one half (Sobel and Wald, 1949). Likelihoods are normal. The variance is the observed one, separately for each kind
    of unit, about one half, with one imaginary unit won: so a lucky start does not look like certainty.
    """

    def __init__(self, indifference: float, stretch: float = 1.0) -> None:
        self._difference = indifference
        self._max_distance = 0.5 * stretch
        """Largest possible distance of a unit's value from one half."""
        self._accept, self._reject = log_threshold(LEVEL), -one_sided_log_threshold(LEVEL)
        self._sums: dict[Unit, Sums] = {}

    def add_unit(self, unit: Unit, share: float) -> None:
        """Add the value of a unit."""
        count, total, squares = self._sums.get(unit, (0, 0.0, 0.0))
        self._sums[unit] = count + 1, total + (share - 0.5), squares + (share - 0.5) ** 2

    def _log_ratio(self, side: int, sums: Sums) -> float:
        """Return the log-likelihood ratio of a difference to this side against none, for units of one kind."""
        count, total, squares = sums
        variance = (squares + 0.25) / (count + 1)
        return self._difference * (side * total - count * self._difference / 2) / variance

    def answer(self) -> Answer:
        """Return what is known so far."""
        above, below = (sum(self._log_ratio(side, sums) for sums in self._sums.values()) for side in (1, -1))
        if above >= self._accept:
            return "better"
        if below >= self._accept:
            return "worse"
        return "equal" if max(above, below) <= self._reject else "unknown"

    def can_stop_within(self, unit: Unit, count: int) -> bool:
        """Return whether `count` more units could bring an answer, if all had the most favourable value."""
        sums = self._sums.get(unit, (0, 0.0, 0.0))
        rest = [others for kind, others in self._sums.items() if kind != unit]
        number, total, squares = sums
        for side in (1, -1):
            # The distance from one half with the largest ratio: beyond it the variance grows faster than the mean.
            lead = side * total - (number + count) * self._difference / 2
            best = min(self._max_distance, (sqrt(lead**2 + count * (squares + 0.25)) - lead) / count)
            then = self._with_more(sums, side * best, count)
            if sum(self._log_ratio(side, each) for each in [*rest, then]) >= self._accept:
                return True
        return self._can_be_equal_within(sums, rest, count)

    def _can_be_equal_within(self, sums: Sums, rest: Sequence[Sums], count: int) -> bool:
        """Return whether `count` more units, all of the same value, could bring both ratios down."""
        # The sum of both ratios depends only on the number of units and on their variance, which at best does not grow.
        level = self._with_more(sums, 0.0, count)
        if sum(self._log_ratio(side, each) for side in (1, -1) for each in [*rest, level]) > 2 * self._reject:
            return False
        # How far a ratio is above its bound is, times the variance, a convex function of the value, and so is the
        # larger of the two: a ternary search finds its minimum.
        number, total, squares = level
        excess = [
            (sum(self._log_ratio(side, each) for each in rest) - self._reject) / (self._difference * (number + 1))
            for side in (1, -1)
        ]

        def larger_excess(distance: float) -> float:
            smallest = squares + 0.25 + count * distance**2
            largest = squares + count * (2 * self._max_distance) ** 2  # keeps the function convex for a negative excess
            return max(
                side * (total + count * distance) - number * self._difference / 2
                + over * (smallest if over > 0 else largest)
                for side, over in zip((1, -1), excess, strict=True)
            )  # fmt: skip

        low, high = -self._max_distance, self._max_distance
        for _ in range(_TERNARY_STEPS):
            first, second = low + (high - low) / 3, high - (high - low) / 3
            low, high = (low, second) if larger_excess(first) <= larger_excess(second) else (first, high)
        return larger_excess((low + high) / 2) <= 1e-6 * number

    @staticmethod
    def _with_more(sums: Sums, distance: float, count: int) -> Sums:
        number, total, squares = sums
        return number + count, total + count * distance, squares + count * distance**2


# The test, which is updated after each sampling unit.


POWER = 0.8


class Verdict(Struct, frozen=True):
    """The result of a comparison."""

    question: ComparisonSpec
    answer: Answer
    """About the first bot, compared with the second; "equal" means within the margin, "unknown" that the last match
    came before an answer."""
    matches: int
    units: dict[Unit, int]
    """The number of units of each kind."""
    ahead: float
    """The share of matches in which the first bot finished ahead of the second; a tie is one half. In a gauntlet, where
    they do not meet: one half plus half of the difference of their table shares."""
    low: float
    high: float
    shares: tuple[float, float] | None
    """In a gauntlet: the share of the others at the table that each of the two finished ahead of."""
    pilot: PilotResult | None
    """What decided the way of playing, if it was left open and has been decided."""
    fixed_size: int | None
    """Matches that a test of fixed size needs to find a difference of this size with a probability of POWER."""
    ahead_gain: SharedDealGain | None
    score_gain: SharedDealGain | None
    """How sharing deals changed the variance of finishing ahead, and of the difference of scores; None if the two did
    not meet on shared deals."""
    faults: dict[str, int]
    """Matches with a fault, by bot."""
    as_played: float | None = None
    """If luck-adjusted: the share of matches in which the first bot finished ahead, without adjustment."""
    luck_saved: float | None = None
    """If luck-adjusted: the share of the matches that this saved, by the variances of a unit with and without it;
    negative if it cost some."""

    @property
    def elo(self) -> float | None:
        """The share as a difference in Elo points; None if it is infinite or if the two bots do not meet."""
        met = self.question.way != "gauntlet"
        return 400 * log10(self.ahead / (1 - self.ahead)) if met and 0 < self.ahead < 1 else None

    @property
    def sentence(self) -> str:
        """The answer in words."""
        spec = self.question
        one, other, within = spec.one, spec.other, spec.within
        played = f"{self.matches:,} match{'es' if self.matches != 1 else ''}"
        unknown = f"{one} and {other} are not told apart by {played}; --most allows more."
        if spec.way == "gauntlet":
            field = f"against {', '.join(spec.company)}"
            return {
                "better": f"{one} does better than {other} {field}.",
                "worse": f"{one} does worse than {other} {field}.",
                "equal": f"{one} and {other} do equally well {field}, give or take {2 * within:.1%} of the table.",
                "unknown": unknown,
            }[self.answer]
        return {
            "better": f"{one} is better than {other}.",
            "worse": f"{one} is worse than {other}.",
            "equal": f"{one} and {other} are equal, give or take {within:.1%} of the matches.",
            "unknown": unknown,
        }[self.answer]


class SequentialTest:
    """The answer to a comparison, from the units played so far.

    It may be read after every unit, and whether to continue may depend on everything seen so far: wealth is a
    nonnegative martingale, see ratings/anytime.py. So a comparison that was stopped, or has reached its last match, can
    be continued with more of the same sequence.
    """

    def __init__(self, spec: ComparisonSpec, score: PairScore = pair_score) -> None:
        """`score` says how far a bot finished ahead in a match; it is called once for each match, in order."""
        self.spec = spec
        self._score = score
        self.answer: Answer = "unknown"
        self.faults = Counter[str]()
        self.units = Counter[Unit]()
        self.matches = 0
        self._pilot = Pilot(spec.way)
        self._values = ConfidenceSequence(WIDE_MIXTURE_WEIGHTS if spec.luck else MIXTURE_WEIGHTS)
        self._rule: StoppingRule = (
            IndifferenceRule(spec.indifference, spec.stretch) if spec.indifference else BettingRule(self._values, spec)
        )
        self._total = 0.0
        self._shares = [0.0, 0.0]
        self._ahead: dict[Unit, SetVariance] = {}
        self._score_differences: dict[Unit, SetVariance] = {}
        self._unadjusted: dict[Unit, SetVariance] = {}
        """If luck-adjusted, the results as played."""

    @property
    def units_played(self) -> int:
        """The number of units added."""
        return self.units.total()

    @property
    def unit(self) -> Unit:
        """The kind of unit to play next."""
        return self._pilot.unit

    @property
    def over(self) -> bool:
        """Whether no more units are needed."""
        known = self.answer != "unknown" and not self.spec.thorough
        return known or self.units_allowed < 1

    @property
    def units_allowed(self) -> int:
        """The number of units up to the maximum of matches, if all are like the next."""
        return (self.spec.most - self.matches) // unit_size(self.unit)

    def add_unit(self, records: Sequence[GameRecord]) -> None:
        """Add the matches of the next unit, in schedule order."""
        spec, unit = self.spec, self.unit
        values = unit_values(spec, unit, records, self._score)
        results = [spec.as_share(value) for value in values]
        for record in records:
            self.faults.update({record.seats[fault.seat] for fault in record.failures})
        self._ahead.setdefault(unit, SetVariance(len(results))).add_set(results)
        if spec.luck:
            self._unadjusted.setdefault(unit, SetVariance(len(results))).add_set(unit_values(spec, unit, records))
        if unit == "turns":
            self._shares[0] += table_share(records[0], spec.one)
            self._shares[1] += table_share(records[1], spec.other)
        else:
            differences = [_score_of(record, spec.one) - _score_of(record, spec.other) for record in records]
            self._score_differences.setdefault(unit, SetVariance(len(results))).add_set(differences)
        self.units[unit] += 1
        self.matches += len(records)
        self._total += sum(results)
        self._values.add_value(sum(values) / len(values))
        self._rule.add_unit(unit, sum(results) / len(results))
        self._pilot.add_unit(results)
        if self.answer == "unknown":
            self.answer = self._rule.answer()

    def next_batch(self, max_matches: int) -> int:
        """Return how many units of the next kind can be played at once, in up to `max_matches` matches.

        No answer is possible before the last of them. So all workers are busy, and no match is played that the answer
        does not need.
        """
        limit = max(
            1, min(max_matches // unit_size(self.unit), self.units_allowed, self._pilot.units_left or max_matches)
        )
        if self.spec.thorough:
            return limit
        too_few, enough = 0, 1
        while enough < limit and not self._rule.can_stop_within(self.unit, enough):
            too_few, enough = enough, 2 * enough
        enough = min(enough, limit)
        while enough - too_few > 1:
            middle = (too_few + enough) // 2
            can_stop = self._rule.can_stop_within(self.unit, middle)
            too_few, enough = (too_few, middle) if can_stop else (middle, enough)
        return enough

    def verdict(self) -> Verdict:
        """Return the result so far; at least one unit must have been added."""
        low, high = (_clip(self.spec.as_share(bound)) for bound in self._values.interval(LEVEL))
        ahead, turns = _clip(self._total / self.matches), self.units["turns"]
        return Verdict(
            question=self.spec,
            answer=self.answer,
            matches=self.matches,
            units=dict(self.units),
            ahead=ahead,
            low=min(low, ahead),  # the interval weighs units equally, the share weighs matches equally
            high=max(high, ahead),
            shares=(self._shares[0] / turns, self._shares[1] / turns) if turns else None,
            pilot=self._pilot.result,
            fixed_size=self._fixed_size(ahead - 0.5),
            ahead_gain=self._ahead["pair"].gain() if "pair" in self._ahead else None,
            score_gain=self._score_differences["pair"].gain() if "pair" in self._score_differences else None,
            faults=dict(self.faults),
            as_played=self._as_played(),
            luck_saved=self._luck_saved(),
        )

    def _as_played(self) -> float | None:
        total = sum([variance.mean * variance.sets * unit_size(unit) for unit, variance in self._unadjusted.items()])
        return total / self.matches if self._unadjusted else None

    def _luck_saved(self) -> float | None:
        unit = self._commonest_unit
        played = self._unadjusted.get(unit)
        if played is None or played.sets < 2 or not played.variance:
            return None
        return 1 - self._ahead[unit].variance / played.variance

    @property
    def _commonest_unit(self) -> Unit:
        return max(self._ahead, key=lambda unit: self._ahead[unit].sets)

    def _fixed_size(self, difference: float) -> int | None:
        """Return the sample size of a fixed test: ((z of LEVEL + z of POWER) * standard deviation / difference)^2."""
        unit = self._commonest_unit
        sets = self._ahead[unit]
        if not difference or sets.sets < 2:
            return None
        normal = NormalDist()
        z_sum = normal.inv_cdf((1 + LEVEL) / 2) + normal.inv_cdf(POWER)
        return unit_size(unit) * max(2, ceil(z_sum**2 * sets.variance / difference**2))


def _score_of(record: GameRecord, name: str) -> float:
    return float(record.scores[record.seats.index(name)])


def _clip(share: float) -> float:
    return min(1.0, max(0.0, share))


# The expected number of matches, announced before a comparison starts. A test compares the formulas with simulations.


ANNOUNCED_DIFFERENCES = (0.05, 0.1)
MATCH_VARIANCE = 0.25
"""Variance of finishing ahead in a match without ties, between bots that are nearly equal."""
EQUAL_FACTOR, DIFFERENT_FACTOR = 12.0, 9.5
"""Mean number of matches that bets need, times the squared difference, divided by the variance: by simulation."""
SPRT_EQUAL_FACTOR = 9.7
"""The same for `IndifferenceRule`, which needs fewer because the size of the difference is given."""


def matches_if_equal(spec: ComparisonSpec) -> float:
    """Return the mean number of matches until equal bots are found to be equal; infinite for a margin of 0."""
    factor = SPRT_EQUAL_FACTOR if spec.indifference else EQUAL_FACTOR
    return factor * MATCH_VARIANCE / spec.within**2 if spec.within else inf


def matches_if_different(spec: ComparisonSpec, difference: float) -> float:
    """Return the mean number of matches until a bot is found to be better.

    `difference` is by how much its share of matches exceeds one half; it must exceed what counts as no difference.
    """
    smallest = spec.indifference
    if smallest:
        return log_threshold(LEVEL) * MATCH_VARIANCE / (smallest * (difference - smallest / 2))
    return DIFFERENT_FACTOR * MATCH_VARIANCE / difference**2


def two_digits(matches: float) -> int:
    """Return the number rounded to two significant digits, which is as exact as the formulas are."""
    return int(round(matches, 2 - len(f"{matches:.0f}")))
