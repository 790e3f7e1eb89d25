"""Where worker processes come from: a process beside this one that has loaded arena and no bot, and is forked for each.

A process in which bots were loaded must not be forked: whatever thread one of them has started, a native pool's or its
own, is missing in the copy, with the locks it held. So a worker begins clean, and loads its bots itself (parcels).

The command line makes the nursery before it loads any bot, by a fork, which costs nothing. A notebook has threads of
its own: there it is a fresh Python. (multiprocess's fork server is a fresh Python always, and brings another one to
track resources that we do not have: a short run took 1.7 times as long with it.)
"""

from __future__ import annotations

import atexit
import os
import pickle
import select
import socket
import subprocess
import sys
import threading
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from harness.executors import system
from harness.executors.nursery_server import HEADER, REPLY, STARTED, preload, serve

LOST = 255
"""The exit code of a worker that died together with its nursery."""


class NurseryProcess:
    """A process of the nursery."""

    def __init__(self, nursery: Nursery, pid: int) -> None:
        self._nursery, self.pid = nursery, pid

    @property
    def exitcode(self) -> int | None:
        """How it ended, a signal as a negative number; None while it runs."""
        return self._nursery.ended(self.pid, wait=False)

    def is_alive(self) -> bool:
        """Whether it runs."""
        return self.exitcode is None

    def join(self) -> None:
        """Waits until it has ended."""
        self._nursery.ended(self.pid, wait=True)


class Nursery:
    """This process's end of the nursery."""

    def __init__(self, by_fork: bool) -> None:
        self._door, theirs = socket.socketpair()
        self._lock = threading.Lock()
        self._ended: dict[int, int] = {}
        self.alive = True
        with theirs:
            self._process: subprocess.Popen[bytes] | None = None
            if by_fork:
                _fork(theirs)
            else:
                self._process = _begin_afresh(theirs)
        atexit.register(self.close)

    def start(self, main: Any, handles: Sequence[int], *args: Any) -> NurseryProcess:
        """A process that calls our function `main` with copies of these descriptors, and what can be pickled."""
        order = pickle.dumps((str(Path.cwd()), dict(os.environ), main.__module__, main.__name__, args))
        with self._lock:
            try:
                socket.send_fds(self._door, [HEADER.pack(len(order))], [2, *handles])
                self._door.sendall(order)
                while True:
                    pid, code = self._reply()
                    if code == STARTED:
                        self._ended.pop(pid, None)
                        return NurseryProcess(self, pid)
                    self._ended[pid] = code
            except OSError:
                self.alive = False  # nothing that was sent half can be taken back: the next one is a new one
                raise

    def close(self) -> None:
        """Lets it go: it leaves when the door is shut, and its workers with it."""
        self._door.close()
        if self._process is not None:
            self._process.wait()

    def ended(self, pid: int, wait: bool) -> int | None:
        """The exit code of a process, if it has ended."""
        while True:
            with self._lock:
                while pid not in self._ended and self.alive and select.select([self._door], [], [], 0)[0]:
                    with suppress(OSError):
                        other, code = self._reply()
                        self._ended[other] = code
                if pid in self._ended:
                    return self._ended[pid]
                if not self.alive:
                    return LOST
            if not wait:
                return None
            select.select([self._door], [], [], 0.1)  # another thread may have taken the news

    def _reply(self) -> tuple[int, int]:
        data = b""
        while len(data) < REPLY.size:
            part = self._door.recv(REPLY.size - len(data))
            if not part:
                self.alive = False
                raise ConnectionResetError("the process that workers are forked from has ended")
            data += part
        pid, code = REPLY.unpack(data)
        return pid, code


def _fork(theirs: socket.socket) -> None:
    """A copy of this process, which must have no other thread, and no bot."""
    preload()
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    if os.fork():
        return
    try:
        _Held.lock = threading.Lock()  # the old one is held, by whoever has just called us
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        system.close_others({0, 1, 2, theirs.fileno()})
        serve(theirs)
    finally:
        os._exit(0)


def _begin_afresh(theirs: socket.socket) -> subprocess.Popen[bytes]:
    """A fresh Python that finds what this one finds, and nothing in the folder that it happens to be in."""
    code = (
        f"import socket, sys; sys.path[:] = {sys.path!r}; from harness.executors.nursery_server import preload, serve; "
        f"preload(); serve(socket.socket(fileno={theirs.fileno()}))"
    )
    return subprocess.Popen(  # noqa: S603 - it is ourselves
        [sys.executable, "-P", "-c", code],
        stdin=subprocess.DEVNULL,
        pass_fds=[theirs.fileno()],
        env={**os.environ, "PYTHONHASHSEED": "0"},  # so that a bot that goes through a set takes the same way each time
    )


class _Held:
    """The nursery of this process."""

    lock = threading.Lock()
    nursery: Nursery | None = None
    owner = 0


def make_ready(clean: bool = False) -> Nursery:
    """The nursery, begun unless there is one. `clean` says that no bot has been loaded here yet."""
    with _Held.lock:
        if _Held.nursery is None or not _Held.nursery.alive or _Held.owner != os.getpid():
            alone = clean and system.native_threads() == 1
            _Held.nursery, _Held.owner = Nursery(by_fork=alone), os.getpid()
        return _Held.nursery


def start(main: Any, handles: Sequence[int], *args: Any) -> NurseryProcess:
    """A process that calls our function `main` (see Nursery.start), of a new nursery if the old one has died."""
    try:
        return make_ready().start(main, handles, *args)
    except OSError:
        return make_ready().start(main, handles, *args)
