"""What a ladder is for, and the tables that serve it, chosen by what is believed of the bots so far."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from random import Random

from harness.ratings.joint_beliefs import JointBeliefs

MOST_DRAWS = 5
"""Draws of strengths for one table of contenders."""
MUCH = 1e9
"""More than any difference of strengths."""
Table = list[int]


def contenders(
    beliefs: JointBeliefs, seats: int, tables: int, luck: Random, left: Sequence[int], met: Sequence[Sequence[int]]
) -> list[Table]:
    """For the best bot, who is one of those `left`: who is the best of strengths that may be true, and of others.

    This is top-two Thompson sampling. An unlucky bot is tried again as long as it may be the best. Where fewer are left
    than there are seats, those fill the table whom the first has met least, by `met`, the sets of each pair.
    """
    found: list[Table] = []
    meetings = [list(row) for row in met]
    while len(found) < tables:
        table: Table = []
        for _ in range(MOST_DRAWS):
            drawn = beliefs.drawn(luck)
            best = max(left, key=drawn.__getitem__)
            if best not in table:
                table.append(best)
            if len(table) == min(seats, len(left)):
                break
        by_strength = sorted(set(left) - set(table), key=lambda bot: -drawn[bot])
        seldom = meetings[table[0]]
        others = sorted(set(range(beliefs.bots)) - set(left), key=lambda bot: (seldom[bot], -drawn[bot]))
        table += [*by_strength, *others][: seats - len(table)]
        for bot in table:
            seldom[bot] += 1
        found.append(table)
    return found


def by_lot(groups: Sequence[Sequence[int]], seats: int, tables: int, luck: Random) -> list[Table]:
    """For the order: lots decide who of a group sits with whom, so that all have the same opponents in the long run."""
    found: list[Table] = []
    while len(found) < tables:
        drawn = []
        for group in groups:
            mixed = luck.sample(list(group), len(group))
            drawn += [mixed[at : at + seats] for at in range(0, len(mixed) - seats + 1, seats)]
        luck.shuffle(drawn)
        found += drawn
    return found[:tables]


def around(
    beliefs: JointBeliefs,
    seats: int,
    tables: int,
    luck: Random,
    about: Sequence[int],
    known: Collection[frozenset[int]],
) -> list[Table]:
    """For newcomers: each in turn meets those who are the better in one draw of strengths and the worse in another.

    Lots decide between these; then come those nearest to it, and last the pairs that are `known`.
    """
    found: list[Table] = []
    for number in range(tables):
        newcomer, first, second = about[number % len(about)], beliefs.drawn(luck), beliefs.drawn(luck)

        def telling(bot: int, me: int = newcomer, first: list[float] = first, second: list[float] = second) -> float:
            if frozenset((me, bot)) in known:
                return MUCH + luck.random()
            clear = (first[bot] > first[me]) == (second[bot] > second[me])
            return 1 + abs(first[bot] - first[me]) if clear else luck.random()

        found.append(
            [newcomer, *sorted((bot for bot in range(beliefs.bots) if bot != newcomer), key=telling)[: seats - 1]]
        )
    return found
