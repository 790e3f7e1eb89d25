"""A fresh fork of a loaded bot for each match, and the check that forks leave no trace.

A Python bot is loaded once, in a template process. For each match the template forks a copy and is stopped; the copy
plays and is killed. So a copy knows nothing of other matches, unless something that outlives it was changed: the
template, or what the template shares with its copies. That is checked from outside after each match. If anything has
changed, the bot loses its template for the rest of the run, and every match gets a new process. (A bot can so pass one
bit to its later matches, once.)
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

from harness.isolation import confine
from harness.isolation.accounting import ProcessTree, children_of, is_dead, process_state, processor_time

_POLL_INTERVAL_S = 0.0001
_STOP_TIMEOUT_S = 1.0
_EXIT_TIMEOUT_S = 10.0
"""A killed copy needs a core to exit; on a busy machine that takes a while."""
_PIPE_MODE = 0o600
_SHARED_MAPPING = re.compile(r"^\S+ ...s (?!.* /(?!dev/|memfd:|SYSV|scratch/).*(?<!\(deleted\))$)", re.MULTILINE)
"""Shared memory through which copies could communicate: all shared mappings except files of the system."""
_WATCHED_STATUS = re.compile(
    rb"^(?:Threads|SigPnd|ShdPnd|SigIgn|Cpus_allowed|VmSize|RssShmem|CoreDumping):\s*(.*)", re.MULTILINE
)
"""Lines of /proc/PID/status that a copy could change for its template, or that show shared memory."""
_IGNORED = re.compile(rb"^SigIgn:\s*(\w+)", re.MULTILINE)
_NAMESPACE_PID = re.compile(rb"^NSpid:.*\t(\d+)$", re.MULTILINE)
_READ_BYTES = 1 << 13


class TemplateProcess:
    """The process that has loaded a bot, its supervisor and its scratch folder."""

    def __init__(self, supervisor_pid: int, pid: int, folder: str, pipes: Sequence[int]) -> None:
        self.supervisor_pid, self.pid, self._pipes = supervisor_pid, pid, pipes
        root = Path(f"/proc/{pid}/root")
        self.scratch = folder if root.samefile("/") else f"{root}{confine.SCRATCH}"
        """Its scratch folder as seen from this process."""
        self.distinguishable = False
        """Whether a copy could find out that it is not the first one: then it must not play."""
        # Its files in /proc that are compared, including the flags of its pipes, which copies share.
        pipe_flags = sorted(one.name for one in Path(f"/proc/{pid}/fdinfo").iterdir())
        watched = ["status", "limits", f"task/{pid}/children", *(f"fdinfo/{number}" for number in pipe_flags)]
        self._descriptors = [os.open(f"/proc/{pid}/{name}", os.O_RDONLY) for name in watched]
        self._baseline: tuple[object, ...] = ()
        """Everything about it that a copy could change, as it was before the first match."""
        self._cpu_at_fork: float | None = None
        """Its processor time when it was stopped after the last fork."""
        self._last_copy_pid = 0
        """Process id of the last copy inside its PID namespace."""
        self.copy_pidfd = -1
        """Descriptor of the last copy, which may be killed and not have exited yet; readable when it exits."""

    def close(self) -> None:
        """Close the descriptors."""
        for descriptor in (*self._descriptors, self.copy_pidfd):
            if descriptor >= 0:
                os.close(descriptor)
        self._descriptors, self.copy_pidfd = [], -1

    @classmethod
    def detect(cls, supervisor_pid: int, folder: str, pipes: Sequence[int]) -> TemplateProcess | None:
        """Return the program of this supervisor if it can be forked: one thread, nothing open, nothing shared.

        `pipes` are our ends of all that it may have open. None if the system does not show this, too.
        """
        started = children_of(supervisor_pid)
        if len(started) != 1 or not hasattr(os, "pidfd_open"):
            return None
        [pid] = started
        loaded = None
        try:
            own = Path(f"/proc/{pid}")
            opened = [str(each.readlink()) for each in (own / "fd").iterdir()]
            # Any other open file is shared with all forks, and so is its position: a channel between matches.
            ours = {"/dev/null", *(f"pipe:[{os.fstat(each).st_ino}]" for each in pipes)}
            loaded = cls(supervisor_pid, pid, folder, pipes)
            mapped = _SHARED_MAPPING.search((own / "maps").read_text())
            shares = mapped or loaded.children or any(Path(loaded.scratch).iterdir())
            if ours.issuperset(opened) and not shares and loaded._settle():
                return loaded
        except OSError:
            pass
        if loaded:
            loaded.close()
        return None

    def _settle(self) -> bool:
        """Wait until it is idle, stop it and save the baseline; return whether it has one thread and ignores SIGCHLD.

        From now on it must do nothing but fork on SIGCONT.
        """
        until = perf_counter() + _STOP_TIMEOUT_S
        while process_state(self.pid) not in "SDTt" and perf_counter() < until:
            sleep(_POLL_INTERVAL_S)
        os.kill(self.pid, signal.SIGSTOP)
        self.await_stop()
        status = os.pread(self._descriptors[0], _READ_BYTES, 0)
        # With SIGCHLD ignored the kernel keeps neither exit codes nor resource usage of dead copies for the template.
        ignored = _IGNORED.search(status)
        self._baseline = self._fingerprint()
        return bool(ignored and int(ignored[1], 16) >> (signal.SIGCHLD - 1) & 1) and b"\nThreads:\t1\n" in status

    @property
    def children(self) -> list[int]:
        """The copy that plays, and orphans that the bot has started."""
        return [int(word) for word in os.pread(self._descriptors[2], _READ_BYTES, 0).split()]

    def fork_copy(self) -> None:
        """Let it fork the next copy. The last one must have exited first, or the next could see how it ended."""
        if self.copy_pidfd >= 0:
            select.select([self.copy_pidfd], [], [], _EXIT_TIMEOUT_S)
            os.close(self.copy_pidfd)
            self.copy_pidfd = -1
        # A bot with our user id could leave a message in the times and mode of the pipes: reset them.
        for pipe in self._pipes:
            with suppress(OSError):
                os.fchmod(pipe, _PIPE_MODE)
                os.utime(pipe, ns=(0, 0))
        with suppress(ProcessLookupError, PermissionError):
            os.kill(self.pid, signal.SIGCONT)

    def take_copy(self) -> ProcessTree | None:
        """Let the template stop and return the copy, which has answered; None if the copy is gone."""
        # A copy that is just exiting may still be listed.
        alive = [pid for pid in self.children if not is_dead(pid)]
        if not alive:
            return None
        with suppress(OSError):
            self.copy_pidfd = os.pidfd_open(alive[0])
            os.kill(self.pid, signal.SIGSTOP)
            inner = _NAMESPACE_PID.search(Path(f"/proc/{alive[0]}/status").read_bytes())
            number = int(inner[1]) if inner else 0
            # Ids in a namespace are consecutive. A gap means that the last copy started processes, and this one could
            # see that.
            gap = 0 < self._last_copy_pid != number - 1
            # Without a separate PID namespace, other processes use ids all the time.
            self.distinguishable |= gap and self.scratch.startswith("/proc/")
            self._last_copy_pid, self._cpu_at_fork = number, None
            return ProcessTree(self.supervisor_pid, alive[0], self.pid)
        return None

    def await_stop(self) -> None:
        """Called before the copy is asked again."""
        if self._cpu_at_fork is None:
            until = perf_counter() + _STOP_TIMEOUT_S
            # It may wait for a core before it stops. If it does anything later, `is_unchanged` notices.
            while process_state(self.pid) not in "Tt" and perf_counter() < until:
                sleep(_POLL_INTERVAL_S)
            self._cpu_at_fork = processor_time(self.pid)

    def copy_ended(self) -> bool:
        """Return whether the last copy has exited."""
        return self.copy_pidfd < 0 or bool(select.select([self.copy_pidfd], [], [], 0)[0])

    @property
    def copy_is_gone(self) -> bool:
        """Whether the copy that it was to fork has exited already."""
        return all(map(is_dead, self.children)) and process_state(self.pid) in "STt"

    @property
    def is_unchanged(self) -> bool:
        """Whether it used no processor time, received no signal, and nothing was left for the next copy."""
        with suppress(OSError):
            self.await_stop()
            return processor_time(self.pid) == self._cpu_at_fork and self._fingerprint() == self._baseline
        return False

    def _fingerprint(self) -> tuple[object, ...]:
        """Return everything that a copy could change. Even listing the scratch folder changes its times."""
        status, limits, _, *opened = (os.pread(each, _READ_BYTES, 0) for each in self._descriptors)
        scratch = Path(self.scratch).stat()
        times = (scratch.st_mode, scratch.st_mtime_ns, scratch.st_ctime_ns, scratch.st_nlink, scratch.st_uid)
        return _WATCHED_STATUS.findall(status), limits, opened, times, os.getpriority(os.PRIO_PROCESS, self.pid)
