"""A pseudo-terminal with `arena` in it: what a person sees and types, keys such as Ctrl-C included."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import sys
import termios
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import monotonic

from tests.support.waiting import PATIENCE, wait_for

PROMPT = r"\S> \Z"
"""Not the mark before a seat of a table, behind which what has come so far may happen to end."""
CTRL_C, CTRL_D, CTRL_U, BACKSPACE = "\x03", "\x04", "\x15", "\x7f"


class Terminal:
    """One `arena` command at a terminal of 80 columns."""

    def __init__(self, *args: object, term: str = "dumb") -> None:
        self.fd, inside = pty.openpty()
        fcntl.ioctl(inside, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))

        def own_the_terminal() -> None:  # so that Ctrl-C reaches the program, and it alone
            fcntl.ioctl(0, termios.TIOCSCTTY, 0)

        self.process = subprocess.Popen(
            [sys.executable, "-c", "from harness.cli import run; run()", *map(str, args)],
            stdin=inside,
            stdout=inside,
            stderr=inside,
            env={**os.environ, "TERM": term, "PYTHONHASHSEED": "0"},
            start_new_session=True,
            preexec_fn=own_the_terminal,
        )
        os.close(inside)
        self.seen = ""
        """All that was printed so far."""

    def read(self, pattern: str = PROMPT) -> str:
        """What is printed from now on until it ends with the pattern; after a prompt the program is listening."""
        begin, until = len(self.seen), monotonic() + PATIENCE
        while not re.search(pattern, self.seen[begin:]):
            assert monotonic() < until, f"{pattern!r} did not come; the terminal says:\n{self.seen[-3000:]}"
            assert self._more(), f"{pattern!r} did not come before the end:\n{self.seen[-3000:]}"
        if pattern == PROMPT:
            wait_for(self._listens, "the program listens")
        return self.seen[begin:]

    def _listens(self) -> bool:
        """Whether it is asleep over its prompt. A Ctrl-C in the moment before is noticed only after the next line."""
        try:
            state = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()[0]
        except FileNotFoundError:  # not on Linux
            return True
        return state in "SZ"

    def _more(self) -> bool:
        ready, _, _ = select.select([self.fd], [], [], 1.0)
        if not ready:
            return True
        try:
            data = os.read(self.fd, 65536)
        except OSError:  # how Linux says that the other side is gone
            return False
        self.seen += data.decode(errors="replace").replace("\r\n", "\n")
        return bool(data)

    def press(self, keys: str) -> None:
        """Types without Enter."""
        os.write(self.fd, keys.encode())

    def type(self, line: str) -> str:
        """Types a line; what is printed until the next prompt."""
        self.press(line + "\n")
        return self.read()

    def end(self) -> int:
        """Reads on until the program has ended; its exit code."""
        until = monotonic() + PATIENCE
        while self._more():
            assert monotonic() < until, f"it did not end:\n{self.seen[-3000:]}"
        return self.process.wait(PATIENCE)

    def press_choice(self, number: int = 1) -> None:
        """Plays a choice at once: with one key where there are at most nine."""
        single = self.seen.rpartition("\n")[2].startswith("Press 1-")
        self.press(str(number) if single else f"{number}!\n")

    def choose(self, number: int = 1) -> str:
        """Plays a choice at once; what is printed until the next prompt."""
        self.press_choice(number)
        return self.read()

    def play_on(self) -> str:
        """Makes the first choice at every prompt until the match is over; what was printed last."""
        begin = len(self.seen)
        while "Recorded in" not in self.seen[begin:]:
            begin = len(self.seen)
            self.press_choice()
            self.read(rf"{PROMPT}|Another deal at this table: .*\n")
        return self.seen[begin:]


@contextmanager
def terminal(*args: object, term: str = "dumb") -> Iterator[Terminal]:
    """A terminal that is gone afterwards, whatever happens."""
    opened = Terminal(*args, term=term)
    try:
        yield opened
    finally:
        if opened.process.poll() is None:
            opened.process.kill()
            opened.process.wait()
        os.close(opened.fd)
