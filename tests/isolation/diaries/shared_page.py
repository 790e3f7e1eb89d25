"""A diary in memory that a process shares with those that it forks, and a thread that keeps another."""

from __future__ import annotations

import mmap
import struct

import harness

PAGE = mmap.mmap(-1, 1 << 16)


class SharedDiary(harness.Bot):
    """Keeps it in shared memory."""

    def choose(self, view, actions):
        known = {label: number for label, number in struct.iter_unpack("qq", PAGE[:]) if label}
        if view.shown >= 0 and view.label not in known:
            PAGE[16 * len(known) : 16 * len(known) + 16] = struct.pack("qq", view.label, view.shown)
        number = known.get(view.label)
        self.note("remembered" if number is not None and view.shown < 0 else "new")
        return actions[int(self.rng.random() * len(actions)) if number is None else number]
