"""How much memory a tree of processes takes in all, what they share counted once."""

from __future__ import annotations

import re
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

MEGABYTE = 1 << 20
_RESIDENT = re.compile(r"^Rss(?:Anon|Shmem):\s*(\d+) kB", re.MULTILINE)
_SHARE = re.compile(r"^Pss_(?:Anon|Shmem):\s*(\d+) kB", re.MULTILINE)
_BLOCK = 512


def exceeds(pids: Iterable[int], megabytes: int) -> bool:
    """Whether these processes take more than that, files in memory that they hold open (memfd) included."""
    found = list(pids)
    limit = megabytes * MEGABYTE - _open_in_memory(found)
    # What each has for itself is quick to tell, but counts what they share again and again: it says that all is well.
    if sum(_sizes(pid, "status", _RESIDENT) for pid in found) <= limit:
        return False
    return sum(_sizes(pid, "smaps_rollup", _SHARE) for pid in found) > limit


def _sizes(pid: int, file: str, sizes: re.Pattern[str]) -> int:
    with suppress(OSError):
        return 1024 * sum(map(int, sizes.findall(Path(f"/proc/{pid}/{file}").read_text())))
    return 0


def _open_in_memory(pids: Iterable[int]) -> int:
    """Bytes of files that exist in memory alone, and that these processes have open, mapped or not."""
    files: dict[tuple[int, int], int] = {}
    for pid in pids:
        with suppress(OSError):
            for descriptor in Path(f"/proc/{pid}/fd").iterdir():
                with suppress(OSError):
                    if str(descriptor.readlink()).startswith("/memfd:"):
                        about = descriptor.stat()
                        files[about.st_dev, about.st_ino] = about.st_blocks * _BLOCK
    return sum(files.values())
