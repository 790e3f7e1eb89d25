"""Bots that kill, hang or starve the process they run in: only workers survive them."""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import threading
import time
from contextlib import suppress
from typing import Any

from harness import Bot


class Wild(Bot):
    """Behaves well until its third decision."""

    def start(self) -> None:
        self.left = 2

    def choose(self, view: Any, actions: Any) -> Any:
        self.left -= 1
        if self.left < 0:
            self.misbehave()
        return actions[0]

    def misbehave(self) -> None:
        raise NotImplementedError


class Hangs(Wild):
    """Never returns."""

    def misbehave(self) -> None:
        while True:
            pass


class HangsStubbornly(Wild):
    """Never returns, and lets nothing interrupt it."""

    def misbehave(self) -> None:
        while True:
            try:
                while True:
                    pass
            except BaseException:  # noqa: S112 - that is its nature
                continue


class HangsInC(Wild):
    """Holds the interpreter in one long call of C code."""

    def misbehave(self) -> None:
        sum(range(10**13))


class Sleeps(Wild):
    """Waits for something that never comes."""

    def misbehave(self) -> None:
        time.sleep(10**6)


class StopsItself(Wild):
    """Suspends its process."""

    def misbehave(self) -> None:
        os.kill(os.getpid(), signal.SIGSTOP)


class HangsAtStart(Bot):
    """Never gets ready."""

    def start(self) -> None:
        while True:
            pass

    def choose(self, view: Any, actions: Any) -> Any:
        return actions[0]


class HangsAtTheEnd(Bot):
    """Never gets over a result."""

    def choose(self, view: Any, actions: Any) -> Any:
        return actions[0]

    def finish(self, record: Any) -> None:
        while True:
            pass


class Leaves(Wild):
    """Ends its process."""

    def misbehave(self) -> None:
        os._exit(0)


class LeavesAtStart(Bot):
    """Ends its process before it has begun."""

    def start(self) -> None:
        os._exit(7)

    def choose(self, view: Any, actions: Any) -> Any:
        return actions[0]


class Segfaults(Wild):
    """Reads where nothing is."""

    def misbehave(self) -> None:
        ctypes.string_at(1)


class KillsItself(Wild):
    """Sends itself SIGKILL."""

    def misbehave(self) -> None:
        os.kill(os.getpid(), signal.SIGKILL)


class KillsItsParent(Wild):
    """Ends the process that its own was forked from."""

    def misbehave(self) -> None:
        os.kill(os.getppid(), signal.SIGKILL)
        time.sleep(60)


class ClosesEverything(Wild):
    """Closes all descriptors, the harness's pipes among them."""

    def misbehave(self) -> None:
        os.closerange(0, 256)


class EatsMemory(Wild):
    """Allocates without end."""

    def misbehave(self) -> None:
        eaten = []
        while True:
            eaten.append(bytearray(64 << 20))


class Forks(Wild):
    """Leaves a handful of children behind, some in sessions of their own, and goes on."""

    def misbehave(self) -> None:
        if self.left > -3 and os.fork() == 0:
            if self.left == -2:
                with suppress(PermissionError):  # which the filter of an isolated bot raises
                    os.setsid()
            time.sleep(10**6)


class ForksAndDies(Wild):
    """Leaves a child that holds all pipes open, and ends."""

    def misbehave(self) -> None:
        if os.fork() == 0:
            time.sleep(10**6)
        os._exit(1)


class ForksAndPlaysOn(Wild):
    """Doubles itself: both want to go on playing."""

    def misbehave(self) -> None:
        if self.left == -1:
            os.fork()


class ClosesStdout(Wild):
    """Closes what it does not own, and prints."""

    def misbehave(self) -> None:
        sys.stdout.close()
        with suppress(OSError):  # it may have closed it in an earlier match
            os.close(1)
        print("still here")  # noqa: T201 - printing is its vice


class LeavesThreads(Wild):
    """Starts a thread that never ends."""

    def misbehave(self) -> None:
        if self.left == -1:
            threading.Thread(target=lambda: time.sleep(10**6)).start()


BLAMED = {
    Hangs: "timeout",
    HangsStubbornly: "timeout",
    HangsInC: "timeout",
    Sleeps: "timeout",
    StopsItself: "timeout",
    HangsAtStart: "timeout",
    HangsAtTheEnd: "timeout",
    Leaves: "crash",
    LeavesAtStart: "crash",
    Segfaults: "crash",
    KillsItself: "crash",
    ClosesEverything: "crash",
    ForksAndDies: "crash",
    EatsMemory: "memory",
}
"""Wild bot -> the kind of fault it must be blamed for."""
HARMLESS = (Forks, ForksAndPlaysOn, ClosesStdout, LeavesThreads)
"""Rude bots that break no rule of the game."""
