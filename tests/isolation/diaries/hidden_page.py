"""A diary in shared memory that nobody may touch until a copy says otherwise."""

from __future__ import annotations

import ctypes
import mmap

import harness

SIZE, NOTHING, READ_AND_WRITE = 4096, 0, 3
LIBRARY = ctypes.CDLL(None)
LIBRARY.mmap.restype = ctypes.c_void_p
PLACE = LIBRARY.mmap(None, SIZE, NOTHING, mmap.MAP_SHARED | mmap.MAP_ANONYMOUS, -1, 0)


class HiddenDiary(harness.Bot):
    """Keeps the last number there."""

    def choose(self, view, actions):
        LIBRARY.mprotect(ctypes.c_void_p(PLACE), SIZE, READ_AND_WRITE)
        page = (ctypes.c_char * SIZE).from_address(PLACE)
        kept = page[0][0]
        if view.shown >= 0:
            page[0] = view.shown + 1
        self.note("remembered" if kept and view.shown < 0 else "new")
        return actions[kept - 1 if kept else int(self.rng.random() * len(actions))]
