"""How many matches a comparison will take, told before it begins: formulas that a test holds against simulations."""

from __future__ import annotations

from math import inf

from harness.ratings.betting import enough
from harness.ratings.intervals import LEVEL
from harness.ratings.question import Question

DIFFERENCES = (0.05, 0.1)
VARIANCE = 0.25
"""Of finishing ahead in a match without ties, between bots that are nearly equal."""
EQUAL, DIFFERENT = 12.0, 9.5
"""Matches, times the square of what is to be told apart, over the variance: what bets need on average."""
EQUAL_BY_BOUNDS = 9.7
"""The same for bounds, which are told beforehand what to tell apart."""


def matches_if_equal(question: Question) -> float:
    """The mean number of matches until equal bots are called so; there is no end to it with a margin of 0."""
    needed = EQUAL_BY_BOUNDS if question.indifference else EQUAL
    return needed * VARIANCE / question.within**2 if question.within else inf


def matches_if_ahead(question: Question, difference: float) -> float:
    """The mean number of matches until a bot is called better whose share of finishing ahead is above one half by so
    much, which must be more than what makes no difference."""
    least = question.indifference
    if least:
        return enough(LEVEL) * VARIANCE / (least * (difference - least / 2))
    return DIFFERENT * VARIANCE / difference**2


def rounded(matches: float) -> int:
    """Two digits of it: more would pretend to know it."""
    return int(round(matches, 2 - len(f"{matches:.0f}")))
