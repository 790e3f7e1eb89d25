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
from harness.sandbox.process import Launch, Process
from harness.sandbox.scratch import new_folder, remove_folder

MEMORY = 512
TIME = 20.0
VARIABLE = "ARENA_PROBE"
GUARANTEES = {
    "memory": ("memory has a limit", ("eats_memory",)),
    "processor": ("processor time has a limit", ("burns_time",)),
    "processes": ("the number of processes has a limit", ("forks",)),
    "writing": ("nothing can be written outside a scratch folder", ("writes",)),
    "reading": ("nobody else's files can be read", ("reads",)),
    "network": ("there is no network, not even this machine's own", ("connects", "sends")),
    "others": ("other processes cannot be seen or reached", ("signals_others", "sees_others")),
    "inheritance": ("nothing is inherited: no open files, no environment", ("inherits",)),
}


class Guarantee(Struct, frozen=True):
    """Something that isolation should see to."""

    name: str
    text: str
    enforced: bool


def probe() -> list[Guarantee]:
    """Tries out the isolation of this machine; takes about half a second."""
    folder = new_folder()
    os.chmod(folder, 0o777)  # noqa: PTH101, S103 - it is there to be written to, if that is possible
    Path(folder, "secret").write_text("nobody's business")
    os.environ[VARIABLE] = "1"
    try:
        with closing(socket.create_server(("127.0.0.1", 0))) as listener:
            given = {
                "memory": MEMORY, "folder": folder, "port": listener.getsockname()[1], "pid": os.getpid(),
                "variable": VARIABLE,
            }  # fmt: skip
            stopped = _attempts(given)
    finally:
        del os.environ[VARIABLE]
        remove_folder(folder)
    return [
        Guarantee(name, text, all(stopped.get(attempt, False) for attempt in attempts))
        for name, (text, attempts) in GUARANTEES.items()
    ]


def _attempts(given: dict[str, object]) -> dict[str, bool]:
    script = Path(__file__).with_name("attempts.py")
    launch = Launch(
        (sys.executable, "-S", "-P", str(script)),
        readable=tuple({sys.prefix, sys.base_prefix, sys.exec_prefix, str(script.parent)}),
    )
    home = new_folder()
    process = Process(launch, home, memory=MEMORY)
    try:
        line = process.exchange(json.dumps(given).encode() + b"\n", perf_counter() + TIME)
        stopped: dict[str, bool] = json.loads(line)
    except BotFault as fault:
        raise UsageError(f"Isolation does not work on this machine: {fault.detail}.") from None
    finally:
        process.kill()
        remove_folder(home)
    return stopped


def require_enforcement() -> None:
    """Refuses to go on where this machine cannot enforce everything."""
    lacking = [guarantee.text for guarantee in probe() if not guarantee.enforced]
    if lacking:
        raise UsageError(
            f"--isolate=strict cannot be kept here: this machine does not enforce that {', that '.join(lacking)}. "
            "'arena doctor' says more; --isolate=on goes on with what there is."
        )
