"""Fresh copies of a loaded program, one for each match, and whether it has stayed as it was when it was loaded.

A Python bot is loaded once. The process that has loaded it forks a copy when it is told to, is stopped, and the copy
plays a match and is killed. So no copy knows of another match, unless something that outlives it has been told of it:
the stopped process, or what it shares with its copies. That is looked for here, from outside, after each match. What
is not as it was costs the bot its loaded process, and all that follow: from then on each match gets a process of its
own. (So a bot that wants to tell its later matches something can tell them one bit, once.)
"""

from __future__ import annotations

import os
import re
import select
import signal
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from time import perf_counter, sleep

from harness.sandbox import jail
from harness.sandbox.tree import ProcessTree, can_see, children_of, is_dead, processor_time, state_of

_PAUSE = 0.0001
_STOP_TIME = 1.0
_DEATH_TIME = 10.0
"""Seconds for a killed copy to be gone: on a busy machine it needs a core for that."""
_PIPE_RIGHTS = 0o600
_SHARED = re.compile(r"^\S+ ...s (?!.* /(?!dev/|memfd:|SYSV|scratch/).*(?<!\(deleted\))$)", re.MULTILINE)
"""Memory that is mapped so that copies could share what they write, now or later: all but files of the system."""
_STATUS = re.compile(
    rb"^(?:Threads|SigPnd|ShdPnd|SigIgn|Cpus_allowed|VmSize|RssShmem|CoreDumping):\s*(.*)", re.MULTILINE
)
"""What /proc/PID/status tells of what a copy could change about the loaded process, or share with it."""
_IGNORED = re.compile(rb"^SigIgn:\s*(\w+)", re.MULTILINE)
_INNER_ID = re.compile(rb"^NSpid:.*\t(\d+)$", re.MULTILINE)
_ROOM = 1 << 13


class LoadedProgram:
    """The process that has loaded a bot: `pid`, under the warden `warden`, with its scratch folder."""

    def __init__(self, warden: int, pid: int, folder: str, pipes: Sequence[int]) -> None:
        self.warden, self.pid, self._pipes = warden, pid, pipes
        self.scratch = _scratch_of(pid, folder)
        self.told_apart = False
        """Whether something shows that a copy is not the first: it must not play."""
        self._descriptors = [os.open(f"/proc/{pid}/{name}", os.O_RDONLY) for name in self._watched_files()]
        self._look: tuple[object, ...] = ()
        """What others could change about it, as it was before the first match."""
        self._used = 0.0
        self._last_id = 0
        """The process id of the last copy as the bot sees it."""
        self._last = -1
        """A descriptor of the last copy: killed, but perhaps not dead yet."""

    def _watched_files(self) -> list[str]:
        """What in /proc tells of it; the flags of its pipes, too, which it shares with its copies."""
        opened = sorted(one.name for one in Path(f"/proc/{self.pid}/fdinfo").iterdir())
        return ["status", "limits", f"task/{self.pid}/children", *(f"fdinfo/{number}" for number in opened)]

    def close(self) -> None:
        """Lets go of what it has open."""
        for descriptor in (*self._descriptors, self._last):
            if descriptor >= 0:
                os.close(descriptor)
        self._descriptors, self._last = [], -1

    @classmethod
    def found(cls, warden: int, folder: str, pipes: Sequence[int]) -> LoadedProgram | None:
        """The program of this warden, if it can be copied: it has no threads, has opened nothing, and shares nothing.

        `pipes` are our ends of all that it may have open. None also where this system does not tell.
        """
        started = children_of(warden)
        if len(started) != 1 or not hasattr(os, "pidfd_open") or not can_see(warden):
            return None
        [pid] = started
        loaded = None
        try:
            own = Path(f"/proc/{pid}")
            opened = [str(each.readlink()) for each in (own / "fd").iterdir()]
            ours = {"/dev/null", *(f"pipe:[{os.fstat(each).st_ino}]" for each in pipes)}
            loaded = cls(warden, pid, folder, pipes)
            shares = _SHARED.search((own / "maps").read_text()) or loaded._left_behind or loaded.children
            if ours.issuperset(opened) and not shares and loaded._waits():
                return loaded
        except OSError:
            pass
        if loaded:
            loaded.close()
        return None

    def _waits(self) -> bool:
        """Whether it comes to rest, as one thread that is not told how its copies end, and waits to be told to go on.

        From now on it must not do anything but fork when it is told to.
        """
        until = perf_counter() + _STOP_TIME
        while state_of(self.pid) not in "SDTt" and perf_counter() < until:
            sleep(_PAUSE)
        os.kill(self.pid, signal.SIGSTOP)
        self._await_stop()
        status = os.pread(self._descriptors[0], _ROOM, 0)
        ignored = _IGNORED.search(status)
        self._look = self._looks()
        return bool(ignored and int(ignored[1], 16) >> (signal.SIGCHLD - 1) & 1) and b"\nThreads:\t1\n" in status

    @property
    def children(self) -> list[int]:
        """The copy that plays; others only if the bot has started something that lost its parent."""
        return [int(word) for word in os.pread(self._descriptors[2], _ROOM, 0).split()]

    def go_on(self) -> None:
        """Has it fork a copy. The last one must be gone by then: nothing is to be seen of how it ended."""
        if self._last >= 0:
            select.select([self._last], [], [], _DEATH_TIME)
            os.close(self._last)
            self._last = -1
        for pipe in self._pipes:  # a bot that runs as this user could write something down in their times and rights
            with suppress(OSError):
                os.fchmod(pipe, _PIPE_RIGHTS)
                os.utime(pipe, ns=(0, 0))
        with suppress(ProcessLookupError, PermissionError):
            os.kill(self.pid, signal.SIGCONT)

    def copy(self) -> ProcessTree | None:
        """The copy that it has forked, and that has answered: from now on the loaded process is stopped.

        None if there is none any more.
        """
        alive = [pid for pid in self.children if not is_dead(pid)]
        if not alive:
            return None
        with suppress(OSError):
            self._last = os.pidfd_open(alive[0])
            os.kill(self.pid, signal.SIGSTOP)
            inner = _INNER_ID.search(Path(f"/proc/{alive[0]}/status").read_bytes())
            number = int(inner[1]) if inner else 0
            # Ids go up one by one. More means that the last copy has started something, and that this one can tell.
            self.told_apart = self.told_apart or (self._last_id > 0 and number != self._last_id + 1 and self._contained)
            self._last_id = number
            self._await_stop()
            self._used = processor_time(self.pid)
            return ProcessTree(self.warden, alive[0], self.pid)
        return None

    @property
    def _contained(self) -> bool:
        """Whether it has process ids of its own: elsewhere others take some all the time."""
        return self.scratch.startswith("/proc/")

    def _await_stop(self) -> None:
        until = perf_counter() + _STOP_TIME
        while state_of(self.pid) not in "Tt" and perf_counter() < until:  # it was told to stop, and may be waiting for
            sleep(_PAUSE)  # a core to do so; what it does later counts against it

    def ended(self) -> bool:
        """Whether the last copy is over."""
        return self._last < 0 or bool(select.select([self._last], [], [], 0)[0])

    @property
    def descriptor(self) -> int:
        """A descriptor by which the end of the copy is noticed."""
        return self._last

    @property
    def has_none(self) -> bool:
        """Whether it has forked the copy that it was told to, and that copy is gone already."""
        return not any(not is_dead(pid) for pid in self.children) and state_of(self.pid) in "STt"

    @property
    def _left_behind(self) -> bool:
        """Whether there is anything in its scratch folder."""
        return any(Path(self.scratch).iterdir())

    @property
    def untouched(self) -> bool:
        """Whether it has done nothing since, was sent no signal, and nothing was left for the next copy to find."""
        with suppress(OSError):
            return processor_time(self.pid) == self._used and self._looks() == self._look
        return False

    def _looks(self) -> tuple[object, ...]:
        """All that a copy could leave its mark on: a look into the scratch folder, too, leaves one there."""
        status, limits, _, *opened = (os.pread(each, _ROOM, 0) for each in self._descriptors)
        scratch = Path(self.scratch).stat()
        times = (scratch.st_mode, scratch.st_mtime_ns, scratch.st_ctime_ns, scratch.st_nlink, scratch.st_uid)
        return _STATUS.findall(status), limits, opened, times, os.getpriority(os.PRIO_PROCESS, self.pid)


def _scratch_of(pid: int, folder: str) -> str:
    """Its scratch folder by a path of ours."""
    root = Path(f"/proc/{pid}/root")
    return folder if root.samefile("/") else str(root) + jail.SCRATCH
