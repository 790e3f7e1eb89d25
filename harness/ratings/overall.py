"""Several games together: the places of each bot in each game, and an order of those who play them all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from harness.ratings.intervals import Interval
from harness.ratings.leaderboard import Leaderboard


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


def overall(boards: Sequence[Leaderboard]) -> Overall | None:
    """What the leaderboards of several games say together; None if there is but one."""
    if len(boards) < 2:
        return None
    games = [board.title for board in boards]
    standings: dict[str, dict[str, tuple[int, float, int, int]]] = {}
    for board in boards:
        for one in board.standings:
            value = one.ahead.value if one.ahead else 0.5
            standings.setdefault(one.line.bot, {})[board.title] = (
                one.place, value, one.line.faults, one.line.matches,
            )  # fmt: skip
    everywhere = sorted(
        (bot for bot, known in standings.items() if len(known) == len(games)),
        key=lambda bot: (-sum(value for _, value, _, _ in standings[bot].values()), bot),
    )
    lines = []
    for bot in [*everywhere, *sorted(standings.keys() - set(everywhere))]:
        known = standings[bot]
        ranked = bot in everywhere
        mean = sum(value for _, value, _, _ in known.values()) / len(known)
        lines.append(
            OverallLine(
                bot,
                places={game: place for game, (place, _, _, _) in known.items()},
                place=everywhere.index(bot) + 1 if ranked else None,
                best=1 if ranked else None,
                worst=len(everywhere) if ranked else None,
                ahead=Interval(mean, float("-inf"), float("inf")) if ranked else None,
                faults=sum(faults for _, _, faults, _ in known.values()),
                matches=sum(matches for _, _, _, matches in known.values()),
            )
        )
    return Overall(games, lines, [])
