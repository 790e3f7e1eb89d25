"""How much memory a tree of processes takes in all, what they share counted once, and what the kernel keeps for them.

For where no cgroup counts it. What the kernel holds in pipes and sockets is no process's, and cannot be seen from
outside: each is counted with all that it could hold. The filter of system calls keeps them at their usual sizes.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from contextlib import suppress
from functools import cache
from pathlib import Path
from time import sleep

MEGABYTE = 1 << 20
_RESIDENT = re.compile(r"^Rss(?:Anon|Shmem):\s*(\d+) kB", re.MULTILINE)
_TABLES = re.compile(r"^VmPTE:\s*(\d+) kB", re.MULTILINE)
_SHARE = re.compile(r"^Pss_(?:Anon|Shmem):\s*(\d+) kB", re.MULTILINE)
_OPEN_FILES = re.compile(r"^Max open files\s+(\d+)", re.MULTILINE)
_UNDER_WAY = re.compile(r"^scm_fds:\s*0*[1-9]", re.MULTILINE)
_BLOCK = 512
_PIPE = 16 * os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 1 << 16
_USUAL_BUFFER = 212_992
_LARGEST_MESSAGE = 253
"""Descriptors that one message can take along."""
_ON_ITS_WAY = 0.01
"""Seconds after which an honest message has been taken."""


def exceeds(pids: Iterable[int], megabytes: int) -> bool:
    """Whether these processes take more than that, files in memory that they hold open (memfd) included."""
    found = list(pids)
    limit = megabytes * MEGABYTE
    if not _too_much(found, limit, _Opened(found).size):
        return False
    opened = _Opened(found)
    if opened.under_way:  # counted for much more than most of them are
        sleep(_ON_ITS_WAY)
        opened = _Opened(found)
    return _too_much(found, limit, opened.size)


def _too_much(pids: list[int], limit: int, opened: int) -> bool:
    left = limit - opened - sum(_sizes(pid, "status", _TABLES) for pid in pids)
    # What each has for itself is quick to tell, but counts what they share again and again: it says that all is well.
    if sum(_sizes(pid, "status", _RESIDENT) for pid in pids) <= left:
        return False
    return sum(_share(pid) for pid in pids) > left


def _share(pid: int) -> int:
    """A process's share of memory; all that it has where the shares are hidden from us."""
    try:
        text = Path(f"/proc/{pid}/smaps_rollup").read_text()
    except PermissionError:
        return _sizes(pid, "status", _RESIDENT)
    except OSError:  # it has ended
        return 0
    return 1024 * sum(map(int, _SHARE.findall(text)))


def _sizes(pid: int, file: str, sizes: re.Pattern[str]) -> int:
    with suppress(OSError):
        return 1024 * sum(map(int, sizes.findall(Path(f"/proc/{pid}/{file}").read_text())))
    return 0


@cache
def socket_size() -> int:
    """Bytes that a socket can hold: the kernel looks at its limit before it takes one more message, which may be as
    large as the limit."""
    try:
        return 2 * int(Path("/proc/sys/net/core/wmem_default").read_text())
    except (OSError, ValueError):
        return 2 * _USUAL_BUFFER


class _Opened:
    """What these processes have open that takes memory: files that exist in memory alone, pipes and sockets."""

    def __init__(self, pids: Iterable[int]) -> None:
        self._sizes: dict[str, int] = {}
        self.under_way = 0
        """Bytes for descriptors that are in a message. Those in turn may be sockets with such messages, which cannot
        be seen: so if there is one at all, as many are counted as the kernel lets a user have in messages."""
        for pid in pids:
            try:
                for descriptor in Path(f"/proc/{pid}/fd").iterdir():
                    with suppress(OSError):
                        self._add(descriptor, str(descriptor.readlink()))
            except PermissionError:
                self._sizes[str(pid)] = _all_hidden(pid)
            except OSError:  # it has ended
                continue

    def _add(self, descriptor: Path, target: str) -> None:
        if target.startswith("pipe:"):
            self._sizes[target] = _PIPE
        elif target.startswith("socket:"):
            self._sizes[target] = socket_size()
            if not self.under_way and _UNDER_WAY.search(
                (descriptor.parents[1] / "fdinfo" / descriptor.name).read_text()
            ):
                self.under_way = (_open_files(descriptor.parents[1]) + _LARGEST_MESSAGE) * socket_size()
        elif target.startswith("/memfd:"):
            about = descriptor.stat()
            self._sizes[f"{about.st_dev} {about.st_ino}"] = about.st_blocks * _BLOCK

    @property
    def size(self) -> int:
        """Bytes, in all."""
        return sum(self._sizes.values()) + self.under_way


def _all_hidden(pid: int) -> int:
    """For a process that hides what it has open: all that it could have, if it has not just ended."""
    return _open_files(Path(f"/proc/{pid}")) * socket_size() if _sizes(pid, "status", _RESIDENT) else 0


def _open_files(process: Path) -> int:
    with suppress(OSError):
        found = _OPEN_FILES.search((process / "limits").read_text())
        return int(found[1]) if found else 0
    return 0
