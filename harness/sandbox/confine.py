"""Takes away from this process what a stranger's bot must not have, step by step, as far as the system lets us.

Runs in the process that is to become the bot, before any of the bot's own code.
"""

from __future__ import annotations

import os
import resource
import signal
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from harness.sandbox import jail, kernel, landlock

UNLIMITED = resource.RLIM_INFINITY
MEGABYTE = 1 << 20
STRANGER = 60_000_000
"""Users from here on belong to nobody: each bot of a root's run gets one of its own."""
NOBODY = 65534
_SPACES = kernel.CLONE_NEWNS | kernel.CLONE_NEWPID | kernel.CLONE_NEWNET | kernel.CLONE_NEWIPC | kernel.CLONE_NEWUTS


@dataclass(frozen=True, slots=True)
class SandboxLimits:
    """What a bot's process may have. Everything here can be written as JSON."""

    place: str
    """An empty folder that belongs to this process alone."""
    readable: Sequence[str] = ()
    """What it needs to run; the system's programs and libraries come on top."""
    confined: bool = True
    """Whether to take away more than memory, processor time and open files."""
    strict: bool = False
    """Whether to refuse to go on when something could not be taken away."""
    memory: int = 4096
    """Megabytes of address space; 0 is no limit."""
    cpu: int = 3600
    """Seconds of processor time in the whole life of the process."""
    processes: int = 64
    open_files: int = 256
    file_size: int = 64
    """Megabytes that it may write: for one file, and for its scratch folder where that has a size."""


def separate() -> bool:
    """Gives this process's children a world of their own: processes, network, mounts. Whether the kernel agreed."""
    me, group = os.getuid(), os.getgid()
    try:
        if me == 0:
            with suppress(OSError):
                kernel.unshare(_SPACES)
                return True
        kernel.unshare(_SPACES | kernel.CLONE_NEWUSER)
        kernel.prctl(kernel.PR_SET_DUMPABLE, 1)  # or the next files are not ours to write
        for name, line in (("setgroups", "deny"), ("uid_map", f"{me} {me} 1"), ("gid_map", f"{group} {group} 1")):
            Path("/proc/self", name).write_text(line)
    except OSError:
        return False
    return True


class Refused(Exception):
    """The bot cannot be run on these terms by any means."""


class _Steps:
    """Takes step after step, and remembers what could not be enforced."""

    def __init__(self) -> None:
        self.missing: list[str] = []

    def take(self, what: str, step: Callable[[], object]) -> bool:
        """Whether this step was possible."""
        try:
            step()
        except (OSError, ValueError) as error:
            self.missing.append(f"{what} ({error})")
            return False
        return True


def confine(terms: SandboxLimits, separated: bool, stranger: int) -> tuple[str, list[str]]:
    """Confines this process. Where its scratch folder is now, and what could not be enforced, in words.

    `stranger` is the user that root turns into. Raises Refused where root would have to run the bot as root.
    """
    steps = _Steps()
    scratch = terms.place
    _leave_terminal()
    if terms.confined:
        scratch = _shut_in(terms, separated, stranger, steps)
    else:
        _limit(terms, steps, processes=0)
    if sys.platform == "linux":
        kernel.prctl(kernel.PR_SET_PDEATHSIG, signal.SIGKILL)
    os.closerange(3, 1 << 16)
    os.chdir(scratch)
    return scratch, steps.missing


def _leave_terminal() -> None:
    """Gives this process a group of its own, out of reach of any terminal.

    A session of its own only where there is a terminal to get away from: Linux schedules each session as one party
    (autogroup), and passing the word between two parties takes twice the time of passing it within one.
    """
    try:
        os.close(os.open("/dev/tty", os.O_RDWR | os.O_NOCTTY))
    except OSError:
        os.setpgid(0, 0)
    else:
        os.setsid()


def _shut_in(terms: SandboxLimits, separated: bool, stranger: int, steps: _Steps) -> str:
    """Takes away files, rights and connections. Where the scratch folder is now."""
    root = os.getuid() == 0
    owner = stranger if root else os.getuid()
    jailed = separated and steps.take(
        "a file system of its own", lambda: jail.enter(terms.place, terms.readable, owner, terms.file_size)
    )
    if not separated:
        steps.missing.append("no view of other processes, no network (the kernel gives no namespaces)")
    scratch = jail.SCRATCH if jailed else terms.place
    if sys.platform == "linux":
        kernel.drop_bounding_set()
    alone = _become(stranger, scratch, terms.readable) if root else separated
    if not alone:  # the limit counts all processes of a user: here, others' too
        steps.missing.append("a limit of processes (the bot has no user of its own)")
    _limit(terms, steps, terms.processes if alone else 0)
    steps.take("no capabilities", kernel.drop_capabilities)
    steps.take("no new privileges", kernel.no_new_privileges)
    readable = [*jail.needed(terms.readable), "/dev", *(["/proc"] if jailed else [])]
    locked = steps.take("Landlock", lambda: landlock.restrict(readable, [scratch, "/dev/null"]))
    if jailed and not locked:
        steps.missing.pop()  # a second wall behind the first: good to have, but all is enforced without it
    return scratch


def _limit(terms: SandboxLimits, steps: _Steps, processes: int) -> None:
    limits = [
        ("a memory limit", "RLIMIT_AS", terms.memory * MEGABYTE or UNLIMITED),
        ("a limit of processor time", "RLIMIT_CPU", terms.cpu or UNLIMITED),
        ("a limit of open files", "RLIMIT_NOFILE", terms.open_files),
        ("no core dumps", "RLIMIT_CORE", 0),
    ]
    if terms.confined:
        limits.append(("a limit of file size", "RLIMIT_FSIZE", terms.file_size * MEGABYTE))
    if processes:
        limits.append(("a limit of processes", "RLIMIT_NPROC", processes))
    for what, name, value in limits:
        number = getattr(resource, name, None)
        if number is not None:
            steps.take(what, partial(_set, number, value))


def _set(number: int, value: int) -> None:
    _, hard = resource.getrlimit(number)
    if hard != UNLIMITED:
        value = hard if value == UNLIMITED else min(value, hard)
    resource.setrlimit(number, (value, value))


def _become(stranger: int, scratch: str, readable: Sequence[str]) -> bool:
    """Turns root into a user who owns nothing but the scratch folder; whether nobody else is that user."""
    for user in (stranger, NOBODY):
        try:
            os.setgroups([])
            os.chown(scratch, user, user)
            os.setresgid(user, user, user)
            os.setresuid(user, user, user)
        except OSError:  # some containers have no such high numbers
            continue
        unreadable = [path for path in readable if not os.access(path, os.R_OK)]
        if unreadable:
            listed = ", ".join(unreadable)
            raise Refused(f"only root may read {listed}; make that readable for all, or run arena as an ordinary user")
        return user == stranger
    raise Refused("there is no user whom root can turn into; run arena as an ordinary user")
