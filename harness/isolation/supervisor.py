"""The process between Arena and a bot: starts the bot within its limits and kills everything the bot leaves behind.

Run as a script, with one JSON argument that `launch` writes. It ends when the bot's program ends, on SIGTERM, or when
its parent dies, and kills everything that the program started. The bot cannot reach it where the kernel has namespaces.

It is started with -S (no site-packages) for a quick start: standard library only.
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

EXIT_CANNOT_START = 126
"""Exit code when the program cannot be started within its limits; stderr has the reason."""
_program_pids: list[int] = []


def main(config: dict[str, Any]) -> None:
    """Start the program and wait until it ends. Never returns."""
    # Not at the top of the file: sys.path has the folder of `harness` only after __main__ has added it.
    from harness.isolation import seccomp
    from harness.isolation.confine import enter_namespaces, random_uid
    from harness.isolation.launch import SandboxLimits

    limits = SandboxLimits(**config["limits"])
    cgroup = -1
    # Opened now, before this process loses the right to. Only the child joins: the supervisor must outlive a cgroup
    # kill.
    with suppress(OSError):
        cgroup = os.open(f"{config['cgroup']}/cgroup.procs", os.O_WRONLY) if config["cgroup"] else -1
    # Namespaces come before the fork: CLONE_NEWPID applies to children only.
    namespaces = limits.confined and enter_namespaces()
    signal.signal(signal.SIGTERM, _on_sigterm)
    if sys.platform == "linux":
        seccomp.prctl(seccomp.PR_SET_PDEATHSIG, signal.SIGTERM)
        # orphans of the program become our children, so that we can kill them
        seccomp.prctl(seccomp.PR_SET_CHILD_SUBREAPER, 1)
        if os.getppid() != config["parent"]:
            sys.exit(EXIT_CANNOT_START)  # the parent died before PDEATHSIG was set: no signal will come
    program = os.fork()
    if program == 0:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        _become_program(config, limits, namespaces, random_uid(), _join_cgroup(cgroup))
    _program_pids.append(program)
    if cgroup >= 0:
        os.close(cgroup)
    nothing = os.open(os.devnull, os.O_RDWR)
    # Arena sees end-of-file on a pipe only when every copy of it is closed, so the supervisor must not hold one.
    for descriptor in (0, 1, 2):
        os.dup2(nothing, descriptor)
    os._exit(_wait_for(program))


def _join_cgroup(cgroup: int) -> bool:
    """Move this process into the cgroup of this descriptor; return whether that worked. If not, Arena notices."""
    if cgroup < 0:
        return False
    try:
        os.write(cgroup, b"0")
    except OSError:
        return False
    return True


def _become_program(config: dict[str, Any], limits: Any, namespaces: bool, bot_uid: int, in_cgroup: bool) -> None:
    """Confine this process and run the program in it. Never returns."""
    # As in main: sys.path is not complete when this file is loaded.
    from harness.isolation.confine import confine

    try:
        scratch, missing = confine(limits, namespaces, bot_uid, in_cgroup)
        if missing and limits.strict:
            _exit_cannot_start("this system cannot enforce " + "; ".join(missing))
        environment = {**config["environment"], "HOME": scratch, "TMPDIR": scratch}
        if config["argv"]:
            for number in (signal.SIGPIPE, signal.SIGXFSZ):  # Python ignores these signals; programs expect the default
                signal.signal(number, signal.SIG_DFL)
            os.execvpe(config["argv"][0], config["argv"], environment)  # noqa: S606 - that is the purpose
        os.environ.clear()
        os.environ.update(environment)
        # `site` reads every .pth file of the environment: only Python bots need it, and only once they are confined.
        import site

        from harness.isolation.launch import find_packages

        site.main()  # a bot may be in any installed package
        # The order of the process that entered the bot, so that the same one of two installed versions is imported.
        sys.path[:] = dict.fromkeys([*config["import_path"], *sys.path])
        find_packages(config["packages"])
        module, _, function = config["entry"].partition(":")
        getattr(import_module(module), function)(config["request"])
        os._exit(0)
    except BaseException as error:
        _exit_cannot_start(str(error) or type(error).__name__)


def _exit_cannot_start(why: str) -> None:
    with suppress(OSError):
        os.write(2, f"arena: cannot start it: {why}\n".encode())
    os._exit(EXIT_CANNOT_START)


def _wait_for(program: int) -> int:
    """Wait until the program has ended; return its exit code as a shell would report it."""
    while True:
        pid, status = os.wait()
        if pid == program:
            break
    _kill_descendants()
    return os.WEXITSTATUS(status) if os.WIFEXITED(status) else 128 + os.WTERMSIG(status)


def _on_sigterm(_number: int, _frame: object) -> None:
    _kill_descendants()
    os._exit(128 + signal.SIGTERM)


def _kill_descendants() -> None:
    """Kill all descendants and wait for their end; orphans become children of this process.

    The kernel's list of children may miss one while another ends: only `waitpid` says that none is left.
    """
    while True:
        for pid in _child_pids():
            with suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        try:
            ended, _ = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return
        if not ended:
            sleep(0.001)


def _child_pids() -> list[int]:
    try:
        return [int(word) for word in Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()]
    except OSError:  # no such list on this system; the program itself is known
        return _program_pids


if __name__ == "__main__":
    config = json.loads(sys.argv[1])
    sys.path.insert(0, config["root"])
    main(config)
