"""What bots print: each line says which bot printed it in which match, and no bot prints without end."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from harness.core.types import MatchSpec
from harness.match.bot_stdout import BotStdout, exchanged
from harness.match.referee import ASKING, IDLE, SEATS, SLOTS

MOST_PRINTED = 50_000
"""Bytes that a bot may print in one match; the rest is left out."""
LONGEST_WAIT = 4096
"""Bytes of a line without an end that are kept waiting for it."""
TOO_MUCH = f"[arena: it printed more than {MOST_PRINTED:,} bytes in this match; the rest is left out]\n".encode()
CLEAR_LINE = b"\r\x1b[K"
"""Takes away the progress that stands in the last line of a terminal."""
DEBUGGERS = frozenset(("bdb", "cmd", "pdb"))
"""Modules that talk to a person through the bot's stdout."""

Write = Callable[[bytes], object]


class TaggedLines:
    """Puts a tag before each line that is printed in one match, and stops listening to who prints too much.

    Lines are passed on whole where that can be: several processes may write to the same place.
    """

    def __init__(self, write: Write) -> None:
        self._write = write
        self._tag = self._half = b""
        self._begun = False
        """Whether the beginning of a line was passed on, without its end."""
        self._printed: dict[bytes, int] = {}

    def add(self, tag: bytes, data: bytes) -> None:
        """Takes in what was printed by the one with this tag."""
        if tag != self._tag:
            self.end()
            self._tag = tag
        printed = self._printed.get(tag, 0)
        if printed > MOST_PRINTED:
            return
        self._printed[tag] = printed + len(data)
        *lines, self._half = (self._half + data[: MOST_PRINTED - printed]).split(b"\n")
        if lines:
            first = b"" if self._begun else tag
            self._begun = False
            self._write(first + (b"\n" + tag).join(lines) + b"\n")
        if len(self._half) > LONGEST_WAIT:
            self.show_half()
        if printed + len(data) > MOST_PRINTED:
            self.end()
            self._write(tag + TOO_MUCH)

    def show_half(self) -> None:
        """Passes on a line that has no end yet; what comes next goes on with it."""
        if self._half:
            self._write((b"" if self._begun else self._tag) + self._half)
            self._half, self._begun = b"", True

    def end(self) -> None:
        """Ends a line that has no end yet."""
        self.show_half()
        if self._begun:
            self._write(b"\n")
            self._begun = False


class _Stage:
    """The match that this process plays. Bots in processes of their own must not know it, but their logs say it."""

    match = ""


def match_being_played() -> str:
    """The id of the match that this process plays; empty between matches."""
    return _Stage.match


def log_of(logs: Path, bot: str) -> Path:
    """The file in this folder for what a bot prints in processes of its own."""
    return logs / (re.sub(r"[^\w.=,-]+", "_", bot) + ".log")


class MatchStdout(BotStdout):
    """stdout and stderr of the bots of one match: who is being asked is who prints.

    That is looked up when something is printed, in the status that the referee keeps anyway.
    """

    def __init__(self, spec: MatchSpec, status: Any, write: Write | None = None, prefix: bytes | None = None) -> None:
        """What is printed goes to descriptor 2, or to `write`; `prefix` stands before each tag."""
        super().__init__(2)
        self._match, self._names, self._status = spec.id, spec.seats, status
        self._pass_on = write or super().pass_on
        self._prefix = (CLEAR_LINE if os.isatty(2) else b"") if prefix is None else prefix
        self._lines = TaggedLines(self._pass_on)
        _Stage.match = spec.id

    def write(self, text: str) -> int:
        """Passes the text on with its tag, if it can; a debugger's as it is, for it speaks to a person."""
        with suppress(OSError, ValueError):
            if sys._getframe(1).f_globals.get("__name__") in DEBUGGERS:
                self._lines.end()
                self._pass_on(text.encode(errors="replace"))
            else:
                self._lines.add(self._tag(), text[: MOST_PRINTED + 1].encode(errors="replace"))
        return len(text)

    def _tag(self) -> bytes:
        try:
            asking = int(self._status[ASKING])
        except ValueError:  # in a child that a bot has forked, the status is gone
            asking = IDLE
        who = "" if asking == IDLE else f"{self._names[asking % SEATS]} "
        return self._prefix + f"[{who}{self._match}] ".encode(errors="replace")

    def flush(self) -> None:
        """Shows also a line that has no end yet."""
        with suppress(OSError, ValueError):
            self._lines.show_half()

    def end(self) -> None:
        """The match is over."""
        _Stage.match = ""
        with suppress(OSError, ValueError):
            self._lines.end()


@contextmanager
def printing_to_stderr(spec: MatchSpec) -> Iterator[list[float]]:
    """For a match in this process: what its bots print goes to stderr, tagged. Gives the status for the referee."""
    status = [float(IDLE)] * SLOTS
    err = sys.stderr

    def write(data: bytes) -> None:
        err.write(data.decode(errors="replace"))
        err.flush()

    printed = MatchStdout(spec, status, write, CLEAR_LINE if err.isatty() else b"")
    with exchanged(printed, printed):
        try:
            yield status
        finally:
            printed.end()
