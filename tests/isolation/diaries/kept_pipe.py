"""A diary in a pipe that is made when the bot is loaded: what one copy writes another could read."""

from __future__ import annotations

import os
from contextlib import suppress

import harness

SOURCE, SINK = os.pipe()
os.set_blocking(SOURCE, False)


class PipeDiary(harness.Bot):
    """Keeps the last number in a pipe."""

    def choose(self, view, actions):
        kept = b""
        with suppress(BlockingIOError):
            kept = os.read(SOURCE, 1)
        if kept or view.shown >= 0:
            os.write(SINK, b"%d" % view.shown if view.shown >= 0 else kept)
        self.note("remembered" if kept and view.shown < 0 else "new")
        return actions[int(kept) if kept else int(self.rng.random() * len(actions))]
