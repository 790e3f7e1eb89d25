"""A program that tries what a stranger's bot must not be able to do, and tells what stopped it. `probe` runs it.

Run as a script: it gets a line of JSON that says what to try it on, and answers with one.
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

MANY = 200
REFUSALS = (errno.EPERM, errno.ENOSYS, errno.ENOLCK, errno.EAFNOSUPPORT)
"""How a filter answers. A call that is let through complains of its arguments instead, which are nonsense."""
_NEW_USER_NAMESPACE = 0x1000_0000
_SET_LEASE = 1024
_DATAGRAMS = socket.SOCK_DGRAM
FAMILIES = {"inet": 2, "inet6": 10, "netlink": 16, "packet": 17, "alg": 38, "vsock": 40}
"""Sockets that lead out of a process, by what the kernel calls them."""

COUNTERS = ("/proc/loadavg", "/proc/vmstat", "/proc/sys/fs/file-nr", "/proc/sys/kernel/pty/nr")


def eats_memory(given: dict[str, Any]) -> None:
    """Allocates twice what it may have."""
    bytearray(2 * given["memory"] << 20)


def burns_time(_given: dict[str, Any]) -> None:
    """Looks whether its processor time has an end."""
    if resource.getrlimit(resource.RLIMIT_CPU)[1] != resource.RLIM_INFINITY:
        raise OSError


def forks(_given: dict[str, Any]) -> None:
    """Starts many processes."""
    children = []
    try:
        for _ in range(MANY):
            child = os.fork()
            if child == 0:
                signal.pause()
            children.append(child)
    finally:
        for child in children:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)


def writes(given: dict[str, Any]) -> None:
    """Writes to a folder that everybody may write to."""
    Path(given["folder"], "written").write_text("here I was")


def reads(given: dict[str, Any]) -> None:
    """Reads a file that everybody may read."""
    Path(given["folder"], "secret").read_text()


def connects(given: dict[str, Any]) -> None:
    """Connects to a port of this machine."""
    socket.create_connection(("127.0.0.1", given["port"]), 2).close()


def sends(given: dict[str, Any]) -> None:
    """Sends a datagram to a port of this machine."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
        sender.sendto(b"here I am", ("127.0.0.1", given["port"]))


def opens_sockets(_given: dict[str, Any]) -> list[str]:
    """Opens sockets of all kinds that lead out of a process."""
    return [name for name, family in FAMILIES.items() if not _refused(partial(socket.socket, family, _DATAGRAMS))]


def reaches_sockets(given: dict[str, Any]) -> None:
    """Connects to another process by a path."""
    with socket.socket(socket.AF_UNIX) as there:
        there.connect(given["socket"])


def signals_others(given: dict[str, Any]) -> None:
    """Reaches a process that is not its own."""
    os.kill(given["pid"], 0)


def sees_others(given: dict[str, Any]) -> None:
    """Looks at a process that is not its own."""
    Path("/proc", str(given["pid"]), "cmdline").stat()


def inherits(given: dict[str, Any]) -> None:
    """Looks for what is left over from the process that started it."""
    open_ones = []
    for number in range(3, 256):
        with suppress(OSError):
            os.fstat(number)
            open_ones.append(number)
    if not open_ones and given["variable"] not in os.environ:
        raise OSError


def passes_notes(given: dict[str, Any]) -> list[str]:
    """Calls all that two bots could talk by."""
    return [*_calls(given["channels"]), *_locks()]


def reads_counters(_given: dict[str, Any]) -> list[str]:
    """Reads what the kernel counts for the whole machine: one bot changes it, another reads it."""
    found = []
    for path in COUNTERS:
        with suppress(OSError):
            Path(path).read_bytes()
            found.append(path)
    return found


def enters_kernel(given: dict[str, Any]) -> list[str]:
    """Calls all that leads into the kernel or to the machine itself."""
    found = _calls(given["risks"])
    return found if _refused(partial(_new_namespace, given["clone"])) else [*found, "clone with a namespace"]


def _calls(numbers: dict[str, int]) -> list[str]:
    """Those of these calls that are let through."""
    if not numbers:
        return [f"all system calls: there is no list of them for {os.uname().machine}"]
    return [name for name, number in numbers.items() if not _refused(partial(_call, number))]


def _call(number: int) -> None:
    nonsense = [ctypes.c_long(-1)] * 6
    if ctypes.CDLL(None, use_errno=True).syscall(ctypes.c_long(number), *nonsense) == -1:
        raise OSError(ctypes.get_errno(), "")


def _new_namespace(clone: int) -> None:
    """A process in a namespace of its own, by the call whose flags the filter must look at."""
    libc = ctypes.CDLL(None, use_errno=True)
    child = libc.syscall(ctypes.c_long(clone), ctypes.c_long(_NEW_USER_NAMESPACE | signal.SIGCHLD), 0, 0, 0, 0)
    if child == 0:
        os._exit(0)
    if child == -1:
        raise OSError(ctypes.get_errno(), "")
    os.waitpid(child, 0)


def _locks() -> list[str]:
    """Ways to lock a file that everybody reads."""
    with Path(sys.executable).open("rb") as file:
        ways: dict[str, Callable[[], object]] = {
            "fcntl": lambda: fcntl.lockf(file, fcntl.LOCK_SH | fcntl.LOCK_NB),
            "lease": lambda: fcntl.fcntl(file, _SET_LEASE, fcntl.F_RDLCK),
        }
        return [name for name, lock in ways.items() if not _refused(lock)]


def _refused(attempt: Callable[[], object]) -> bool:
    """Whether something is answered with a refusal."""
    try:
        attempt()
    except OSError as error:
        return error.errno in REFUSALS
    return False


ATTEMPTS: tuple[Callable[[dict[str, Any]], list[str] | None], ...] = (
    eats_memory, burns_time, forks, writes, reads, connects, sends, opens_sockets, reaches_sockets, signals_others,
    sees_others, inherits, passes_notes, reads_counters, enters_kernel,
)  # fmt: skip


def main() -> None:
    """Tries everything; answers with what got through, by the attempt's name: nothing where it was stopped."""
    given = json.loads(sys.stdin.readline())
    through: dict[str, list[str]] = {}
    for attempt in ATTEMPTS:
        try:
            got = attempt(given)
        except (OSError, MemoryError):
            got = []
        through[attempt.__name__] = [attempt.__name__.replace("_", " ")] if got is None else got
    sys.stdout.write(json.dumps(through) + "\n")
    sys.stdout.flush()
    sys.stdin.read()  # until it is ended: there is still something to be seen from outside


if __name__ == "__main__":
    main()
