"""What listeners are told: small values made for plugins, which stay as they are when the house is rebuilt."""

from __future__ import annotations

from msgspec import Struct


class RunStatus(Struct, frozen=True, kw_only=True):
    """A run at one moment, as a listener sees it."""

    name: str
    folder: str
    """Where its records are."""
    format: str
    games: tuple[str, ...]
    bots: tuple[str, ...]
    """The names of its entrants."""
    matches: int
    """Recorded so far, also by those who played before."""
    planned: int | None = None
    """Matches of the whole schedule, or the most that there may be; None if only the results can tell."""
    started: str = ""
    """When it began, as ISO 8601."""
    finished: str = ""
    """When its last match was recorded; empty as long as something is missing."""


class LeagueStatus(Struct, frozen=True, kw_only=True):
    """A league at one moment, as a listener sees it."""

    name: str
    folder: str
    era: int = 1
    bots: tuple[str, ...] = ()
    """Those who play, with their versions: `sprinter@3`."""
    matches: int = 0
    """Recorded so far, in all eras."""


class LeagueChange(Struct, frozen=True, kw_only=True):
    """Something changed in a league: `what` is a word like "joined", "left", "banned", "readmitted" or "era"."""

    what: str
    bot: str = ""
    """Whom it is about; empty if it is about all."""
    version: int | None = None
    """Which version of it."""
    at: str = ""
    """When, as ISO 8601."""
    reason: str = ""
    """In the words of whoever did it."""
