"""What a program writes to stderr: its end, to tell why it ended, and a log of limited size."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from harness.match.bot_prints import TaggedLines, match_being_played
from harness.match.faults import without_addresses

KEPT = 2000
"""Bytes of stderr that are kept to tell why a program ended."""
LOG_SIZE = 256 * 1024
"""Bytes of a program's log; what it writes beyond is thrown away."""
LOG_FULL = b"\n[arena: this log is full; the rest is not kept]\n"


class StderrLog:
    """Takes in what comes, with the match before each line; without a file only its end is kept."""

    def __init__(self, file: Path | None) -> None:
        self.file, self._kept = file, b""
        self._lines, self._match = TaggedLines(self._keep), ""

    def add(self, part: bytes) -> None:
        """Something that the program has written."""
        self._kept = (self._kept + part)[-KEPT:]
        match = match_being_played()
        if match != self._match:
            self.end()
            self._lines, self._match = TaggedLines(self._keep), match
        self._lines.add(f"[{match}] ".encode() if match else b"", part)

    def end(self) -> None:
        """No more will come of what has no end of line yet."""
        self._lines.end()

    @property
    def last_line(self) -> str:
        """The last line that the program wrote."""
        lines = self._kept.decode(errors="replace").strip().splitlines()
        return without_addresses(lines[-1].strip()[:200]) if lines else ""

    def _keep(self, text: bytes) -> None:
        if self.file:
            append_to_log(self.file, text)


def append_to_log(log: Path, text: bytes) -> None:
    """Adds to a log what it has room for."""
    with suppress(OSError):
        log.parent.mkdir(parents=True, exist_ok=True)
    with suppress(OSError), log.open("ab") as file:
        room = LOG_SIZE - file.tell()
        if room > 0:
            file.write(text[:room] + (LOG_FULL if len(text) >= room else b""))
