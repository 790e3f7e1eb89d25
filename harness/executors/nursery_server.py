"""The process that workers are forked from: it has loaded arena and no bot, takes orders, and tells who has ended."""

from __future__ import annotations

import os
import pickle
import select
import signal
import socket
import struct
from contextlib import suppress
from importlib import import_module
from typing import Any

from harness.plugins.bot_files import OURS

HEADER = struct.Struct("<q")
"""Before an order: how many bytes it has."""
REPLY = struct.Struct("<qq")
"""A process id, and the exit code; STARTED for one that has just begun."""
STARTED = 1 << 40
MOST_HANDLES = 8


def preload() -> None:
    """Imports what workers need: each of them has it at once."""
    for name in ("harness.executors.worker", *OURS):
        with suppress(Exception):  # arena itself will say what is wrong with it
            offered = getattr(import_module(name), "arena_bots", tuple)
            offered()  # which imports them


def serve(door: socket.socket) -> None:
    """Forks a worker for each order, and tells when it has ended and how; until arena has gone."""
    signals, wake = os.pipe()
    os.set_blocking(signals, False)
    os.set_blocking(wake, False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
    # Ctrl-C, and whoever ends all of arena's group, means arena: it finishes what is being played.
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    while True:
        ready, _, _ = select.select([door.fileno(), signals], [], [])
        if signals in ready:
            with suppress(BlockingIOError):
                os.read(signals, 4096)
            _tell_of_the_dead(door)
        if door.fileno() in ready and not _take_order(door, {signals, wake}):
            return


def _tell_of_the_dead(door: socket.socket) -> None:
    with suppress(ChildProcessError):
        while True:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if not pid:
                return
            with suppress(OSError):
                door.sendall(REPLY.pack(pid, os.waitstatus_to_exitcode(status)))


def _take_order(door: socket.socket, ours: set[int]) -> bool:
    """Starts one worker; whether there was an order."""
    try:
        header, handles, _, _ = socket.recv_fds(door, HEADER.size, MOST_HANDLES)
        if not header:
            return False
        order = _read(door, HEADER.unpack(header + _read(door, HEADER.size - len(header)))[0])
    except OSError:
        return False
    pid = os.fork()
    if not pid:
        _begin(door, ours, order, handles)
    for handle in handles:
        os.close(handle)
    door.sendall(REPLY.pack(pid, STARTED))
    return True


def _begin(door: socket.socket, ours: set[int], order: bytes, handles: list[int]) -> None:
    """In the new worker: does what is ordered, and ends."""
    code = 1
    try:
        signal.set_wakeup_fd(-1)
        for number in (signal.SIGCHLD, signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_DFL)
        door.close()
        stderr, *handles = handles
        os.dup2(stderr, 2)  # as it is for arena now: a notebook's or a test's may change
        for descriptor in (*ours, stderr):
            os.close(descriptor)
        folder, environment, module, name, args = pickle.loads(order)  # noqa: S301 - from our own parent
        os.chdir(folder)
        os.environ.clear()
        os.environ.update(environment)
        getattr(import_module(module), name)(handles, *args)
        code = 0
    finally:
        os._exit(code)


def _read(door: socket.socket, size: int) -> bytes:
    parts: list[Any] = []
    while size:
        part = door.recv(min(size, 1 << 20))
        if not part:
            raise ConnectionResetError("arena has gone in the middle of an order")
        parts.append(part)
        size -= len(part)
    return b"".join(parts)
