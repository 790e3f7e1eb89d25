"""Bots that take more than is theirs: memory in every way there is, and the processor while others think."""

from __future__ import annotations

import ctypes
import mmap
import os
import socket
import time

import harness

MEGABYTE = 1 << 20


class Greedy(harness.Bot):
    """Misbehaves at its first decision, and waits to be stopped."""

    def take(self) -> None:
        raise NotImplementedError

    def choose(self, view, actions):
        self.take()
        while True:
            time.sleep(0.01)


class MemoryFile(Greedy):
    """Files in memory that are never mapped."""

    def take(self):
        for number in range(12):
            file = os.memfd_create(f"part-{number}")
            for _ in range(50):
                os.write(file, bytes(MEGABYTE))


class SharedMemory(Greedy):
    """Memory that children share with it, and that none of them has more than a part of."""

    def take(self):
        for _ in range(6):
            if os.fork() == 0:
                part = mmap.mmap(-1, 100 * MEGABYTE)
                ctypes.memset(ctypes.addressof(ctypes.c_char.from_buffer(part)), 1, 100 * MEGABYTE)
                while True:
                    time.sleep(1)


class EightProcesses(Greedy):
    """A part for each of eight processes."""

    def take(self):
        for _ in range(8):
            if os.fork() == 0:
                part = bytearray(80 * MEGABYTE)
                for place in range(0, len(part), 4096):
                    part[place] = 1
                while True:
                    time.sleep(1)


class Buffers(Greedy):
    """Pairs of sockets, filled to the brim, in children."""

    count, processes = 30, 6

    def take(self):
        for _ in range(self.processes):
            if os.fork() == 0:
                kept = [fill(*socket.socketpair()) for _ in range(self.count)]
                while kept:
                    time.sleep(1)


class BuffersUnderWay(Greedy):
    """Sockets, filled to the brim, that nobody has open: they are in messages in sockets."""

    def take(self):
        here, there = socket.socketpair()
        for _ in range(60):
            full = fill(*socket.socketpair())
            socket.send_fds(here, [b"x"], [one.fileno() for one in full])
            for one in full:
                one.close()
        self.kept = here, there


def fill(*sockets):
    for each in sockets:
        each.setblocking(False)
        try:
            while True:
                each.send(bytes(1 << 16))
        except BlockingIOError:
            continue
    return sockets


class Burner(harness.Bot):
    """Has children that burn processor time for ever."""

    def start(self):
        for number in range(3):
            if os.fork() == 0:
                if number == 2:
                    os.setpgid(0, 0)  # a session of its own it is refused
                while True:
                    pass

    def choose(self, view, actions):
        return actions[0]


class LonelyBurner(harness.Bot):
    """Sets an alarm that wakes it while others think, and goes on from there."""

    def choose(self, view, actions):
        import signal

        def burn(_number, _frame):
            until = time.monotonic() + 0.3
            while time.monotonic() < until:
                pass

        signal.signal(signal.SIGALRM, burn)
        signal.setitimer(signal.ITIMER_REAL, 0.02)
        return actions[0]


class Thinker(harness.Bot):
    """Thinks a little while."""

    def choose(self, view, actions):
        until = time.monotonic() + 0.2
        while time.monotonic() < until:
            pass
        return actions[0]


class Arsonist(harness.Bot):
    """Has many processes that leave it and each other, and burn processor time for ever from its first answer on."""

    fuse: tuple[int, int] | None = None

    def choose(self, view, actions):
        if self.fuse is None:
            self.fuse = os.pipe()
            for _ in range(24):
                child = os.fork()
                if child == 0:
                    self.burn(*self.fuse)
                os.waitpid(child, 0)  # the dead count as processes, too, of which there may be 64
            os.close(self.fuse[1])
        return actions[0]

    def burn(self, fuse, end):
        os.setsid()
        os.close(end)
        if os.fork():
            os._exit(0)
        os.read(fuse, 1)
        while True:
            pass


class Reckoner(harness.Bot):
    """Needs some processor time for each answer, however long it takes to get it."""

    def choose(self, view, actions):
        until = time.process_time() + 0.15
        while time.process_time() < until:
            pass
        return actions[0]


class Family(Reckoner):
    """The same with a child and a grandchild, which wait."""

    def start(self):
        if os.fork() == 0:
            os.fork()
            while True:
                time.sleep(1)
