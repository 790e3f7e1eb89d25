"""How long bots may think in a match."""

from __future__ import annotations

from msgspec import Struct

from harness.core.types import Clock


class Limits(Struct, frozen=True):
    """What a bot may use, in seconds of wall-clock time; 0 is no limit."""

    move_time: float = 0.0
    """For one decision."""
    game_time: float = 0.0
    """For a whole match: its start, all decisions, its end."""
    margin: float = 0.1
    """How much later than that an answer may come: machines are not punctual."""
    clock: Clock = "fair"
    """Whether a late answer that took little processor time is doubtful: the machine may have been busy."""


NO_LIMITS = Limits()
