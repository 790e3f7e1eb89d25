"""A file of records that another process appends to, read as it grows."""

from __future__ import annotations

import os
from array import array
from collections.abc import Iterator
from pathlib import Path

AT_ONCE = 4_000_000
"""Bytes that are read at once, about: whoever reads a long file tells others in between how far it is."""


class RecordTail:
    """Gives the whole lines that have come since the last look. A torn last line waits for the rest of it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._forget()

    def _forget(self) -> None:
        self.starts = array("q", [0])
        """Where each line begins, and where the next one will."""
        self._file = 0
        self._last = b""

    def __len__(self) -> int:
        """Lines that were read."""
        return len(self.starts) - 1

    @property
    def at_end(self) -> bool:
        """Whether all whole lines were read that were there at the last look."""
        return self._at_end

    _at_end = False

    def is_another(self) -> bool:
        """Whether the file no longer begins with what was read, for somebody has put another one there or cut it short;
        then it begins anew with the first line."""
        try:
            with self.path.open("rb") as file:
                found = os.fstat(file.fileno())
                same = not len(self) or (found.st_ino == self._file and found.st_size >= self.starts[-1])
                if same and len(self):
                    same = os.pread(file.fileno(), len(self._last), self.starts[-2]) == self._last
        except OSError:  # it may come back as it was
            return False
        if not same:
            self._forget()
        return not same

    def new_lines(self) -> Iterator[tuple[int, bytes]]:
        """The lines that have come, without their ends, numbered from 1; as many as are read at once."""
        with self.path.open("rb") as file:
            self._file = os.fstat(file.fileno()).st_ino
            file.seek(self.starts[-1])
            lines = file.readlines(AT_ONCE)
        self._at_end = sum(map(len, lines)) < AT_ONCE
        for line in lines:
            if not line.endswith(b"\n"):
                self._at_end = True
                return
            self.starts.append(self.starts[-1] + len(line))
            self._last = line
            yield len(self), line[:-1]

    def line(self, number: int) -> bytes:
        """One of the lines that were read."""
        with self.path.open("rb") as file:
            file.seek(self.starts[number - 1])
            return file.read(self.starts[number] - self.starts[number - 1] - 1)
