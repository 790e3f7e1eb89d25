"""System calls that Python lacks: namespaces, mounts, capabilities, filters. Each raises OSError if the kernel refuses.

Standard library only: the supervisor imports this file.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import ClassVar

from harness.isolation.seccomp import Instruction, syscall_number

_CLONE_PARENT = 0x0000_8000
CLONE_NEWNS = 0x0002_0000
CLONE_NEWUTS = 0x0400_0000
CLONE_NEWIPC = 0x0800_0000
CLONE_NEWUSER = 0x1000_0000
CLONE_NEWPID = 0x2000_0000
CLONE_NEWNET = 0x4000_0000

MS_NOSUID, MS_NODEV, MS_NOEXEC = 2, 4, 8
MS_BIND, MS_REC, MS_PRIVATE = 0x1000, 0x4000, 0x4_0000
_MNT_DETACH = 2
_AT_FDCWD, _AT_RECURSIVE = -100, 0x8000
_ATTR_RDONLY, _ATTR_NOSUID, _ATTR_NOATIME, _ATTR_ALL_ATIME = 1, 2, 0x10, 0x70

PR_SET_PDEATHSIG = 1
_PR_CAPBSET_DROP = 24
_PR_SET_NO_NEW_PRIVS = 38
_PR_SET_SECCOMP, _MODE_FILTER = 22, 2
_KEYCTL_JOIN_SESSION_KEYRING = 1
_CAP_VERSION = 0x2008_0522
_LAST_CAP = 63

# This number is the same on all architectures: calls added since 2019 share one table.
_SYS_MOUNT_SETATTR = 442


def _libc() -> ctypes.CDLL:
    if sys.platform != "linux":
        raise OSError("this needs Linux")
    return ctypes.CDLL(None, use_errno=True)


def _check_result(result: int, what: str) -> int:
    """Return the result of a call; raise OSError for -1."""
    if result == -1:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")
    return result


def syscall(number: int, what: str, *args: object) -> int:
    """Make a system call by its number."""
    return _check_result(_libc().syscall(number, *args), what)


def sibling_fork() -> Callable[[object], int]:
    """Return a function like os.fork for a process with one thread: its forks are children of this process's parent.

    Its argument is ignored. It returns -1 where os.fork raises an error, and runs no Python code.
    """
    number = syscall_number("clone", os.uname().machine)
    if number is None:
        raise OSError("the number of clone is not known here")
    flags = ctypes.c_size_t(_CLONE_PARENT | signal.SIGCHLD)
    return partial(ctypes.PyDLL(None).syscall, number, flags, None, None, None, None)


def set_command_line(text: str) -> None:
    """Replace what other programs show as the command line of this process, as far as there is room."""
    start, end = map(int, Path("/proc/self/stat").read_text().rpartition(")")[2].split()[45:47])
    ctypes.memmove(start, text.encode()[: end - start - 1].ljust(end - start, b"\0"), end - start)


def unshare(flags: int) -> None:
    """Move this process (with CLONE_NEWPID: its children) into new namespaces."""
    _check_result(_libc().unshare(flags), "unshare")


def prctl(option: int, value: int) -> None:
    """Set an attribute of this process."""
    _check_result(_libc().prctl(option, value, 0, 0, 0), "prctl")


def new_session_keyring() -> None:
    """Replace the session keyring, shared with the operator's login session, by an empty one."""
    number = syscall_number("keyctl", os.uname().machine)
    if number is None:
        raise OSError("the number of keyctl is not known here")
    syscall(number, "keyctl", _KEYCTL_JOIN_SESSION_KEYRING, None)


def mount(source: str | None, target: str, kind: str | None, flags: int, data: str = "") -> None:
    """Call mount(2)."""
    parts = [None if part is None else os.fsencode(part) for part in (source, target, kind)]
    _check_result(_libc().mount(*parts, ctypes.c_ulong(flags), os.fsencode(data) or None), f"mount {target}")


def set_read_only(path: str) -> None:
    """Make a mount, and those below it, read-only and without set-uid.

    Where allowed, access times are off: they would show one bot which files another has read.
    """
    try:
        _set_attributes(path, _ATTR_RDONLY | _ATTR_NOSUID | _ATTR_NOATIME, _ATTR_ALL_ATIME)
    except OSError:
        _set_attributes(path, _ATTR_RDONLY | _ATTR_NOSUID, 0)


def _set_attributes(path: str, wanted: int, cleared: int) -> None:
    attributes = (ctypes.c_uint64 * 4)(wanted, cleared, 0, 0)
    syscall(
        _SYS_MOUNT_SETATTR, "mount_setattr", _AT_FDCWD, os.fsencode(path), _AT_RECURSIVE, ctypes.byref(attributes),
        ctypes.c_size_t(ctypes.sizeof(attributes)),
    )  # fmt: skip


def unmount(path: str) -> None:
    """Detach a mount, even if it is in use."""
    _check_result(_libc().umount2(os.fsencode(path), _MNT_DETACH), "umount2")


def change_root(path: str) -> None:
    """Make a mount the root of this process's file system and detach the old root."""
    os.chdir(path)
    # With "." for both, the old root is mounted over the new one, so "." is what has to be detached afterwards.
    _check_result(_libc().pivot_root(b".", b"."), "pivot_root")
    unmount(".")
    os.chdir("/")


def no_new_privileges() -> None:
    """Keep set-uid programs from giving this process more rights. Landlock and seccomp require it."""
    prctl(_PR_SET_NO_NEW_PRIVS, 1)


def drop_bounding_set() -> None:
    """Empty the capability bounding set: executed programs get no capability, not even as root."""
    for capability in range(_LAST_CAP + 1):
        with suppress(OSError):  # no such capability, or no right to drop it
            prctl(_PR_CAPBSET_DROP, capability)


def drop_capabilities() -> None:
    """Drop all capabilities."""
    header = (ctypes.c_uint32 * 2)(_CAP_VERSION, 0)
    nothing = (ctypes.c_uint32 * 6)()
    _check_result(_libc().capset(ctypes.byref(header), ctypes.byref(nothing)), "capset")


class _SockFilter(ctypes.Structure):
    _fields_: ClassVar = [
        ("code", ctypes.c_uint16), ("if_so", ctypes.c_uint8), ("if_not", ctypes.c_uint8), ("number", ctypes.c_uint32),
    ]  # fmt: skip


class _SockFprog(ctypes.Structure):
    _fields_: ClassVar = [("length", ctypes.c_uint16), ("filter", ctypes.POINTER(_SockFilter))]


def install_program(program: Iterable[Instruction]) -> None:
    """Install a BPF program in this process, for good. Needs `no_new_privileges` first; raises OSError where it is
    unsupported.
    """
    steps = [_SockFilter(code, jump_true, jump_false, number) for code, number, jump_true, jump_false in program]
    filters = (_SockFilter * len(steps))(*steps)
    program_at = ctypes.byref(_SockFprog(len(steps), filters))
    _check_result(_libc().prctl(_PR_SET_SECCOMP, ctypes.c_ulong(_MODE_FILTER), program_at, 0, 0), "prctl")
