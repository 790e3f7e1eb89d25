"""Folders for what confined processes need on disk: each goes with its owner, or is cleared after its owner's death."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from contextlib import suppress
from pathlib import Path
from time import time

PREFIX = "arena-"
OWNER = "owner"
"""The file in such a folder that its owner keeps locked.

A lock tells the living from the dead where a process id cannot: ids are used again, and those of a container mean
nothing in the next one, though both may share a temporary folder. A record lock belongs to one process: nothing that
it has started holds the lock any longer than it does.
"""
FORSAKEN = 3600.0
"""Seconds after which a folder without such a file has no owner: it is locked at once where it is made, and so its
owner died in between, or was an arena that had no such file yet."""
_MADE_HERE = re.compile(PREFIX + r"[a-z0-9_]{8}")
"""What `mkdtemp` calls a folder of ours: what others call arena-something is theirs."""
_held: dict[str, int] = {}
"""The folders of this process, with the descriptors that hold their locks."""


def new_folder() -> str:
    """A folder of this process, which confined processes of other users can pass through but not look into."""
    while True:
        folder = tempfile.mkdtemp(prefix=PREFIX)
        if _hold(folder):
            os.chmod(folder, 0o711)  # noqa: PTH101, S103 - a confined process owns a folder in it, as another user
            return folder


def remove_folder(folder: str) -> None:
    """Removes a folder of this process with everything in it."""
    shutil.rmtree(folder, ignore_errors=True)
    descriptor = _held.pop(folder, None)
    if descriptor is not None:
        with suppress(OSError):
            os.close(descriptor)


def clear_left() -> list[str]:
    """Removes what processes of ours have left that did not come to remove it; which folders that were."""
    try:
        import fcntl
    except ImportError:  # no such locks here, and no confined processes either
        return []
    found = []
    for path in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        folder = str(path)
        if folder in _held:  # to open and close its file would let go of our own lock
            continue
        try:
            if path.is_symlink() or path.stat().st_uid != os.geteuid():
                continue
            if _is_forsaken(path):
                shutil.rmtree(folder, ignore_errors=True)
                found.append(folder)
                continue
            descriptor = os.open(path / OWNER, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC)
        except OSError:
            continue
        try:
            fcntl.lockf(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(folder, ignore_errors=True)
            found.append(folder)
        except OSError:  # its owner lives
            pass
        finally:
            os.close(descriptor)
    return found


def _is_forsaken(path: Path) -> bool:
    """Whether a folder of ours has nobody's lock, and has had long enough to get one."""
    if not _MADE_HERE.fullmatch(path.name) or os.path.lexists(path / OWNER):
        return False
    return path.is_dir() and path.stat().st_mtime < time() - FORSAKEN


def _hold(folder: str) -> bool:
    """Locks a folder that was made just now; False if somebody cleared it away before it was locked."""
    try:
        import fcntl
    except ImportError:
        return True
    path = Path(folder, OWNER)
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except FileNotFoundError:
        return False
    try:
        fcntl.lockf(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        kept = os.path.samestat(os.fstat(descriptor), path.stat())
    except OSError:
        kept = False
    if not kept:
        os.close(descriptor)
        return False
    _held[folder] = descriptor
    return True
