"""The Linux kernel's calls that Python has no words for. Each raises OSError where the kernel refuses."""

from __future__ import annotations

import ctypes
import os
import sys

from harness.sandbox.system_calls import number_of

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
PR_SET_DUMPABLE = 4
_PR_CAPBSET_DROP = 24
PR_SET_CHILD_SUBREAPER = 36
_PR_SET_NO_NEW_PRIVS = 38
_KEYCTL_JOIN_SESSION_KEYRING = 1
_CAP_VERSION = 0x2008_0522
_LAST_CAP = 63

# These numbers are the same on every architecture that Linux has learned in this century.
_SYS_MOUNT_SETATTR = 442


def _libc() -> ctypes.CDLL:
    if sys.platform != "linux":
        raise OSError("this needs Linux")
    return ctypes.CDLL(None, use_errno=True)


def checked(result: int, what: str) -> int:
    """The result of a call; -1 raises OSError with the reason."""
    if result == -1:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")
    return result


def syscall(number: int, what: str, *args: object) -> int:
    """A system call by its number."""
    return checked(_libc().syscall(number, *args), what)


def unshare(flags: int) -> None:
    """Gives this process (for CLONE_NEWPID: its children) namespaces of its own."""
    checked(_libc().unshare(flags), "unshare")


def prctl(option: int, value: int) -> None:
    """Sets an attribute of this process."""
    checked(_libc().prctl(option, value, 0, 0, 0), "prctl")


def prctl_pointer(option: int, value: int, pointer: object) -> None:
    """Sets an attribute of this process that is told by something in memory."""
    checked(_libc().prctl(option, ctypes.c_ulong(value), pointer, 0, 0), "prctl")


def new_session_keyring() -> None:
    """Leaves the keyring that this process shares with all of the operator's session, for an empty one."""
    number = number_of("keyctl", os.uname().machine)
    if number is None:
        raise OSError("the number of keyctl is not known here")
    syscall(number, "keyctl", _KEYCTL_JOIN_SESSION_KEYRING, None)


def mount(source: str | None, target: str, kind: str | None, flags: int, data: str = "") -> None:
    """Mounts something."""
    parts = [None if part is None else os.fsencode(part) for part in (source, target, kind)]
    checked(_libc().mount(*parts, ctypes.c_ulong(flags), os.fsencode(data) or None), f"mount {target}")


def set_read_only(path: str, recursive: bool = True) -> None:
    """Makes a mount, and those below it, read-only and deaf to set-uid bits.

    Where we may, also without access times: a file that one bot reads would tell another.
    """
    try:
        _set_attributes(path, recursive, _ATTR_RDONLY | _ATTR_NOSUID | _ATTR_NOATIME, _ATTR_ALL_ATIME)
    except OSError:
        _set_attributes(path, recursive, _ATTR_RDONLY | _ATTR_NOSUID, 0)


def _set_attributes(path: str, recursive: bool, wanted: int, cleared: int) -> None:
    attributes = (ctypes.c_uint64 * 4)(wanted, cleared, 0, 0)
    flags = _AT_RECURSIVE if recursive else 0
    syscall(
        _SYS_MOUNT_SETATTR, "mount_setattr", _AT_FDCWD, os.fsencode(path), flags, ctypes.byref(attributes),
        ctypes.c_size_t(ctypes.sizeof(attributes)),
    )  # fmt: skip


def unmount(path: str) -> None:
    """Takes a mount away, whoever is still using it."""
    checked(_libc().umount2(os.fsencode(path), _MNT_DETACH), "umount2")


def change_root(path: str) -> None:
    """Makes a mount the root of this process's file system, and lets go of the old root."""
    os.chdir(path)
    checked(_libc().pivot_root(b".", b"."), "pivot_root")
    unmount(".")
    os.chdir("/")


def no_new_privileges() -> None:
    """From now on no program gives this process more rights than it has."""
    prctl(_PR_SET_NO_NEW_PRIVS, 1)


def drop_bounding_set() -> None:
    """No program that is executed from now on gets any capability, not even for root."""
    for capability in range(_LAST_CAP + 1):
        try:
            prctl(_PR_CAPBSET_DROP, capability)
        except OSError:  # no such capability, or it was never ours to give
            continue


def drop_capabilities() -> None:
    """Gives up every capability."""
    header = (ctypes.c_uint32 * 2)(_CAP_VERSION, 0)
    nothing = (ctypes.c_uint32 * 6)()
    checked(_libc().capset(ctypes.byref(header), ctypes.byref(nothing)), "capset")
