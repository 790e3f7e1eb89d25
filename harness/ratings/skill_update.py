"""TrueSkill's update for tables of single players, written out for speed: the library's messages on a chain.

Players stand in order of rank; each neighbouring pair has a difference of performances that is known to be
positive (a win) or within the draw margin (a tie). For one-player teams the factor graph of the `trueskill`
library is this chain, so the same messages in the same order give the same numbers, many times as fast.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise
from math import erfc, exp, pi, sqrt
from statistics import NormalDist

import trueskill  # type: ignore[import-untyped]  # here and not in our settings: authors' checkers read this too

# The library's constants, with the types that it does not publish.
MU: float = trueskill.MU
SIGMA: float = trueskill.SIGMA
BETA: float = trueskill.BETA
DELTA: float = trueskill.DELTA
DRAW_PROBABILITY: float = trueskill.DRAW_PROBABILITY
MOST_SWEEPS = 10
"""As in the library: messages go up and down the chain until they settle, ten times at most."""

_NOISE = BETA * BETA
_ROOT_HALF = sqrt(0.5)
_PEAK = 1 / sqrt(2 * pi)
_TWICE_PEAK = 2 * _PEAK
_FAR = -30.0  # beyond this the density and the tail are so small that their ratio needs its asymptote
_NEARLY_ONE = 1 - 1e-9
_SETTLED = DELTA**2
_normal = NormalDist()


def draw_margin(probability: float) -> float:
    """How near two performances must be to count as a draw, for draws of this probability."""
    return _normal.inv_cdf((probability + 1) / 2) * sqrt(2) * BETA


@lru_cache(maxsize=100_000)
def order(ranks: tuple[int, ...]) -> tuple[tuple[int, ...], tuple[bool, ...]]:
    """The seats from first to last, and for each of them but the last whether the next one has the same rank."""
    seats = sorted(range(len(ranks)), key=ranks.__getitem__)
    return tuple(seats), tuple(ranks[a] == ranks[b] for a, b in pairwise(seats))


def rate(beliefs: Sequence[tuple[float, float]], ranks: tuple[int, ...], margin: float) -> list[tuple[float, float]]:
    """The (mu, sigma) of each seat after a match that ended with these ranks."""
    seats, ties = order(ranks)
    # Performances, best first: precision, and precision times mean, without what the neighbours say.
    own = [1.0 / (beliefs[seat][1] ** 2 + _NOISE) for seat in seats]
    own_tau = [weight * beliefs[seat][0] for weight, seat in zip(own, seats, strict=True)]
    heard, heard_tau = _settle(own, own_tau, ties, margin)
    rated = list(beliefs)
    for place, seat in enumerate(seats):
        mu, sigma = beliefs[seat]
        weight, share = 1.0 / (sigma * sigma), 1.0 + _NOISE * heard[place]
        new = weight + heard[place] / share
        rated[seat] = ((weight * mu + heard_tau[place] / share) / new, sqrt(1.0 / new))
    return rated


def _settle(
    own: list[float], own_tau: list[float], ties: tuple[bool, ...], margin: float
) -> tuple[list[float], list[float]]:
    """What each player hears from its neighbours' results: precision, and precision times mean."""
    pairs = len(ties)
    above, above_tau = [0.0] * (pairs + 1), [0.0] * (pairs + 1)  # from the pair with the player above
    below, below_tau = [0.0] * (pairs + 1), [0.0] * (pairs + 1)  # from the pair with the player below
    known, known_tau = [0.0] * pairs, [0.0] * pairs  # what the result says about each difference
    course = [*range(pairs - 1), *range(pairs - 1, 0, -1)] or [0]  # down the chain and up again
    for _ in range(MOST_SWEEPS):
        moved = False
        for step, pair in enumerate(course):
            under = pair + 1
            left, right = own[pair] + above[pair], own[under] + below[under]
            left_mean, right_mean = (
                (own_tau[pair] + above_tau[pair]) / left,
                (own_tau[under] + below_tau[under]) / right,
            )
            mean, variance = left_mean - right_mean, 1.0 / left + 1.0 / right
            spread = sqrt(variance)
            # The result cuts off a part of the difference: `shift` and `gain` are TrueSkill's v and w.
            x = (mean - margin) / spread
            if ties[pair]:
                shift, gain = _tie(mean / spread, margin / spread)
            elif x > _FAR:
                shift = _TWICE_PEAK * exp(-0.5 * x * x) / erfc(-x * _ROOT_HALF)
                gain = shift * (shift + x)
            else:
                shift, gain = -x - 1.0 / x, 1.0 - 1.0 / (x * x)
            if gain > _NEARLY_ONE:
                gain = _NEARLY_ONE
            weight, push = gain / ((1.0 - gain) * variance), shift / ((1.0 - gain) * spread)
            # As in the library: settled is a tau, and the root of a precision, that moves by no more than DELTA.
            tau = weight * mean + push
            if abs(tau - known_tau[pair]) > DELTA or abs(weight - known[pair]) > _SETTLED:
                moved = True
            known[pair], known_tau[pair] = weight, tau
            if step < pairs - 1:  # on the way down the player below is told, on the way up the one above
                share = 1.0 + weight / left
                above[under], above_tau[under] = weight / share, (right_mean * weight - push) / share
            else:
                share = 1.0 + weight / right
                below[pair], below_tau[pair] = weight / share, (left_mean * weight + push) / share
        if not moved or pairs == 1:
            break
    # The two ends of the chain are told at the last.
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


def _tie(x: float, edge: float) -> tuple[float, float]:
    size = abs(x)
    high, low = edge - size, -edge - size
    within = 0.5 * (erfc(-high * _ROOT_HALF) - erfc(-low * _ROOT_HALF))
    if within < 1e-300:  # a draw that nobody could expect: all of it at the edge
        return (high if x >= 0 else -high), _NEARLY_ONE
    at_high, at_low = _PEAK * exp(-0.5 * high * high), _PEAK * exp(-0.5 * low * low)
    v = (at_low - at_high) / within
    w = v * v + (high * at_high - low * at_low) / within
    return (v if x >= 0 else -v), w
