"""When is the answer of a comparison known? Two rules, for two questions."""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt
from typing import Protocol

from harness.ratings.betting import Bets, enough, enough_on_one_side
from harness.ratings.intervals import LEVEL
from harness.ratings.question import Answer, Question, Unit

_STEPS = 12
"""Halvings in the search for a mean: it errs on the side of fewer units at once."""
_THIRDS = 30
"""Steps in the search for the lowest value of a convex function, each to two thirds of what was left."""
Sums = tuple[int, float, float]
"""How many units, their distances from one half, and the squares of these."""


class AnswerRule(Protocol):
    """Takes in values, and says what they answer."""

    def add(self, unit: Unit, share: float) -> None:
        """One more unit has this value, as a share of finishing ahead."""

    def answer(self) -> Answer:
        """What is known by now."""

    def answerable(self, unit: Unit, count: int) -> bool:
        """Whether so many more of these units could bring an answer; said too often is allowed, too rarely is not."""


class BettingRule:
    """Plays until one half is refuted, or everything outside of the margin: see betting.py.

    "Better" and "worse" have 2.5% each. "Equal" refutes two things, that the one is better by more than the margin and
    that it is worse by more, of which one at most is true: so each of them may have all 5%. That all answers together
    are wrong in at most 5% holds whatever the truth: who refutes one half from above refutes the margin all the more.
    """

    def __init__(self, bets: Bets, question: Question) -> None:
        self._bets = bets
        self._margin = question.margin / question.stretch
        self._needed = enough(LEVEL)
        self._for_equal = self._needed if question.former else enough_on_one_side(LEVEL)

    def add(self, unit: Unit, share: float) -> None:
        """Nothing to do: the bets have it."""

    def answer(self) -> Answer:
        """What is known by now."""
        bets, margin = self._bets, self._margin
        if bets.above(0.5) >= self._needed:
            return "better"
        if bets.below(0.5) >= self._needed:
            return "worse"
        if bets.above(0.5 - margin) >= self._for_equal and bets.below(0.5 + margin) >= self._for_equal:
            return "equal"
        return "unknown"

    def answerable(self, _unit: Unit, count: int) -> bool:
        """Whether so many more units could bring an answer, if all went one way or all were level."""
        bets, margin = self._bets, self._margin
        won, lost = bets.followed_by(1.0, count), bets.followed_by(0.0, count)
        if won.above(0.5) >= self._needed or lost.below(0.5) >= self._needed:
            return True
        low, high, needed = 0.5 - margin, 0.5 + margin, self._for_equal
        if not margin or won.above(low) < needed or lost.below(high) < needed:
            return False
        # Wealth grows most, for a given mean of what comes, if every unit brings that mean (logarithms are concave). So
        # the lowest mean that still refutes all that is below the margin is the best that can be done for both sides.
        too_low, enough_above = 0.0, 1.0
        for _ in range(_STEPS):
            mean = (too_low + enough_above) / 2
            reached = bets.followed_by(mean, count).above(low) >= needed
            too_low, enough_above = (too_low, mean) if reached else (mean, enough_above)
        return bets.followed_by(too_low, count).below(high) >= needed


class IndifferenceRule:
    """Is there a difference of at least so much, or none? A generalised sequential probability ratio test.

    Two tests of Wald's go on side by side: that the mean is one half against one half plus the indifference, and
    against one half minus it. The first to accept its difference says "better" or "worse"; "equal" is said when both
    have accepted one half. Likelihoods are those of a normal distribution whose variance is what it was, for each kind
    of unit by itself, about one half and with one imaginary unit won: so a lucky start does not look like certainty.
    """

    def __init__(self, indifference: float, stretch: float = 1.0) -> None:
        self._least = indifference
        self._farthest = 0.5 * stretch
        """How far from one half a unit may be."""
        self._accept, self._refuse = enough(LEVEL), -enough_on_one_side(LEVEL)
        self._sums: dict[Unit, Sums] = {}

    def add(self, unit: Unit, share: float) -> None:
        """One more unit has this value."""
        count, total, squares = self._sums.get(unit, (0, 0.0, 0.0))
        self._sums[unit] = count + 1, total + (share - 0.5), squares + (share - 0.5) ** 2

    def _ratio(self, side: int, sums: Sums) -> float:
        """The logarithm of how much more likely a difference to this side is than none, by units of one kind."""
        count, total, squares = sums
        variance = (squares + 0.25) / (count + 1)
        return self._least * (side * total - count * self._least / 2) / variance

    def answer(self) -> Answer:
        """What is known by now."""
        above, below = (sum(self._ratio(side, sums) for sums in self._sums.values()) for side in (1, -1))
        if above >= self._accept:
            return "better"
        if below >= self._accept:
            return "worse"
        return "equal" if max(above, below) <= self._refuse else "unknown"

    def answerable(self, unit: Unit, count: int) -> bool:
        """Whether so many more units could bring an answer, if all of them went the best way for it."""
        sums = self._sums.get(unit, (0, 0.0, 0.0))
        rest = [others for kind, others in self._sums.items() if kind != unit]
        for side in (1, -1):
            further = self._followed(sums, side * self._best(sums, side, count), count)
            if sum(self._ratio(side, each) for each in [*rest, further]) >= self._accept:
                return True
        return self._may_be_equal(sums, rest, count)

    def _may_be_equal(self, sums: Sums, rest: Sequence[Sums], count: int) -> bool:
        """Whether so many more units, all of the same value, could bring both ratios down."""
        # Both together depend on the number of units and on their variance only: at best it does not grow.
        level = self._followed(sums, 0.0, count)
        if sum(self._ratio(side, each) for side in (1, -1) for each in [*rest, level]) > 2 * self._refuse:
            return False
        # What a ratio lacks is, times the variance, a convex function of that value: so the larger of both is, too.
        number, total, squares = self._followed(sums, 0.0, count)
        lacking = [
            (sum(self._ratio(side, each) for each in rest) - self._refuse) / (self._least * (number + 1))
            for side in (1, -1)
        ]

        def worse(away: float) -> float:
            least = squares + 0.25 + count * away**2
            most = squares + count * (2 * self._farthest) ** 2  # for where it would not be convex
            return max(
                side * (total + count * away) - number * self._least / 2 + lack * (least if lack > 0 else most)
                for side, lack in zip((1, -1), lacking, strict=True)
            )

        low, high = -self._farthest, self._farthest
        for _ in range(_THIRDS):
            first, second = low + (high - low) / 3, high - (high - low) / 3
            low, high = (low, second) if worse(first) <= worse(second) else (first, high)
        return worse((low + high) / 2) <= 1e-6 * number

    def _best(self, sums: Sums, side: int, count: int) -> float:
        """How far to this side of one half so many units bring the greatest ratio: farther off they vary more."""
        number, total, squares = sums
        lead = side * total - (number + count) * self._least / 2
        return min(self._farthest, (sqrt(lead**2 + count * (squares + 0.25)) - lead) / count)

    @staticmethod
    def _followed(sums: Sums, away: float, count: int) -> Sums:
        number, total, squares = sums
        return number + count, total + count * away, squares + count * away**2


def rule_for(question: Question, bets: Bets) -> AnswerRule:
    """The rule that answers a question."""
    if question.indifference:
        return IndifferenceRule(question.indifference, question.stretch)
    return BettingRule(bets, question)
