"""Which bots of a table are told apart: claims about all pairs together that are wrong in at most 5 of 100 runs."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

from harness.ratings.intervals import LEVEL, cdf
from harness.ratings.plackett_luce import Strengths

Pair = tuple[int, int]


def confidence(strengths: Strengths, one: int, other: int) -> float | None:
    """How sure it is that one bot is better than another, looking at these two alone; None from a single deal."""
    freedom = min(strengths.deals[one], strengths.deals[other]) - 1
    difference, error = strengths.difference(one, other)
    if freedom < 1 or not error:
        return None
    return cdf(difference / error, freedom)


def told_apart(strengths: Strengths) -> set[Pair]:
    """The pairs (better, worse) that may all be claimed at once.

    Holm's procedure: the surest claim is tested against all pairs, the next against the pairs left, until one fails.
    With equal bots the chance that any is claimed to be better is then at most 1 - LEVEL, however many there are.
    """
    doubts: list[tuple[float, Pair]] = []
    for one, other in combinations(range(len(strengths.values)), 2):
        sure = confidence(strengths, one, other)
        if sure is not None:
            doubts.append((2 * min(sure, 1 - sure), (one, other) if sure > 0.5 else (other, one)))
    doubts.sort()
    claims = set()
    for place, (doubt, pair) in enumerate(doubts):
        if doubt > (1 - LEVEL) / (len(doubts) - place):
            break
        claims.add(pair)
    return claims


def bands(table: Sequence[int], better: set[Pair]) -> list[int]:
    """For each line of a table (bots by number, first to last) the rank that it shares with those not told apart.

    A new band begins only where every bot above is better than every bot below.
    """
    ranks = []
    start = 0
    for place in range(len(table)):
        if all((above, below) in better for above in table[:place] for below in table[place:]):
            start = place
        ranks.append(start + 1)
    return ranks


def reach(bot: int, bots: int, better: set[Pair]) -> tuple[int, int]:
    """The best and the worst rank that a bot may truly have, given what is told apart."""
    return 1 + sum(worse == bot for _, worse in better), bots - sum(best == bot for best, _ in better)
