"""Memory and processor time of a bot's processes, by reading /proc; freezing them while the bot is not asked."""

from __future__ import annotations

import os
import re
import signal
from collections.abc import Iterable
from contextlib import suppress
from functools import cache
from pathlib import Path
from time import clock_gettime, perf_counter, sleep
from typing import ClassVar

# Memory of a process tree
#
# Used where no cgroup counts it. Shared memory is counted once. The kernel's buffers behind pipes and sockets belong to
# no process and cannot be measured from outside, so each counts with its full capacity; the seccomp filter keeps a bot
# from enlarging them.


_RSS_ANON = re.compile(r"^RssAnon:\s*(\d+) kB", re.MULTILINE)
_RSS_AND_TABLES = re.compile(r"^(?:RssAnon|VmPTE):\s*(\d+) kB", re.MULTILINE)
_PAGE_TABLES = re.compile(r"^VmPTE:\s*(\d+) kB", re.MULTILINE)
_PSS_ANON = re.compile(r"^Pss_Anon:\s*(\d+) kB", re.MULTILINE)
_SHARED = "/dev/zero (deleted)\n"
_SHARED_MAPPING = re.compile(rf"^(\w+)-(\w+) ...s (\w+) \S+ (\d+) +{re.escape(_SHARED)}", re.MULTILINE)
_OPEN_FILE_LIMIT = re.compile(r"^Max open files\s+(\d+)", re.MULTILINE)
_FDS_IN_FLIGHT = re.compile(r"^scm_fds:\s*0*[1-9]", re.MULTILINE)
MEGABYTE = 1 << 20
_BLOCK_BYTES = 512
_PIPE_BYTES = 16 * os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 1 << 16
_DEFAULT_SOCKET_BYTES = 212_992
_MAX_FDS_PER_MESSAGE = 253
"""SCM_MAX_FD of the kernel."""
_IN_FLIGHT_WAIT_S = 0.01
"""An honest message with descriptors has been received by then."""


def exceeds_memory(found: list[int], megabytes: int, template_pid: int = 0) -> bool:
    """Return whether these use more, including memory files (memfd) and kernel buffers, which a template has not."""
    limit, openers = megabytes * MEGABYTE, [pid for pid in found if pid != template_pid]
    if not _exceeds_bytes(found, limit, _OpenObjects(openers).size):
        return False
    opened = _OpenObjects(openers)
    # Descriptors in flight are overestimated (see _OpenObjects): look again before a bot is blamed.
    if opened.in_flight_bytes:
        sleep(_IN_FLIGHT_WAIT_S)
        opened = _OpenObjects(openers)
    return _exceeds_bytes(found, limit, opened.size)


def _exceeds_bytes(pids: list[int], limit: int, opened: int) -> bool:
    # RSS is cheap to read but counts shared pages once for each process, so it is an upper bound. Only when that is too
    # high is PSS worth its price: reading smaps_rollup walks all page tables.
    if sum(_status_bytes(pid, _RSS_AND_TABLES) for pid in pids) <= limit - opened:
        return False
    return sum(_proportional_bytes(pid) + _status_bytes(pid, _PAGE_TABLES) for pid in pids) > limit - opened


def _proportional_bytes(pid: int) -> int:
    """Return its PSS, or its RSS where PSS is not readable or the main thread has ended."""
    found = []
    with suppress(OSError):
        found = _PSS_ANON.findall(Path(f"/proc/{pid}/smaps_rollup").read_text())
    return 1024 * sum(map(int, found)) if found else _status_bytes(pid, _RSS_ANON)


def _status_bytes(pid: int, sizes: re.Pattern[str]) -> int:
    with suppress(OSError):
        return 1024 * sum(map(int, sizes.findall((_proc_folder(pid) / "status").read_text())))
    return 0


def _proc_folder(pid: int) -> Path:
    """Return its folder in /proc: of another thread if the main thread has ended, whose own files are empty then."""
    own = Path(f"/proc/{pid}")
    if process_state(pid) == "Z":
        with suppress(OSError):
            return next((one for one in (own / "task").iterdir() if one.name != str(pid)), own)
    return own


@cache
def socket_bytes() -> int:
    """Return how many bytes a socket can hold: the kernel checks the limit before it accepts one more message, which
    may be as large as the limit.
    """
    try:
        return 2 * int(Path("/proc/sys/net/core/wmem_default").read_text())
    except (OSError, ValueError):
        return 2 * _DEFAULT_SOCKET_BYTES


class _OpenObjects:
    """Memory that is not a process's own: shared mappings, memory files, pipes and sockets."""

    def __init__(self, pids: Iterable[int]) -> None:
        self._bytes: dict[str, int] = {}
        self.in_flight_bytes = 0
        """Bytes for descriptors inside unread messages. Those may again be sockets with such messages, which cannot be
        seen. So one such message counts for as many sockets as the kernel allows a user to have in flight.
        """
        for pid in pids:
            folder = _proc_folder(pid)
            self._add_shared_mappings(folder)
            try:
                for descriptor in (folder / "fd").iterdir():
                    with suppress(OSError):
                        self._add_descriptor(descriptor, str(descriptor.readlink()))
            except PermissionError:
                # It hides what it has open: count all that it could have, if it has not just ended.
                if _status_bytes(pid, _RSS_ANON):
                    self._bytes[str(pid)] = _open_file_limit(Path(f"/proc/{pid}")) * socket_bytes()
            except OSError:  # the process has ended
                continue

    def _add_shared_mappings(self, folder: Path) -> None:
        """Count shared mappings as a whole: pages that were unmapped again still take memory."""
        with suppress(OSError):
            text = (folder / "maps").read_text()
            for begin, end, offset, number in _SHARED_MAPPING.findall(text) if _SHARED in text else ():
                name = f"shared {number}"
                reach = int(offset, 16) + int(end, 16) - int(begin, 16)
                self._bytes[name] = max(self._bytes.get(name, 0), reach)

    def _add_descriptor(self, descriptor: Path, target: str) -> None:
        if target.startswith("pipe:"):
            self._bytes[target] = _PIPE_BYTES
        elif target.startswith("socket:"):
            self._bytes[target] = socket_bytes()
            if not self.in_flight_bytes and _FDS_IN_FLIGHT.search(
                (descriptor.parents[1] / "fdinfo" / descriptor.name).read_text()
            ):
                self.in_flight_bytes = (_open_file_limit(descriptor.parents[1]) + _MAX_FDS_PER_MESSAGE) * socket_bytes()
        elif target.startswith("/memfd:"):
            about = descriptor.stat()
            self._bytes[f"{about.st_dev} {about.st_ino}"] = about.st_blocks * _BLOCK_BYTES

    @property
    def size(self) -> int:
        """Bytes of all of them."""
        return sum(self._bytes.values()) + self.in_flight_bytes


def _open_file_limit(process: Path) -> int:
    with suppress(OSError):
        found = _OPEN_FILE_LIMIT.search((process / "limits").read_text())
        return int(found[1]) if found else 0
    return 0


# Freezing and timing a bot's processes
#
# Everything is read from /proc by the process that asks the bot; the bot cannot influence it. SIGSTOP and SIGCONT take
# as long as a short answer, and longer on a busy machine. So a single process with one thread is not stopped between
# its answers but watched: the first time it uses processor time while it should wait, it is frozen, and from then on
# after each answer. Anything with children or threads is always frozen.


FREEZE_TIMEOUT_S = 10.0
"""A tree may keep changing while it is frozen, and a busy machine takes long to stop a process."""
_FREEZE_POLL_S = 0.0002
MAX_IDLE_CPU_S = 0.005
"""Processor time that a process may use after an answer, to get back to its read of the next request."""
_ONE_THREAD_LINKS = 3
"""Hard links of /proc/PID/task with one thread: two for the folder, one for the thread."""
_TICKS_PER_S = os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 100
_CHILD_TIME_FIELDS, _CORE_FIELD = slice(13, 15), 36
"""cutime and cstime, and the core, in /proc/PID/stat, counted from after the command name."""


class FreezeFailed(Exception):
    """The processes fork faster than they can be stopped."""


def children_of(pid: int) -> list[int]:
    """Return the children of all threads of a process, oldest first; none where the system does not list them."""
    found: list[int] = []
    with suppress(OSError):
        for thread in Path(f"/proc/{pid}/task").iterdir():
            with suppress(OSError):
                found += map(int, (thread / "children").read_text().split())
    return found


def descendants_of(pid: int) -> list[int]:
    """Return all children of a process, their children, and so on."""
    found = children_of(pid)
    for one in found:  # grows during the loop
        found += children_of(one)
    return found


def processor_time(pid: int) -> float:
    """Return the seconds of processor time that a process has used; 0 if there is no such process."""
    try:
        return clock_gettime((~pid << 3) | 2)  # clockid of another process: CPUCLOCK_SCHED of the whole thread group
    except OSError:
        return 0.0


class ProcessTree:
    """What runs under a supervisor: the program, or a fork of it that plays, with everything it has started.

    `bot_pid` is the process that answers. `template_pid` is the process that it was forked from, which always stays
    stopped.
    """

    _own_cores: ClassVar[set[int]] = set()
    """The cores of this process before it began to share one with bots."""

    def __init__(self, supervisor_pid: int, bot_pid: int, template_pid: int = 0) -> None:
        self.supervisor_pid, self.bot_pid, self.template_pid = supervisor_pid, bot_pid, template_pid
        self.frozen = self.always_freeze = False
        """Whether it is stopped now; whether it is stopped after every answer."""
        self._frozen_pids: list[int] = []
        self.was_single = True
        """Whether it was one process with one thread when it was last suspended."""
        self.has_one_core = False
        self._cpu_at_answer = self._tree_cpu_at_answer = 0.0
        self._children_fds: list[tuple[int, bytes]] = []
        self._task_fd = -1
        with suppress(OSError):
            self._task_fd = os.open(f"/proc/{bot_pid}/task", os.O_RDONLY | os.O_DIRECTORY)
            # In a PID namespace orphans become children of its first process, which is the template. So the
            # supervisor's children need no check there.
            hidden = template_pid and not Path(f"/proc/{template_pid}/ns/pid").samefile("/proc/self/ns/pid")
            line = [pid for pid in (0 if hidden else supervisor_pid, template_pid, bot_pid) if pid]
            for number, pid in enumerate(line):  # each may have the next one as its only child
                expected = b"%d " % line[number + 1] if number + 1 < len(line) else b""
                self._children_fds.append((os.open(f"/proc/{pid}/task/{pid}/children", os.O_RDONLY), expected))

    def close(self) -> None:
        """Close the descriptors."""
        for descriptor in (self._task_fd, *(descriptor for descriptor, _ in self._children_fds)):
            if descriptor >= 0:
                os.close(descriptor)
        self._task_fd, self._children_fds = -1, []

    @property
    def is_single(self) -> bool:
        """Whether the bot has one thread and nothing that it started still runs."""
        try:
            return self._has_one_thread and all(os.pread(fd, 64, 0) == expected for fd, expected in self._children_fds)
        except OSError:
            return False

    @property
    def _has_one_thread(self) -> bool:
        """Whether the bot has one thread and no child. It may still have orphans: that check costs more."""
        return os.fstat(self._task_fd).st_nlink == _ONE_THREAD_LINKS and not os.pread(self._children_fds[-1][0], 64, 0)

    def members(self) -> list[int]:
        """Return all its processes except the template, orphans included."""
        return [pid for pid in descendants_of(self.supervisor_pid) if pid != self.template_pid]

    def suspend(self) -> None:
        """Called after an answer, until the next request. Raises FreezeFailed."""
        self._cpu_at_answer = self._tree_cpu_at_answer = processor_time(self.bot_pid)
        # Orphans are not looked for here, to save two reads of /proc for each answer: `enforce_idle` finds them.
        try:
            quiet = not self.always_freeze and self._has_one_thread
        except (OSError, IndexError):
            quiet = False
        if not quiet:
            self.freeze()
            self._tree_cpu_at_answer = self.processor_time()

    @classmethod
    def share_core(cls, trees: Iterable[ProcessTree]) -> None:
        """Let this process and these, except those that are frozen, use the core on which this one runs."""
        # They take turns. To wake a process on an idle core takes ten times as long as to switch to one on the same
        # core, and the kernel prefers idle cores.
        if cls._own_cores:
            return
        with suppress(OSError):  # a program has ended, or this system forbids it
            core = {int(Path("/proc/thread-self/stat").read_text().rpartition(")")[2].split()[_CORE_FIELD])}
            own = os.sched_getaffinity(0)
            os.sched_setaffinity(0, core)
            cls._own_cores = own
            for tree in trees:
                if not tree.frozen:
                    os.sched_setaffinity(tree.bot_pid, core)
                    tree.has_one_core = True

    @classmethod
    def leave_core(cls) -> None:
        """Let this process use all its cores again."""
        if cls._own_cores:
            os.sched_setaffinity(0, cls._own_cores)
            cls._own_cores = set()

    def use_all_cores(self) -> None:
        """Undo `share_core` for all its threads, those that were started meanwhile, too."""
        with suppress(OSError):
            for pid in () if not self.has_one_core else [self.bot_pid] if self.is_single else self.members():
                for thread in Path(f"/proc/{pid}/task").iterdir():
                    os.sched_setaffinity(int(thread.name), os.sched_getaffinity(self.supervisor_pid))

    def check_idle_cpu(self) -> None:
        """Called before the next request: if the bot worked since its last answer, freeze it after every answer from
        now on.
        """
        if not self.frozen and processor_time(self.bot_pid) - self._cpu_at_answer > MAX_IDLE_CPU_S:
            self.always_freeze = True

    def cpu_since_answer(self) -> float:
        """Return the processor time of all its processes since the last answer."""
        return max(0.0, self.processor_time() - self._tree_cpu_at_answer)

    def enforce_idle(self) -> None:
        """Called while other bots are asked: freeze this one if it works, or has started something that may."""
        if self.frozen:
            # it was woken by a signal
            if not all(map(_is_stopped, [self.bot_pid] if self.was_single else self.members())):
                self.freeze()
            return
        if processor_time(self.bot_pid) - self._cpu_at_answer > MAX_IDLE_CPU_S or not self.is_single:
            self.always_freeze = True
            self.freeze()

    def freeze(self) -> None:
        """Stop all its processes until `thaw`. Raises FreezeFailed."""
        self.frozen = True
        _send_signal(self.bot_pid, signal.SIGSTOP)
        self.was_single = self.is_single
        if self.was_single:
            return
        # A process may fork before its SIGSTOP arrives. The tree is frozen when two listings in a row find no new
        # process and all of them are stopped.
        before: set[int] = set()
        until = perf_counter() + FREEZE_TIMEOUT_S
        while perf_counter() < until:
            found = self.members()
            for pid in found:
                _send_signal(pid, signal.SIGSTOP)
            if before.issuperset(found) and all(map(_is_stopped, found)):
                self._frozen_pids = found
                return
            if before.issuperset(found):
                sleep(_FREEZE_POLL_S)  # all have the signal, but some wait for a core
            before = set(found)
        raise FreezeFailed

    def thaw(self) -> None:
        """Let all its processes continue."""
        if not self.frozen:
            return
        self.frozen = False
        if not self.was_single:
            for pid in self._frozen_pids:
                if pid != self.bot_pid:
                    _send_signal(pid, signal.SIGCONT)
        # The bot last: its helpers are ready when it reads the request.
        _send_signal(self.bot_pid, signal.SIGCONT)

    def kill(self) -> None:
        """Kill all its processes except the template. The tree must be frozen, so that none can fork."""
        self.use_all_cores()  # to exit takes longer than to be killed: Arena continues meanwhile
        for pid in [self.bot_pid] if self.was_single else self.members():
            _send_signal(pid, signal.SIGKILL)

    def processor_time(self) -> float:
        """Return the processor time used so far, including ended children as far as the kernel reports them."""
        used = processor_time(self.bot_pid)
        if not self.was_single or not self.is_single:
            used += sum(processor_time(pid) for pid in self.members() if pid != self.bot_pid)
        with suppress(OSError, ValueError):
            fields = Path(f"/proc/{self.bot_pid}/stat").read_text().rpartition(")")[2].split()
            used += sum(map(int, fields[_CHILD_TIME_FIELDS])) / _TICKS_PER_S
        return used


def _send_signal(pid: int, number: int) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.kill(pid, number)


def process_state(pid: int) -> str:
    """Return the kernel's state letter of a process; empty if there is none."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (OSError, IndexError):
        return ""


def is_dead(pid: int) -> bool:
    """Return whether a process has ended, even if its parent has not waited for it yet."""
    return process_state(pid) in ("", "Z", "X")


def _is_stopped(pid: int) -> bool:
    return process_state(pid) in ("", "Z", "X", "T", "t")
