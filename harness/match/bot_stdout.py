"""A place for what bots print."""

from __future__ import annotations

import io
import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any


class _Streams:
    """How often sys.stdout and sys.stderr are exchanged at the moment, and what they were before."""

    lock = threading.Lock()
    depth = 0
    before: tuple[Any, Any] = sys.stdout, sys.stderr


@contextmanager
def exchanged(stdout: Any, stderr: Any = None) -> Iterator[None]:
    """Other streams for everybody, as long as it lasts. When the last one of several threads has ended, whatever their
    order, the streams are those from before the first."""
    with _Streams.lock:
        previous = sys.stdout, sys.stderr
        if not _Streams.depth:
            _Streams.before = previous
        _Streams.depth += 1
        sys.stdout, sys.stderr = stdout, stderr or sys.stderr
    try:
        yield
    finally:
        with _Streams.lock:
            _Streams.depth -= 1
            sys.stdout, sys.stderr = previous if _Streams.depth else _Streams.before


class BotStdout(io.TextIOBase):
    """A stdout that bots may close or break as they like: it passes on what it can."""

    def __init__(self, descriptor: int) -> None:
        self.descriptor = descriptor

    def writable(self) -> bool:
        """It takes everything."""
        return True

    def write(self, text: str) -> int:
        """Passes the text on, if it can."""
        self.pass_on(text.encode(errors="replace"))
        return len(text)

    def pass_on(self, data: bytes) -> None:
        """Writes it where it belongs, if it can."""
        with suppress(OSError, ValueError):
            os.write(self.descriptor, data)

    def close(self) -> None:
        """Stays open: the next bot may want to print, too."""
