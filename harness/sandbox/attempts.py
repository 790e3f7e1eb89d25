"""A program that tries what a stranger's bot must not be able to do, and tells what stopped it. `probe` runs it.

Run as a script: it gets a line of JSON that says what to try it on, and answers with one.
"""

from __future__ import annotations

import json
import os
import resource
import signal
import socket
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

MANY = 200


def eats_memory(given: dict[str, Any]) -> None:
    """Allocates twice what it may have."""
    bytearray(2 * given["memory"] << 20)


def burns_time(_given: dict[str, Any]) -> None:
    """Looks whether its processor time has an end."""
    if resource.getrlimit(resource.RLIMIT_CPU)[1] != resource.RLIM_INFINITY:
        raise OSError


def forks(_given: dict[str, Any]) -> None:
    """Starts many processes."""
    children = []
    try:
        for _ in range(MANY):
            child = os.fork()
            if child == 0:
                signal.pause()
            children.append(child)
    finally:
        for child in children:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)


def writes(given: dict[str, Any]) -> None:
    """Writes to a folder that everybody may write to."""
    Path(given["folder"], "written").write_text("here I was")


def reads(given: dict[str, Any]) -> None:
    """Reads a file that everybody may read."""
    Path(given["folder"], "secret").read_text()


def connects(given: dict[str, Any]) -> None:
    """Connects to a port of this machine."""
    socket.create_connection(("127.0.0.1", given["port"]), 2).close()


def sends(given: dict[str, Any]) -> None:
    """Sends a datagram to a port of this machine."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
        sender.sendto(b"here I am", ("127.0.0.1", given["port"]))


def signals_others(given: dict[str, Any]) -> None:
    """Reaches a process that is not its own."""
    os.kill(given["pid"], 0)


def sees_others(given: dict[str, Any]) -> None:
    """Looks at a process that is not its own."""
    Path("/proc", str(given["pid"]), "cmdline").stat()


def inherits(given: dict[str, Any]) -> None:
    """Looks for what is left over from the process that started it."""
    open_ones = []
    for number in range(3, 256):
        with suppress(OSError):
            os.fstat(number)
            open_ones.append(number)
    if not open_ones and given["variable"] not in os.environ:
        raise OSError


ATTEMPTS: tuple[Callable[[dict[str, Any]], None], ...] = (
    eats_memory, burns_time, forks, writes, reads, connects, sends, signals_others, sees_others, inherits,
)  # fmt: skip


def main() -> None:
    """Tries everything; answers with what was stopped, by name."""
    given = json.loads(sys.stdin.readline())
    stopped = {}
    for attempt in ATTEMPTS:
        try:
            attempt(given)
        except (OSError, MemoryError):
            stopped[attempt.__name__] = True
        else:
            stopped[attempt.__name__] = False
    sys.stdout.write(json.dumps(stopped) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
