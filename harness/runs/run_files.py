"""The files of a run folder: whole or not at all, lines that carry a checksum, and one writer at a time."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from hashlib import file_digest
from pathlib import Path
from stat import S_ISREG
from time import monotonic
from zlib import crc32

from harness.core.errors import StoreError

PART = ".part"
LOCK = "lock"
SYNC_EVERY = 1.0
"""Seconds after which what was written is forced to the disk: a power cut loses no more."""
SUMMED = b',"sum":"%08x"}'
"""How a line ends that has a checksum, in eight hexadecimal digits: of all bytes before this."""
SUM_NAME, SUM_SIZE = len(b',"sum":"'), len(SUMMED % 0)


def write_whole(path: Path, data: bytes) -> None:
    """Writes a file so that a reader finds the old one or the new one, never half of it."""
    part = path.with_name(path.name + PART)
    try:
        with part.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        part.replace(path)
    except OSError as error:
        with suppress(OSError):  # half a file helps nobody, and the disk may be full
            part.unlink(missing_ok=True)
        raise cannot_write(path, error) from error


def digest_of_file(path: Path) -> str:
    """What a file holds, as a digest; empty if there is none. Anything but a regular file is refused."""
    try:
        if not S_ISREG(path.lstat().st_mode):
            raise StoreError(f"Cannot read {path}: it is no regular file.")
        with path.open("rb") as file:
            return f"sha256:{file_digest(file, 'sha256').hexdigest()}"
    except FileNotFoundError:
        return ""
    except OSError as error:
        raise StoreError(f"Cannot read {path}: {error.strerror or error}.") from error


def cannot_write(path: Path, error: OSError, more: str = "") -> StoreError:
    """What to say when the system lets nobody write there; `more` says what to do then."""
    return StoreError(f"Cannot write to {path}: {error.strerror or error}.{more and ' '}{more}")


def going_on(folder: Path) -> str:
    """What whoever plays a run, or a league, does when it could not be written."""
    for league in (folder, folder.parent.parent):
        if (league / "journal.jsonl").exists():
            return f"What was recorded so far is safe; mend that and go on: arena league run --league {league}."
    return f"What was recorded so far is safe; mend that and continue with --resume {folder}."


def with_sum(line: bytes) -> bytes:
    """A JSON object in one line, with its checksum as its last field."""
    body = line[:-1]
    return body + SUMMED % crc32(body)


class RecordFile:
    """games.jsonl or notes.jsonl, open for appending. A torn last line is cut off when it is opened."""

    def __init__(self, path: Path, summed: bool = False) -> None:
        """`summed` gives each line a checksum."""
        self.path, self.summed = path, summed
        self.warnings: list[str] = []
        try:
            self._fd = os.open(path, os.O_RDWR | os.O_APPEND | getattr(os, "O_BINARY", 0))
        except OSError as error:
            raise cannot_write(path, error) from error
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
            os.lseek(self._fd, at - step, os.SEEK_SET)  # appending does not look at this
            newline = os.read(self._fd, step).rfind(b"\n")
            if newline >= 0:
                return at - step + newline + 1
            at -= step
        return 0

    def append(self, lines: Iterable[bytes]) -> None:
        """Writes these lines; when that fails the file is left without them."""
        data = b"\n".join([*(map(with_sum, lines) if self.summed else lines), b""])
        try:
            written = os.write(self._fd, data)
            while written < len(data):
                written += os.write(self._fd, data[written:])
            self._end += written
            if monotonic() - self._synced > SYNC_EVERY:
                self._sync()
        except OSError as error:
            os.ftruncate(self._fd, self._end)
            raise self._failed(error) from error

    def _failed(self, error: OSError) -> StoreError:
        return cannot_write(self.path, error, going_on(self.path.parent))

    def _sync(self) -> None:
        os.fsync(self._fd)
        self._synced = monotonic()
        if not _is_at(self.path, self._fd):
            raise StoreError(f"{self.path} was moved or deleted while the run was being played.")

    def close(self) -> None:
        """Forces everything to the disk and lets go of the file."""
        try:
            os.fsync(self._fd)
        except OSError as error:
            raise self._failed(error) from error
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
            raise cannot_write(folder, error) from error
        try:
            try:
                fcntl.lockf(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                owner = os.pread(descriptor, 32, 0).decode(errors="replace").strip()
                raise StoreError(f"{folder} is being written by another process ({owner or 'unknown'}).") from None
            if not _is_at(path, descriptor):
                continue  # its last owner took the file away between our opening and our locking it
            with suppress(OSError):  # on a full disk we hold the lock all the same; nobody can read who does
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


def write_derived(folder: Path, files: Mapping[str, bytes]) -> None:
    """Writes what is made from the records beside them; an error says that the records are safe and how to go on."""
    try:
        for name, data in files.items():
            write_whole(folder / name, data)
    except StoreError as error:
        raise StoreError(f"{error} {going_on(folder)}") from error
