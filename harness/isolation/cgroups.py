"""Cgroups: one (v2) for each bot, in which the kernel limits memory and processes of everything the bot starts.

This needs the right to create cgroups: root, or a delegated one (`systemd-run --user --scope -p Delegate=yes arena
...`, and most desktop sessions). Elsewhere Arena adds up memory itself (`exceeds_memory`).
"""

from __future__ import annotations

import os
import re
import tempfile
from contextlib import suppress
from functools import cache
from pathlib import Path
from time import sleep

from harness.isolation.accounting import MEGABYTE, descendants_of

CONTROLLERS = ("memory", "pids")
ARENA_CGROUP = "arena-here"
"""Arena's own processes move here, because a cgroup with processes in it cannot hand controllers to children."""
_BOT_CGROUPS = "arena-*.*"
_OPTIONAL_FILES = ("memory.swap.max", "memory.oom.group")
"""Missing on kernels without swap and on old ones."""
_REMOVE_ATTEMPTS, _RETRY_DELAY_S = 100, 0.002


class Cgroup:
    """The cgroup of one bot."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @classmethod
    def create(cls, name: str, memory: int, processes: int) -> Cgroup | None:
        """Return an empty cgroup with these limits (megabytes, 0 for none; processes and threads), or None if not
        allowed.
        """
        parent = delegated_cgroup()
        if parent is None:
            return None
        made = cls(parent / name)
        limits = {
            "memory.max": memory * MEGABYTE or "max",
            "memory.swap.max": 0,
            "memory.oom.group": 1,
            "pids.max": processes,
        }
        try:
            made.path.mkdir()
            for file, value in limits.items():
                # Only files of controllers that are required; tests run without any.
                wanted = file.partition(".")[0] in CONTROLLERS
                # Not by the error of a write: opening a missing file would try to create it, which is not permitted.
                if wanted and (file not in _OPTIONAL_FILES or (made.path / file).exists()):
                    (made.path / file).write_text(str(value))
        except OSError:
            made.remove()
            return None
        return made

    @property
    def populated(self) -> bool:
        """Whether any process is in it."""
        return _read_counters(self.path / "cgroup.events").get("populated", 0) > 0

    @property
    def out_of_memory(self) -> bool:
        """Whether a process was killed at this cgroup's limit, not because the machine ran out of memory."""
        events = _read_counters(self.path / "memory.events")
        # "oom" counts reached limits of this cgroup; "oom_kill" alone can come from a shortage of the machine.
        return events.get("oom", 0) > 0 and events.get("oom_kill", 0) > 0

    def remove(self) -> None:
        """Kill what is left in it and delete it; dying processes get a moment."""
        with suppress(OSError):  # since Linux 5.14; the supervisor has killed everything already
            (self.path / "cgroup.kill").write_text("1")
        for _ in range(_REMOVE_ATTEMPTS):
            with suppress(OSError):
                self.path.rmdir()
            if not self.path.exists():
                return
            sleep(_RETRY_DELAY_S)


@cache
def delegated_cgroup() -> Path | None:
    """Return the cgroup in which limits for bots can be created, without leftovers of killed runs; None if there is
    none.

    Ancestors of our own cgroup are never changed, but used if they are set up already.
    """
    mine, around = (cgroups := _writable_cgroups())[:1], cgroups[1:]
    ways = (_has_controllers, _enable_controllers, _move_out_and_enable)
    fit = [folder for folder in mine if any(way(folder) for way in ways)]
    for folder in [*fit, *filter(_has_controllers, around)]:
        remove_stale_cgroups(folder)
        return folder
    return None


def remove_stale_cgroups(folder: Path) -> list[str]:
    """Delete empty cgroups of bots whose temporary folder is gone; return their paths."""
    found = []
    for path in folder.glob(_BOT_CGROUPS):
        if not Path(tempfile.gettempdir(), path.name.partition(".")[0]).exists():
            with suppress(OSError):  # something runs in it, or it belongs to another user
                path.rmdir()
                found.append(str(path))
    return found


def _writable_cgroups() -> list[Path]:
    """Return the cgroup of this process and its ancestors, as far as cgroups can be created in them."""
    try:
        own = _parse_own_cgroup(Path("/proc/self/mountinfo").read_text(), Path("/proc/self/cgroup").read_text())
    except OSError:
        return []
    if own is None:
        return []
    top, mine = own
    around = [mine, *(folder for folder in mine.parents if folder == top or top in folder.parents)]
    return [folder for folder in around if os.access(folder, os.W_OK) and os.access(folder / "cgroup.procs", os.W_OK)]


def _parse_own_cgroup(mounts: str, groups: str) -> tuple[Path, Path] | None:
    """Return the mount point of cgroups and the path of this process's cgroup, from mountinfo and /proc/self/cgroup."""
    mounted = re.search(r"^(?:\S+ ){3}(\S+) (\S+) .* - cgroup2 ", mounts, re.MULTILINE)
    group = re.search(r"^0::(/.*)$", groups, re.MULTILINE)
    if not mounted or not group:
        return None
    root, top = mounted[1], Path(mounted[2])
    # In a container the mount shows only a part of the hierarchy; our own cgroup may be outside of it.
    if root != "/" and not f"{group[1]}/".startswith(f"{root}/"):
        return None
    return top, top / group[1].removeprefix("" if root == "/" else root).lstrip("/")


def _has_controllers(folder: Path) -> bool:
    """Return whether children of this cgroup have the controllers."""
    return set(CONTROLLERS) <= _read_words(folder / "cgroup.subtree_control")


def _enable_controllers(folder: Path) -> bool:
    """Hand the controllers to children of this cgroup; return whether that worked."""
    if not set(CONTROLLERS) <= _read_words(folder / "cgroup.controllers"):
        return False
    try:
        (folder / "cgroup.subtree_control").write_text(" ".join(f"+{name}" for name in CONTROLLERS))
    except OSError:  # usually because it has processes
        return False
    return True


def _read_words(file: Path) -> set[str]:
    try:
        return set(file.read_text().split())
    except OSError:
        return set()


def _move_out_and_enable(folder: Path) -> bool:
    """Move our processes to a child cgroup, then enable the controllers; only if no other process is in this one."""
    with suppress(OSError, ValueError):
        inside = [int(word) for word in (folder / "cgroup.procs").read_text().split()]
        # Moving other users' processes would change their limits.
        if not {os.getpid()} <= set(inside) <= {os.getpid(), *descendants_of(os.getpid())}:
            return False
        if not set(CONTROLLERS) <= _read_words(folder / "cgroup.controllers"):
            return False
        ours = folder / ARENA_CGROUP
        ours.mkdir(exist_ok=True)
        for pid in inside:
            with suppress(ProcessLookupError):
                (ours / "cgroup.procs").write_text(str(pid))
        return _enable_controllers(folder)
    return False


def _read_counters(file: Path) -> dict[str, int]:
    """Return the counters of a file with lines "name number"."""
    try:
        return {name: int(value) for name, value in re.findall(r"^(\w+) (\d+)$", file.read_text(), re.MULTILINE)}
    except OSError:
        return {}
