"""Fresh copies of a loaded program, one for each match, and whether it has stayed as it was when it was loaded.

A Python bot is loaded once. The process that has loaded it forks a copy, is stopped from then on, and the copy plays a
match and is killed. So no copy knows of another match, unless the stopped process or something that they share has
been told of it: that is looked for here, from outside, after each match. What is not as it was costs the bot its
loaded process, nothing more: the next match gets a process of its own.
"""

from __future__ import annotations

import os
import re
import select
import signal
from contextlib import suppress
from pathlib import Path
from time import perf_counter, sleep

from harness.sandbox import jail
from harness.sandbox.tree import (
    ProcessTree,
    can_see,
    children_of,
    descendants_of,
    has_one_thread,
    is_dead,
    processor_time,
    state_of,
)

_PAUSE = 0.0001
_STOP_TIME = 1.0
_OWN_FILES = re.compile(r"pipe:|/dev/null$")
"""What a loaded bot has open that has opened nothing itself: its pipes."""
_SHARED = re.compile(r"^\S+ .w.s ", re.MULTILINE)
"""Memory that is mapped so that copies share what they write."""
_KEPT = re.compile(r"^(?:SigPnd|ShdPnd|Cpus_allowed|Threads):\s*(\S+)", re.MULTILINE)


class LoadedProgram:
    """The process that has loaded a bot: `pid`, under the warden `warden`, with its scratch folder."""

    def __init__(self, warden: int, pid: int, folder: str) -> None:
        self.warden, self.pid = warden, pid
        self.scratch = _scratch_of(pid, folder)
        self._look: tuple[object, ...] = ()
        """What others could change about it, as it was when it was first stopped."""
        self._used = 0.0
        self._last = 0
        """The copy of the last match: killed, but perhaps not dead yet."""

    @classmethod
    def found(cls, warden: int, folder: str) -> LoadedProgram | None:
        """The program of this warden, if it can be copied: it has no threads, has opened nothing, and shares nothing.

        None also where this system does not tell.
        """
        started = children_of(warden)
        if len(started) != 1 or not hasattr(os, "pidfd_open") or not can_see(warden):
            return None
        [pid] = started
        try:
            own = Path(f"/proc/{pid}")
            if not has_one_thread(pid) or _SHARED.search((own / "maps").read_text()):
                return None
            opened = [str(each.readlink()) for each in (own / "fd").iterdir()]
            loaded = cls(warden, pid, folder)
            if not all(map(_OWN_FILES.match, opened)) or loaded.left_behind:
                return None
        except OSError:
            return None
        return loaded

    def next_copy(self, deadline: float) -> ProcessTree | None:
        """The copy that it has forked, once it is there: from then on the loaded process is stopped.

        None if none comes, because it has ended or takes too long.
        """
        while not (copies := [pid for pid in children_of(self.pid) if pid != self._last and not is_dead(pid)]):
            if perf_counter() > deadline or not Path(f"/proc/{self.pid}").exists():
                return None
            sleep(_PAUSE)
        self._last = copies[0]
        os.kill(self.pid, signal.SIGSTOP)
        return ProcessTree(self.warden, copies[0], self.pid)

    def stop(self) -> None:
        """Stops it, with what it has started."""
        for pid in (self.pid, *descendants_of(self.warden)):
            with suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGSTOP)

    def go_on(self) -> None:
        """Lets it go on: it forks a copy, unless there is one already."""
        for pid in (self.pid, *children_of(self.pid)):
            with suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGCONT)

    def begin_watch(self) -> None:
        """From now on it must not do anything."""
        until = perf_counter() + _STOP_TIME
        while state_of(self.pid) not in "Tt" and perf_counter() < until:  # it was told to stop, and may be waiting for
            sleep(_PAUSE)  # a core to do so; what it does later counts against it
        self._used = processor_time(self.pid)
        if not self._look:
            self._look = _attributes(self.pid)

    @property
    def left_behind(self) -> bool:
        """Whether there is anything in its scratch folder."""
        return any(Path(self.scratch).iterdir())

    @property
    def untouched(self) -> bool:
        """Whether it has done nothing since, was sent no signal, and nothing was left for the next copy to find."""
        with suppress(OSError):
            return (
                processor_time(self.pid) == self._used and _attributes(self.pid) == self._look and not self.left_behind
            )
        return False


def _scratch_of(pid: int, folder: str) -> str:
    """Its scratch folder by a path of ours."""
    root = Path(f"/proc/{pid}/root")
    return folder if root.samefile("/") else str(root) + jail.SCRATCH


def _attributes(pid: int) -> tuple[object, ...]:
    """What another process of the same user can change about it."""
    status = _KEPT.findall(Path(f"/proc/{pid}/status").read_text())
    return *status, Path(f"/proc/{pid}/limits").read_text(), os.getpriority(os.PRIO_PROCESS, pid)


def exit_status(pid: int) -> int:
    """How a process has ended that nobody has asked yet how it ended, as `os.wait` tells it."""
    with suppress(OSError, ValueError):
        return int(Path(f"/proc/{pid}/stat").read_text().split()[-1])
    return 0


def ended(pidfd: int) -> bool:
    """Whether the process of this descriptor is over."""
    return bool(select.select([pidfd], [], [], 0)[0])
