"""The process between arena and a bot: starts it within its limits, and sees to it that nothing of it outlives it.

Run as a script, with one argument of JSON that `process` writes. It ends when the bot's program ends, when arena asks
it to (SIGTERM), or when its parent dies, and takes everything that the program has started with it. It is arena's own
code, out of the bot's reach where the kernel has namespaces.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from time import sleep
from typing import Any

CANNOT_START = 126
"""Exit code when the program could not be started within its limits; stderr says why."""
_started: list[int] = []


def main(orders: dict[str, Any]) -> None:
    """Starts the program and stays until it is over."""
    from harness.sandbox import kernel
    from harness.sandbox.confine import enter_namespaces, random_user
    from harness.sandbox.limits import SandboxLimits

    limits = SandboxLimits(**orders["limits"])
    cgroup = -1
    with suppress(OSError):  # opened while we are still who we are; not for us, who outlive what is killed in it
        cgroup = os.open(f"{orders['cgroup']}/cgroup.procs", os.O_WRONLY) if orders["cgroup"] else -1
    namespaces = limits.confined and enter_namespaces()
    signal.signal(signal.SIGTERM, _terminated)
    if sys.platform == "linux":
        kernel.prctl(kernel.PR_SET_PDEATHSIG, signal.SIGTERM)
        kernel.prctl(kernel.PR_SET_CHILD_SUBREAPER, 1)  # what the program leaves behind becomes ours
        if os.getppid() != orders["parent"]:
            sys.exit(CANNOT_START)  # the parent died before we asked
    program = os.fork()
    if program == 0:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        _run(orders, limits, namespaces, random_user(), _join(cgroup))
    _started.append(program)
    if cgroup >= 0:
        os.close(cgroup)
    nothing = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):  # else nobody would notice that the program has closed its own
        os.dup2(nothing, descriptor)
    os._exit(_wait_for(program))


def _join(cgroup: int) -> bool:
    """Moves this process into the cgroup of this descriptor; whether it is in one now. If not, arena sees that."""
    if cgroup < 0:
        return False
    try:
        os.write(cgroup, b"0")
    except OSError:
        return False
    return True


def _run(orders: dict[str, Any], limits: Any, namespaces: bool, bot_user: int, counted: bool) -> None:
    """Becomes the program. Never returns."""
    from harness.sandbox.confine import confine

    try:
        scratch, missing = confine(limits, namespaces, bot_user, counted)
        if missing and limits.strict:
            _give_up("this system cannot enforce " + "; ".join(missing))
        environment = {**orders["environment"], "HOME": scratch, "TMPDIR": scratch}
        if orders["argv"]:
            for number in (signal.SIGPIPE, signal.SIGXFSZ):  # Python ignores these; programs expect their effect
                signal.signal(number, signal.SIG_DFL)
            os.execvpe(orders["argv"][0], orders["argv"], environment)  # noqa: S606 - that is the purpose
        os.environ.clear()
        os.environ.update(environment)
        import site

        from harness.sandbox.packages import find_packages

        site.main()  # skipped so far for a quick start; a bot may live in any installed package
        # In the order of whoever enters the bot, so that of two installed versions it is the same one.
        sys.path[:] = dict.fromkeys([*orders["import_path"], *sys.path])
        find_packages(orders["packages"])
        module, _, function = orders["entry"].partition(":")
        getattr(import_module(module), function)(orders["request"])
        os._exit(0)
    except BaseException as error:
        _give_up(str(error) or type(error).__name__)


def _give_up(why: str) -> None:
    with suppress(OSError):
        os.write(2, f"arena: cannot start it: {why}\n".encode())
    os._exit(CANNOT_START)


def _wait_for(program: int) -> int:
    """Waits until the program has ended; the exit code that tells how."""
    while True:
        pid, status = os.wait()
        if pid == program:
            break
    _kill_all()
    return os.WEXITSTATUS(status) if os.WIFEXITED(status) else 128 + os.WTERMSIG(status)


def _terminated(_number: int, _frame: object) -> None:
    _kill_all()
    os._exit(128 + signal.SIGTERM)


def _kill_all() -> None:
    """Kills all children, and theirs, who become ours when they lose their parent, and waits for their end.

    The kernel's list of children may miss one while another ends: only `waitpid` says that none is left.
    """
    while True:
        for pid in _children():
            with suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        try:
            ended, _ = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return
        if not ended:
            sleep(0.001)


def _children() -> list[int]:
    try:
        return [int(word) for word in Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()]
    except OSError:  # no such list on this system: at least the program itself is known
        return _started


if __name__ == "__main__":
    given = json.loads(sys.argv[1])
    sys.path.insert(0, given["root"])
    main(given)
