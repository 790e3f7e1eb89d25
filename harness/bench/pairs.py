"""Ratios of two speeds, taken in turns: what disturbs one of a pair disturbs the other as well."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import median

import msgspec

from harness.bench.loop_process import LoopProcess, Measured

PAIRS = 7
"""Pairs that are measured unless somebody asks for more: the median of fewer is easily moved."""


class Ratio(msgspec.Struct, frozen=True):
    """How many times as fast ours is: the median over the pairs, and the least and the most of them."""

    median: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{_brief(self.median)} ({_brief(self.low)}-{_brief(self.high)})"


class SpeedComparison(msgspec.Struct, frozen=True):
    """One of our games beside another loop."""

    ours: float
    """Decisions a second of processor time, the median of all measurements."""
    theirs: float
    ratio: Ratio


def ratio_of(ours: Sequence[float], theirs: Sequence[float]) -> Ratio:
    """The ratio of each pair, summed up."""
    each = [mine / other for mine, other in zip(ours, theirs, strict=True)]
    return Ratio(median(each), min(each), max(each))


def compared(ours: Sequence[Measured], theirs: Sequence[Measured]) -> SpeedComparison:
    """What the pairs say."""
    mine, other = [each.rate for each in ours], [each.rate for each in theirs]
    return SpeedComparison(median(mine), median(other), ratio_of(mine, other))


def in_turns(
    ours: Mapping[str, LoopProcess], other: LoopProcess, pairs: int, seconds: float
) -> dict[str, SpeedComparison]:
    """Each of our loops beside another one that plays something else, each for so many seconds in all.

    Every second round goes backwards, so that nobody is always first.
    """
    mine: dict[str, list[Measured]] = {name: [] for name in ours}
    theirs: list[Measured] = []
    first = 1
    for number in range(pairs):
        rounds = [*((loop, mine[name]) for name, loop in ours.items()), (other, theirs)]
        for loop, kept in reversed(rounds) if number % 2 else rounds:
            kept.append(loop.play_for(seconds / pairs, first))
        first += max(kept[-1].games for kept in (*mine.values(), theirs))
    return {name: compared(measured, theirs) for name, measured in mine.items()}


def alike(ours: LoopProcess, other: LoopProcess, pairs: int, seconds: float) -> tuple[SpeedComparison, bool]:
    """Two loops that play the same matches, in turns, and whether they made as many decisions in each."""
    games = max(1, other.play_for(seconds / pairs).games)
    mine: list[Measured] = []
    theirs: list[Measured] = []
    for number in range(pairs):
        turns = [(ours, mine), (other, theirs)]
        for loop, kept in reversed(turns) if number % 2 else turns:
            kept.append(loop.play(games, 1 + number * games))
    same = all(one.choices == two.choices for one, two in zip(mine, theirs, strict=True))
    return compared(mine, theirs), same


def _brief(value: float) -> str:
    return f"{value:.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"
