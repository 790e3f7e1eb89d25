"""Lines out, lines in: all that a dumb terminal, a pipe or a script must be able to do."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterable
from textwrap import fill
from typing import TextIO

NARROW, WIDE = 40, 100
"""Texts are wrapped to the terminal, within these widths."""

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


class Console:
    """Where a person reads and types."""

    def __init__(self, reads: TextIO, writes: TextIO) -> None:
        self.reads, self.writes = reads, writes

    @property
    def width(self) -> int:
        """Columns that a line may have."""
        return max(NARROW, min(WIDE, shutil.get_terminal_size().columns))

    def say(self, text: str = "") -> None:
        """Prints lines as they are."""
        self._write(text + "\n")

    def paragraph(self, text: str, indent: str = "", first: str | None = None) -> None:
        """Prints one text, wrapped; `first` stands before its first line instead of the indent."""
        new_match = indent if first is None else first
        self.say(fill(text, self.width - 1, initial_indent=new_match, subsequent_indent=indent))

    def listed(self, items: Iterable[str], most_lines: int = 10) -> None:
        """Prints items one a line; in columns, read downwards, when that would be too many lines."""
        cells = list(items)
        widest = max(map(len, cells), default=0) + 3
        columns = max(1, self.width // widest) if len(cells) > most_lines else 1
        rows = -(-len(cells) // columns)
        for row in range(rows):
            self.say("  " + "".join(cell.ljust(widest) for cell in cells[row::rows]).rstrip())

    def ask(self, prompt: str) -> str:
        """What the person types, stripped; raises EOFError when there is nothing more to come."""
        self._write(prompt)
        try:
            line = self.reads.readline()
        except UnicodeDecodeError:
            return "\ufffd"  # something that matches nothing: the person is asked again
        if not line:
            raise EOFError
        if not self.reads.isatty():
            self._write(line if line.endswith("\n") else line + "\n")  # a terminal shows what is typed, a pipe does not
        return line.strip()

    def _write(self, text: str) -> None:
        encoding = self.writes.encoding or "utf-8"
        shown = _CONTROL.sub("?", text)  # a bot's name must not steer the terminal
        self.writes.write(shown.encode(encoding, "replace").decode(encoding))
        self.writes.flush()
