"""TrueSkill match by match: the update of beliefs after each match, and the table of the `trueskill` package."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import sqrt
from typing import Final

import trueskill  # type: ignore[import-untyped]  # here and not in our settings: authors' checkers read this too

from harness.core.records import GameRecord, order
from harness.ratings.skill import BETA, tie_derivatives, win_derivatives

# TrueSkill's update after one match of single players: expectation propagation on a chain, written out for speed.
#
# Players are in order of rank; each pair of neighbours has a difference of performances that is known to be positive (a
# win) or within the draw margin (a tie). For teams of one player the factor graph of the `trueskill` package is this
# chain, so the same messages in the same order give the same numbers, twenty times as fast: rating must not cost more
# than playing. Normal distributions are kept as precision (1 / variance) and `tau` (precision times mean), in which
# multiplying densities is addition.


DELTA: Final[float] = trueskill.DELTA
MAX_SWEEPS: Final = 10
"""As in the package: messages are passed down and up the chain until they converge, at most ten times."""

_PERFORMANCE_VARIANCE: Final = BETA * BETA
_MAX_W: Final = 1 - 1e-9  # at 1 the variance would become 0
_CONVERGED_PRECISION: Final = DELTA**2


def rate(beliefs: Sequence[tuple[float, float]], ranks: tuple[int, ...], margin: float) -> list[tuple[float, float]]:
    """Return (mu, sigma) of each seat after a match with these ranks."""
    seats, ties = order(ranks)
    # The performances, best first, without messages from neighbours.
    own = [1.0 / (beliefs[seat][1] ** 2 + _PERFORMANCE_VARIANCE) for seat in seats]
    own_tau = [weight * beliefs[seat][0] for weight, seat in zip(own, seats, strict=True)]
    if len(ties) > 1:
        message, message_tau = _chain_messages(own, own_tau, ties, margin)
    else:
        message, message_tau = _pair_messages(own, own_tau, ties[0], margin)
    rated = list(beliefs)
    for place, seat in enumerate(seats):
        mu, sigma = beliefs[seat]
        weight, share = 1.0 / (sigma * sigma), 1.0 + _PERFORMANCE_VARIANCE * message[place]
        new = weight + message[place] / share
        rated[seat] = ((weight * mu + message_tau[place] / share) / new, sqrt(1.0 / new))
    return rated


def _pair_messages(
    own: list[float], own_tau: list[float], tied: bool, margin: float
) -> tuple[list[float], list[float]]:
    """Return precision and tau of the messages to two players: a chain of one pair, which needs no iteration."""
    left, right = own
    left_mean, right_mean = own_tau[0] / left, own_tau[1] / right
    mean, variance = left_mean - right_mean, 1.0 / left + 1.0 / right
    spread = sqrt(variance)
    shift, gain = _truncation(mean / spread, margin / spread, (mean - margin) / spread, tied)
    rest = 1.0 - gain
    weight = gain / (rest * variance)
    tau = weight * mean + shift / (rest * spread)
    above, below = 1.0 + weight / right, 1.0 + weight / left
    return [weight / above, weight / below], [(right_mean * weight + tau) / above, (left_mean * weight - tau) / below]


def _truncation(difference: float, edge: float, beyond: float, tied: bool) -> tuple[float, float]:
    """Return TrueSkill's v and w: how a result shifts and narrows a normal difference of performances by truncation.

    All arguments are in standard deviations; `beyond` is the distance from the edge of a draw.
    """
    shift, gain = tie_derivatives(difference, edge) if tied else win_derivatives(beyond)
    return shift, min(gain, _MAX_W)


def _chain_messages(
    own: list[float], own_tau: list[float], ties: tuple[bool, ...], margin: float
) -> tuple[list[float], list[float]]:
    """Return precision and tau of the messages to each player from the results against its neighbours."""
    pairs = len(ties)
    last = pairs - 1
    above, above_tau = [0.0] * (pairs + 1), [0.0] * (pairs + 1)  # from the pair with the player above
    below, below_tau = [0.0] * (pairs + 1), [0.0] * (pairs + 1)  # from the pair with the player below
    known, known_tau = [0.0] * pairs, [0.0] * pairs  # messages from the results to the differences
    steps = [*range(last), *range(last, 0, -1)]  # down the chain and up again
    for _ in range(MAX_SWEEPS):
        moved = False
        down = True
        for pair in steps:
            under = pair + 1
            left, right = own[pair] + above[pair], own[under] + below[under]
            left_mean = (own_tau[pair] + above_tau[pair]) / left
            right_mean = (own_tau[under] + below_tau[under]) / right
            mean, variance = left_mean - right_mean, 1.0 / left + 1.0 / right
            spread = sqrt(variance)
            x = (mean - margin) / spread
            shift, gain = _truncation(mean / spread, margin / spread, x, ties[pair])
            rest = 1.0 - gain
            weight, push = gain / (rest * variance), shift / (rest * spread)
            tau = weight * mean + push
            # As in the package: converged if tau and the root of the precision change by at most DELTA.
            if not moved and (abs(tau - known_tau[pair]) > DELTA or abs(weight - known[pair]) > _CONVERGED_PRECISION):
                moved = True
            known[pair] = weight
            known_tau[pair] = tau
            if pair == last:
                down = False
            if down:  # messages go to the player below on the way down, to the one above on the way up
                share = 1.0 + weight / left
                above[under] = weight / share
                above_tau[under] = (right_mean * weight - push) / share
            else:
                share = 1.0 + weight / right
                below[pair] = weight / share
                below_tau[pair] = (left_mean * weight + push) / share
        if not moved:
            break
    # The messages to the two ends of the chain come last.
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


# What the package itself gives, for readers who want exactly that.


def sequential_skills(records: Iterable[GameRecord]) -> dict[str, tuple[float, float]]:
    """Return (mu, sigma) of each bot, by the `trueskill` package with its default settings, best first.

    The order of matches matters: pass them in schedule order. A match in which a bot meets itself does not count.
    """
    package = trueskill.TrueSkill()
    found: dict[str, trueskill.Rating] = {}
    for record in records:
        seats = record.seats
        beliefs = [found.setdefault(name, package.create_rating()) for name in seats]
        if len(set(seats)) == len(seats) > 1:
            rated = package.rate([(belief,) for belief in beliefs], record.ranks)
            found.update({name: belief for name, (belief,) in zip(seats, rated, strict=True)})
    order_ = sorted(found, key=lambda name: (-round(package.expose(found[name]), 9), name))
    return {name: (found[name].mu, found[name].sigma) for name in order_}
