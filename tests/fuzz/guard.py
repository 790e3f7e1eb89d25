"""Runs one case with limits on time and memory, and reports everything that it touches outside its folder."""

from __future__ import annotations

import os
import resource
import signal
import site
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import process_time
from typing import Any

MAX_CPU_S = 2.0
MAX_MEMORY_BYTES = 4 << 30
ROOT = Path(__file__).parents[2]
DEVICES = ("/dev/null", "/dev/urandom", "/dev/random")
CHANGES = {
    "os.remove": 1, "os.rename": 2, "os.mkdir": 1, "os.rmdir": 1, "os.link": 2, "os.symlink": 1, "os.truncate": 1,
    "os.chmod": 1, "os.chown": 1, "os.utime": 1, "os.setxattr": 1,
}  # fmt: skip
"""Audit events that change files, and how many of their first arguments are paths."""
LISTINGS = ("os.listdir", "os.scandir")
FORBIDDEN = (
    "subprocess.Popen", "os.posix_spawn", "os.exec", "os.system", "os.fork", "os.forkpty", "pty.spawn",
    "socket.connect", "socket.bind", "socket.getaddrinfo", "webbrowser.open",
)  # fmt: skip
WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND


class TooSlow(BaseException):
    """The case used up its processor time. Not an Exception, so that no handler for errors catches it."""


class Guard:
    """Watches the process while a case runs. An audit hook cannot be removed, so there is one guard a process."""

    def __init__(self, home: Path) -> None:
        """`home` is the folder in which cases may read and write."""
        self.home = os.path.realpath(home)
        self.watching = False
        self.touched: dict[str, None] = {}
        """What the case did outside its folder, in order and once each."""
        # What Python itself imports may be read.
        imported = (sys.prefix, sys.base_prefix, *site.getsitepackages(), *filter(None, sys.path), str(ROOT))
        self.readable = [os.path.realpath(path) for path in imported]
        resource.setrlimit(resource.RLIMIT_AS, (MAX_MEMORY_BYTES, resource.RLIM_INFINITY))
        signal.signal(signal.SIGPROF, self._stop)
        sys.addaudithook(self._audit)

    @contextmanager
    def watched(self, max_cpu_s: float) -> Iterator[None]:
        """Watch what happens in this block, which may take this much processor time; raise what was found."""
        self.touched.clear()
        begin = process_time()
        signal.setitimer(signal.ITIMER_PROF, max_cpu_s)
        self.watching = True
        try:
            yield
        finally:
            self.watching = False
            signal.setitimer(signal.ITIMER_PROF, 0)
        if process_time() - begin > max_cpu_s:  # in C code, which no signal interrupts
            raise TooSlow
        assert not self.touched, "touched outside of the folder: " + "; ".join(self.touched)

    def _stop(self, *_: object) -> None:
        raise TooSlow

    def _audit(self, event: str, args: tuple[Any, ...]) -> None:
        if not self.watching:
            return
        if event == "open":
            path, mode, flags = args
            self._check(event, path, bool(flags & WRITING) or not set(mode or "").isdisjoint("wax+"))
        elif event == "exec":
            name = args[0].co_filename
            if not name.startswith("<") and os.path.realpath(name).startswith(self.home + os.sep):
                self.touched[f"executed {name}"] = None
        elif event in CHANGES:
            for path in args[: CHANGES[event]]:
                self._check(event, path, writing=True)
        elif event in LISTINGS:
            self._check(event, args[0] or ".", writing=False)
        elif event in FORBIDDEN:
            self.touched[f"{event} {args[:2]!r:.500}"] = None

    def _check(self, event: str, path: Any, writing: bool) -> None:
        # A file that is open already is an int. A path relative to a directory descriptor looks like one relative to
        # the folder of the case: it is inside as long as it has no "..".
        if isinstance(path, int):
            return
        try:
            real = os.path.realpath(os.fsdecode(path))
        except (ValueError, TypeError):
            return  # no path at all: the call will fail
        inside = [self.home] if writing else [self.home, *self.readable]
        if real not in DEVICES and not any(real == each or real.startswith(each + os.sep) for each in inside):
            self.touched[f"{event}{' for writing' if writing else ''} {real!r}"] = None
