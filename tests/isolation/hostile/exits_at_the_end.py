"""Leaves when a match is over, without a word."""

import os

from polite import play

play(over=lambda _message: os._exit(0))
