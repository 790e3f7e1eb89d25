"""Tells others that somebody has joined a league, or left it."""

from __future__ import annotations

from collections.abc import Iterable

from harness.league.journal import JournalEntry


def announce(entries: Iterable[JournalEntry]) -> None:
    """Tells whoever listens of these changes."""
