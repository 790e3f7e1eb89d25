"""What this machine can enforce against a bot, found out by a program that tries to get away with it."""

from __future__ import annotations

import json
import os
import socket
import sys
from contextlib import closing
from pathlib import Path
from time import perf_counter

from msgspec import Struct

from harness.core.errors import UsageError
from harness.match.faults import BotFault
from harness.sandbox.launch import Launch
from harness.sandbox.process import Process
from harness.sandbox.scratch import new_folder, remove_folder
from harness.sandbox.system_calls import DENIED, number_of

MEMORY = 512
TIME = 20.0
VARIABLE = "ARENA_PROBE"
GUARANTEES = {
    "memory": ("memory has a limit", ("eats_memory",)),
    "processor": ("processor time has a limit", ("burns_time",)),
    "processes": ("the number of processes has a limit", ("forks",)),
    "writing": ("nothing can be written outside a scratch folder", ("writes",)),
    "reading": ("nobody else's files can be read", ("reads",)),
    "network": ("there is no network, not even this machine's own", ("connects", "sends", "opens_sockets")),
    "others": ("other processes cannot be seen or reached", ("signals_others", "sees_others", "reaches_sockets")),
    "inheritance": ("nothing is inherited: no open files, no environment", ("inherits",)),
    "channels": (
        "bots share no locks, keys, queues, memory, nor the counters of the machine",
        ("passes_notes", "reads_counters"),
    ),
    "kernel": ("the kernel's risky parts are closed: namespaces, mounts, bpf ...", ("enters_kernel",)),
}


class Guarantee(Struct, frozen=True):
    """Something that isolation should see to."""

    name: str
    text: str
    enforced: bool
    through: tuple[str, ...] = ()
    """What got through of what was tried, where something did."""
    by: str = ""
    """Who sees to it, where that is not the same everywhere: for memory "cgroup" or "arena"."""


def probe() -> list[Guarantee]:
    """Tries out the isolation of this machine; takes about half a second."""
    folder = new_folder()
    os.chmod(folder, 0o777)  # noqa: PTH101, S103 - it is there to be written to, if that is possible
    Path(folder, "secret").write_text("nobody's business")
    os.environ[VARIABLE] = "1"
    try:
        with closing(socket.create_server(("127.0.0.1", 0))) as listener, closing(_listening(folder)) as local:
            given = {
                "memory": MEMORY, "folder": folder, "port": listener.getsockname()[1], "pid": os.getpid(),
                "variable": VARIABLE, "socket": local.getsockname(), "channels": _numbers(channel=True),
                "risks": _numbers(channel=False), "clone": number_of("clone", os.uname().machine) or 0,
            }  # fmt: skip
            through, counted = _attempts(given)
    finally:
        del os.environ[VARIABLE]
        remove_folder(folder)
    found = []
    for name, (text, attempts) in GUARANTEES.items():
        got = tuple(word for attempt in attempts for word in through.get(attempt, [attempt]))
        by = ("cgroup" if counted else "arena") if name == "memory" else ""
        found.append(Guarantee(name, text, not got, got, by))
    return found


def _listening(folder: str) -> socket.socket:
    """A socket with a place in this folder, where everybody may come."""
    local = socket.socket(socket.AF_UNIX)
    local.bind(f"{folder}/socket")
    os.chmod(local.getsockname(), 0o777)  # noqa: PTH101, S103 - likewise
    local.listen()
    return local


def _numbers(channel: bool) -> dict[str, int]:
    """The calls to try that two bots could talk by, or the others; none where their numbers are not known."""
    calls = [call for denied in DENIED if denied.channel == channel for call in denied.calls]
    numbers = {call: number_of(call, os.uname().machine) for call in calls}
    return {call: number for call, number in numbers.items() if number is not None}


def _attempts(given: dict[str, object]) -> tuple[dict[str, list[str]], bool]:
    """What got through, by the attempt's name, and whether the kernel counted the memory of who tried."""
    script = Path(__file__).with_name("attempts.py")
    launch = Launch(
        (sys.executable, "-S", "-P", str(script)),
        readable=tuple({sys.prefix, sys.base_prefix, sys.exec_prefix, str(script.parent)}),
    )
    home = new_folder()
    process = Process(launch, home, memory=MEMORY)
    try:
        line = process.exchange(json.dumps(given).encode() + b"\n", perf_counter() + TIME)
        through: dict[str, list[str]] = json.loads(line)
        counted = process.counted_by_kernel
    except BotFault as fault:
        raise UsageError(f"Isolation does not work on this machine: {fault.detail}.") from None
    finally:
        process.kill()
        remove_folder(home)
    return through, counted


def require_enforcement() -> None:
    """Refuses to go on where this machine cannot enforce everything."""
    lacking = [guarantee.text for guarantee in probe() if not guarantee.enforced]
    if lacking:
        raise UsageError(
            f"--isolate=strict cannot be kept here: this machine does not enforce that {', that '.join(lacking)}. "
            "'arena doctor' says more; --isolate=on goes on with what there is."
        )
