"""Read files that other people have named or may have placed: regular files of a limited size only."""

from __future__ import annotations

import os
from pathlib import Path
from stat import S_ISREG

MAX_DATA_BYTES = 1 << 30
"""Size of all data files of a bot together."""


class UnreadableFile(Exception):
    """A file that cannot be read; the text says why."""


def read_regular_file(path: Path, most: int) -> bytes:
    """Return the content of a regular file of at most `most` bytes.

    Raise UnreadableFile for anything else: a device may have no end, and opening a pipe may block forever.
    """
    try:
        if not S_ISREG(path.stat().st_mode):  # before opening it: opening a device may have an effect
            raise UnreadableFile("it is not a regular file")
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
        with open(descriptor, "rb") as file:  # noqa: PTH123 - it is a descriptor
            if not S_ISREG(os.fstat(descriptor).st_mode):  # the file was replaced after `stat`
                raise UnreadableFile("it is not a regular file")
            content = file.read(most + 1)
    except OSError as error:
        raise UnreadableFile(error.strerror or str(error)) from error
    except ValueError:
        raise UnreadableFile("it is not a valid file name") from None
    if len(content) > most:
        raise UnreadableFile(f"it has more than {most:,} bytes")
    return content
