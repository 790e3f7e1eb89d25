"""What one seat may know: the base of every game's view."""

from __future__ import annotations

from msgspec import Struct


class View(Struct, frozen=True):
    """Everything one seat may know, as a value. Subclasses add the game's own fields (immutable ones only)."""

    seat: int
    """Whose view this is."""
    turn: int
    """Whose choice is awaited; -1 when the game is over."""
    phase: str
    """What kind of choice is awaited."""
