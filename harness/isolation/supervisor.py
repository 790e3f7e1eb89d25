"""The process between Arena and a bot: starts the bot within its limits and kills everything the bot leaves behind.

`launch` starts it in a new Python, or as a fork of one that has loaded Arena and no bot (`serve`). It ends when the
bot's program ends, on SIGTERM, or when its parent dies, and kills everything that the program started. The bot cannot
reach it where the kernel has namespaces.

It is started with -S (no site-packages) for a quick start: standard library only.
"""

from __future__ import annotations

import gc
import json
import os
import signal
import site
import socket
import sys
from contextlib import suppress
from functools import partial
from importlib import import_module
from itertools import filterfalse
from pathlib import Path
from struct import unpack
from time import sleep
from typing import Any, NoReturn

from harness.isolation import kernel, seccomp
from harness.isolation.confine import confine, enter_namespaces
from harness.isolation.limits import SandboxLimits, find_packages

EXIT_CANNOT_START = 126
"""Exit code when the program cannot be started within its limits; stderr has the reason."""
_program_pids: list[int] = []


def serve() -> NoReturn:
    """Fork a supervisor for each byte on stdin, until Arena closes it; the fork receives its orders by a socket."""
    sys.path[:] = dict.fromkeys([*json.loads(sys.argv[1]), *sys.path])
    import_module("harness.isolation.bot_host").preload()
    requests = socket.socket(fileno=3)
    wait, is_parent = partial(os.read, 0, 1), (0).__lt__
    gc.collect()
    gc.freeze()  # forks share what the collector does not touch
    # The memory of this process must not change, or a bot could see how many were started before it. So it runs no
    # Python code from here on, whose counters change with each run: `next` returns in a fork, or if there can be none.
    if next(filterfalse(is_parent, map(kernel.sibling_fork(), iter(wait, b""))), -1):
        os._exit(0)
    streams = *_, orders = unpack("4i", requests.recvmsg(1, socket.CMSG_SPACE(16))[1][0][2])
    os.setpgid(0, 0)
    for target, descriptor in enumerate(streams[:3]):
        os.dup2(descriptor, target)
    sys.argv[1] = os.pread(orders, os.fstat(orders).st_size, 0).decode()
    requests.send(os.getpid().to_bytes(4))  # fails, and ends this process, if Arena no longer waits for it
    requests.close()
    for descriptor in streams:
        os.close(descriptor)
    kernel.set_command_line(f"arena {json.loads(sys.argv[1])['limits']['folder']}")
    main()


def main() -> NoReturn:
    """Start the program and exit when it ends."""
    config = json.loads(sys.argv[1])
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
        kernel.prctl(kernel.PR_SET_PDEATHSIG, signal.SIGTERM)
        # orphans of the program become our children, so that we can kill them
        kernel.prctl(seccomp.PR_SET_CHILD_SUBREAPER, 1)
        if os.getppid() != config["parent"]:
            sys.exit(EXIT_CANNOT_START)  # the parent died before PDEATHSIG was set: no signal will come
    # Two processes: the bot's has given up all rights, so only its parent can kill whatever the bot leaves behind.
    program = os.fork()
    if program == 0:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        in_cgroup = False
        with suppress(OSError):  # Arena notices a process that is not in its cgroup, and counts its memory itself
            in_cgroup = cgroup >= 0 and os.write(cgroup, b"0") > 0
        _become_program(config, limits, namespaces, in_cgroup)
    _program_pids.append(program)
    if cgroup >= 0:
        os.close(cgroup)
    nothing = os.open(os.devnull, os.O_RDWR)
    # Arena sees end-of-file on a pipe only when every copy of it is closed, so the supervisor must not hold one.
    for descriptor in (0, 1, 2):
        os.dup2(nothing, descriptor)
    pid = 0
    while pid != program:  # orphans of the program end, too
        pid, status = os.wait()
    _kill_descendants()
    # As a shell reports it.
    os._exit(os.WEXITSTATUS(status) if os.WIFEXITED(status) else 128 + os.WTERMSIG(status))


def _become_program(config: dict[str, Any], limits: SandboxLimits, namespaces: bool, in_cgroup: bool) -> NoReturn:
    """Confine this process and run the program in it."""
    try:
        scratch, missing = confine(limits, namespaces, in_cgroup)
        if missing and limits.strict:
            _exit_cannot_start("this system cannot enforce " + "; ".join(missing))
        environment = {**config["environment"], "HOME": scratch, "TMPDIR": scratch}
        if config["argv"]:
            for number in (signal.SIGPIPE, signal.SIGXFSZ):  # Python ignores these signals; programs expect the default
                signal.signal(number, signal.SIG_DFL)
            os.execvpe(config["argv"][0], config["argv"], environment)  # noqa: S606 - that is the purpose
        os.environ.clear()
        os.environ.update(environment)
        # This reads every .pth file of the environment. Only Python bots need it, which may be in any installed
        # package, and only once they are confined: a .pth file can contain code.
        site.main()
        # The order of the process that entered the bot, so that the same one of two installed versions is imported.
        sys.path[:] = dict.fromkeys([*config["import_path"], *sys.path])
        find_packages(config["packages"])
        module, _, function = config["entry"].partition(":")
        getattr(import_module(module), function)(config["request"])
        os._exit(0)
    except BaseException as error:
        _exit_cannot_start(str(error) or type(error).__name__)


def _exit_cannot_start(why: str) -> NoReturn:
    with suppress(OSError):
        os.write(2, f"arena: cannot start it: {why}\n".encode())
    os._exit(EXIT_CANNOT_START)


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
