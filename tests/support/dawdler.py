"""A bot that dawdles for as long as a file says so: a run lasts until a test has done to it what it wants."""

from __future__ import annotations

import os
import time
from contextlib import suppress
from pathlib import Path

from harness import Bot

HOLD = "ARENA_TEST_HOLD"
"""In the environment of who is to dawdle: the file in which the seconds for a decision are."""


class Dawdler(Bot):
    """Takes the action in the middle, in its own time."""

    def choose(self, view, actions):
        if place := os.environ.get(HOLD):
            with suppress(OSError, ValueError):
                time.sleep(float(Path(place).read_text()))
        return actions[len(actions) // 2]
