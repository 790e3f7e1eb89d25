"""Diaries in places that outlive a copy: its scratch folder itself, process ids, flags of pipes, and its parent."""

from __future__ import annotations

import fcntl
import os
import resource
import signal
from contextlib import suppress
from pathlib import Path

import harness

TOLD: list[int] = []
"""What the process that is copied has heard, if it can be made to listen."""
PLACE = 32
"""Process ids above this in each 64 stand for numbers."""


def listening(*_ignored: object) -> object:
    with suppress(OSError):
        _, _, used = os.wait4(-1, os.WNOHANG)
        TOLD.append(used.ru_minflt)
    TOLD.append(resource.getrusage(resource.RUSAGE_CHILDREN).ru_minflt)
    return sigwait(*_ignored)


sigwait = signal.sigwait
if os.getpid() == 1:  # in the sandbox, not where it is entered
    signal.sigwait = os.waitpid = listening


class Sly(harness.Bot):
    """Keeps the number of the last deal that it was shown."""

    def known(self) -> int | None:
        raise NotImplementedError

    def write(self, number: int) -> None:
        raise NotImplementedError

    def choose(self, view, actions):
        number = None
        with suppress(OSError):
            number = self.known()
            if view.shown >= 0:
                self.write(view.shown)
        self.note("remembered" if number is not None and view.shown < 0 else "new")
        return actions[number if number is not None else int(self.rng.random() * len(actions))]


class AttributeDiary(Sly):
    """An attribute of the folder."""

    def known(self):
        return int(os.getxattr(".", "user.d")) if "user.d" in os.listxattr(".") else None

    def write(self, number):
        os.setxattr(".", "user.d", b"%d" % number)


class TimeDiary(Sly):
    """The time of the folder's last change."""

    def known(self):
        time = Path().stat().st_mtime_ns
        return time if time < 10 else None

    def write(self, number):
        os.utime(".", ns=(0, number))


class ModeDiary(Sly):
    """Who may enter the folder."""

    def known(self):
        kept = Path().stat().st_mode & 0o7
        return kept - 1 if kept else None

    def write(self, number):
        Path().chmod(0o710 + number + 1)


class FlagDiary(Sly):
    """Flags of a pipe that all copies have in common."""

    def known(self):
        flags = fcntl.fcntl(2, fcntl.F_GETFL)
        return 1 if flags & os.O_NONBLOCK else None

    def write(self, number):
        fcntl.fcntl(2, fcntl.F_SETFL, fcntl.fcntl(2, fcntl.F_GETFL) | os.O_NONBLOCK)


class IdDiary(Sly):
    """The process id that comes next."""

    def known(self):
        number = os.getpid() % 64 - PLACE - 1
        return number if 0 <= number < 4 else None

    def write(self, number):
        while True:
            child = os.fork()
            if child == 0:
                os._exit(0)
            os.wait()
            if child % 64 == PLACE + number:
                return


class ParentDiary(Sly):
    """What the process that is copied hears of the end of its copies."""

    def known(self):
        return TOLD[-1] % 4 if any(TOLD) else None

    def write(self, number):
        bytearray(number << 20)


class SignalDiary(Sly):
    """Signals that wait for the process that is copied."""

    def known(self):
        return 1 if signal.SIGUSR1 in signal.sigpending() or self.waiting() else None

    def waiting(self) -> bool:
        with Path(f"/proc/{os.getppid()}/status").open() as status:
            return any(line.startswith(("SigPnd", "ShdPnd")) and int(line.split()[1], 16) for line in status)

    def write(self, number):
        os.kill(os.getppid(), signal.SIGUSR1)
