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
_RESIDENT = re.compile(r"^RssAnon:\s*(\d+) kB", re.MULTILINE)
_TABLES = re.compile(r"^VmPTE:\s*(\d+) kB", re.MULTILINE)
_SHARE = re.compile(r"^Pss_Anon:\s*(\d+) kB", re.MULTILINE)
_SHARED = re.compile(r"^(\w+)-(\w+) ...s (\w+) \S+ (\d+) +/dev/zero \(deleted\)$", re.MULTILINE)
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
    left = limit - opened - sum(_sizes(pid, _TABLES) for pid in pids)
    # What each has for itself is quick to tell, but counts what they share again and again: it says that all is well.
    if sum(_sizes(pid, _RESIDENT) for pid in pids) <= left:
        return False
    return sum(_share(pid) for pid in pids) > left


def _share(pid: int) -> int:
    """A process's share of memory; all that it has where the shares are hidden from us, or its first thread is over."""
    found = []
    with suppress(OSError):
        found = _SHARE.findall(Path(f"/proc/{pid}/smaps_rollup").read_text())
    return 1024 * sum(map(int, found)) if found else _sizes(pid, _RESIDENT)


def _sizes(pid: int, sizes: re.Pattern[str]) -> int:
    with suppress(OSError):
        return 1024 * sum(map(int, sizes.findall((_place(pid) / "status").read_text())))
    return 0


def _place(pid: int) -> Path:
    """Where /proc tells of a process: at one of its threads if the first has ended, and the others live on."""
    own = Path(f"/proc/{pid}")
    with suppress(OSError):
        if (own / "stat").read_text().rpartition(")")[2].split()[0] == "Z":
            return next((one for one in (own / "task").iterdir() if one.name != str(pid)), own)
    return own


@cache
def socket_size() -> int:
    """Bytes that a socket can hold: the kernel looks at its limit before it takes one more message, which may be as
    large as the limit."""
    try:
        return 2 * int(Path("/proc/sys/net/core/wmem_default").read_text())
    except (OSError, ValueError):
        return 2 * _USUAL_BUFFER


class _Opened:
    """What they have that takes memory and is not one's own: what they share, files in memory, pipes and sockets."""

    def __init__(self, pids: Iterable[int]) -> None:
        self._sizes: dict[str, int] = {}
        self.under_way = 0
        """Bytes for descriptors that are in a message. Those in turn may be sockets with such messages, which cannot
        be seen: so if there is one at all, as many are counted as the kernel lets a user have in messages."""
        for pid in pids:
            place = _place(pid)
            self._add_shared(place)
            try:
                for descriptor in (place / "fd").iterdir():
                    with suppress(OSError):
                        self._add(descriptor, str(descriptor.readlink()))
            except PermissionError:
                self._sizes[str(pid)] = _all_hidden(pid)
            except OSError:  # it has ended
                continue

    def _add_shared(self, place: Path) -> None:
        """Memory that processes share, all of it: what of it they have mapped and dropped still takes its room."""
        with suppress(OSError):
            for begin, end, offset, number in _SHARED.findall((place / "maps").read_text()):
                name = f"shared {number}"
                reach = int(offset, 16) + int(end, 16) - int(begin, 16)
                self._sizes[name] = max(self._sizes.get(name, 0), reach)

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
    return _open_files(Path(f"/proc/{pid}")) * socket_size() if _sizes(pid, _RESIDENT) else 0


def _open_files(process: Path) -> int:
    with suppress(OSError):
        found = _OPEN_FILES.search((process / "limits").read_text())
        return int(found[1]) if found else 0
    return 0
