"""How far fitted strengths may be from the truth: a sandwich, since the pairs of one match are not independent.

The likelihood's curvature says how strengths answer to shares of the table that are off by some luck, and the matches
say how large that luck is. Of few bots the answer is worked out exactly. Of many, a strength is taken to answer to a
bot's own luck, to the luck of those it met, one by one, and to what bots of like strength have in common, block by
block: those who meet only their neighbours know well who is better next door, and less well how far it is to the top.
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import mul
from typing import NamedTuple

from harness.ratings.matrices import Matrix, inverted, sandwiched, times
from harness.ratings.strength_fit import Peak, Taker, Vector

MOST_EXACT = 120
"""Bots of which all covariances are worked out."""
BLOCKS = 48
"""Blocks of bots of like strength, where there are more bots than that."""
_EVENINGS, _FEW_EVENINGS = 8, 3


class Doubts(NamedTuple):
    """Variances, for each bot."""

    value: Vector
    """Of its strength, counted from the mean of the field."""
    ahead: Vector
    """Of its share of the field that it finishes ahead of."""
    own: Vector
    """Of its strength such that those of two bots add up to the variance of the difference."""


def doubts(at: Peak, takers: list[Taker], luck: Vector, field: Sequence[int], slopes: list[Vector]) -> Doubts:
    """The variances, by the variance of each bot's sum of shares (`luck`). `slopes`: for each bot of the field, how
    fast its chance against each of the field changes, with nothing for itself."""
    few = len(takers) <= MOST_EXACT
    parts = _evened(at, takers, luck, _EVENINGS if few else _FEW_EVENINGS)
    return (_exact if few else _by_blocks)(at, takers, parts, field, slopes)


def _evened(at: Peak, takers: list[Taker], luck: Vector, often: int) -> Vector:
    """Parts such that bends times the sum of two bots' parts are the luck that these two share.

    What one gains at a table others lose, so the luck of a bot is all shared with those it met.
    """
    parts = [0.5 * one / total for one, total in zip(luck, at.sums, strict=True)]
    for _ in range(often):
        parts = [
            max(0.0, part + 0.5 * (one / total - part - sum(map(mul, row, take(parts))) / total))
            for part, one, total, row, take in zip(parts, luck, at.sums, at.bends, takers, strict=True)
        ]
    return parts


def _exact(at: Peak, takers: list[Taker], parts: Vector, field: Sequence[int], slopes: list[Vector]) -> Doubts:
    size = len(takers)
    met = [take(list(range(size))) for take in takers]
    bend: Matrix = [[0.0] * size for _ in range(size)]
    luck: Matrix = [[0.0] * size for _ in range(size)]
    for bot, (row, others) in enumerate(zip(at.bends, met, strict=True)):
        for one, other in zip(row, others, strict=True):
            shared = one * (parts[bot] + parts[other])
            bend[bot][other], luck[bot][other] = -one, -shared
            luck[bot][bot] += shared
        bend[bot][bot] = at.sums[bot] + at.hold
        luck[bot][bot] += at.hold
    answer = inverted(bend)
    spread = sandwiched(answer, luck)
    inner = [[spread[one][other] for other in field] for one in field]
    count = len(field)
    whole = sum([sum(row) for row in inner]) / count**2
    value, ahead = [], []
    for place, (row, slope) in enumerate(zip(inner, slopes, strict=True)):
        value.append(row[place] - 2 * sum(row) / count + whole)
        away = [-one for one in slope]
        away[place] = sum(slope)
        ahead.append(sum(map(mul, away, times(inner, away))))
    own = _told_apart(at, met, spread)
    return Doubts(value, ahead, [own[bot] for bot in field])


def _told_apart(at: Peak, met: Sequence[Sequence[int]], spread: Matrix) -> Vector:
    """Quasi-variances (Firth): those of two bots that met add up to the variance of their difference, nearly."""
    own = [spread[bot][bot] for bot in range(len(met))]
    apart = [
        [spread[bot][bot] + spread[other][other] - 2 * spread[bot][other] for other in others]
        for bot, others in enumerate(met)
    ]
    for _ in range(5 * _EVENINGS):
        own = [
            0.5 * one
            + 0.5
            * max(0.0, sum([w * (gap - own[other]) for w, gap, other in zip(row, gaps, others, strict=True)]) / total)
            for one, row, gaps, others, total in zip(own, at.bends, apart, met, at.sums, strict=True)
        ]
    return own


def _by_blocks(at: Peak, takers: list[Taker], parts: Vector, field: Sequence[int], slopes: list[Vector]) -> Doubts:
    size, count = len(takers), BLOCKS
    block = [0] * size
    for place, bot in enumerate(sorted(range(size), key=at.values.__getitem__)):
        block[bot] = place * count // size
    members = [block.count(number) for number in range(count)]
    usual = [0.0] * count
    for number, part in zip(block, parts, strict=True):
        usual[number] += part / members[number]
    # Bends and shared luck of each bot with each block; both of blocks with blocks.
    reach: Matrix = []
    shared: Matrix = []
    luck: Vector = []
    bend: Matrix = [[0.0] * count for _ in range(count)]
    common: Matrix = [[0.0] * count for _ in range(count)]
    for mine, row, take, part, total in zip(block, at.bends, takers, parts, at.sums, strict=True):
        near = [0.0] * count
        for one, number in zip(row, take(block), strict=True):
            near[number] += one
        pull = [one * (part + its) for one, its in zip(near, usual, strict=True)]
        reach.append(near)
        shared.append(pull)
        luck.append(sum(pull))
        for whole, single in ((bend[mine], near), (common[mine], pull)):
            whole[:] = [a - b for a, b in zip(whole, single, strict=True)]
        bend[mine][mine] += total + at.hold
        common[mine][mine] += luck[-1] + at.hold
    answer = inverted(bend)
    spread = sandwiched(answer, common)
    whole_bend = [total + at.hold for total in at.sums]
    alone = [(one + at.hold) / by**2 for one, by in zip(luck, whole_bend, strict=True)]
    value, ahead, own = [], [], []
    mean = [0.0] * count
    for bot in field:
        mean[block[bot]] += 1 / len(field)
    places = [block[bot] for bot in field]
    for bot, slope in zip(field, slopes, strict=True):
        by = whole_bend[bot]
        row = at.bends[bot]
        from_met = sum(map(mul, map(mul, row, row), takers[bot](alone))) / by**2
        local = alone[bot] + from_met
        own.append(local)
        # How this bot's luck goes with that of the blocks, and so with where these are.
        gone = [-one for one in shared[bot]]
        gone[block[bot]] += luck[bot]
        tied = times(answer, gone)
        follow = [one / by for one in reach[bot]]
        away = [one - other for one, other in zip(follow, mean, strict=True)]
        value.append(_with(local, away, spread, tied, 1 / by))
        steep = sum(slope)
        away = [steep * one for one in follow]
        for one, number in zip(slope, places, strict=True):
            away[number] -= one
        ahead.append(_with(steep * steep * local, away, spread, tied, steep / by))
    return Doubts(value, ahead, own)


def _with(local: float, away: Vector, spread: Matrix, tied: Vector, scale: float) -> float:
    """A variance of one's own, with that of how far blocks are away and what the two have in common."""
    blocks: float = sum(map(mul, away, times(spread, away)))
    common: float = sum(map(mul, away, tied))
    return max(0.5 * local, local + blocks + 2 * scale * common)
