"""Take rights away from a process: files, system calls, namespaces, limits.

The supervisor's child calls `confine` before any of the bot's code runs. Standard library only.
"""

from __future__ import annotations

import ctypes
import fcntl
import os
import re
import resource
import signal
import sys
import termios
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import ClassVar

from harness.isolation import kernel, seccomp
from harness.isolation.kernel import syscall
from harness.isolation.limits import SandboxLimits

# Root file system
#
# A file system with only the files that a bot needs, read-only, and an empty scratch folder.


SCRATCH = "/scratch"
SYSTEM_FOLDERS = ("/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/usr", "/opt", "/nix/store")
"""Folders with programs and libraries."""
ETC_FILES = (
    "/etc/alternatives", "/etc/group", "/etc/hosts", "/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d",
    "/etc/localtime", "/etc/mime.types", "/etc/nsswitch.conf", "/etc/passwd", "/etc/ssl/openssl.cnf", "/etc/timezone",
)  # fmt: skip
"""Settings that programs read and that hold no secrets."""
_OTHERS_MAY_READ = 0o005
_ZERO_MEMINFO = ("Buffers", "Cached", "SwapCached", "SwapTotal", "SwapFree", "Shmem")
DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")


def visible_paths(readable: Iterable[str], hidden: Iterable[str] = ()) -> list[str]:
    """Return these paths and the system's, without those inside another one; parents come first.

    A folder that contains a hidden one is replaced by its other contents.
    """
    wanted = {*(str(Path(one).absolute()) for one in readable), *SYSTEM_FOLDERS, *ETC_FILES}
    wanted |= {str(one) for one in Path("/etc").glob("java-*")}  # Debian keeps a part of each Java here
    secret = [one for one in map(os.path.realpath, hidden) if not any(_contains(one, path) for path in SYSTEM_FOLDERS)]
    kept: list[str] = []
    # Sorted, a folder comes before its contents, so one pass finds what is inside another path.
    for path in sorted({shown for one in wanted for shown in _without_hidden(one, secret)}):
        inside = any(path.startswith(other + "/") for other in kept)
        if not inside and path != "/" and (Path(path).exists() or Path(path).is_symlink()):
            kept.append(path)
    return kept


def _contains(folder: str, path: str) -> bool:
    return path == folder or path.startswith(folder.rstrip("/") + "/")


def _without_hidden(path: str, secret: list[str]) -> list[str]:
    """Return this path, or its contents without those that are hidden."""
    if not any(_contains(path, one) and one != path for one in secret) or Path(path).is_symlink():
        return [path]
    with suppress(OSError):
        inner = [str(one) for one in Path(path).iterdir()]
        return [shown for one in inner if one not in secret for shown in _without_hidden(one, secret)]
    return []


def enter_rootfs(folder: str, visible: Iterable[str], owner: int, scratch_mb: int) -> None:
    """Move this process into a new root file system, built on the empty folder `folder`. Needs a mount namespace.

    `visible` comes from `visible_paths`; `owner` is the user id that owns the scratch folder. Raises OSError where the
    kernel refuses a step.
    """
    safe = kernel.MS_NOSUID | kernel.MS_NODEV
    # Private first: otherwise the mounts below would appear in the host's namespace as well.
    kernel.mount(None, "/", None, kernel.MS_REC | kernel.MS_PRIVATE)
    kernel.mount("tmpfs", folder, "tmpfs", safe, "size=8m,mode=755")
    try:
        _build_rootfs(Path(folder), visible)
        # The scratch folder is mounted after the rest was made read-only: it is the only writable place.
        size = f"size={scratch_mb}m,nr_inodes=10000,mode=700,uid={owner},gid={owner}"
        kernel.mount("tmpfs", folder + SCRATCH, "tmpfs", safe, size)
        kernel.change_root(folder)
    except OSError:
        kernel.unmount(folder)
        raise


def _build_rootfs(root: Path, visible: Iterable[str]) -> None:
    paths = [Path(path) for path in visible]
    for path in sorted(paths, key=Path.is_symlink):  # links last: their targets may be there already
        _add_path(path, root)
    for device in DEVICES:
        _add_readable(Path(device), _in_rootfs(root, device))
    for link, target in (("tmp", SCRATCH), ("dev/shm", SCRATCH), ("dev/fd", "/proc/self/fd")):
        if not (root / link).exists():  # a readable path may be there
            (root / link).symlink_to(target)
    _in_rootfs(root, SCRATCH).mkdir()
    (root / "proc").mkdir()
    mount_proc(root / "proc", root / ".proc")
    kernel.set_read_only(str(root))


def mount_proc(place: Path, covers: Path) -> None:
    """Mount a /proc that shows this namespace's processes, and only constant facts of the machine.

    Other files of /proc (loadavg, stat, sys/fs/file-nr ...) are counters that one bot can change and another read. The
    kernel's own `subset=pid` would hide cpuinfo as well, without which PyTorch is slow. So each file is covered: by a
    constant from the folder `covers`, or by nothing.
    """
    kernel.mount("proc", str(place), "proc", kernel.MS_NOSUID | kernel.MS_NODEV | kernel.MS_NOEXEC, "hidepid=2")
    nothing, closed = covers / "nothing", covers / "closed"
    # A directory is covered by an empty one, a file by one without any permission.
    nothing.mkdir(parents=True)
    closed.touch(mode=0)
    for name, text in _static_proc_files().items():
        (covers / name).write_text(text)
    for entry in place.iterdir():
        if not entry.is_symlink() and not entry.name.isdigit():  # links lead to the process: self, mounts, net
            own = covers / entry.name
            cover = own if own.is_file() else nothing if entry.is_dir() else closed
            kernel.mount(str(cover), str(entry), None, kernel.MS_BIND)


def _static_proc_files() -> dict[str, str]:
    """Return files of /proc with the machine's size and kind, without the values that change."""
    found = {}
    with suppress(OSError):
        found["version"] = Path("/proc/version").read_text()
        found["cpuinfo"] = re.sub(r"^cpu MHz.*\n", "", Path("/proc/cpuinfo").read_text(), flags=re.MULTILINE)
        lines = re.findall(r"^(?:cpu\d*|btime \d+)", Path("/proc/stat").read_text(), re.MULTILINE)
        found["stat"] = "".join(line + " 0" * 10 * line.startswith("cpu") + "\n" for line in lines)
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 1024
    sizes = dict.fromkeys(("MemTotal", "MemFree", "MemAvailable"), memory) | dict.fromkeys(_ZERO_MEMINFO, 0)
    found["meminfo"] = "".join(f"{name + ':':<15}{size:>9} kB\n" for name, size in sizes.items())
    return found


def _in_rootfs(root: Path, path: Path | str) -> Path:
    return root / str(path).lstrip("/")


def _add_path(path: Path, root: Path) -> None:
    """Show a path in the root file system: a link as a link, everything else as it is outside."""
    if not path.is_symlink():
        _add_readable(path, _in_rootfs(root, path))
        return
    link, real = _in_rootfs(root, path), path.resolve()
    link.parent.mkdir(parents=True, exist_ok=True)
    link.symlink_to(path.readlink())
    if real.exists() and not _in_rootfs(root, real).exists():
        _add_readable(real, _in_rootfs(root, real))


def _add_readable(path: Path, target: Path) -> None:
    """Show a file or folder. A folder that only its owner may enter is shown by its contents.

    Reason: in a run of root the bot has another user id. The contents keep their own mode, so private files stay
    private.
    """
    if path.is_dir() and path.stat().st_mode & _OTHERS_MAY_READ != _OTHERS_MAY_READ:
        target.mkdir(parents=True, exist_ok=True)
        for inner in path.iterdir():
            if inner.is_dir() or inner.is_file():
                _bind_mount(inner, target / inner.name)
    else:
        _bind_mount(path, target)


def _bind_mount(path: Path, target: Path) -> None:
    if path.is_dir():
        target.mkdir(parents=True, exist_ok=True)
    else:
        target.parent.mkdir(parents=True, exist_ok=True)
        target.touch()
    kernel.mount(str(path), str(target), None, kernel.MS_BIND | kernel.MS_REC)


# Landlock
#
# Rules for files and TCP that a process sets for itself and can never undo.


_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_GET_VERSION = 1
_PATH_BENEATH = 1

_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
_TRUNCATE = 1 << 14
_READ = _EXECUTE | _READ_FILE | _READ_DIR
_FILE_RIGHTS = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE | 1 << 15
"""Rights that apply to files; the kernel rejects the others for anything but a folder."""
_RIGHTS_BY_VERSION = {1: (1 << 13) - 1, 2: (1 << 14) - 1, 3: (1 << 15) - 1, 4: (1 << 15) - 1, 5: (1 << 16) - 1}
"""All file rights of each Landlock version; later versions add none."""
_ALL_TCP = 0b11
_ALL_SCOPES = 0b11
_TCP_SINCE, _SCOPES_SINCE = 4, 6


class _Ruleset(ctypes.Structure):
    _fields_: ClassVar = [("fs", ctypes.c_uint64), ("net", ctypes.c_uint64), ("scoped", ctypes.c_uint64)]


class _Beneath(ctypes.Structure):
    _pack_ = 1
    _fields_: ClassVar = [("rights", ctypes.c_uint64), ("parent", ctypes.c_int32)]


def apply_landlock(readable: Iterable[str], writable: Iterable[str], listed: Iterable[str] = ()) -> None:
    """Allow this process to read and execute under `readable`, write under `writable`, list `listed`, and nothing else.

    TCP connections are denied, too. Needs `no_new_privileges` first. Raises OSError where the kernel has no Landlock.
    """
    known = syscall(_CREATE_RULESET, "landlock", None, ctypes.c_size_t(0), ctypes.c_uint32(_GET_VERSION))
    every = _RIGHTS_BY_VERSION[min(known, max(_RIGHTS_BY_VERSION))]
    rules = _Ruleset(every, _ALL_TCP if known >= _TCP_SINCE else 0, _ALL_SCOPES if known >= _SCOPES_SINCE else 0)
    # Old kernels reject a larger struct than they know.
    size = 8 if known < _TCP_SINCE else 16 if known < _SCOPES_SINCE else 24
    ruleset = syscall(_CREATE_RULESET, "landlock", ctypes.byref(rules), ctypes.c_size_t(size), ctypes.c_uint32(0))
    try:
        for paths, rights in ((readable, _READ), (listed, _READ_DIR), (writable, every)):
            for path in paths:
                _allow(ruleset, path, rights)
        syscall(_RESTRICT_SELF, "landlock", ruleset, ctypes.c_uint32(0))
    finally:
        os.close(ruleset)


def _allow(ruleset: int, path: str, rights: int) -> None:
    with suppress(FileNotFoundError, PermissionError):  # a path that is missing or closed to us needs no rule
        opened = os.open(path, os.O_PATH | os.O_CLOEXEC)
        try:
            beneath = _Beneath(rights if Path(path).is_dir() else rights & _FILE_RIGHTS, opened)
            syscall(_ADD_RULE, "landlock", ruleset, _PATH_BENEATH, ctypes.byref(beneath), ctypes.c_uint32(0))
        finally:
            os.close(opened)


# Confinement


UNLIMITED = resource.RLIM_INFINITY
MEGABYTE = 1 << 20
FIRST_BOT_UID, BOT_UIDS = 60_000_000, 1 << 28
"""A range of user ids that no account uses: in a run of root each bot gets its own."""
NOBODY_UID = 65534
SINGLE_OPEN_FILES = 64
"""Open files of a bot that the kernel limits to one process: with those in flight, 160 MB of socket buffers at most."""
OWN_PROC_FILES = ("cmdline", "comm", "exe", "fd", "limits", "maps", "mountinfo", "mounts", "stat", "statm", "status")
"""What a strict bot may read of its own folder in /proc. Not smaps: it shows what memory other processes share."""
_NAMESPACES = kernel.CLONE_NEWNS | kernel.CLONE_NEWPID | kernel.CLONE_NEWNET | kernel.CLONE_NEWIPC | kernel.CLONE_NEWUTS


def enter_namespaces() -> bool:
    """Give children of this process their own processes, network and mounts; return whether the kernel agreed."""
    me, group = os.getuid(), os.getgid()
    try:
        # Root needs no user namespace, unless its container forbids the others. Everyone else gets the right to create
        # namespaces only inside a user namespace.
        if me == 0:
            with suppress(OSError):
                kernel.unshare(_NAMESPACES)
                return True
        kernel.unshare(_NAMESPACES | kernel.CLONE_NEWUSER)
        kernel.prctl(seccomp.PR_SET_DUMPABLE, 1)  # otherwise /proc/self/uid_map is owned by root and not writable
        # setgroups must be denied before gid_map can be written without privileges.
        for name, line in (("setgroups", "deny"), ("uid_map", f"{me} {me} 1"), ("gid_map", f"{group} {group} 1")):
            Path("/proc/self", name).write_text(line)
    except OSError:
        return False
    return True


class CannotConfine(Exception):
    """The bot cannot be run within these limits."""


class SetuidFailed(CannotConfine):
    """Root cannot change its user id here, as in a container with few rights."""


def _try_step(missing: list[str], what: str, step: Callable[[], object]) -> bool:
    """Run a step and return whether it worked; if not, add it to what could not be enforced."""
    try:
        step()
    except (OSError, ValueError) as error:
        missing.append(f"{what} ({error})")
        return False
    return True


def confine(limits: SandboxLimits, namespaces: bool, in_cgroup: bool) -> tuple[str, list[str]]:
    """Confine this process; return its scratch folder and what could not be enforced.

    `namespaces` is the result of `enter_namespaces`; `in_cgroup` says that a cgroup limits the processes. Raises
    CannotConfine if root would have to run the bot as root.
    """
    missing: list[str] = []
    scratch = limits.folder
    if limits.strict and limits.memory and not in_cgroup:
        # Without a cgroup the kernel limits the memory of a process and not of a bot, and Arena counts too late: eight
        # processes reached 1.3 GB of 256 MB. So the bot gets a single process without threads, and few descriptors,
        # because the buffers behind them are not part of its memory.
        # The supervisor counts, too, where both are in a user namespace.
        limits = limits._replace(processes=1 if os.getuid() == 0 else 2, open_files=SINGLE_OPEN_FILES)
    # First: opening /dev/tty is not possible from the new root.
    _leave_terminal()
    if limits.confined:
        scratch = _drop_rights(limits, namespaces, in_cgroup, missing)
    else:
        # RLIMIT_NPROC would count all processes of our user, which the bot shares here.
        _limit_resources(limits, missing, processes=0)
    if sys.platform == "linux":
        # After the change of user, which clears this setting. SIGKILL: a bot could ignore the supervisor's SIGTERM.
        kernel.prctl(kernel.PR_SET_PDEATHSIG, signal.SIGKILL)
    # Last: the steps above may open files. The bot keeps stdin, stdout and stderr only.
    os.closerange(3, 1 << 16)
    os.chdir(scratch)
    return scratch, missing


def _leave_terminal() -> None:
    """Put this process into its own group, detached from any terminal.

    Not into its own session: Linux schedules each session as a unit (autogroup), and a message between two sessions
    takes twice as long. Session numbers are also a counter that bots could read.
    """
    with suppress(OSError):  # usually there is no terminal
        terminal = os.open("/dev/tty", os.O_RDWR | os.O_NOCTTY)
        fcntl.ioctl(terminal, termios.TIOCNOTTY)
        os.close(terminal)
    os.setpgid(0, 0)


def _drop_rights(limits: SandboxLimits, namespaces: bool, in_cgroup: bool, missing: list[str]) -> str:
    """Restrict files, rights and connections; return the scratch folder.

    The order matters: mounting needs capabilities, changing the user needs root, Landlock and seccomp need
    no_new_privileges, and seccomp comes last because it denies the calls of the steps before.
    """
    root = os.getuid() == 0
    # Random because the bot can see it: a counter would show how many bots came before.
    owner = FIRST_BOT_UID + int.from_bytes(os.urandom(8)) % BOT_UIDS if root else os.getuid()
    visible = visible_paths(limits.readable, limits.hidden)
    has_rootfs = namespaces and _try_step(
        missing, "a separate file system", lambda: enter_rootfs(limits.folder, visible, owner, limits.file_size)
    )
    if not namespaces:
        missing.append("no view of other processes (the kernel gives no namespaces)")
    # From here on paths are those of the new root.
    scratch = SCRATCH if has_rootfs else limits.folder
    if sys.platform == "linux":
        # Before the change of user: this needs CAP_SETPCAP, which is lost then.
        kernel.drop_bounding_set()
    try:
        has_own_uid = _switch_user(owner, scratch, limits.readable) if root else namespaces
    except SetuidFailed as error:
        if not limits.lenient:
            raise
        missing.append(str(error))
        has_own_uid = False
    # RLIMIT_NPROC counts all processes of a user: without a separate user id, other users' processes, too
    if not has_own_uid and not in_cgroup:
        missing.append("a limit of processes (the bot has no separate user)")
    _limit_resources(limits, missing, limits.processes if has_own_uid else 0)
    _try_step(missing, "no capabilities", kernel.drop_capabilities)
    _try_step(missing, "no new privileges", kernel.no_new_privileges)
    # without a root file system, /dev/shm has other users' files
    readable = [*visible, *(["/dev", *_readable_in_proc(limits.strict)] if has_rootfs else DEVICES)]
    listed = ["/"] if has_rootfs else []  # only visible paths are in it, and Python lists folders to find modules
    locked = _try_step(missing, "Landlock", lambda: apply_landlock(readable, [scratch, "/dev/null"], listed))
    if has_rootfs and not locked:
        missing.pop()  # Landlock is a second barrier behind the root file system, which enforces the same.
    with suppress(OSError):  # no keyrings on this kernel, or none for us: nothing to leave
        kernel.new_session_keyring()
    machine = os.uname().machine
    _try_step(
        missing, "a filter of system calls", lambda: kernel.install_program(seccomp.assemble(machine, has_rootfs))
    )
    return scratch


def _readable_in_proc(strict: bool) -> list[str]:
    """Return what a bot may read in /proc. Copies, which are not made of strict bots, have other process ids."""
    if not strict:
        return ["/proc"]
    constant = [str(path) for path in Path("/proc").iterdir() if not path.is_symlink() and not path.name.isdigit()]
    return [*constant, *(f"/proc/{os.getpid()}/{name}" for name in OWN_PROC_FILES)]


def _limit_resources(limits: SandboxLimits, missing: list[str], processes: int) -> None:
    resources = [
        ("a memory limit", "RLIMIT_AS", limits.memory * MEGABYTE or UNLIMITED),
        ("a limit of processor time", "RLIMIT_CPU", limits.cpu or UNLIMITED),
        ("a limit of open files", "RLIMIT_NOFILE", limits.open_files),
        ("no core dumps", "RLIMIT_CORE", 0),
    ]
    if limits.confined:
        resources.append(("a limit of file size", "RLIMIT_FSIZE", limits.file_size * MEGABYTE))
    if processes:
        resources.append(("a limit of processes", "RLIMIT_NPROC", processes))
    for what, name, value in resources:
        number = getattr(resource, name, None)
        if number is not None:
            _try_step(missing, what, partial(_set_resource_limit, number, value))


def _set_resource_limit(number: int, value: int) -> None:
    _, hard = resource.getrlimit(number)
    # A hard limit of the operator may be lower than ours, and cannot be raised.
    if hard != UNLIMITED:
        value = hard if value == UNLIMITED else min(value, hard)
    resource.setrlimit(number, (value, value))


def _switch_user(bot_uid: int, scratch: str, readable: Sequence[str]) -> bool:
    """Change root to a user who owns only the scratch folder; return whether the user id is this bot's alone."""
    for user in (bot_uid, NOBODY_UID):
        try:
            # Groups before the user: afterwards the right to change them is gone.
            os.setgroups([])
            os.chown(scratch, user, user)
            # All three ids: a saved id would let the bot return to root.
            os.setresgid(user, user, user)
            os.setresuid(user, user, user)
        except OSError:  # some containers do not map such high ids
            continue
        # Checked as the new user: a file that only root can read would look like a crash of the bot.
        unreadable = [path for path in readable if not os.access(path, os.R_OK)]
        if unreadable:
            listed = ", ".join(unreadable)
            raise CannotConfine(
                f"only root may read {listed}; make that readable for all, or run arena as an ordinary user"
            )
        return user == bot_uid
    with suppress(OSError):
        os.chown(scratch, os.getuid(), os.getgid())  # a failed attempt may have changed its owner
    raise SetuidFailed("root cannot switch to another user here; run arena as an ordinary user")
