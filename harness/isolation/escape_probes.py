"""Try what a sandboxed bot must not be able to do, and report what was not stopped. `doctor` runs this as a script.

It reads one line of JSON with the targets and answers with one line. Standard library only: it is started with -S. The
names of the probes are part of the output of `arena doctor --json`.
"""

from __future__ import annotations

import ctypes
import errno
import fcntl
import json
import os
import resource
import signal
import socket
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

FORKS = 200
REFUSALS = (errno.EPERM, errno.ENOSYS, errno.ENOLCK, errno.EAFNOSUPPORT)
"""Errors of the seccomp filter. A call that gets through fails with another error: its arguments are invalid."""
_CLONE_NEWUSER = 0x1000_0000
_F_SETLEASE = 1024
_DATAGRAMS = socket.SOCK_DGRAM
FAMILIES = {"inet": 2, "inet6": 10, "netlink": 16, "packet": 17, "alg": 38, "vsock": 40}
"""Address families that reach other processes, by their kernel names."""

COUNTERS = ("/proc/loadavg", "/proc/vmstat", "/proc/sys/fs/file-nr", "/proc/sys/kernel/pty/nr")


def eats_memory(targets: dict[str, Any]) -> None:
    """Allocate twice the memory limit."""
    bytearray(2 * targets["memory"] << 20)


def burns_time(_targets: dict[str, Any]) -> None:
    """Check whether processor time is limited."""
    if resource.getrlimit(resource.RLIMIT_CPU)[1] != resource.RLIM_INFINITY:
        raise OSError


def forks(_targets: dict[str, Any]) -> None:
    """Start more processes than the limit."""
    children = []
    try:
        for _ in range(FORKS):
            child = os.fork()
            if child == 0:
                signal.pause()
            children.append(child)
    finally:
        for child in children:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)


def writes(targets: dict[str, Any]) -> None:
    """Write to a world-writable folder."""
    Path(targets["folder"], "written").write_text("here I was")


def reads(targets: dict[str, Any]) -> None:
    """Read a world-readable file."""
    Path(targets["folder"], "secret").read_text()


def connects(targets: dict[str, Any]) -> None:
    """Connect to a TCP port of this machine."""
    socket.create_connection(("127.0.0.1", targets["port"]), 2).close()


def sends(targets: dict[str, Any]) -> None:
    """Send a datagram to a port of this machine."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
        sender.sendto(b"here I am", ("127.0.0.1", targets["port"]))


def opens_sockets(_targets: dict[str, Any]) -> list[str]:
    """Open sockets of all address families that reach other processes."""
    return [name for name, family in FAMILIES.items() if not _refused(partial(socket.socket, family, _DATAGRAMS))]


def reaches_sockets(targets: dict[str, Any]) -> None:
    """Connect to a Unix socket of another process."""
    with socket.socket(socket.AF_UNIX) as there:
        there.connect(targets["socket"])


def signals_others(targets: dict[str, Any]) -> None:
    """Signal a process outside the sandbox."""
    os.kill(targets["pid"], 0)


def sees_others(targets: dict[str, Any]) -> None:
    """Look up a process outside the sandbox."""
    Path("/proc", str(targets["pid"]), "cmdline").stat()


def inherits(targets: dict[str, Any]) -> None:
    """Look for open files and variables of the process that started it."""
    open_ones = []
    for number in range(3, 256):
        with suppress(OSError):
            os.fstat(number)
            open_ones.append(number)
    if not open_ones and targets["variable"] not in os.environ:
        raise OSError


def passes_notes(targets: dict[str, Any]) -> list[str]:
    """Try all system calls and locks by which two bots could communicate."""
    return [*_allowed_calls(targets["channels"]), *_allowed_locks()]


def reads_counters(_targets: dict[str, Any]) -> list[str]:
    """Read counters of the whole machine: one bot could change them and another read them."""
    found = []
    for path in COUNTERS:
        with suppress(OSError):
            Path(path).read_bytes()
            found.append(path)
    return found


def enters_kernel(targets: dict[str, Any]) -> list[str]:
    """Try all system calls that attack the kernel or change the machine."""
    found = _allowed_calls(targets["risks"])
    return found if _refused(partial(_new_namespace, targets["clone"])) else [*found, "clone with a namespace"]


def _allowed_calls(numbers: dict[str, int]) -> list[str]:
    """Return the calls that are not refused."""
    if not numbers:
        return [f"all system calls: there is no list of them for {os.uname().machine}"]
    return [name for name, number in numbers.items() if not _refused(partial(_call_with_nonsense, number))]


def _call_with_nonsense(number: int) -> None:
    # Invalid arguments: a call that gets through fails harmlessly with another error than the filter's.
    nonsense = [ctypes.c_long(-1)] * 6
    if ctypes.CDLL(None, use_errno=True).syscall(ctypes.c_long(number), *nonsense) == -1:
        raise OSError(ctypes.get_errno(), "")


def _new_namespace(clone: int) -> None:
    """Fork into a new namespace by clone, whose flags the filter must check."""
    libc = ctypes.CDLL(None, use_errno=True)
    child = libc.syscall(ctypes.c_long(clone), ctypes.c_long(_CLONE_NEWUSER | signal.SIGCHLD), 0, 0, 0, 0)
    if child == 0:
        os._exit(0)
    if child == -1:
        raise OSError(ctypes.get_errno(), "")
    os.waitpid(child, 0)


def _allowed_locks() -> list[str]:
    """Return the ways to lock a shared file that are not refused."""
    with Path(sys.executable).open("rb") as file:
        ways: dict[str, Callable[[], object]] = {
            "fcntl": lambda: fcntl.lockf(file, fcntl.LOCK_SH | fcntl.LOCK_NB),
            "lease": lambda: fcntl.fcntl(file, _F_SETLEASE, fcntl.F_RDLCK),
        }
        return [name for name, lock in ways.items() if not _refused(lock)]


def _refused(probe: Callable[[], object]) -> bool:
    """Return whether the call fails with an error of the filter."""
    try:
        probe()
    except OSError as error:
        return error.errno in REFUSALS
    return False


PROBES: tuple[Callable[[dict[str, Any]], list[str] | None], ...] = (
    eats_memory, burns_time, forks, writes, reads, connects, sends, opens_sockets, reaches_sockets, signals_others,
    sees_others, inherits, passes_notes, reads_counters, enters_kernel,
)  # fmt: skip


def main() -> None:
    """Run all probes; write what got through for each of them, an empty list where it was stopped."""
    targets = json.loads(sys.stdin.readline())
    through: dict[str, list[str]] = {}
    for probe in PROBES:
        try:
            got = probe(targets)
        except (OSError, MemoryError):
            got = []
        through[probe.__name__] = [probe.__name__.replace("_", " ")] if got is None else got
    sys.stdout.write(json.dumps(through) + "\n")
    sys.stdout.flush()
    sys.stdin.read()  # stay alive until killed: the parent still reads our cgroup


if __name__ == "__main__":
    main()
