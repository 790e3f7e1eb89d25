"""Plays well, but fills stderr with megabytes."""

import sys

from polite import play

play(lambda _message: sys.stderr.write("LOUD " * 40_000) and None)
