"""A file system for one bot: what it needs to run, read-only, an empty scratch folder, and nothing else."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from harness.sandbox import kernel

SCRATCH = "/scratch"
SYSTEM = ("/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/usr", "/opt", "/nix/store")
"""Where programs and their libraries live."""
SETTINGS = (
    "/etc/alternatives", "/etc/group", "/etc/hosts", "/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d",
    "/etc/localtime", "/etc/mime.types", "/etc/nsswitch.conf", "/etc/passwd", "/etc/ssl/openssl.cnf", "/etc/timezone",
)  # fmt: skip
"""Settings that programs look for and that tell no secrets."""
_READABLE_BY_ALL = 0o005
_NOT_USED = ("Buffers", "Cached", "SwapCached", "SwapTotal", "SwapFree", "Shmem")
DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")


def visible_paths(readable: Iterable[str], hidden: Iterable[str] = ()) -> list[str]:
    """These paths and the system's, those inside another one left out; a folder comes before what it holds.

    A folder that holds something hidden is replaced by what else is in it.
    """
    wanted = {*(str(Path(one).absolute()) for one in readable), *SYSTEM, *SETTINGS}
    wanted |= {str(one) for one in Path("/etc").glob("java-*")}  # where Debian keeps a part of each Java
    secret = [one for one in map(os.path.realpath, hidden) if not any(_holds(one, folder) for folder in SYSTEM)]
    kept: list[str] = []
    for path in sorted({shown for one in wanted for shown in _without(one, secret)}):
        inside = any(path.startswith(other + "/") for other in kept)
        if not inside and path != "/" and (Path(path).exists() or Path(path).is_symlink()):
            kept.append(path)
    return kept


def _holds(folder: str, path: str) -> bool:
    return path == folder or path.startswith(folder.rstrip("/") + "/")


def _without(path: str, secret: list[str]) -> list[str]:
    """This path, or what of it does not hold anything secret."""
    if not any(_holds(path, one) and one != path for one in secret) or Path(path).is_symlink():
        return [path]
    with suppress(OSError):
        inner = [str(one) for one in Path(path).iterdir()]
        return [shown for one in inner if one not in secret for shown in _without(one, secret)]
    return []


def enter(folder: str, visible: Iterable[str], owner: int, scratch_mb: int) -> None:
    """Moves this process into the jail, built on the empty folder `folder`. Needs a mount namespace of its own.

    `visible` is what `visible_paths` makes of what the process needs, `owner` the user whom the scratch folder belongs
    to. Raises OSError where the kernel refuses a step.
    """
    safe = kernel.MS_NOSUID | kernel.MS_NODEV
    kernel.mount(None, "/", None, kernel.MS_REC | kernel.MS_PRIVATE)
    kernel.mount("tmpfs", folder, "tmpfs", safe, "size=8m,mode=755")
    try:
        _build(Path(folder), visible)
        # The scratch folder comes last: it is the one place that stays writable.
        size = f"size={scratch_mb}m,nr_inodes=10000,mode=700,uid={owner},gid={owner}"
        kernel.mount("tmpfs", folder + SCRATCH, "tmpfs", safe, size)
        kernel.change_root(folder)
    except OSError:
        kernel.unmount(folder)
        raise


def _build(root: Path, visible: Iterable[str]) -> None:
    paths = [Path(path) for path in visible]
    for path in sorted(paths, key=Path.is_symlink):  # links last: what they lead to may be there already
        _show(path, root)
    for device in DEVICES:
        _bind(Path(device), _inside(root, device))
    for link, target in (("tmp", SCRATCH), ("dev/shm", SCRATCH), ("dev/fd", "/proc/self/fd")):
        if not (root / link).exists():  # something that is needed may live there
            (root / link).symlink_to(target)
    _inside(root, SCRATCH).mkdir()
    (root / "proc").mkdir()
    show_processes(root / "proc", root / ".proc")
    kernel.set_read_only(str(root))


def show_processes(place: Path, told: Path) -> None:
    """Mounts a /proc at `place` that tells of this namespace's processes, and of the machine what never changes.

    What else /proc says of the machine (loadavg, stat, sys/fs/file-nr ...) one bot can change and another read. The
    kernel's own `subset=pid` would leave out the processor's features as well, without which PyTorch is slow. What is
    told instead lies in the folder `told`.
    """
    kernel.mount("proc", str(place), "proc", kernel.MS_NOSUID | kernel.MS_NODEV | kernel.MS_NOEXEC, "hidepid=2")
    nothing, closed = told / "nothing", told / "closed"
    nothing.mkdir(parents=True)
    closed.touch(mode=0)
    for name, text in _constants().items():
        (told / name).write_text(text)
    for entry in place.iterdir():
        if not entry.is_symlink() and not entry.name.isdigit():  # links lead to processes: self, mounts, net
            own = told / entry.name
            cover = own if own.is_file() else nothing if entry.is_dir() else closed
            kernel.mount(str(cover), str(entry), None, kernel.MS_BIND)


def _constants() -> dict[str, str]:
    """Files of /proc that programs look into for the machine's size and kind, without what changes in them."""
    found = {}
    with suppress(OSError):
        found["version"] = Path("/proc/version").read_text()
        found["cpuinfo"] = re.sub(r"^cpu MHz.*\n", "", Path("/proc/cpuinfo").read_text(), flags=re.MULTILINE)
        lines = re.findall(r"^(?:cpu\d*|btime \d+)", Path("/proc/stat").read_text(), re.MULTILINE)
        found["stat"] = "".join(line + " 0" * 10 * line.startswith("cpu") + "\n" for line in lines)
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 1024
    sizes = dict.fromkeys(("MemTotal", "MemFree", "MemAvailable"), memory) | dict.fromkeys(_NOT_USED, 0)
    found["meminfo"] = "".join(f"{name + ':':<15}{size:>9} kB\n" for name, size in sizes.items())
    return found


def _inside(root: Path, path: Path | str) -> Path:
    return root / str(path).lstrip("/")


def _show(path: Path, root: Path) -> None:
    """Makes a path appear in the jail: a link as a link, everything else as it is outside."""
    if not path.is_symlink():
        _bind(path, _inside(root, path))
        return
    link, real = _inside(root, path), path.resolve()
    link.parent.mkdir(parents=True, exist_ok=True)
    link.symlink_to(path.readlink())
    if real.exists() and not _inside(root, real).exists():
        _bind(real, _inside(root, real))


def _bind(path: Path, target: Path) -> None:
    """Shows a file or folder in the jail. A folder that only its owner may enter is shown by its contents.

    The reason: a bot of root's run is another user. The contents keep their own rights, so what is private stays so.
    """
    if path.is_dir() and path.stat().st_mode & _READABLE_BY_ALL != _READABLE_BY_ALL:
        target.mkdir(parents=True, exist_ok=True)
        for inner in path.iterdir():
            if inner.is_dir() or inner.is_file():
                _mount(inner, target / inner.name)
    else:
        _mount(path, target)


def _mount(path: Path, target: Path) -> None:
    if path.is_dir():
        target.mkdir(parents=True, exist_ok=True)
    else:
        target.parent.mkdir(parents=True, exist_ok=True)
        target.touch()
    kernel.mount(str(path), str(target), None, kernel.MS_BIND | kernel.MS_REC)
