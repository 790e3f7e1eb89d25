"""What the operating system can do for us: end workers with their parent, limit memory, find and kill strays."""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import threading
from contextlib import suppress
from pathlib import Path

PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36


def _prctl(option: int, value: int) -> None:
    """Asks the Linux kernel; does nothing elsewhere."""
    if sys.platform == "linux":
        with suppress(OSError, AttributeError):
            ctypes.CDLL(None, use_errno=True).prctl(option, value, 0, 0, 0)


def die_with_parent() -> None:
    """This process is killed when its parent dies, however that dies."""
    parent = os.getppid()
    _prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # the parent died before we asked
        os._exit(1)


def adopt_strays(on: bool) -> None:
    """Processes that lose their parent below us become our children, so that none can hide from us."""
    _prctl(PR_SET_CHILD_SUBREAPER, int(on))


def limit_memory(megabytes: int) -> None:
    """This process may not allocate more than this; an allocation beyond it raises MemoryError."""
    if megabytes and sys.platform != "win32":
        import resource

        size = megabytes * 1024 * 1024
        _, hard = resource.getrlimit(resource.RLIMIT_AS)
        resource.setrlimit(resource.RLIMIT_AS, (size if hard == resource.RLIM_INFINITY else min(size, hard), hard))


def memory_used() -> float:
    """Megabytes of address space that this process uses now; 0 where that cannot be told."""
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[0])
    except OSError:
        return 0.0
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def native_threads() -> int:
    """The threads of this process, native ones too; where these cannot be told, Python's own and one more."""
    try:
        return len(list(Path("/proc/self/task").iterdir()))
    except OSError:
        return threading.active_count() + 1


def kill_group(leader: int) -> None:
    """Kills a process and everything in the process group that it leads."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(leader, signal.SIGKILL)
    with suppress(ProcessLookupError, PermissionError):
        os.kill(leader, signal.SIGKILL)


def children() -> set[int]:
    """The processes whose parent is this one."""
    found: set[int] = set()
    for path in Path("/proc/self/task").glob("*/children"):
        with suppress(OSError):
            found.update(map(int, path.read_text().split()))
    return found


def _in_our_session(pid: int) -> bool:
    with suppress(OSError):
        return os.getsid(pid) == os.getsid(0)
    return False


def kill_strays(keep: set[int]) -> int:
    """Kills and buries children of ours that are not in `keep`: what bots have forked and left. How many.

    Workers begin a session of their own, which nothing below them can leave for ours.
    """
    killed = 0
    while strays := {pid for pid in children() - keep if not _in_our_session(pid)}:  # their children become ours then
        for pid in strays:
            kill_group(pid)
            with suppress(ChildProcessError):
                os.waitpid(pid, 0)
        killed += len(strays)
    return killed


def close_others(keep: set[int]) -> None:
    """Closes what was inherited: the record file, the pipes of other workers."""
    open_ones = [int(path.name) for path in Path("/dev/fd").iterdir()]
    for descriptor in open_ones:
        if descriptor not in keep:
            with suppress(OSError):
                os.close(descriptor)
