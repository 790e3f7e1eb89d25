"""Reads files that somebody else has named or may have planted: regular ones, of a size that was agreed on."""

from __future__ import annotations

import os
from pathlib import Path
from stat import S_ISREG

MAX_DATA_BYTES = 1 << 30
"""Bytes of all data files of a bot together."""


class UnreadableFile(Exception):
    """A file that is not read; the text says why."""


def read_regular_file(path: Path, most: int) -> bytes:
    """The content of a regular file of at most so many bytes.

    Raises UnfitFile for anything else: a device may have no end, and a pipe may never have a beginning.
    """
    try:
        if not S_ISREG(path.stat().st_mode):  # before it is opened: opening a device may do something
            raise UnreadableFile("it is no regular file")
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
        with open(descriptor, "rb") as file:  # noqa: PTH123 - it is a descriptor
            if not S_ISREG(os.fstat(descriptor).st_mode):  # it was replaced in between
                raise UnreadableFile("it is no regular file")
            content = file.read(most + 1)
    except OSError as error:
        raise UnreadableFile(error.strerror or str(error)) from error
    except ValueError:
        raise UnreadableFile("no file can be called that") from None
    if len(content) > most:
        raise UnreadableFile(f"it has more than {most:,} bytes")
    return content
