"""How even a schedule is: who plays how often, in which seats, and against whom. For `--dry-run`, and for tests."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations, islice

from msgspec import Struct
from tabulate import tabulate

from harness.core.types import MatchSpec
from harness.schedule.schedule import Schedule

MOST_LOOKED_AT, MOST_SIMULATED = 100_000, 10_000
"""Matches of a plan that a report looks at, unless told otherwise; results to simulate take longer."""


class BotBalance(Struct, frozen=True):
    """One bot's part of a schedule."""

    bot: str
    matches: int
    seats: tuple[int, ...]
    """Matches in each seat."""
    least: int
    """Meetings with the opponent met least often, of all bots of the game that play at all."""
    most: int
    """Meetings with the opponent met most often."""


class GameBalance(Struct, frozen=True):
    """One game's part of a schedule."""

    game: str
    matches: int
    bots: tuple[BotBalance, ...]


def report(schedule: Schedule, most: int | None = None) -> list[GameBalance]:
    """The balance of the first `most` matches of a schedule; of adaptive formats, of a simulation with equal bots."""
    if most is None:
        most = MOST_SIMULATED if schedule.adaptive else MOST_LOOKED_AT
    return measure(islice(schedule.simulated(), most))


def measure(specs: Iterable[MatchSpec]) -> list[GameBalance]:
    """The balance of these matches, game by game."""
    games: dict[str, _Counts] = {}
    for spec in specs:
        games.setdefault(spec.game, _Counts()).add(spec.seats)
    return [counts.balance(game) for game, counts in games.items()]


class _Counts:
    def __init__(self) -> None:
        self.matches = 0
        self.seats: dict[str, dict[int, int]] = {}
        self.met: dict[str, dict[str, int]] = {}
        self.players = 0

    def add(self, seats: tuple[str, ...]) -> None:
        self.matches += 1
        self.players = max(self.players, len(seats))
        for seat, bot in enumerate(seats):
            sat = self.seats.setdefault(bot, {})
            sat[seat] = sat.get(seat, 0) + 1
        for one, two in combinations(seats, 2):
            for bot, other in ((one, two), (two, one)):
                met = self.met.setdefault(bot, {})
                met[other] = met.get(other, 0) + 1

    def balance(self, game: str) -> GameBalance:
        bots = []
        for bot in sorted(self.seats):
            seats = tuple(self.seats[bot].get(seat, 0) for seat in range(self.players))
            meetings = [self.met.get(bot, {}).get(other, 0) for other in self.seats if other != bot] or [0]
            bots.append(BotBalance(bot, sum(seats), seats, min(meetings), max(meetings)))
        return GameBalance(game, self.matches, tuple(bots))


def text(balances: Iterable[GameBalance], table_format: str = "simple") -> str:
    """The balance as tables, one for each game."""
    parts = []
    for each in balances:
        seats = len(each.bots[0].seats) if each.bots else 0
        headers = ["bot", "matches", *[f"seat {seat}" for seat in range(seats)], "met least", "met most"]
        rows = [[bot.bot, bot.matches, *bot.seats, bot.least, bot.most] for bot in each.bots]
        align = ["left", *["right"] * (len(headers) - 1)]
        table = tabulate(rows, headers=headers, tablefmt=table_format, colalign=align, disable_numparse=True)
        parts.append(f"{each.game}: {each.matches:,} matches of {len(each.bots)} bots\n\n{table}")
    return "\n\n".join(parts)
