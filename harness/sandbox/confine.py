"""Takes away from this process what a stranger's bot must not have, step by step, as far as the system lets us.

Runs in the process that is to become the bot, before any of the bot's own code.
"""

from __future__ import annotations

import fcntl
import os
import resource
import signal
import sys
import termios
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path

from harness.sandbox import jail, kernel, landlock, seccomp
from harness.sandbox.limits import SandboxLimits

UNLIMITED = resource.RLIM_INFINITY
MEGABYTE = 1 << 20
FIRST_BOT_USER, BOT_USERS = 60_000_000, 1 << 28
"""So many user ids from here on belong to nobody: each bot of a root's run gets one of its own."""
NOBODY = 65534
_NAMESPACES = kernel.CLONE_NEWNS | kernel.CLONE_NEWPID | kernel.CLONE_NEWNET | kernel.CLONE_NEWIPC | kernel.CLONE_NEWUTS


def random_user() -> int:
    """A user id for a bot. A bot can see it, so it is drawn: one that follows a counter would tell how far that is."""
    return FIRST_BOT_USER + int.from_bytes(os.urandom(8)) % BOT_USERS


def enter_namespaces() -> bool:
    """Gives this process's children processes, a network and mounts of their own. Whether the kernel agreed."""
    me, group = os.getuid(), os.getgid()
    try:
        if me == 0:
            with suppress(OSError):
                kernel.unshare(_NAMESPACES)
                return True
        kernel.unshare(_NAMESPACES | kernel.CLONE_NEWUSER)
        kernel.prctl(kernel.PR_SET_DUMPABLE, 1)  # or the next files are not ours to write
        for name, line in (("setgroups", "deny"), ("uid_map", f"{me} {me} 1"), ("gid_map", f"{group} {group} 1")):
            Path("/proc/self", name).write_text(line)
    except OSError:
        return False
    return True


class CannotConfine(Exception):
    """The bot cannot be run within these limits by any means."""


class NoOtherUser(CannotConfine):
    """Root can turn into nobody here, as in a container that was given few rights."""


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


def confine(limits: SandboxLimits, namespaces: bool, bot_user: int, counted: bool = False) -> tuple[str, list[str]]:
    """Confines this process. Where its scratch folder is now, and what could not be enforced, in words.

    `namespaces` says whether `enter_namespaces` succeeded; `bot_user` is the user that root turns into;
    `counted` says that a cgroup limits its processes already. Raises CannotConfine where root would have to run the bot
    as root.
    """
    steps = _Steps()
    scratch = limits.folder
    _leave_terminal()
    if limits.confined:
        scratch = _take_away_rights(limits, namespaces, bot_user, counted, steps)
    else:
        _limit_resources(limits, steps, processes=0)
    if sys.platform == "linux":
        kernel.prctl(kernel.PR_SET_PDEATHSIG, signal.SIGKILL)
    os.closerange(3, 1 << 16)
    os.chdir(scratch)
    return scratch, steps.missing


def _leave_terminal() -> None:
    """Gives this process a group of its own, out of reach of any terminal.

    Without a session of its own: Linux schedules each session as one party (autogroup), and passing the word between
    two parties takes twice the time of passing it within one. And it gives them numbers, which count for all to see.
    """
    with suppress(OSError):  # most often there is none
        terminal = os.open("/dev/tty", os.O_RDWR | os.O_NOCTTY)
        fcntl.ioctl(terminal, termios.TIOCNOTTY)
        os.close(terminal)
    os.setpgid(0, 0)


def _take_away_rights(limits: SandboxLimits, namespaces: bool, bot_user: int, counted: bool, steps: _Steps) -> str:
    """Takes away files, rights and connections. Where the scratch folder is now."""
    root = os.getuid() == 0
    owner = bot_user if root else os.getuid()
    visible = jail.visible_paths(limits.readable, limits.hidden)
    jailed = namespaces and steps.take(
        "a file system of its own", lambda: jail.enter(limits.folder, visible, owner, limits.file_size)
    )
    if not namespaces:
        steps.missing.append("no view of other processes (the kernel gives no namespaces)")
    scratch = jail.SCRATCH if jailed else limits.folder
    if sys.platform == "linux":
        kernel.drop_bounding_set()
    try:
        alone = _become_user(bot_user, scratch, limits.readable) if root else namespaces
    except NoOtherUser as error:
        if not limits.lenient:
            raise
        steps.missing.append(str(error))
        alone = False
    if not alone and not counted:  # the limit counts all processes of a user: here, others' too
        steps.missing.append("a limit of processes (the bot has no user of its own)")
    _limit_resources(limits, steps, limits.processes if alone else 0)
    steps.take("no capabilities", kernel.drop_capabilities)
    steps.take("no new privileges", kernel.no_new_privileges)
    readable = [*visible, *(["/dev", "/proc"] if jailed else jail.DEVICES)]  # outside, /dev has others' shared memory
    listed = ["/"] if jailed else []  # there is nothing but the visible, and Python looks into folders for modules
    locked = steps.take("Landlock", lambda: landlock.restrict(readable, [scratch, "/dev/null"], listed))
    if jailed and not locked:
        steps.missing.pop()  # a second wall behind the first: good to have, but all is enforced without it
    with suppress(OSError):  # where there are no keyrings, or none for us, there is nothing to leave
        kernel.new_session_keyring()
    steps.take("a filter of system calls", lambda: seccomp.restrict(jailed))
    return scratch


def _limit_resources(limits: SandboxLimits, steps: _Steps, processes: int) -> None:
    resources = [
        ("a memory limit", "RLIMIT_AS", limits.memory * MEGABYTE or UNLIMITED),
        ("a limit of processor time", "RLIMIT_CPU", limits.cpu or UNLIMITED),
        ("a limit of open files", "RLIMIT_NOFILE", limits.open_files),
        ("no core dumps", "RLIMIT_CORE", 0),
    ]
    if limits.confined:
        resources.append(("a limit of file size", "RLIMIT_FSIZE", limits.file_size * MEGABYTE))
    if processes:
        resources.append(("a limit of processes", "RLIMIT_NPROC", processes))
    for what, name, value in resources:
        number = getattr(resource, name, None)
        if number is not None:
            steps.take(what, partial(_set_resource_limit, number, value))


def _set_resource_limit(number: int, value: int) -> None:
    _, hard = resource.getrlimit(number)
    if hard != UNLIMITED:
        value = hard if value == UNLIMITED else min(value, hard)
    resource.setrlimit(number, (value, value))


def _become_user(bot_user: int, scratch: str, readable: Sequence[str]) -> bool:
    """Turns root into a user who owns nothing but the scratch folder; whether nobody else is that user."""
    for user in (bot_user, NOBODY):
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
            raise CannotConfine(
                f"only root may read {listed}; make that readable for all, or run arena as an ordinary user"
            )
        return user == bot_user
    with suppress(OSError):
        os.chown(scratch, os.getuid(), os.getgid())  # it may be another user's by now
    raise NoOtherUser("there is no user whom root can turn into; run arena as an ordinary user")
