"""Several games together: the places of each bot in each game, and an order of the bots that play all games.

Points and skills of different games cannot be added; chances can. So the measure is the mean of a bot's fitted chances
to finish ahead of another bot of the field, every game with the same weight however many matches it had. Only bots that
play every game have one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from math import inf, sqrt

from harness.ratings.leaderboard import MAX_NAMED_BOTS, Leaderboard, claim_level
from harness.ratings.skill import Difference
from harness.ratings.statistics import Interval, Pair, PooledVariance, holm, place_ranges, share_interval


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
    chance: Interval | None
    """The mean of its fitted chances; None unless it plays every game."""
    faults: int
    matches: int


@dataclass(frozen=True, slots=True)
class Overall:
    """The bots of a run with several games: first those that play all games, in order, then the others by name."""

    games: list[str]
    lines: list[OverallLine]
    notes: list[str]
    significant_pairs: frozenset[tuple[str, str]] = frozenset()


def overall(boards: Sequence[Leaderboard]) -> Overall | None:
    """Return one order from the leaderboards of several games; None if there is only one."""
    if len(boards) < 2:
        return None
    places = {
        name: {board.title: one.place for board in boards for one in board.standings if one.bot == name}
        for name in sorted({one.bot for board in boards for one in board.standings})
    }
    everywhere = [bot for bot, known in places.items() if len(known) == len(boards)]
    ranked = everywhere if len(everywhere) > 1 else []  # one bot alone is no order
    fixed = all(board.design == "fixed" for board in boards)
    chances = {bot: _mean_chance(boards, bot, fixed) for bot in ranked}
    ranked.sort(key=lambda bot: (-round(chances[bot].value, 9), bot))
    end = min(board.end for board in boards)
    better = _better(boards, ranked, end) if fixed and end else set()
    reach = place_ranges(len(ranked), better)
    others = [bot for bot in places if bot not in chances]
    lines = []
    for at, bot in enumerate([*ranked, *others]):
        best, worst = reach[at] if bot in chances else (None, None)
        played = [board.counts.totals[bot] for board in boards if bot in board.counts.totals]
        lines.append(
            OverallLine(
                bot,
                places[bot],
                place=at + 1 if bot in chances else None,
                best=best,
                worst=worst,
                chance=chances.get(bot),
                faults=sum(one.faults for one in played),
                matches=sum(one.matches for one in played),
            )
        )
    return Overall(
        [board.title for board in boards],
        lines,
        _notes(ranked, others, everywhere, len(boards)),
        frozenset((ranked[one], ranked[other]) for one, other in better),
    )


def _mean_chance(boards: Sequence[Leaderboard], bot: str, fixed: bool) -> Interval:
    """Return the mean over games with its interval; games are independent, so their variances add up."""
    pooled = PooledVariance()
    value, known = 0.0, fixed
    for board in boards:
        number = board.counts.totals[bot].number
        value += board.fit.chances[number] / len(boards)
        freedom = board.fit.freedom[number]
        known = known and freedom > 0
        pooled.add(board.fit.chance_variance(number) / len(boards) ** 2, freedom)
    return share_interval(value, pooled.variance, pooled.freedom) if known else Interval(value, -inf, inf)


def _better(boards: Sequence[Leaderboard], ranked: Sequence[str], end: int) -> set[Pair]:
    """Return the significantly different pairs (better, worse), by place, of those that met in every game."""
    tests: list[tuple[Pair, float]] = []
    for (one, left), (other, right) in combinations(enumerate(ranked), 2):
        pooled, mean, deals = PooledVariance(), 0.0, 0
        for board in boards:
            numbers = [board.counts.totals[bot].number for bot in (left, right)]
            seen = board.fit.difference(*numbers) if board.counts.pairs.have_met(*numbers) else None
            if seen is None:
                break
            pooled.add((seen.error / len(boards)) ** 2, seen.freedom)
            mean += seen.value / len(boards)
            deals += seen.deals
        else:
            test = Difference(mean, sqrt(pooled.variance), pooled.freedom, deals)
            tests.append(((one, other) if mean > 0 else (other, one), test.p_value))
    claimed = holm([p_value for _, p_value in tests], claim_level(end))
    return {pair for (pair, _), claim in zip(tests, claimed, strict=True) if claim}


def _notes(ranked: Sequence[str], others: Sequence[str], everywhere: Sequence[str], games: int) -> list[str]:
    if not ranked:
        who = f"Only {everywhere[0]} plays" if everywhere else "No bot plays"
        return [f"{who} all {games} games, so there is no order over all of them."]
    if not others:
        return []
    more = len(others) - MAX_NAMED_BOTS
    some = ", ".join(others[:MAX_NAMED_BOTS]) + (f" and {more} more" if more > 0 else "")
    does = "does" if len(others) == 1 else "do"
    return [f"Only bots that play all {games} games have a place; {some} {does} not."]
