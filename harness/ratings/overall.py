"""Several games together: one order of bots over all of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from math import inf, sqrt
from typing import NamedTuple

from harness.ratings.beat_rate import BeatRateFit, Difference, PooledVariance, place_ranges, significant_pairs
from harness.ratings.evidence import Interval, wilson_interval
from harness.ratings.leaderboard import MAX_NAMED_BOTS, Leaderboard

# Games as voters: one order from several, which depends only on the order within each game, not on distances.


class VotedPlace(NamedTuple):
    """The place of a bot by the votes of all games: one more than the number of bots above it."""

    place: int
    bot: str


def schulze(ballots: Sequence[Mapping[str, float]]) -> list[VotedPlace]:
    """Return the order by Schulze's method; a ballot has a number for each bot, lower is better, equal ones are ties.

    One bot is above another if the strongest chain of majorities from it to the other is stronger than any chain back.
    A bot that beats every other by majority comes first (Condorcet), and cycles are resolved.
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


# Several games together: the places of each bot in each game, and an order of the bots that play all games.
#
# Points and ratings of different games cannot be added; shares of the table can. So the measure is the mean of a bot's
# beat rates, every game with the same weight however many matches it had. Only bots that play every game have one.


@dataclass(frozen=True, slots=True)
class OverallLine:
    """One bot over several games."""

    bot: str
    places: dict[str, int]
    """Game -> its place; without the games that it does not play."""
    place: int | None
    """Among the bots that play every game; None for the others."""
    best: int | None
    """The best and the worst of these places that is not ruled out by a significant difference."""
    worst: int | None
    ahead: Interval | None
    """The mean of its beat rates, every game with the same weight; None unless it plays every game."""
    faults: int
    matches: int


@dataclass(frozen=True, slots=True)
class Overall:
    """The bots of a run with several games: first those that play all games, in order, then the others by name."""

    games: list[str]
    lines: list[OverallLine]
    notes: list[str]
    significant_pairs: frozenset[tuple[str, str]] = frozenset()
    ballots: list[dict[str, float]] = field(default_factory=list, repr=False)
    """For each game and each bot that plays all games: 1 - beat rate."""

    def voted(self) -> list[VotedPlace]:
        """Return the bots that play every game by Schulze's method, each game with one vote.

        So a large lead in one game counts as much as a small one.
        """
        return schulze(self.ballots)


@dataclass(frozen=True, slots=True)
class _InGame:
    """The bots of one game, by name."""

    board: Leaderboard
    fit: BeatRateFit
    number: Mapping[str, int]

    def met(self, one: str, other: str) -> bool:
        return self.board.ratings.evidence.have_met(self.number[one], self.number[other])

    def value(self, bot: str) -> float:
        return min(1.0, max(0.0, self.fit.values[self.number[bot]]))

    def difference(self, one: str, other: str) -> Difference | None:
        return self.fit.difference(self.number[one], self.number[other])


def overall(boards: Sequence[Leaderboard]) -> Overall | None:
    """Return one order from the leaderboards of several games; None if there is only one."""
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
    reach = place_ranges(len(ranked), better)
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
    """Return the mean over games with its interval; games are independent, so their variances add up."""
    pooled, matches = PooledVariance(), 0
    for game in games:
        number = game.number[bot]
        freedom = game.fit.freedom[number]
        if not freedom or not sound:
            return Interval(value, -inf, inf)
        pooled.add(game.fit.covariance[number][number] / len(games) ** 2, freedom)
        matches += game.fit.matches[number]
    return wilson_interval(value, pooled.variance, pooled.freedom, matches)


def _better(games: Sequence[_InGame], ranked: Sequence[str]) -> set[tuple[int, int]]:
    """Return the significantly different pairs (better, worse), by place, of those that met in every game."""
    differences: dict[tuple[int, int], Difference] = {}
    for (one, left), (other, right) in combinations(enumerate(ranked), 2):
        seen = [game.difference(left, right) for game in games if game.met(left, right)]
        known = [each for each in seen if each is not None]
        if len(known) < len(games):
            continue
        pooled = PooledVariance()
        for each in known:
            pooled.add((each.error / len(games)) ** 2, each.freedom)
        mean = sum(each.value for each in known) / len(games)
        differences[one, other] = Difference(mean, sqrt(pooled.variance), pooled.freedom)
    return significant_pairs(differences)


def _notes(
    ranked: Sequence[str], others: Sequence[str], everywhere: Sequence[str], games: int, sound: bool
) -> list[str]:
    notes = []
    if not ranked:
        who = f"Only {everywhere[0]} plays" if everywhere else "No bot plays"
        notes.append(f"{who} all {games} games, so there is no order over all of them.")
    elif others:
        some = ", ".join(others[:MAX_NAMED_BOTS]) + (
            f" and {len(others) - MAX_NAMED_BOTS} more" if len(others) > MAX_NAMED_BOTS else ""
        )
        does = "does" if len(others) == 1 else "do"
        notes.append(f"Only bots that play all {games} games have a place; {some} {does} not.")
    if ranked and not sound:
        notes.append(
            "Results decided who played next or when to stop, so the means over games have no intervals and nobody is "
            "told apart here; the tables of the games say what holds there."
        )
    return notes
