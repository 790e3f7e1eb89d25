"""The plan of a run: games, bots, format and its settings. Stored in run.json; a schedule is a function of it."""

from __future__ import annotations

from msgspec import Struct

from harness.core.types import Value


class GamePlan(Struct, frozen=True):
    """One game of a run: its rules, its settings, how many sit at a table, who plays it."""

    name: str
    rules: str
    settings: dict[str, Value]
    players: int
    entrants: tuple[str, ...]


class Plan(Struct, frozen=True):
    """What a run is: the same plan gives the same schedule, and with the same bots the same records.

    The settings after `format` belong to some formats only; 0 and () leave them to the format.
    """

    games: tuple[GamePlan, ...]
    deals: int
    """Deals of the run; in swiss and knockout deals of every round."""
    seed: int
    format: str = "round-robin"
    tables: int = 0
    """Tables of one deal (round-robin), tables of the field (gauntlet), tables of a round (ladder)."""
    candidates: tuple[str, ...] = ()
    """Whom a gauntlet is about."""
    rounds: int = 0
    """Rounds of a swiss."""
    until_separated: float = 0.0
    """A ladder goes on until neighbours are told apart with this probability."""
    max_matches: int = 0
    """A ladder ends before it has played more matches of one game than this."""
