"""Several games together: one order of bots over all of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from math import inf, sqrt
from typing import NamedTuple

from harness.ratings.beat_rate import AheadFit, Difference, Spread, reaches, told_apart
from harness.ratings.evidence import Interval, share_of
from harness.ratings.leaderboard import MOST_NAMED, Leaderboard

# Games as voters: one order from several, which asks only who is above whom in each, not by how much.


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


# Several games together: the places of each bot in each game, and an order of those who play them all.
#
# Points and ratings of different games cannot be added; shares of the table can. So the measure is the mean of a
# bot's `ahead`, every game with the same weight however many matches it had, and only bots that play every game have
# one.


@dataclass(frozen=True, slots=True)
class OverallLine:
    """One bot over several games."""

    bot: str
    places: dict[str, int]
    """Game -> its place there; games that it does not play are left out."""
    place: int | None
    """Among the bots that play every game; None for the others, about whom nothing is said."""
    best: int | None
    """The best and the worst of these places that is not ruled out."""
    worst: int | None
    ahead: Interval | None
    """The mean of its shares ahead, every game with the same weight; None unless it plays every game."""
    faults: int
    matches: int


@dataclass(frozen=True, slots=True)
class Overall:
    """The bots of a run with several games: those who play them all first, in order, then the others by name."""

    games: list[str]
    lines: list[OverallLine]
    notes: list[str]
    told_apart: frozenset[tuple[str, str]] = frozenset()
    ballots: list[dict[str, float]] = field(default_factory=list, repr=False)
    """Game by game, for the bots that play all: 1 - `ahead`."""

    def voted(self) -> list[VotedPlace]:
        """The order of the bots that play every game by Schulze's method, each game with one vote: nobody gains by
        how far ahead it is where it is ahead."""
        return schulze(self.ballots)


@dataclass(frozen=True, slots=True)
class _InGame:
    """The bots of one game, by name."""

    board: Leaderboard
    fit: AheadFit
    number: Mapping[str, int]

    def met(self, one: str, other: str) -> bool:
        return self.board.ratings.evidence.have_met(self.number[one], self.number[other])

    def value(self, bot: str) -> float:
        return min(1.0, max(0.0, self.fit.values[self.number[bot]]))

    def difference(self, one: str, other: str) -> Difference | None:
        return self.fit.difference(self.number[one], self.number[other])


def overall(boards: Sequence[Leaderboard]) -> Overall | None:
    """What the leaderboards of several games say together; None if there is but one."""
    if len(boards) < 2:
        return None
    games = [
        _InGame(board, board.fit, {name: line.number for name, line in board.ratings.lines.items()})
        for board in boards
        if board.fit is not None
    ]
    titles = [board.title for board in boards]
    places = {
        name: {board.title: one.place for board in boards for one in board.standings if one.line.bot == name}
        for name in sorted({one.line.bot for board in boards for one in board.standings})
    }
    everywhere = [bot for bot, known in places.items() if len(known) == len(boards)]
    ranked = everywhere if len(everywhere) > 1 else []  # one bot alone is no order
    values = {bot: sum(game.value(bot) for game in games) / len(games) for bot in ranked}
    ranked.sort(key=lambda bot: (-round(values[bot], 9), bot))
    sound = not any(board.anytime for board in boards)
    better = _better(games, ranked) if sound else set()
    reach = reaches(len(ranked), better)
    lines = []
    for place, bot in enumerate([*ranked, *(bot for bot in places if bot not in values)]):
        here = bot in values
        best, worst = reach[place] if here else (None, None)
        played = [board.ratings.lines[bot] for board in boards if bot in board.ratings.lines]
        lines.append(
            OverallLine(
                bot,
                places[bot],
                place=place + 1 if here else None,
                best=best,
                worst=worst,
                ahead=_mean_ahead(games, bot, values[bot], sound) if here else None,
                faults=sum(line.faults for line in played),
                matches=sum(line.matches for line in played),
            )
        )
    return Overall(
        titles,
        lines,
        _notes(ranked, [bot for bot in places if bot not in values], everywhere, len(boards), sound),
        frozenset((ranked[one], ranked[other]) for one, other in better),
        [{bot: round(1 - game.value(bot), 9) for bot in ranked} for game in games],
    )


def _mean_ahead(games: Sequence[_InGame], bot: str, value: float, sound: bool) -> Interval:
    """Games are independent of each other, so their variances add up."""
    spread, matches = Spread(), 0
    for game in games:
        number = game.number[bot]
        freedom = game.fit.freedom[number]
        if not freedom or not sound:
            return Interval(value, -inf, inf)
        spread.add(game.fit.covariance[number][number] / len(games) ** 2, freedom)
        matches += game.fit.matches[number]
    return share_of(value, spread.variance, spread.freedom, matches)


def _better(games: Sequence[_InGame], ranked: Sequence[str]) -> set[tuple[int, int]]:
    """The pairs (better, worse), by their places, that are told apart: of those that met in every game."""
    differences: dict[tuple[int, int], Difference] = {}
    for (one, left), (other, right) in combinations(enumerate(ranked), 2):
        seen = [game.difference(left, right) for game in games if game.met(left, right)]
        known = [each for each in seen if each is not None]
        if len(known) < len(games):
            continue
        spread = Spread()
        for each in known:
            spread.add((each.error / len(games)) ** 2, each.freedom)
        mean = sum(each.value for each in known) / len(games)
        differences[one, other] = Difference(mean, sqrt(spread.variance), spread.freedom)
    return told_apart(differences)


def _notes(
    ranked: Sequence[str], others: Sequence[str], everywhere: Sequence[str], games: int, sound: bool
) -> list[str]:
    notes = []
    if not ranked:
        who = f"Only {everywhere[0]} plays" if everywhere else "No bot plays"
        notes.append(f"{who} all {games} games, so there is no order over all of them.")
    elif others:
        some = ", ".join(others[:MOST_NAMED]) + (
            f" and {len(others) - MOST_NAMED} more" if len(others) > MOST_NAMED else ""
        )
        does = "does" if len(others) == 1 else "do"
        notes.append(f"Only bots that play all {games} games have a place; {some} {does} not.")
    if ranked and not sound:
        notes.append(
            "Results decided who played next or when to stop, so the means over games have no intervals and nobody is "
            "told apart here; the tables of the games say what holds there."
        )
    return notes
