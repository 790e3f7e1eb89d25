"""Bradley and Terry's strengths of up to some thousand bots: where the likelihood of all pairs that met has its peak.

A pair of which one is stronger by x finishes in its favour with the chance 1 / (1 + exp(-x)). The pairs are a sparse
graph; Newton's steps are solved by conjugate gradients on it, which takes time in proportion to the pairs and never
makes a matrix. It starts from zero, so that the same counts give the same strengths.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Sequence
from math import exp
from operator import itemgetter, mul
from typing import Any, NamedTuple

PRIOR = 3.0
"""The spread of strengths that is thought of before anything is seen: wide, so that it says next to nothing, and
finite, so that who has won everything is not infinitely strong."""
_STEPS, _LONGEST_STEP = 60, 2.0
_TURNS, _COARSE, _FINE = 300, 0.1, 1e-3
"""The equations of a step need not be solved better than the step itself is good."""

Vector = list[float]
Taker = Callable[[list[Any]], Sequence[Any]]


class PairGraph(NamedTuple):
    """Who met whom: bots by number, and for each of them those it met, in order."""

    takers: list[Taker]
    """For each bot, what takes the values of those it met out of those of all."""
    weights: list[array[float]]
    """For each of those, how much they met: one match counts one, shared among the others at the table."""
    gained: Vector
    """The sum of the shares of the table that each bot finished ahead of."""


class Peak(NamedTuple):
    """Where the likelihood is largest, and how it bends there."""

    values: Vector
    hold: float
    """What the prior adds to the bends of each bot."""
    bends: list[Vector]
    """For each bot and each of those it met: weight * chance * (1 - chance)."""
    sums: Vector
    """The bends of a bot together, without the prior's."""


def taker(row: Sequence[int]) -> Taker:
    """What takes those in the row out of a vector, as fast as Python can."""
    if len(row) > 1:
        return itemgetter(*row)
    return lambda vector: [vector[bot] for bot in row]


def peak(graph: PairGraph, prior: float, start: Vector, close: float) -> Peak:
    """The strengths that explain best what was seen, about zero with this spread; to some `close` squared, by steps
    from a start."""
    values, hold, tolerance = start, 1 / prior**2, _COARSE
    for _ in range(_STEPS):
        slope, at = _bent(graph, values, hold)
        step = _solved(graph.takers, at, slope, tolerance)
        longest = max(map(abs, step), default=0.0)
        values = [value + max(-_LONGEST_STEP, min(_LONGEST_STEP, by)) for value, by in zip(values, step, strict=True)]
        if longest < close:
            break
        tolerance = max(_FINE, min(_COARSE, longest / 10))
    return at._replace(values=values)


def _bent(graph: PairGraph, values: Vector, hold: float) -> tuple[Vector, Peak]:
    """The slope and the bends at a place."""
    odds = [exp(value) for value in values]
    slope: Vector = []
    bends: list[Vector] = []
    for value, mine, take, weights, gained in zip(values, odds, graph.takers, graph.weights, graph.gained, strict=True):
        chances = [mine / (mine + its) for its in take(odds)]
        parts = list(map(mul, weights, chances))
        total = sum(parts)
        slope.append(gained - total - hold * value)
        bends.append([part - part * chance for part, chance in zip(parts, chances, strict=True)])
    return slope, Peak(values, hold, bends, [sum(row) for row in bends])


def _solved(takers: Sequence[Taker], at: Peak, wanted: Vector, tolerance: float) -> Vector:
    """The step that the curvature at a place makes of a slope, by conjugate gradients."""
    whole = [total + at.hold for total in at.sums]
    found = [0.0] * len(wanted)
    left = wanted
    scaled = [one / by for one, by in zip(left, whole, strict=True)]
    way = scaled
    size = sum(map(mul, left, scaled))
    enough = size * tolerance * tolerance
    for _ in range(_TURNS):
        if size <= enough or size < 1e-30:
            break
        pushed = [
            by * one - sum(map(mul, row, take(way)))
            for by, one, row, take in zip(whole, way, at.bends, takers, strict=True)
        ]
        far = size / sum(map(mul, way, pushed))
        found = [one + far * by for one, by in zip(found, way, strict=True)]
        left = [one - far * by for one, by in zip(left, pushed, strict=True)]
        scaled = [one / by for one, by in zip(left, whole, strict=True)]
        before, size = size, sum(map(mul, left, scaled))
        way = [one + size / before * by for one, by in zip(scaled, way, strict=True)]
    return found
