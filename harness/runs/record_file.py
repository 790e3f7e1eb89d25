"""The file of records: appended line by line by one process, safe against its death and a full disk."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import monotonic

from harness.core.errors import StoreError

SYNC_EVERY = 1.0
"""Seconds after which what was written is forced to the disk: a power cut loses no more."""
LOCK = "lock"


class RecordFile:
    """games.jsonl, open for appending. A torn last line is cut off when it is opened."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.warnings: list[str] = []
        try:
            self._fd = os.open(path, os.O_RDWR | os.O_APPEND)
        except OSError as error:
            raise StoreError(f"Cannot write to {path}: {error.strerror or error}.") from error
        size = os.fstat(self._fd).st_size
        self._end = self._whole_lines(size)
        if self._end < size:
            os.ftruncate(self._fd, self._end)
            self.warnings.append(f"{path}: a torn last line of {size - self._end} bytes was dropped.")
        self._synced = monotonic()

    def _whole_lines(self, size: int) -> int:
        """Where the last complete line ends."""
        at = size
        while at > 0:
            step = min(65536, at)
            newline = os.pread(self._fd, step, at - step).rfind(b"\n")
            if newline >= 0:
                return at - step + newline + 1
            at -= step
        return 0

    def append(self, line: bytes) -> None:
        """Writes a line; when that fails the file is left without it."""
        data = line + b"\n"
        try:
            written = os.write(self._fd, data)
            while written < len(data):
                written += os.write(self._fd, data[written:])
            self._end += written
            if monotonic() - self._synced > SYNC_EVERY:
                self._sync()
        except OSError as error:
            os.ftruncate(self._fd, self._end)
            raise StoreError(
                f"Cannot write to {self.path}: {error.strerror or error}. What was recorded so far is safe; "
                f"mend that and continue with --resume {self.path.parent}."
            ) from error

    def _sync(self) -> None:
        os.fsync(self._fd)
        self._synced = monotonic()
        if not _is_at(self.path, self._fd):
            raise StoreError(f"{self.path} was moved or deleted while the run was being played.")

    def close(self) -> None:
        """Forces everything to the disk and lets go of the file."""
        try:
            os.fsync(self._fd)
        finally:
            os.close(self._fd)


@contextmanager
def lock(folder: Path) -> Iterator[None]:
    """Keeps other processes from writing to a run. It is gone with this process, however that ends.

    A record lock belongs to one process: children do not inherit it, so none of them can hold it longer than we do.
    """
    try:
        import fcntl
    except ImportError:  # no such locks on this system
        yield
        return
    path = folder / LOCK
    while True:
        try:
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
        except OSError as error:
            raise StoreError(f"Cannot write to {folder}: {error.strerror or error}.") from error
        try:
            try:
                fcntl.lockf(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                owner = os.pread(descriptor, 32, 0).decode(errors="replace").strip()
                raise StoreError(f"{folder} is being written by another process ({owner or 'unknown'}).") from None
            if not _is_at(path, descriptor):
                continue  # its last owner took the file away between our opening and our locking it
            os.ftruncate(descriptor, 0)
            os.pwrite(descriptor, str(os.getpid()).encode(), 0)
            yield
            path.unlink(missing_ok=True)
            return
        finally:
            os.close(descriptor)


def _is_at(path: Path, descriptor: int) -> bool:
    """Whether the open file is the one that has this name."""
    try:
        return path.stat().st_ino == os.fstat(descriptor).st_ino
    except FileNotFoundError:
        return False
