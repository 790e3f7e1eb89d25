"""Plays, and does nothing wrong."""

from polite import play

play()
