"""Formats: which bots meet at which table, in which seats, with which deal. Pure functions of the plan."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

from msgspec import Struct

from harness.chance import Chance
from harness.errors import UsageError
from harness.types import MatchSpec, Value

MOST_TABLES = 200_000
"""Tables of one deal; past this a full round-robin is a mistake rather than a wish."""


class GamePlan(Struct, frozen=True):
    """One game of a run: its rules, its settings, how many sit at a table, who plays it."""

    name: str
    rules: str
    settings: dict[str, Value]
    players: int
    entrants: tuple[str, ...]


class Plan(Struct, frozen=True):
    """What a run is: the same plan gives the same schedule, and with the same bots the same records."""

    games: tuple[GamePlan, ...]
    deals: int
    seed: int
    format: str = "round-robin"


def matches(plan: Plan) -> Iterator[MatchSpec]:
    """The matches of a plan, in schedule order. Deals come outermost, so that a part of a run is balanced too."""
    tables = {game.name: _tables(game) for game in plan.games}
    luck = Chance(plan.seed)
    index = 0
    for deal in range(1, plan.deals + 1):
        for game in plan.games:
            seed = luck.derive("deal", game.name, deal)
            for number, table in enumerate(tables[game.name], 1):
                # Another seating order for each deal, so that over many deals everyone sits beside everyone.
                seating = luck.shuffled(table, "seating", game.name, deal, number)
                duplicates = f"{game.name}-{deal}.{number}"
                for turn, seats in enumerate(rotations(seating), 1):
                    name = f"{duplicates}.{turn}"
                    yield MatchSpec(name, index, duplicates, game.name, game.settings, seed, seats)
                    index += 1


def count(plan: Plan) -> int:
    """How many matches a plan has."""
    return plan.deals * sum(len(_tables(game)) * game.players for game in plan.games)


def rotations(seating: Sequence[str]) -> list[tuple[str, ...]]:
    """A duplicate set's seatings: everybody sits once in every seat."""
    return [(*seating[turn:], *seating[:turn]) for turn in range(len(seating))]


def _tables(game: GamePlan) -> list[tuple[str, ...]]:
    """All tables of K out of the game's entrants."""
    tables = []
    for table in combinations(game.entrants, game.players):
        tables.append(table)
        if len(tables) > MOST_TABLES:
            raise UsageError(
                f"{len(game.entrants)} bots at tables of {game.players} make more than {MOST_TABLES:,} tables a deal; "
                f"enter fewer bots."
            )
    return tables
