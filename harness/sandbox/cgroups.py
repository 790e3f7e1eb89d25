"""One limit of memory and processes for all that a bot starts, kept by the kernel: a cgroup (v2) for each bot.

Where the user who runs arena may make cgroups: root, or who was given some (systemd: `systemd-run --user --scope
-p Delegate=yes arena ...`, and most desktop sessions). Elsewhere arena adds up by itself (`memory`).
"""

from __future__ import annotations

import os
import re
import tempfile
from contextlib import suppress
from functools import cache
from pathlib import Path
from time import sleep

from harness.sandbox.tree import descendants_of

CONTROLLERS = ("memory", "pids")
MEGABYTE = 1 << 20
OURS = "arena-here"
"""The cgroup for arena itself, where its own has to be divided: no process may be in one that is."""
_OF_BOTS = "arena-*.*"
_NOT_EVERYWHERE = ("memory.swap.max", "memory.oom.group")
"""Settings that a kernel without swap, or an old one, does not have."""
_TRIES, _PAUSE = 100, 0.002


class Cgroup:
    """The cgroup of one bot."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @classmethod
    def make(cls, name: str, memory: int, processes: int) -> Cgroup | None:
        """An empty one with these limits (megabytes, 0 for none; processes and threads); None where we may not."""
        parent = place()
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
                if file.partition(".")[0] in CONTROLLERS:
                    made._set(file, value)
        except OSError:
            made.remove()
            return None
        return made

    def _set(self, file: str, value: object) -> None:
        try:
            (self.path / file).write_text(str(value))
        except FileNotFoundError:
            if file not in _NOT_EVERYWHERE:
                raise

    @property
    def populated(self) -> bool:
        """Whether anything runs in it."""
        return _entries(self.path / "cgroup.events").get("populated", 0) > 0

    @property
    def out_of_memory(self) -> bool:
        """Whether something in it was killed because it had reached its limit, not because the machine was short."""
        events = _entries(self.path / "memory.events")
        return events.get("oom", 0) > 0 and events.get("oom_kill", 0) > 0

    def remove(self) -> None:
        """Kills what is left in it, and takes it away; what is still dying is given a moment."""
        with suppress(OSError):  # since Linux 5.14; the warden has killed everything before
            (self.path / "cgroup.kill").write_text("1")
        for _ in range(_TRIES):
            try:
                self.path.rmdir()
            except FileNotFoundError:
                return
            except OSError:
                sleep(_PAUSE)
            else:
                return


@cache
def place() -> Path | None:
    """The cgroup in which we can make others with limits, cleared of what killed runs have left; None if there is none.

    Those around our own are not ours to change, but may be as we need them.
    """
    line = _line()
    mine, around = line[:1], line[1:]
    fit = [folder for folder in mine if _divided(folder) or _can_divide(folder) or _made_room(folder)]
    for folder in [*fit, *filter(_divided, around)]:
        clear_left(folder)
        return folder
    return None


def clear_left(folder: Path) -> list[str]:
    """Removes the empty cgroups of bots whose owner is no more, as the folder shows that they are named by."""
    found = []
    for path in folder.glob(_OF_BOTS):
        if not Path(tempfile.gettempdir(), path.name.partition(".")[0]).exists():
            with suppress(OSError):  # something runs in it, or it is somebody else's
                path.rmdir()
                found.append(str(path))
    return found


def _line() -> list[Path]:
    """The cgroup of this process and those around it, as far as we may make others in them."""
    try:
        own = _own(Path("/proc/self/mountinfo").read_text(), Path("/proc/self/cgroup").read_text())
    except OSError:
        return []
    if own is None:
        return []
    top, mine = own
    around = [mine, *(folder for folder in mine.parents if folder == top or top in folder.parents)]
    return [folder for folder in around if os.access(folder, os.W_OK) and os.access(folder / "cgroup.procs", os.W_OK)]


def _own(mounts: str, groups: str) -> tuple[Path, Path] | None:
    """Where cgroups begin, and where this process is in them, by what the kernel says of both."""
    mounted = re.search(r"^(?:\S+ ){3}(\S+) (\S+) .* - cgroup2 ", mounts, re.MULTILINE)
    group = re.search(r"^0::(/.*)$", groups, re.MULTILINE)
    if not mounted or not group:
        return None
    root, top = mounted[1], Path(mounted[2])
    if root != "/" and not f"{group[1]}/".startswith(f"{root}/"):
        return None
    return top, top / group[1].removeprefix("" if root == "/" else root).lstrip("/")


def _divided(folder: Path) -> bool:
    """Whether this cgroup hands its controllers on to those in it."""
    return set(CONTROLLERS) <= _words(folder / "cgroup.subtree_control")


def _can_divide(folder: Path) -> bool:
    """Whether it does so from now on."""
    if not set(CONTROLLERS) <= _words(folder / "cgroup.controllers"):
        return False
    try:
        (folder / "cgroup.subtree_control").write_text(" ".join(f"+{name}" for name in CONTROLLERS))
    except OSError:  # most often because there are processes in it
        return False
    return True


def _words(file: Path) -> set[str]:
    try:
        return set(file.read_text().split())
    except OSError:
        return set()


def _made_room(folder: Path) -> bool:
    """Whether this cgroup could be divided once we had gone out of it: only if nobody else is in it."""
    with suppress(OSError, ValueError):
        inside = [int(word) for word in (folder / "cgroup.procs").read_text().split()]
        if not {os.getpid()} <= set(inside) <= {os.getpid(), *descendants_of(os.getpid())}:
            return False
        if not set(CONTROLLERS) <= _words(folder / "cgroup.controllers"):
            return False
        ours = folder / OURS
        ours.mkdir(exist_ok=True)
        for pid in inside:
            with suppress(ProcessLookupError):
                (ours / "cgroup.procs").write_text(str(pid))
        return _can_divide(folder)
    return False


def _entries(file: Path) -> dict[str, int]:
    """The numbers in a file of names and numbers."""
    try:
        return {name: int(value) for name, value in re.findall(r"^(\w+) (\d+)$", file.read_text(), re.MULTILINE)}
    except OSError:
        return {}
