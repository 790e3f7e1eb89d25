"""Landlock: what a process may read, write and connect to, decided by itself and never to be undone."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import ClassVar

from harness.sandbox.kernel import syscall

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_VERSION = 1
_PATH_BENEATH = 1

_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
_TRUNCATE = 1 << 14
_READ = _EXECUTE | _READ_FILE | _READ_DIR
_OF_FILES = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE | 1 << 15
"""Rights that make sense for something that is not a folder."""
_RIGHTS = {1: (1 << 13) - 1, 2: (1 << 14) - 1, 3: (1 << 15) - 1, 4: (1 << 15) - 1, 5: (1 << 16) - 1}
"""All rights over files that each version of Landlock knows; later ones add none."""
_TCP = 0b11
_SCOPES = 0b11
_TCP_SINCE, _SCOPES_SINCE = 4, 6


class _Ruleset(ctypes.Structure):
    _fields_: ClassVar = [("fs", ctypes.c_uint64), ("net", ctypes.c_uint64), ("scoped", ctypes.c_uint64)]


class _Beneath(ctypes.Structure):
    _pack_ = 1
    _fields_: ClassVar = [("rights", ctypes.c_uint64), ("parent", ctypes.c_int32)]


def version() -> int:
    """Which Landlock this kernel has; 0 is none."""
    try:
        return syscall(_CREATE_RULESET, "landlock", None, ctypes.c_size_t(0), ctypes.c_uint32(_VERSION))
    except OSError:
        return 0


def restrict(readable: Iterable[str], writable: Iterable[str], listed: Iterable[str] = ()) -> None:
    """This process may read and execute what lies under these paths, write under those, and open no TCP connection.

    Under the third ones it may see which files there are.

    Needs `no_new_privileges` before. Raises OSError where the kernel has no Landlock.
    """
    known = version()
    if not known:
        raise OSError("this kernel has no Landlock")
    every = _RIGHTS[min(known, max(_RIGHTS))]
    rules = _Ruleset(every, _TCP if known >= _TCP_SINCE else 0, _SCOPES if known >= _SCOPES_SINCE else 0)
    size = 8 if known < _TCP_SINCE else 16 if known < _SCOPES_SINCE else 24
    ruleset = syscall(_CREATE_RULESET, "landlock", ctypes.byref(rules), ctypes.c_size_t(size), ctypes.c_uint32(0))
    try:
        for path in readable:
            _allow(ruleset, path, _READ)
        for path in listed:
            _allow(ruleset, path, _READ_DIR)
        for path in writable:
            _allow(ruleset, path, every)
        syscall(_RESTRICT_SELF, "landlock", ruleset, ctypes.c_uint32(0))
    finally:
        os.close(ruleset)


def _allow(ruleset: int, path: str, rights: int) -> None:
    with suppress(FileNotFoundError, PermissionError):  # what is not there for us needs no leave
        opened = os.open(path, os.O_PATH | os.O_CLOEXEC)
        try:
            beneath = _Beneath(rights if Path(path).is_dir() else rights & _OF_FILES, opened)
            syscall(_ADD_RULE, "landlock", ruleset, _PATH_BENEATH, ctypes.byref(beneath), ctypes.c_uint32(0))
        finally:
            os.close(opened)
