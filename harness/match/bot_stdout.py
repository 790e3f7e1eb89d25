"""A place for what bots print."""

from __future__ import annotations

import io
import os
from contextlib import suppress


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
