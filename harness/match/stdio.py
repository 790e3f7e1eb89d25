"""What bots print: logs in the run folder and lines on the terminal; why breakpoints work only in one process."""

from __future__ import annotations

import io
import os
import re
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any

from harness.core.errors import UsageError
from harness.core.files import Folder
from harness.core.records import MAX_SEATS, MatchSpec
from harness.match.referee import ASKING, IDLE, SLOTS

# Replacing stdout and stderr


# sys.stdout belongs to the whole process, and a notebook may play matches in several threads at once. So the original
# streams are remembered once, by the first thread, and not by each for itself: the last to end would restore a stream
# of another match.


class _Streams:
    """How many replacements are active, and the streams from before the first."""

    lock = threading.Lock()
    depth = 0
    before: tuple[Any, Any] = sys.stdout, sys.stderr


@contextmanager
def replaced_streams(stdout: Any, stderr: Any = None) -> Iterator[None]:
    """Replace sys.stdout and sys.stderr for the whole process. When the last of several threads is done, in any
    order, the streams from before the first are restored.
    """
    with _Streams.lock:
        previous = sys.stdout, sys.stderr
        # The first one remembers the original streams, the last one restores them.
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
    """A stdout that bots may close or break: it forwards what it can."""

    def __init__(self, descriptor: int) -> None:
        self.descriptor = descriptor

    def writable(self) -> bool:
        """Always."""
        return True

    def write(self, text: str) -> int:
        """Forward the text, if possible."""
        self.forward(text.encode(errors="replace"))
        return len(text)

    def forward(self, data: bytes) -> None:
        """Write to the descriptor, if possible."""
        with suppress(OSError, ValueError):
            os.write(self.descriptor, data)

    def close(self) -> None:
        """Stay open: the next bot may print, too."""


# Logs of bots: a file for each in the run folder, limited in size, with nothing that a terminal or an editor obeys


MAX_LOG_BYTES = 256 * 1024
"""Anything beyond is discarded."""
LOG_FULL = b"\n[arena: this log is full; the rest is not kept]\n"
UNKNOWN = "unknown"
"""Name of the log of output that no bot was asked for: of a thread, or of a library at a bot's first use."""
_PLAIN_LINE = re.compile(rb"[\t -~]*")


def printable(line: bytes) -> bytes:
    """Return a line without control characters, invisible characters and those that reverse text."""
    if _PLAIN_LINE.fullmatch(line):
        return line
    text = line.decode(errors="replace")
    return "".join([c if c.isprintable() or c == "\t" else "?" for c in text]).encode()


def log_path(logs: Path, bot: str) -> Path:
    """Return the log file of a bot."""
    return logs / (re.sub(r"[^\w.=,-]+", "_", bot) + ".log")


def append_to_log(log: Path, text: bytes) -> bool:
    """Append to a log, up to its maximum size; return whether it can take more."""
    # The folder of the logs belongs to the run: it must not be a link either.
    logs = Folder(log.parent.parent).below(log.parent.name)
    room = 0
    with suppress(OSError):
        try:
            descriptor = logs.open_to_append(log.name, create=True)
        except FileNotFoundError:
            descriptor = logs.make().open_to_append(log.name, create=True)
        with open(descriptor, "ab") as file:  # noqa: PTH123 - it is a descriptor
            room = MAX_LOG_BYTES - file.seek(0, os.SEEK_END)
            if room > 0:
                file.write(text[:room] + (LOG_FULL if len(text) >= room else b""))
    return room > len(text)


class BotLogs:
    """Where the output of bots goes: to a log for each, and to stderr if it is to be shown or there is no folder."""

    def __init__(self, folder: Path | None = None, show: bool = False) -> None:
        self.folder, self.show = folder, show or folder is None
        self._full: set[str] = set()
        self.dropped: set[str] = set() if self.show else self._full
        """Bots whose output is dropped, because their logs are full."""

    def append(self, bot: str, text: bytes) -> None:
        """Append lines to the log of a bot."""
        # Opening the file costs more than a decision of a quick bot, but a bot that prints always soon fills its log.
        if self.folder and bot not in self._full and not append_to_log(log_path(self.folder, bot), text):
            self._full.add(bot)


SHOWN = BotLogs()
"""No logs: everything goes to stderr."""


# Tagged output: each line names its bot and match, and the amount is limited


MAX_PRINTED_BYTES = 50_000
"""A bot may print this much in one match; the rest is dropped."""
MAX_PARTIAL_LINE_BYTES = 4096
"""A longer unfinished line is forwarded without waiting for its end."""
TRUNCATED = f"[arena: it printed more than {MAX_PRINTED_BYTES:,} bytes in this match; the rest is left out]\n".encode()
CLEAR_LINE = b"\r\x1b[K"
"""Erases the progress line of a terminal."""
DEBUGGERS = frozenset(("bdb", "cmd", "pdb"))
"""Modules that talk to a person through a bot's stdout."""

Write = Callable[[bytes], object]


class TaggedLines:
    """Puts a tag before each line of one match, and drops output beyond the limit.

    Forwards whole lines if possible, because several processes may write to the same place.
    """

    def __init__(self, write: Write) -> None:
        self._write = write
        self._tag = self._partial = b""
        self._line_open = False
        """Whether an unfinished line was forwarded."""
        self._printed: dict[bytes, int] = {}

    def add(self, tag: bytes, data: bytes) -> None:
        """Add output with this tag."""
        if tag != self._tag:
            self.end()
            self._tag = tag
        # Counted for each tag, and so for each bot: one bot cannot use up the allowance of another.
        printed = self._printed.get(tag, 0)
        if printed > MAX_PRINTED_BYTES:
            return
        self._printed[tag] = printed + len(data)
        *lines, self._partial = (self._partial + data[: MAX_PRINTED_BYTES - printed]).split(b"\n")
        if lines:
            first = b"" if self._line_open else tag
            self._line_open = False
            self._write(first + (b"\n" + tag).join(map(printable, lines)) + b"\n")
        if len(self._partial) > MAX_PARTIAL_LINE_BYTES:
            self.flush_partial()
        if printed + len(data) > MAX_PRINTED_BYTES:
            self.end()
            self._write(tag + TRUNCATED)

    def flush_partial(self) -> None:
        """Forward an unfinished line; later output continues it."""
        if self._partial:
            self._write((b"" if self._line_open else self._tag) + printable(self._partial))
            self._partial, self._line_open = b"", True

    def end(self) -> None:
        """End an unfinished line."""
        self.flush_partial()
        if self._line_open:
            self._write(b"\n")
            self._line_open = False


class _CurrentMatch:
    """The match that this process plays. Remote bots must not know it, but their logs name it."""

    match = ""


def current_match() -> str:
    """Return the id of the match that this process plays; empty between matches."""
    return _CurrentMatch.match


class MatchStdout(BotStdout):
    """stdout and stderr of the bots of one match: the bot that is being asked is the one that prints.

    The status of the referee shows which one that is; reading it costs nothing while no bot prints.
    """

    def __init__(
        self,
        spec: MatchSpec,
        status: Any,
        write: Write | None = None,
        prefix: bytes | None = None,
        logs: BotLogs = SHOWN,
    ) -> None:
        """What `logs` shows goes to descriptor 2, or to `write`; `prefix` comes before each tag there."""
        super().__init__(2)
        self._match, self._names, self._status = spec.id, spec.seats, status
        self._pass_on = write or super().forward
        self._prefix = (CLEAR_LINE if os.isatty(2) else b"") if prefix is None else prefix
        self._lines, self._logs, self._dropped = TaggedLines(self._pass_on), logs, logs.dropped
        self._logged: dict[str, TaggedLines] = {}
        """Lines for the log of each bot."""
        self._held = self._holder = ""
        """Start of a line, and the bot that prints it."""
        _CurrentMatch.match = spec.id

    def write(self, text: str) -> int:
        """Forward the text with its tag. A debugger's text stays as it is, because it is for a person."""
        # print() calls this for each part of a line, and a bot may print at each decision: parts are held until the end
        # of the line, and what a full log would not take is dropped first.
        try:
            # The caller of write() is the module that prints: pdb writes its prompt through the bot's stdout.
            if "bdb" in sys.modules and sys._getframe(1).f_globals.get("__name__") in DEBUGGERS:
                self._lines.end()
                self._pass_on(text.encode(errors="replace"))
                return len(text)
            bot = self._bot_asked()
            if bot in self._dropped:
                return len(text)
            if bot != self._holder:
                self._forward_held()
                self._holder = bot
            self._held += text[: MAX_PRINTED_BYTES + 1]
            if "\n" in text or len(self._held) > MAX_PARTIAL_LINE_BYTES:
                self._forward_held()
        except (OSError, ValueError):
            pass
        return len(text)

    def _bot_asked(self) -> str:
        try:
            asking = self._status[ASKING]
        except ValueError:  # the status is closed in a child that a bot forked
            return ""
        return "" if asking == IDLE else self._names[int(asking) % MAX_SEATS]

    def _forward_held(self) -> None:
        held, self._held = self._held, ""
        if held:
            self._add(self._holder, held.encode(errors="replace"))

    def add(self, data: bytes) -> None:
        """Add output of the bot that is being asked, which did not come through `write`."""
        with suppress(OSError, ValueError):
            self._forward_held()
            self._add(self._bot_asked(), data)

    def _add(self, bot: str, data: bytes) -> None:
        if self._logs.folder:
            if bot not in self._logged:
                self._logged[bot] = TaggedLines(partial(self._logs.append, bot or UNKNOWN))
            self._logged[bot].add(f"[{self._match}] ".encode(errors="replace"), data)
        if self._logs.show:
            named = f"{bot} " if bot else ""
            self._lines.add(self._prefix + f"[{named}{self._match}] ".encode(errors="replace"), data)

    def flush(self) -> None:
        """Forward an unfinished line, too."""
        with suppress(OSError, ValueError):
            self._forward_held()
            for lines in (self._lines, *self._logged.values()):
                lines.flush_partial()

    def end(self) -> None:
        """End the match."""
        _CurrentMatch.match = ""
        with suppress(OSError, ValueError):
            self._forward_held()
            for lines in (self._lines, *self._logged.values()):
                lines.end()


@contextmanager
def capturing_output(spec: MatchSpec, logs: BotLogs = SHOWN) -> Iterator[list[float]]:
    """Send what bots print to stderr, tagged, or to logs, in a match in this process. Yields the referee's status."""
    status = [float(IDLE)] * SLOTS
    err = sys.stderr

    def write(data: bytes) -> None:
        err.write(data.decode(errors="replace"))
        err.flush()

    printed = MatchStdout(spec, status, write, CLEAR_LINE if err.isatty() else b"", logs)
    with replaced_streams(printed, printed):
        try:
            yield status
        finally:
            printed.end()


# breakpoint() and input() where no person can answer: in workers and sandboxed processes


_WHERE = "works in a run with --workers 0 (from Python: workers=0) and without --isolate: nobody can answer a bot here."
# The text goes into the fault of a bot, and so into records: it must not change.


def refuse_breakpoints() -> None:
    """Make breakpoint() and input() in this process fail with advice on where they work."""
    sys.breakpointhook = _refuse
    sys.stdin = _NoStdin()


@contextmanager
def no_breakpoints() -> Iterator[None]:
    """Do the same inside a with block."""
    before = sys.breakpointhook, sys.stdin
    refuse_breakpoints()
    try:
        yield
    finally:
        sys.breakpointhook, sys.stdin = before


def _refuse(*args: Any, **named: Any) -> Any:
    if os.environ.get("PYTHONBREAKPOINT"):  # set to "0", or to a debugger in another terminal: the user has chosen it
        return sys.__breakpointhook__(*args, **named)
    raise UsageError(f"breakpoint() {_WHERE}")


class _NoStdin(io.TextIOBase):
    """A stdin that says why it cannot be read; `pdb.set_trace()` meets it, too."""

    def readable(self) -> bool:
        """Claim to be readable, so that readers get the message."""
        return True

    def readline(self, *_size: object) -> str:  # type: ignore[override]  # as in every text file
        """Called by input()."""
        raise UsageError(f"input() {_WHERE}")

    def read(self, *_size: object) -> str:
        """Refuse, like readline."""
        raise UsageError(f"Reading stdin {_WHERE}")
