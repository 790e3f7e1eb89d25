"""How a sandboxed process is started, and its temporary folder."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from subprocess import SubprocessError
from time import time
from typing import ClassVar

from harness.isolation.limits import SandboxLimits

if sys.platform != "win32":  # which has no such locks, and no sandbox either
    import fcntl

# Native thread pools
#
# Workers and isolated bots get one thread by default, because each worker has a core or less. OpenMP, BLAS and torch
# start a thread for each core of the machine, which slows a decision of 3 ms down to 60 ms.


_THREAD_VARIABLES = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "BLIS_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
    "NUMEXPR_NUM_THREADS",
)
"""Read by the libraries when they are loaded."""


def thread_variables(threads: int) -> dict[str, str]:
    """Return the environment variables that limit native thread pools; none for 0 threads."""
    return dict.fromkeys(_THREAD_VARIABLES, str(threads)) if threads else {}


# Temporary folders
#
# Their owner removes them; the next run removes those of killed processes.


FOLDER_PREFIX = "arena-"
OWNER_FILE = "owner"
"""The file in each folder that its owner keeps locked.

A lock shows whether the owner lives. A process id does not: ids are reused, and two containers that share a temporary
folder have different ones. A record lock belongs to one process and is not inherited, so a child that survives its
parent does not keep it.
"""
STALE_AFTER_S = 3600.0
"""A folder is locked as soon as it is created. One that has no lock file by then lost its owner in between."""
_FOLDER_NAME = re.compile(FOLDER_PREFIX + r"[a-z0-9_]{8}")
"""Names that `mkdtemp` gives our folders; other arena-* folders are not ours."""
_lock_descriptors: dict[str, int] = {}
"""Folders of this process -> descriptors that hold their locks."""


def new_folder() -> str:
    """Return a new folder of this process. Sandboxed processes of other users can traverse it but not list it."""
    while True:
        folder = tempfile.mkdtemp(prefix=FOLDER_PREFIX)
        if _lock_folder(folder):
            # mkdtemp creates folders with mode 700.
            os.chmod(folder, 0o711)  # noqa: PTH101, S103 - a confined process owns a folder in it, as another user
            return folder


def remove_folder(folder: str) -> None:
    """Delete a folder of this process with its contents."""
    shutil.rmtree(folder, ignore_errors=True)
    descriptor = _lock_descriptors.pop(folder, None)
    if descriptor is not None:
        with suppress(OSError):
            os.close(descriptor)


def remove_stale_folders() -> list[str]:
    """Delete the folders of dead processes; return their paths."""
    if sys.platform == "win32":
        return []
    found = []
    for path in Path(tempfile.gettempdir()).glob(f"{FOLDER_PREFIX}*"):
        folder = str(path)
        if folder in _lock_descriptors:  # closing any descriptor of a locked file releases the lock of this process
            continue
        try:
            # The temporary folder is world-writable: touch only what belongs to this user, and follow no links.
            if path.is_symlink() or path.stat().st_uid != os.geteuid():
                continue
            if _is_stale(path):
                shutil.rmtree(folder, ignore_errors=True)
                found.append(folder)
                continue
            descriptor = os.open(path / OWNER_FILE, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC)
        except OSError:
            continue
        try:
            fcntl.lockf(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(folder, ignore_errors=True)
            found.append(folder)
        except OSError:  # its owner is alive
            pass
        finally:
            os.close(descriptor)
    return found


def _is_stale(path: Path) -> bool:
    """Return whether one of our folders has no lock file although it is old enough to have one."""
    if not _FOLDER_NAME.fullmatch(path.name) or os.path.lexists(path / OWNER_FILE):
        return False
    return path.is_dir() and path.stat().st_mtime < time() - STALE_AFTER_S


def _lock_folder(folder: str) -> bool:
    """Lock a new folder; return False if another process deleted it as stale before that."""
    if sys.platform == "win32":
        return True
    path = Path(folder, OWNER_FILE)
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except FileNotFoundError:
        return False
    try:
        fcntl.lockf(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        # Another process may have deleted the folder between open and lock; then the path is gone or is another file.
        kept = os.path.samestat(os.fstat(descriptor), path.stat())
    except OSError:
        kept = False
    if not kept:
        os.close(descriptor)
        return False
    _lock_descriptors[folder] = descriptor
    return True


# Starting a process


ROOT = Path(__file__).parents[2]
"""The folder that contains `harness`."""
_PRELOAD_TIMEOUT_S = 20.0
"""For the process from which others are forked to answer: more than a busy machine takes to load Arena."""


@dataclass(frozen=True, slots=True)
class Launch:
    """The program of a process: a command, or a function of Arena in a fresh Python."""

    argv: tuple[str, ...] = ()
    """The command and its arguments."""
    entry: str = ""
    """The function, as module:name. It is called once the process is confined; the process ends when it returns."""
    request: Mapping[str, object] = field(default_factory=dict)
    """The argument of that function; must be JSON-serialisable."""
    readable: tuple[str, ...] = ()
    """Folders and files that it reads."""
    packages: Mapping[str, str] = field(default_factory=dict)
    """Python packages outside site-packages that `entry` needs: name -> first file."""
    environment: Mapping[str, str] = field(default_factory=dict)
    """Environment variables besides the usual ones."""
    copied: bool = False
    """Whether it forks a copy of itself for each match after hello (`harness.isolation.bot_host`)."""

    def start(self, limits: SandboxLimits, cgroup: str) -> tuple[int, tuple[int, int, int]]:
        """Start it under a supervisor, within these limits, in this cgroup (empty: none); return the process id of the
        supervisor, and our ends of stdin, stdout and stderr.
        """
        orders = {
            "argv": self.argv,
            "entry": self.entry,
            "request": {**self.request, "copied": self.copied},
            "packages": dict(self.packages),
            "import_path": [path for path in sys.path if path],
            "parent": os.getpid(),
            "environment": {**base_environment(), **self.environment},
            "limits": limits._asdict(),
            "cgroup": cgroup,
        }
        (stdin, to_bot), (from_bot, stdout), (err_of_bot, stderr) = (os.pipe() for _ in range(3))
        ours, theirs = (to_bot, from_bot, err_of_bot), (stdin, stdout, stderr)
        text = json.dumps(orders)
        try:
            pid = _Preloaded.fork(text, theirs, limits.strict) or _start_python("main", text, theirs)
        except BaseException:
            for descriptor in ours:  # a program that was started nevertheless ends when its input does
                os.close(descriptor)
            raise
        finally:
            for descriptor in theirs:
                os.close(descriptor)
        return pid, ours


def _start_python(call: str, argument: str, streams: Sequence[int]) -> int:
    """Start a new Python that calls a function of the supervisor, with these descriptors as stdin, stdout and so on."""
    # -S skips site-packages for a quick start, -P keeps the current folder out of sys.path.
    # Descriptors that a library has made inheritable are closed: posix_spawn would pass them on.
    code = (
        f"import os, sys; os.closerange({len(streams)}, os.sysconf('SC_OPEN_MAX')); os.chdir('/'); "
        f"sys.path.insert(0, {str(ROOT)!r}); from harness.isolation import supervisor"
    )
    # Own process group: Ctrl-C in the terminal must reach Arena only, which ends its bots in order.
    return os.posix_spawn(
        sys.executable,
        [sys.executable, "-S", "-P", "-c", f"{code}; supervisor.{call}()", argument],
        base_environment(),
        file_actions=[(os.POSIX_SPAWN_DUP2, descriptor, number) for number, descriptor in enumerate(streams)],
        setpgroup=0,
    )


class _Preloaded:
    """The process that has loaded Arena and no bot. Forking it takes a fraction of the time that a new Python takes.

    It ends with this one, when its stdin is closed.
    """

    owner = 0
    """The process that uses it."""
    pid = 0
    stdin = -1
    requests: ClassVar[socket.socket | None] = None

    @classmethod
    def fork(cls, orders: str, streams: Sequence[int], strict: bool) -> int:
        """Return the process id of a new supervisor with these orders; 0 if it has to be a new Python."""
        # A supervisor ends when the thread ends that has started the process from which it is forked.
        if sys.platform != "linux" or threading.current_thread() is not threading.main_thread():
            return 0
        if cls.owner != os.getpid():
            if cls.requests:
                cls.requests.detach()  # this is a copy of that process, and may use the number for another file
            cls.owner, cls.requests = os.getpid(), None
            if not strict:  # one alone is started faster without it, but its bot could see that it is the first
                return 0
        try:
            cls.requests = cls.requests or cls._start()
            with open(os.memfd_create("orders"), "wb", 0) as file:  # noqa: PTH123 - a descriptor
                file.write(orders.encode())
                socket.send_fds(cls.requests, [b" "], [*streams, file.fileno()])
            os.write(cls.stdin, b" ")
            if pid := int.from_bytes(cls.requests.recv(8)):
                return pid
        except OSError:  # it was killed or stopped, or this system forbids it
            cls._forget()
        except BaseException:  # Ctrl-C: the answer to come would be taken for that of the next request
            cls._forget()
            raise
        return 0

    @classmethod
    def _start(cls) -> socket.socket:
        ours, theirs = socket.socketpair()
        ours.settimeout(_PRELOAD_TIMEOUT_S)
        stdin, cls.stdin = os.pipe()
        with theirs, open(stdin, "rb", 0) as wake, open(os.devnull, "wb", 0) as nothing:  # noqa: PTH123 - descriptors
            streams = [wake.fileno(), *[nothing.fileno()] * 2, theirs.fileno()]
            cls.pid = _start_python("serve", json.dumps([path for path in sys.path if path]), streams)
        return ours

    @classmethod
    def _forget(cls) -> None:
        if cls.requests:
            cls.requests.close()
            cls.requests = None
            os.close(cls.stdin)
            os.kill(cls.pid, signal.SIGKILL)
            os.waitpid(cls.pid, 0)


def base_environment() -> dict[str, str]:
    """Return the whole environment of a program: nothing else is inherited."""
    return {
        "PATH": os.environ.get("PATH", os.defpath),
        "LANG": "C.UTF-8",
        # Sets and dicts of bots iterate in the same order in every run.
        "PYTHONHASHSEED": "0",
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONNOUSERSITE": "1",
    }


_SHIM = re.compile(r'^exec "([^"]+)" exec "\$program"', re.MULTILINE)
"""The last line of a shim, with the program that knows where the real ones are."""


def with_absolute_paths(argv: Sequence[str]) -> tuple[str, ...]:
    """Return the command with absolute paths, because the program runs in another folder."""
    found = [str(Path(word).resolve()) if i and Path(word).exists() else word for i, word in enumerate(argv)]
    program = shutil.which(argv[0])
    if program:
        path = Path(program).absolute()
        # A bare word is found in the user's PATH. A path may lead to a file that came with a run or a config file, and
        # looking behind a shim runs a program that it names, outside of any sandbox.
        found[0] = str(_behind_shim(path) if argv[0] == path.name else path)
    return tuple(found)


def _behind_shim(program: Path) -> Path:
    """Return the program that a shim of pyenv, rbenv or nodenv starts: in a sandbox the shim would find nothing."""
    if program.parent.name != "shims":
        return program
    with suppress(OSError, SubprocessError):
        manager = _SHIM.search(program.read_text(errors="replace"))
        if manager:
            done = subprocess.run(  # noqa: S603 - the shim would start it, too
                [manager[1], "which", program.name], capture_output=True, text=True, timeout=10
            )
            return Path(done.stdout.strip()) if done.returncode == 0 else program
    return program
