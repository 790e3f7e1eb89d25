"""When to depart from a guide's advice."""

# mypyc compiles this module: functions of typed values only; structs are in interpreted modules (core/compiled.py).

from __future__ import annotations

from collections.abc import Mapping
from math import sqrt

from harness import Action

CAUTION = 1.0
"""By how many standard errors an action must have done better than the advice to be played instead."""


def unless_refuted(advice: Action, outcomes: Mapping[Action, tuple[float, int]], deviation: float) -> Action:
    """Return the advice, or the action that did better by the most beyond doubt; outcomes are sums of rewards and
    tries.

    Good advice is seldom wrong by much, and the luck of a few hundred games is larger than that: without caution a
    search would be worse than its guide.
    """
    total, tries = outcomes[advice]
    if not tries:
        return advice
    usual = total / tries
    best, most = advice, 0.0
    for action, (sum_, tried) in outcomes.items():
        if tried and action is not advice:
            error = deviation * sqrt(1 / tried + 1 / tries)
            gain = sum_ / tried - usual - CAUTION * error
            if gain > most:
                best, most = action, gain
    return best
