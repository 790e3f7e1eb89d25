"""Find out what this machine can enforce, by a sandboxed program that tries to break out."""

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
from harness.isolation.launch import Launch, new_folder, remove_folder
from harness.isolation.process import Process
from harness.isolation.seccomp import DENIED, syscall_number
from harness.match.faults import BotFault

MEMORY_MB = 512
PROBE_TIMEOUT_S = 20.0
PROBE_VARIABLE = "ARENA_PROBE"
GUARANTEES = {
    "memory": ("memory has a limit", ("eats_memory",)),
    "processor": ("processor time has a limit", ("burns_time",)),
    "processes": ("the number of processes has a limit", ("forks",)),
    "writing": ("nothing can be written outside a scratch folder", ("writes",)),
    "reading": ("files of other users cannot be read", ("reads",)),
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
    """Something that isolation should enforce."""

    name: str
    text: str
    enforced: bool
    through: tuple[str, ...] = ()
    """Probes that were not stopped."""
    by: str = ""
    """What enforces it, where that differs. For memory: "cgroup", or "process" if Arena polls and the kernel can limit
    a strictly isolated bot to one process, or "arena" if Arena only polls.
    """


def probe() -> list[Guarantee]:
    """Test the isolation of this machine; takes about half a second."""
    folder = new_folder()
    os.chmod(folder, 0o777)  # noqa: PTH101, S103 - a target for the probe that writes
    Path(folder, "secret").write_text("not for bots")
    # A variable of this process that the sandboxed one must not inherit.
    os.environ[PROBE_VARIABLE] = "1"
    try:
        # Real targets, so that a probe that is not stopped succeeds instead of failing for another reason.
        with closing(socket.create_server(("127.0.0.1", 0))) as listener, closing(_listening(folder)) as local:
            targets = {
                "memory": MEMORY_MB, "folder": folder, "port": listener.getsockname()[1], "pid": os.getpid(),
                "variable": PROBE_VARIABLE, "socket": local.getsockname(), "channels": _syscall_numbers(channel=True),
                "risks": _syscall_numbers(channel=False), "clone": syscall_number("clone", os.uname().machine) or 0,
            }  # fmt: skip
            through, counted = _run_probes(targets)
    finally:
        del os.environ[PROBE_VARIABLE]
        remove_folder(folder)
    found = []
    for name, (text, attempts) in GUARANTEES.items():
        # A probe without an answer counts as one that got through.
        got = tuple(word for attempt in attempts for word in through.get(attempt, [attempt]))
        # Where the kernel limits the number of processes, it can limit it to one (see `confine`).
        by = "" if name != "memory" else "cgroup" if counted else "arena" if through.get("forks", True) else "process"
        found.append(Guarantee(name, text, not got, got, by))
    return found


def _listening(folder: str) -> socket.socket:
    """Return a world-accessible Unix socket in this folder."""
    local = socket.socket(socket.AF_UNIX)
    local.bind(f"{folder}/socket")
    os.chmod(local.getsockname(), 0o777)  # noqa: PTH101, S103 - a target for the probe that connects
    local.listen()
    return local


def _syscall_numbers(channel: bool) -> dict[str, int]:
    """Return the numbers of the denied calls to try: those by which bots could communicate, or the others."""
    calls = [call for denied in DENIED if denied.channel == channel for call in denied.calls]
    numbers = {call: syscall_number(call, os.uname().machine) for call in calls}
    return {call: number for call, number in numbers.items() if number is not None}


def _run_probes(targets: dict[str, object]) -> tuple[dict[str, list[str]], bool]:
    """Return what got through for each probe, and whether a cgroup counted the memory."""
    # By path and with -S: the probes need nothing but the standard library.
    script = Path(__file__).with_name("escape_probes.py")
    launch = Launch(
        (sys.executable, "-S", "-P", str(script)),
        readable=tuple({sys.prefix, sys.base_prefix, sys.exec_prefix, str(script.parent)}),
    )
    home = new_folder()
    process = Process(launch, home, memory=MEMORY_MB)
    try:
        line = process.exchange(json.dumps(targets).encode() + b"\n", perf_counter() + PROBE_TIMEOUT_S)
        through: dict[str, list[str]] = json.loads(line)
        counted = process.counted_by_kernel
    except BotFault as fault:
        raise UsageError(f"Isolation does not work on this machine: {fault.detail}.") from None
    finally:
        process.kill()
        remove_folder(home)
    return through, counted


def require_enforcement() -> None:
    """Raise UsageError if this machine cannot enforce everything."""
    found = probe()
    lacking = [guarantee.text for guarantee in found if not guarantee.enforced]
    if any(guarantee.by == "arena" for guarantee in found):
        lacking.append("the kernel limits the memory of all processes of a bot together (no cgroup v2 to use)")
    if lacking:
        raise UsageError(
            f"Strict isolation is not possible: this machine does not enforce that {', that '.join(lacking)}.",
            fix="isolate-on",
        )
