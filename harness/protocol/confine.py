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

from harness.protocol import jail, kernel, landlock

UNLIMITED = resource.RLIM_INFINITY
MEGABYTE = 1 << 20
STRANGER = 60_000_000
"""Users from here on belong to nobody: each bot of a root's run gets one of its own."""
NOBODY = 65534
_SPACES = kernel.CLONE_NEWNS | kernel.CLONE_NEWPID | kernel.CLONE_NEWNET | kernel.CLONE_NEWIPC | kernel.CLONE_NEWUTS


@dataclass(frozen=True, slots=True)
class Terms:
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


def confine(terms: Terms, separated: bool, stranger: int) -> tuple[str, list[str]]:
    """Confines this process. Where its scratch folder is now, and what could not be enforced, in words.

    `stranger` is the user that root turns into.
    """
    missing: list[str] = []

    def tried(what: str, step: Callable[[], object]) -> bool:
        try:
            step()
        except (OSError, ValueError) as error:
            missing.append(f"{what} ({error})")
            return False
        return True

    os.setsid()
    scratch, user = terms.place, os.getuid()
    jailed = False
    if terms.confined:
        if user == 0:
            user = stranger
        if separated:
            jailed = tried(
                "a file system of its own", lambda: jail.enter(terms.place, terms.readable, user, terms.file_size)
            )
        else:
            missing.append("no view of other processes, no network (the kernel gives no namespaces)")
        scratch = jail.SCRATCH if jailed else terms.place
        if sys.platform == "linux":
            kernel.drop_bounding_set()
        tried("a user of its own", lambda: _become(user, scratch, terms.readable))
    _limit(terms, tried)
    if terms.confined:
        tried("no capabilities", kernel.drop_capabilities)
        tried("no new privileges", kernel.no_new_privileges)
        readable = [*jail.needed(terms.readable), "/proc", "/dev"] if jailed else [*jail.needed(terms.readable), "/dev"]
        locked = tried("Landlock", lambda: landlock.restrict(readable, [scratch, "/dev/null"]))
        if jailed and not locked:
            missing.pop()  # a second wall behind the first: good to have, but all of it is enforced without it
    if sys.platform == "linux":
        kernel.prctl(kernel.PR_SET_PDEATHSIG, signal.SIGKILL)
    os.closerange(3, 1 << 16)
    os.chdir(scratch)
    return scratch, missing


def _limit(terms: Terms, tried: Callable[[str, Callable[[], object]], bool]) -> None:
    limits = [
        ("a memory limit", "RLIMIT_AS", terms.memory * MEGABYTE or UNLIMITED),
        ("a limit of processor time", "RLIMIT_CPU", terms.cpu or UNLIMITED),
        ("a limit of open files", "RLIMIT_NOFILE", terms.open_files),
        ("no core dumps", "RLIMIT_CORE", 0),
    ]
    if terms.confined:
        limits.append(("a limit of file size", "RLIMIT_FSIZE", terms.file_size * MEGABYTE))
        limits.append(("a limit of processes", "RLIMIT_NPROC", terms.processes))
    for what, name, value in limits:
        number = getattr(resource, name, None)
        if number is not None:
            tried(what, partial(_set, number, value))


def _set(number: int, value: int) -> None:
    _, hard = resource.getrlimit(number)
    if hard != UNLIMITED:
        value = hard if value == UNLIMITED else min(value, hard)
    resource.setrlimit(number, (value, value))


def _become(user: int, scratch: str, readable: Sequence[str]) -> None:
    """Turns root into a user who owns nothing but the scratch folder; raises if that user could not run the bot."""
    if os.getuid() != 0:
        return
    os.setgroups([])
    for number in (user, NOBODY):  # some containers have no such high numbers
        try:
            os.chown(scratch, number, number)
            os.setegid(number)
            os.seteuid(number)
        except OSError:
            continue
        unreadable = [path for path in readable if not os.access(path, os.R_OK, effective_ids=True)]
        if not unreadable and os.access(scratch, os.W_OK, effective_ids=True):
            os.seteuid(0)
            os.setresgid(number, number, number)
            os.setresuid(number, number, number)
            return
        os.seteuid(0)
        os.setegid(0)
        if unreadable:
            break
    os.chown(scratch, 0, 0)
    raise OSError("only root may read " + ", ".join(unreadable) if unreadable else "there is no user to turn into")
