"""Reads where nothing is."""

import ctypes

from polite import play

play(lambda _message: ctypes.string_at(0))
