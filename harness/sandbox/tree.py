"""A program's processes, seen from outside: stopped while nobody asks them, gone on with, counted, and killed.

Everything is read from /proc by the process that asks the program, without a word to anybody in between. To stop and
wake a process takes as long as a short answer, and longer on a busy machine. So a single process with a single thread
is left to wait for its next question, and watched: the first time that it uses processor time while it waits it is
stopped, and from then on after each of its answers. Whatever has children or threads always is.
"""

from __future__ import annotations

import os
import signal
from contextlib import suppress
from pathlib import Path
from time import clock_gettime, perf_counter, sleep

STOP_TIME = 10.0
"""Seconds for a tree that keeps changing while it is being stopped; a busy machine takes its time to stop one, too."""
_PAUSE = 0.0002
QUIET = 0.005
"""Seconds of processor time that a process may use after an answer, to get back to where it waits for a question."""
_SINGLE = 3
"""Links of /proc/PID/task where there is one thread: two for the folder, one for it."""
_TICKS = os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 100
_CHILD_TIMES = slice(13, 15)
"""cutime and cstime in /proc/PID/stat, counted from behind the name."""


class WillNotStop(Exception):
    """Its processes start each other anew faster than they can be stopped."""


def can_see(pid: int) -> bool:
    """Whether this system tells us the children of a process."""
    return Path(f"/proc/{pid}/task/{pid}/children").exists()


def children_of(pid: int) -> list[int]:
    """The children of all threads of a process, the oldest first."""
    found: list[int] = []
    with suppress(OSError):
        for thread in Path(f"/proc/{pid}/task").iterdir():
            with suppress(OSError):
                found += map(int, (thread / "children").read_text().split())
    return found


def has_one_thread(pid: int) -> bool:
    """Whether a process has no threads beside its first."""
    return Path(f"/proc/{pid}/task").stat().st_nlink == _SINGLE


def descendants_of(pid: int) -> list[int]:
    """All that a process has started, and what these have started, and so on."""
    found = children_of(pid)
    for one in found:  # it grows while we go along it
        found += children_of(one)
    return found


def processor_time(pid: int) -> float:
    """Seconds of processor time that a process has used in its life; 0 if there is none of that number."""
    try:
        return clock_gettime((~pid << 3) | 2)  # the kernel's name for the clock of all threads of another process
    except OSError:
        return 0.0


class ProcessTree:
    """What runs under a warden: the program, or a copy of it that plays, with everything that it has started.

    `asked` is the process that is asked. The one that is `held` stays stopped whatever happens.
    """

    def __init__(self, warden: int, asked: int, held: int = 0) -> None:
        self.warden, self.asked, self.held = warden, asked, held
        self.frozen = self.restless = False
        """Whether it is stopped; whether it is always stopped after its answers."""
        self._stopped: list[int] = []
        self.was_alone = True
        """Whether it was a single process with a single thread when it last rested."""
        self._used = self._used_by_all = 0.0
        self._watched: list[tuple[int, bytes]] = []
        self._threads = -1
        with suppress(OSError):
            self._threads = os.open(f"/proc/{asked}/task", os.O_RDONLY | os.O_DIRECTORY)
            # In a process namespace of its own what loses its parent becomes a child of the first process in it, which
            # is the one that is held: there is no need to look at the warden's children too.
            line = [held, asked] if held and _has_namespace(held) else [warden, *([held] if held else []), asked]
            for number, pid in enumerate(line):  # nothing but the next in line may descend from each
                expected = b"%d " % line[number + 1] if number + 1 < len(line) else b""
                self._watched.append((os.open(f"/proc/{pid}/task/{pid}/children", os.O_RDONLY), expected))

    def close(self) -> None:
        """Lets go of what it has open."""
        for descriptor in (self._threads, *(descriptor for descriptor, _ in self._watched)):
            if descriptor >= 0:
                os.close(descriptor)
        self._threads, self._watched = -1, []

    @property
    def alone(self) -> bool:
        """Whether the process that is asked has one thread and has started nothing that still runs."""
        try:
            return self._single and all(os.pread(each, 64, 0) == expected for each, expected in self._watched)
        except OSError:
            return False

    @property
    def _single(self) -> bool:
        """Whether the process that is asked has one thread and no child; there may be some that lost their parent."""
        return os.fstat(self._threads).st_nlink == _SINGLE and not os.pread(self._watched[-1][0], 64, 0)

    def members(self) -> list[int]:
        """All its processes but the one that is held, those that were left by their parents included."""
        return [pid for pid in descendants_of(self.warden) if pid != self.held]

    def rest(self) -> None:
        """It has answered, and others are asked now. Raises WillNotStop."""
        self._used = self._used_by_all = processor_time(self.asked)
        try:
            quiet = not self.restless and self._single
        except (OSError, IndexError):
            quiet = False
        if not quiet:
            self.freeze()
            self._used_by_all = self.processor_time()

    def look_back(self) -> None:
        """It is asked again: if it has done something since its last answer, it is stopped after all that follow."""
        if not self.frozen and processor_time(self.asked) - self._used > QUIET:
            self.restless = True

    def used_since_rest(self) -> float:
        """Seconds of processor time that all of it has used for what it is asked now."""
        return max(0.0, self.processor_time() - self._used_by_all)

    def watch(self) -> None:
        """Others are being asked, for a while: stops it if it does something, or has left something that may."""
        if self.frozen:
            if not all(map(_is_stopped, [self.asked] if self.was_alone else self.members())):  # something woke it
                self.freeze()
            return
        if processor_time(self.asked) - self._used > QUIET or not self.alone:
            self.restless = True
            self.freeze()

    def freeze(self) -> None:
        """Stops all of it; it goes on where it was when it is thawed. Raises WillNotStop."""
        self.frozen = True
        _signal(self.asked, signal.SIGSTOP)
        self.was_alone = self.alone
        if self.was_alone:
            return
        before: set[int] = set()
        until = perf_counter() + STOP_TIME
        while perf_counter() < until:
            found = self.members()
            for pid in found:
                _signal(pid, signal.SIGSTOP)
            if before.issuperset(found) and all(map(_is_stopped, found)):
                self._stopped = found
                return
            if before.issuperset(found):
                sleep(_PAUSE)  # all were told, and some wait for a core to obey
            before = set(found)
        raise WillNotStop

    def thaw(self) -> None:
        """Lets all of it go on."""
        if not self.frozen:
            return
        self.frozen = False
        if not self.was_alone:
            for pid in self._stopped:
                if pid != self.asked:
                    _signal(pid, signal.SIGCONT)
        _signal(self.asked, signal.SIGCONT)

    def kill(self) -> None:
        """Ends all of it but the one that is held. It is frozen: there is nobody who could start another."""
        for pid in [self.asked] if self.was_alone else self.members():
            _signal(pid, signal.SIGKILL)

    def processor_time(self) -> float:
        """Seconds of processor time that it has used so far, with what has ended already as far as the kernel tells."""
        used = processor_time(self.asked)
        if not self.was_alone or not self.alone:
            used += sum(processor_time(pid) for pid in self.members() if pid != self.asked)
        with suppress(OSError, ValueError):
            fields = Path(f"/proc/{self.asked}/stat").read_text().rpartition(")")[2].split()
            used += sum(map(int, fields[_CHILD_TIMES])) / _TICKS
        return used


def _has_namespace(pid: int) -> bool:
    with suppress(OSError):
        return not Path(f"/proc/{pid}/ns/pid").samefile("/proc/self/ns/pid")
    return False


def _signal(pid: int, number: int) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.kill(pid, number)


def state_of(pid: int) -> str:
    """The letter by which the kernel tells what a process does; empty if there is none."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (OSError, IndexError):
        return ""


def is_dead(pid: int) -> bool:
    """Whether a process is over, though its parent may not have asked yet how it ended."""
    return state_of(pid) in ("", "Z", "X")


def _is_stopped(pid: int) -> bool:
    return state_of(pid) in ("", "Z", "X", "T", "t")
