"""Which bots of a table are told apart: claims about all pairs together that are wrong in at most 5 of 100 runs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from harness.ratings.ahead import Difference
from harness.ratings.intervals import LEVEL

Pair = tuple[int, int]


def told_apart(differences: Mapping[Pair, Difference]) -> set[Pair]:
    """The pairs (better, worse) that may all be claimed at once."""
    doubts: list[tuple[float, Pair]] = []
    for (one, other), seen in differences.items():
        chance = seen.chance
        doubts.append((2 * min(chance, 1 - chance), (one, other) if chance > 0.5 else (other, one)))
    return holm(doubts)


def holm(doubts: Iterable[tuple[float, Pair]]) -> set[Pair]:
    """Of claims, each with the chance that luck alone would look as convincing, those that may be made together.

    Holm's procedure: the surest claim is tested against all pairs, the next against the pairs left, until one fails.
    With equal bots the chance that any is claimed to be better is then at most 1 - LEVEL, however many there are.
    """
    ordered = sorted(doubts)
    claims = set()
    for place, (doubt, pair) in enumerate(ordered):
        if doubt > (1 - LEVEL) / (len(ordered) - place):
            break
        claims.add(pair)
    return claims


def compact_letters(table: Sequence[int], better: set[Pair]) -> dict[int, tuple[str, ...]]:
    """For each bot of a table (by number, first to last) its letters: who is not told apart shares at least one.

    A compact letter display as statisticians print it, by a greedy cover: each pair that is not told apart and shares
    no letter yet gets one, together with all that fit in. That takes a power of the number of bots at most.
    """
    apart = better | {(worse, best) for best, worse in better}
    groups: list[list[int]] = []
    covered: set[Pair] = set()
    for place, one in enumerate(table):
        joined = False
        for other in table[place + 1 :]:
            if (one, other) in apart or (one, other) in covered:
                joined = joined or (one, other) in covered
                continue
            group = [one, other]
            group += [more for more in table if more not in group and not any((more, its) in apart for its in group)]
            groups.append(group)
            covered.update((a, b) for a in group for b in group if a != b)
            joined = True
        if not joined and not any(one in group for group in groups):
            groups.append([one])
    rank = {bot: place for place, bot in enumerate(table)}
    groups.sort(key=lambda group: sorted(rank[bot] for bot in group))
    return {bot: tuple(letters_of(n) for n, group in enumerate(groups) if bot in group) for bot in table}


def letters_of(number: int) -> str:
    """`a` ... `z`, `aa`, `ab`, ...: the name of a group."""
    name = ""
    while number >= 0:
        number, letter = divmod(number, 26)
        name = chr(ord("a") + letter) + name
        number -= 1
    return name


def reaches(bots: int, better: set[Pair]) -> list[tuple[int, int]]:
    """The best and the worst place that each bot may truly have, given what is told apart."""
    above, below = [0] * bots, [0] * bots
    for best, worst in better:
        above[worst] += 1
        below[best] += 1
    return [(1 + above[bot], bots - below[bot]) for bot in range(bots)]
