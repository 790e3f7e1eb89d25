"""One result of two bots without its luck, as a value from 0 to 1: for tests that need bounded values.

A test that bets (betting.py) needs values between known bounds, and luck that is taken out could carry a result
anywhere. So it is taken out with care: each piece of luck counts for no more than STEP either way, and the more was
taken out already, the less of the next is, so that all together stays within REACH. What is left of a piece is fixed
before the piece is drawn, so each is nought on average as before, and of two equal bots the mean stays one half.
This takes a judge who knows no more than the seats together do (a `Valuer` does not): one who saw the next card of a
pile would fix what is left of a piece by what comes after it.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from typing import Any

from harness.core.chance import Chance
from harness.core.game import Game, State
from harness.core.types import GameRecord
from harness.ratings.luck import ALTERNATIVES, Judge, moments

STEP = 0.15
"""A guess after a piece of luck is taken as no farther than this from the guess before it."""
REACH = 0.4
"""The most that is taken out of a match, of the difference of 1 between winning and losing."""
STRETCH = 1 + 2 * REACH
"""How much wider what may come out is than the difference between winning and losing."""
GRAINS = 200
"""Values are rounded to so many steps: a test of few different values is quick."""


def bounded_value(
    game: Game[Any],
    record: GameRecord,
    judge: Judge,
    expected: Sequence[float],
    pair: tuple[int, int],
    part: float = 1.0,
    alternatives: int = ALTERNATIVES,
    phases: Container[str] | None = None,
) -> float:
    """Whether the first of these two seats finished ahead of the other, less its luck: 0 to 1, one half for equals.

    `expected` and the `part` of the luck that is taken out must be fixed before the match, or come from other deals.
    """
    one, other = pair
    taken, before = 0.0, _clip(0.5 + _weight(len(expected)) * (expected[one] - expected[other]))
    for moment in moments(game, record, alternatives, phases):
        low, high = before - STEP, before + STEP
        guess = _ahead(moment.actual, judge, expected, pair)
        others = [_clip(_ahead(state, judge, expected, pair), low, high) for state in moment.others]
        luck = part * (_clip(guess, low, high) - sum(others) / len(others))
        taken += luck * min(1.0, (REACH - abs(taken)) / (2 * STEP))
        before = guess
    ahead = 0.5 + 0.5 * ((record.ranks[one] < record.ranks[other]) - (record.ranks[one] > record.ranks[other]))
    return _grained((ahead - taken + REACH) / STRETCH, record)


def _ahead(state: State[Any], judge: Judge, expected: Sequence[float], pair: tuple[int, int]) -> float:
    """The chance that the first of the pair will finish ahead of the other, as far as their shares tell."""
    shares = judge.shares(state, expected)
    difference = shares[pair[0]] - shares[pair[1]]
    if not state.legal:
        return 0.5 + 0.5 * ((difference > 0) - (difference < 0))
    return _clip(0.5 + _weight(len(shares)) * difference)


def _weight(players: int) -> float:
    """What a difference of two shares says about the two: the regression over all orders of so many seats."""
    return (players - 1) / players


def _clip(value: float, low: float = 0.0, high: float = 1.0) -> float:
    return min(high, max(low, value))


def _grained(value: float, record: GameRecord) -> float:
    """The value rounded up or down by luck of its own, so that the mean stays as it is."""
    whole, rest = divmod(value * GRAINS, 1.0)
    up = Chance(record.seed).rng("grain", record.id).random() < rest
    return min(1.0, (whole + up) / GRAINS)
