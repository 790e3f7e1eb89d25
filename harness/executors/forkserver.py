"""Fork workers from a process that has loaded Arena and no bot.

A process in which bots were loaded must not be forked: the threads that a bot or its native libraries started do not
exist in the copy, but the locks that they held do, and the copy can deadlock. So workers are forked from a clean
process and load their bots themselves (`worker`).
"""

from __future__ import annotations

import atexit
import os
import pickle
import select
import signal
import socket
import struct
import subprocess
import sys
import threading
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any

from harness.isolation import kernel, seccomp
from harness.isolation.accounting import children_of
from harness.plugins.bot_files import OURS

if sys.platform != "win32":
    import resource

# Server side: the clean process. It forks a worker for each request and reports exits.


HEADER = struct.Struct("<q")
"""Before a request: its length in bytes."""
REPLY = struct.Struct("<qq")
"""A process id and its exit code, or STARTED for a process that was just forked."""
STARTED = 1 << 40  # no exit code is that large
MAX_FDS = 8


def preload() -> None:
    """Import what every worker needs, so that forked workers have it already."""
    # Arena's own bots only: they start no threads. Other bots are loaded by the workers.
    for name in ("harness.executors.worker", *OURS):
        with suppress(Exception):  # the command that uses the plugin reports the error
            offered = getattr(import_module(name), "arena_bots", tuple)
            offered()  # calling it imports the bots' modules


def serve(sock: socket.socket) -> None:
    """Fork a worker for each request and report each exit, until the parent closes the socket."""
    # The wake-up pipe turns SIGCHLD into something that select() can wait for, together with requests. The empty
    # handler is needed: a signal with its default action writes nothing to the pipe. A full pipe loses nothing, because
    # each wake-up reports all exits.
    signals, wake = os.pipe()
    os.set_blocking(signals, False)
    os.set_blocking(wake, False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
    # Ctrl-C and a kill of the whole process group are for the parent: it lets running matches finish.
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    while True:
        ready, _, _ = select.select([sock.fileno(), signals], [], [])
        if signals in ready:
            with suppress(BlockingIOError):
                os.read(signals, 4096)
            _report_exits(sock)
        if sock.fileno() in ready and not _fork_worker(sock, {signals, wake}):
            return


def _report_exits(sock: socket.socket) -> None:
    with suppress(ChildProcessError):
        while True:  # several exits may arrive as one signal
            pid, status = os.waitpid(-1, os.WNOHANG)
            if not pid:
                return
            with suppress(OSError):
                sock.sendall(REPLY.pack(pid, os.waitstatus_to_exitcode(status)))


def _fork_worker(sock: socket.socket, ours: set[int]) -> bool:
    """Start one worker; return False if the parent has closed the socket."""
    try:
        header, fds, _, _ = socket.recv_fds(sock, HEADER.size, MAX_FDS)
        if not header:
            return False
        request = _read_exactly(sock, HEADER.unpack(header + _read_exactly(sock, HEADER.size - len(header)))[0])
    except OSError:
        return False
    # Safe without exec: this process has one thread, and no bot has run in it.
    pid = os.fork()
    if not pid:
        _run_worker(sock, ours, request, fds)
    for fd in fds:
        os.close(fd)
    sock.sendall(REPLY.pack(pid, STARTED))
    return True


def _run_worker(sock: socket.socket, ours: set[int], request: bytes, fds: list[int]) -> None:
    """In the new worker: call the requested function, then exit."""
    code = 1
    try:
        signal.set_wakeup_fd(-1)
        for number in (signal.SIGCHLD, signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_DFL)
        sock.close()
        stderr, *fds = fds
        os.dup2(stderr, 2)  # the parent's current stderr: a notebook or a test may have replaced it since
        for descriptor in (*ours, stderr):
            os.close(descriptor)
        folder, environment, module, name, args = pickle.loads(request)  # noqa: S301 - from our own parent
        # The parent may have changed its folder and environment since the server started.
        os.chdir(folder)
        os.environ.clear()
        os.environ.update(environment)
        getattr(import_module(module), name)(fds, *args)
        code = 0
    finally:
        os._exit(code)  # never return into the server's loop, and skip its exit handlers


def _read_exactly(sock: socket.socket, size: int) -> bytes:
    parts: list[Any] = []
    while size:
        part = sock.recv(min(size, 1 << 20))
        if not part:
            raise ConnectionResetError("the other end of the fork server's socket was closed")
        parts.append(part)
        size -= len(part)
    return b"".join(parts)


# Process utilities: exit with the parent, limit memory, find and kill orphans.


def die_with_parent() -> None:
    """Have the kernel kill this process when its parent dies."""
    parent = os.getppid()
    with suppress(OSError):  # not on Linux
        kernel.prctl(kernel.PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # the parent died before the call
        os._exit(1)


def set_subreaper(on: bool) -> None:
    """Make orphaned descendants children of this process, so that kill_orphans can find them."""
    with suppress(OSError):  # not on Linux
        kernel.prctl(seccomp.PR_SET_CHILD_SUBREAPER, int(on))


def limit_memory(megabytes: int) -> None:
    """Limit the address space of this process; an allocation beyond it raises MemoryError."""
    if megabytes and sys.platform != "win32":
        size = megabytes * 1024 * 1024
        # The hard limit stays as it is: the processes of isolated bots, which this worker starts, set their own.
        _, hard = resource.getrlimit(resource.RLIMIT_AS)
        resource.setrlimit(resource.RLIMIT_AS, (size if hard == resource.RLIM_INFINITY else min(size, hard), hard))


def memory_used_mb() -> float:
    """Return the megabytes of address space in use, 0 if unknown."""
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[0])
    except OSError:
        return 0.0
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def count_threads() -> int:
    """Return the number of threads, including native ones; if that is unknown, one more than Python's own."""
    try:
        return len(list(Path("/proc/self/task").iterdir()))
    except OSError:
        return threading.active_count() + 1


def kill_group(leader: int) -> None:
    """Kill a process and the process group that it leads."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(leader, signal.SIGKILL)
    # A new worker may not have called setsid() yet: then it leads no group.
    with suppress(ProcessLookupError, PermissionError):
        os.kill(leader, signal.SIGKILL)


def _in_our_session(pid: int) -> bool:
    with suppress(OSError):
        return os.getsid(pid) == os.getsid(0)
    return False


def kill_orphans(keep: set[int]) -> int:
    """Kill and reap what bots forked and left behind; return how many.

    Children that are not in `keep` are orphans if they are in another session: workers start their own session, and
    none of their descendants can join ours.
    """
    killed = 0
    # Killing an orphan makes its children ours, so look again until there are none.
    while orphans := {pid for pid in children_of(os.getpid()) if pid not in keep and not _in_our_session(pid)}:
        for pid in orphans:
            kill_group(pid)
            with suppress(ChildProcessError):
                os.waitpid(pid, 0)
        killed += len(orphans)
    return killed


def close_other_fds(keep: set[int]) -> None:
    """Close inherited descriptors: the record file, the pipes of other workers."""
    # A list, because the iteration itself holds a descriptor, which must not be closed under it.
    open_fds = [int(path.name) for path in Path("/dev/fd").iterdir()]
    for descriptor in open_fds:
        if descriptor not in keep:
            with suppress(OSError):
                os.close(descriptor)


# Client side: the parent's end of the fork server.
#
# The command line forks the server before it loads any bot, which costs almost nothing. A notebook has threads, so
# there the server is a fresh Python. multiprocess's own fork server is always a fresh Python and starts a resource
# tracker that Arena does not need: a short run took 1.7 times as long with it.


LOST_EXIT_CODE = 255
"""Exit code of a worker whose fork server died."""


class WorkerProcess:
    """A process that the fork server has started."""

    def __init__(self, server: ForkServer, pid: int) -> None:
        self._server, self.pid = server, pid

    @property
    def exitcode(self) -> int | None:
        """The exit code, negative for a signal; None while the process runs."""
        return self._server.exit_code_of(self.pid, wait=False)

    def wait(self) -> int | None:
        """Wait until the process has exited, and return its exit code."""
        return self._server.exit_code_of(self.pid, wait=True)


class ForkServer:
    """The parent's end of the fork server."""

    def __init__(self, by_fork: bool) -> None:
        self._sock, child_end = socket.socketpair()
        self._lock = threading.Lock()
        self._exit_codes: dict[int, int] = {}
        self.alive = True
        with child_end:
            self._process: subprocess.Popen[bytes] | None = None
            if by_fork:
                _start_by_fork(child_end)
            else:
                self._process = _start_by_exec(child_end)
        atexit.register(self.close)

    def start_process(self, main: Any, fds: Sequence[int], *args: Any) -> WorkerProcess:
        """Start a process that calls `main` with copies of these descriptors and with pickled arguments."""
        request = pickle.dumps((str(Path.cwd()), dict(os.environ), main.__module__, main.__name__, args))
        with self._lock:
            try:
                # Descriptor 2 goes along with every request: see _run_worker.
                socket.send_fds(self._sock, [HEADER.pack(len(request))], [2, *fds])
                self._sock.sendall(request)
                while True:
                    pid, code = self._read_reply()
                    if code == STARTED:
                        self._exit_codes.pop(pid, None)  # the system may reuse the id of an earlier process
                        return WorkerProcess(self, pid)
                    self._exit_codes[pid] = code
            except OSError:
                self.alive = False  # a partial request cannot be taken back, so this server is not used again
                raise

    def close(self) -> None:
        """Close the socket, on which the server and its workers exit."""
        self._sock.close()
        if self._process is not None:
            self._process.wait()

    def exit_code_of(self, pid: int, wait: bool) -> int | None:
        """Return the exit code of a process, None if it still runs."""
        while True:
            with self._lock:
                while pid not in self._exit_codes and self.alive and select.select([self._sock], [], [], 0)[0]:
                    with suppress(OSError):
                        other, code = self._read_reply()
                        self._exit_codes[other] = code
                if pid in self._exit_codes:
                    return self._exit_codes[pid]
                if not self.alive:
                    return LOST_EXIT_CODE
            if not wait:
                return None
            select.select([self._sock], [], [], 0.1)  # with a timeout: another thread may read the reply first

    def _read_reply(self) -> tuple[int, int]:
        try:
            pid, code = REPLY.unpack(_read_exactly(self._sock, REPLY.size))
        except OSError:
            self.alive = False
            raise
        return pid, code


def _start_by_fork(child_end: socket.socket) -> None:
    """Fork the server from this process, which must have no other thread and no bot."""
    preload()
    # Text in a buffer would be copied by the fork, and could be printed twice.
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    if os.fork():
        return
    try:
        _Current.lock = threading.Lock()  # the caller holds the old lock, and in the copy would never release it
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        close_other_fds({0, 1, 2, child_end.fileno()})
        serve(child_end)
    finally:
        os._exit(0)


def _start_by_exec(child_end: socket.socket) -> subprocess.Popen[bytes]:
    """Start the server as a fresh Python with this process's sys.path, without the current folder."""
    code = (
        f"import socket, sys; sys.path[:] = {sys.path!r}; from harness.executors.forkserver import preload, serve; "
        f"preload(); serve(socket.socket(fileno={child_end.fileno()}))"
    )
    return subprocess.Popen(  # noqa: S603 - it is ourselves
        [sys.executable, "-P", "-c", code],
        stdin=subprocess.DEVNULL,
        pass_fds=[child_end.fileno()],
        env={**os.environ, "PYTHONHASHSEED": "0"},  # sets iterate in the same order in every worker
    )


class _Current:
    """The fork server of this process; `owner` is the process that started it, since a forked copy must not use it."""

    lock = threading.Lock()
    server: ForkServer | None = None
    owner = 0


def start_forkserver(no_bots: bool = False) -> ForkServer:
    """Return the fork server, and start it if there is none; set `no_bots` if no bot was loaded in this process."""
    with _Current.lock:
        if _Current.server is None or not _Current.server.alive or _Current.owner != os.getpid():
            can_fork = no_bots and count_threads() == 1
            _Current.server, _Current.owner = ForkServer(by_fork=can_fork), os.getpid()
        return _Current.server


def start_process(main: Any, fds: Sequence[int], *args: Any) -> WorkerProcess:
    """Start a process that calls `main` (see ForkServer.start_process), with a new server if the old one has died."""
    try:
        return start_forkserver().start_process(main, fds, *args)
    except OSError:
        return start_forkserver().start_process(main, fds, *args)
