"""Games as voters: one order from several, which asks only who is above whom in each, not by how much."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple


class VotedPlace(NamedTuple):
    """A bot's place by the votes of all games: one more than there are bots above it."""

    place: int
    bot: str


def schulze(ballots: Sequence[Mapping[str, float]]) -> list[VotedPlace]:
    """The order by Schulze's method; a ballot has a number for each bot, lower is better, and equal ones are level.

    One bot is above another if more voters say so along the strongest chain of majorities from it to the other than
    along any chain back. That puts a bot which beats every other by majority first, and knows circles.
    """
    bots = sorted(set().union(*ballots)) if ballots else []
    prefer = {
        (one, other): sum(ballot[one] < ballot[other] for ballot in ballots)
        for one in bots
        for other in bots
        if one != other
    }
    path = {pair: votes if votes > prefer[pair[::-1]] else 0 for pair, votes in prefer.items()}
    for through in bots:
        for one in bots:
            for other in bots:
                if through not in (one, other) and one != other:
                    path[one, other] = max(path[one, other], min(path[one, through], path[through, other]))
    places = [
        VotedPlace(1 + sum(path[other, bot] > path[bot, other] for other in bots if other != bot), bot) for bot in bots
    ]
    return sorted(places)
