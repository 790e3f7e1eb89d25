"""A confined process as arena sees it: lines out, lines in, within a time; its stderr in a log; and its end."""

from __future__ import annotations

import fcntl
import os
import re
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import termios
from contextlib import suppress
from pathlib import Path
from time import perf_counter
from typing import Any, ClassVar

from harness.core.types import FaultKind
from harness.match.faults import BotFault
from harness.match.referee import LITTLE
from harness.sandbox.cgroups import Cgroup
from harness.sandbox.copies import LoadedProgram
from harness.sandbox.launch import Launch
from harness.sandbox.limits import SandboxLimits
from harness.sandbox.memory import exceeds
from harness.sandbox.stderr_log import LOG_SIZE, StderrLog
from harness.sandbox.tree import ProcessTree, WillNotStop, can_see, children_of, descendants_of

CHUNK = 1 << 16
LONGEST_LINE = 1 << 16
"""Bytes that a program's line may have unless the asker expects more."""
WARDEN_TIME = 2.0
"""Seconds for the warden to clear up before it is killed itself."""
EXIT_CODE_TIME = 1.0
"""Seconds that a program's exit code is waited for once it has closed its pipe."""
LOOK = 0.025
"""Seconds between two looks at what others do while a program thinks."""
LAST_LINE_TIME = 0.1
"""Seconds for a program to take its last line, which needs no answer."""
_OUT_OF_MEMORY = re.compile(r"MemoryError|out of memory|cannot allocate|bad_alloc", re.IGNORECASE)


class ProcessEnded(Exception):
    """The program has closed its stdout or stdin, or has ended."""


class DeadlinePassed(Exception):
    """The time is over; `unfinished` is how many bytes of a line had come by then."""

    def __init__(self, unfinished: int) -> None:
        super().__init__("the time is over")
        self.unfinished = unfinished


class OverMemory(Exception):
    """All its processes together take more memory than they may."""


class LineTooLong(Exception):
    """The program sends more in one line than is allowed."""


class Process:
    """A running program with its warden. It belongs to this object, and ends with `kill` at the latest."""

    _resting: ClassVar[dict[Process, ProcessTree]] = {}
    """Those of this process's matches that have answered and wait for their next question."""

    def __init__(self, launch: Launch, home: str, log: Path | None = None, ponder: bool = False, **limits: Any) -> None:
        """`home` is the folder in which it gets a folder of its own; `limits` are fields of SandboxLimits.

        Unless it may `ponder`, the program is stopped from each of its answers to the next question.
        """
        self.folder = tempfile.mkdtemp(prefix="bot-", dir=home)
        self._log, self._buffer = StderrLog(log), b""
        wanted = SandboxLimits(self.folder, launch.readable, **limits)
        self._cgroup = Cgroup.make(f"{Path(home).name}.{Path(self.folder).name}", wanted.memory, wanted.processes)
        self._counted = False
        """Whether the kernel is known to count its memory, so that nobody else has to."""
        self._process = launch.start(wanted, str(self._cgroup.path) if self._cgroup else "")
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        assert self._process.stderr is not None
        self._in, self._out, self._err = (
            self._process.stdin.fileno(), self._process.stdout.fileno(), self._process.stderr.fileno(),
        )  # fmt: skip
        for descriptor in (self._in, self._out, self._err):
            os.set_blocking(descriptor, False)
        self._poll = select.poll()
        self._poll.register(self._out, select.POLLIN)
        self._poll.register(self._err, select.POLLIN)
        self.alive = True
        self.unfit = False
        """Whether copies of it have ended by themselves, or left something behind: it should not be copied again."""
        self._awaited = self._restless = False
        """Whether a copy has been asked for and has not answered yet; whether one ever did something unasked."""
        self._copied, self._ponder = launch.copied, ponder
        self._memory: int = limits.get("memory", 0)
        self._unseen = 0.0
        """Seconds that it was asked since its memory was last looked at."""
        self._used, self._used_before = 0.0, 0.0
        """Processor time of what has played and is gone, and of what it had used before the match."""
        self.loaded: LoadedProgram | None = None
        """The process that is copied for each match; None if each match needs a process of its own."""
        self._tree: ProcessTree | None = None
        """Who is asked now; None before hello, between two copies, and where this system does not show it."""
        self._copy = -1
        """A descriptor by which the end of a copy is noticed."""

    @property
    def running(self) -> bool:
        """Whether the program has not ended yet."""
        return self._process.poll() is None

    @property
    def pid(self) -> int:
        """The warden's process id."""
        return self._process.pid

    @property
    def counted_by_kernel(self) -> bool:
        """Whether its memory is counted in a cgroup, once it has said something; else arena counts it."""
        self._counted = self._counted or (self._cgroup is not None and self._cgroup.populated)
        return self._counted

    @property
    def _over_memory(self) -> str:
        return f"its processes took more than {self._memory} MB in all"

    def exchange(self, line: bytes, deadline: float, longest: int = LONGEST_LINE, awaited: str = "answered") -> bytes:
        """Sends a line and returns the next one; where none comes, kills the process and raises the BotFault this is.

        `awaited` completes the sentence "it had not ..." in the detail of the fault.
        """
        began = perf_counter()
        try:
            if self._tree is None:
                self.begin_match()
            answer = self.ask(line, deadline, longest)
            self._unseen += perf_counter() - began
            if self._unseen > LOOK:
                self._look()
            self._rest()
        except OverMemory:
            self.kill()
            raise BotFault("memory", self._over_memory) from None
        except WillNotStop:
            self.kill()
            raise BotFault("crash", "its processes could not be stopped after its answer", doubtful=True) from None
        except DeadlinePassed as late:
            little = LITTLE * (perf_counter() - began)
            idle = self._awaited or (self._tree is not None and self._tree.used_since_rest() < little)
            self.kill()
            half = f"; {late.unfinished} bytes without an end of line had come" if late.unfinished else ""
            raise BotFault(
                "timeout", f"had not {awaited} after {deadline - began:.3g} s; its process was killed{half}", idle
            ) from None
        except LineTooLong:
            self.kill()
            raise BotFault("illegal", f"sent more than {longest} bytes in one line") from None
        except ProcessEnded:
            self.unfit = self.loaded is not None
            if self._cgroup and self._cgroup.out_of_memory:
                self.kill()
                raise BotFault("memory", self._over_memory) from None
            ending = "" if self.loaded else self.kill(EXIT_CODE_TIME)  # of a copy the kernel does not tell
            self.kill()
            words = self.last_stderr_line()
            kind: FaultKind = "memory" if _OUT_OF_MEMORY.search(words) else "crash"
            detail = ": ".join(filter(None, ("its process ended", ending, words)))
            raise BotFault(kind, detail, kind == "crash") from None
        return answer

    def ask(self, line: bytes, deadline: float, longest: int = LONGEST_LINE) -> bytes:
        """Sends a line and returns the line that comes next. `deadline` is in perf_counter's time."""
        tree = self._tree
        if tree:
            tree.look_back()
        self.send(line, deadline)
        if tree:
            self._resting.pop(self, None)
            if tree.frozen:
                tree.thaw()  # now, that there is something to do: it wakes up once
        while True:
            if self._buffer:
                answer, newline, rest = self._buffer.partition(b"\n")
                if len(answer) > longest:  # whether its end has come with it or not
                    raise LineTooLong
                if newline:
                    self._buffer = rest
                    return answer
            found = self._wait(deadline)
            if len(found) == 1 and found[0][0] == self._out:
                self._read_stdout()
                continue
            ready = [descriptor for descriptor, _ in found]
            if self._err in ready:
                self._read_stderr()
            if self._out in ready:
                self._read_stdout()
            elif self._copy in ready:  # only now: its answer may have come before its end
                raise ProcessEnded

    def begin_match(self) -> None:
        """Lets a loaded program fork the copy that plays next; others need no such thing."""
        if self.loaded and self._tree is None and not self._awaited:
            self._used_before = 0.0
            self._awaited = True
            self.loaded.go_on()

    def processor_time(self) -> float:
        """Seconds of processor time that it has used in this match, or in the last if it plays none."""
        if self._tree:
            self._used = max(0.0, self._tree.processor_time() - self._used_before)
        return self._used

    def end_match(self) -> bool:
        """Ends the copy that has played; whether the loaded program can be copied again."""
        if self.loaded is None:
            self._resting.pop(self, None)
            if self._tree and not self._ponder:
                with suppress(WillNotStop):
                    self._tree.freeze()
            self._used_before = self._tree.processor_time() if self._tree else 0.0
            return False
        if self._tree is None:
            return self.alive
        with suppress(WillNotStop):
            self._tree.freeze()
        self._restless |= self._tree.restless
        # What a copy leaves behind becomes a child of the loaded process: the next would see it.
        alone = self.alive and self._tree.was_alone and not self.loaded.ended()
        self._tree.kill()
        self.unfit = not (alone and self.loaded.untouched) or _unread(self._in) > 0
        self._let_go_of_copy()
        with suppress(OSError):
            while os.read(self._out, CHUNK):  # what it said beyond its last answer
                continue
        self._buffer = b""
        return not self.unfit

    def _rest(self) -> None:
        """After an answer: nobody goes on until the next question, and it is known from now on who that is."""
        if self._tree is None:
            if self.loaded:
                self._take_copy()
            else:
                self._find_tree()
                return
        if self._tree and not self._ponder:
            self._tree.rest()
            self._resting[self] = self._tree

    def _find_tree(self) -> None:
        """After hello, when everything is loaded."""
        if self._copied:
            self.loaded = LoadedProgram.found(self.pid, self.folder, (self._in, self._out, self._err))
            if self.loaded:
                return
        started = children_of(self.pid)
        if started and can_see(self.pid):
            self._tree = ProcessTree(self.pid, started[0])
            self._used_before = self._tree.processor_time()
            if not self._ponder:
                self._tree.freeze()  # its match may be far off

    def _take_copy(self) -> None:
        """A copy has given its first answer: who that is is known from now on, and nothing else of it may run."""
        assert self.loaded is not None
        self._awaited = False
        self._tree = self.loaded.copy()
        if self._tree is None:
            raise ProcessEnded
        self._copy = self.loaded.descriptor
        self._poll.register(self._copy, select.POLLIN)
        self._tree.restless = self._restless
        if self.loaded.told_apart:
            raise ProcessEnded

    def _let_go_of_copy(self) -> None:
        self._resting.pop(self, None)
        if self._tree:
            self._tree.close()
            self._tree = None
        if self._copy >= 0:
            self._poll.unregister(self._copy)
            self._copy = -1

    def send(self, line: bytes, deadline: float) -> None:
        """Sends a line, as fast as the program takes it."""
        while True:
            try:
                sent = os.write(self._in, line)
            except BlockingIOError:
                if self._tree:
                    self._tree.thaw()  # it has to make room
                self._wait_to_send(deadline)
                continue
            except (BrokenPipeError, ConnectionResetError):
                raise ProcessEnded from None
            if sent == len(line):
                return
            line = line[sent:]

    def _wait_to_send(self, deadline: float) -> None:
        self._poll.register(self._in, select.POLLOUT)
        self._poll.unregister(self._out)  # an answer to nothing can wait; it must not keep us busy here
        try:
            if any(descriptor == self._err for descriptor, _ in self._wait(deadline)):
                self._read_stderr()
        finally:
            self._poll.register(self._out, select.POLLIN)
            self._poll.unregister(self._in)

    def _wait(self, deadline: float) -> list[tuple[int, int]]:
        while (left := deadline - perf_counter()) > 0:
            ready = self._poll.poll(min(LOOK, left) * 1000 + 1)
            if ready:
                return ready
            self._look()
        raise DeadlinePassed(len(self._buffer))

    def _look(self) -> None:
        """While it thinks: what others do who are not asked, and how much memory it takes."""
        for tree in self._resting.values():
            tree.watch()
        if self._awaited and self.loaded and self.loaded.has_none:
            raise ProcessEnded
        self._unseen = 0.0
        if self._memory and not self.counted_by_kernel and exceeds(descendants_of(self.pid), self._memory):
            raise OverMemory

    def _read_stdout(self) -> None:
        part = os.read(self._out, CHUNK)
        if not part:
            raise ProcessEnded
        self._buffer += part

    def _read_stderr(self) -> None:
        """Takes in what the program has written to stderr: its end is kept here, and the log has a largest size."""
        try:
            part = os.read(self._err, CHUNK)
        except BlockingIOError:
            return
        if not part:
            self._poll.unregister(self._err)
            return
        self._log.add(part)

    def last_stderr_line(self) -> str:
        """The last line that the program wrote to stderr."""
        return self._log.last_line.replace(f"{Path(self.folder).parent}/", "")

    def peak_memory(self) -> float:
        """Megabytes of memory that the program has used at most; 0 where that cannot be told."""
        most = 0
        for each in descendants_of(self.pid):
            with suppress(OSError):
                found = re.search(r"VmHWM:\s+(\d+)", Path(f"/proc/{each}/status").read_text())
                most = max(most, int(found[1]) if found else 0)
        return most / 1000

    def dismiss(self, line: bytes, grace: float) -> None:
        """Sends a last line, gives the program up to `grace` seconds to end by itself, and then ends it."""
        if not self.alive:
            return
        if self._copied:  # nobody of it listens now
            self.kill()
            return
        with suppress(ProcessEnded, DeadlinePassed):
            self.send(line, perf_counter() + LAST_LINE_TIME)
        assert self._process.stdin is not None
        with suppress(OSError):
            self._process.stdin.close()  # who does not understand the line may understand that there is no other
        if self._tree:
            self._tree.thaw()
        self.kill(grace)

    def kill(self, grace: float = 0.0) -> str:
        """Ends the program with everything that it has started; how it had ended by itself, in words.

        `grace` is for a program that seems to be ending: so many seconds it is waited for.
        """
        self.alive = False
        self.processor_time()
        self._let_go_of_copy()
        if self.loaded:
            self.loaded.close()
        code: int | None = None
        try:
            code = self._process.wait(grace)
        except subprocess.TimeoutExpired:
            self._process.terminate()
            try:
                self._process.wait(WARDEN_TIME)
            except subprocess.TimeoutExpired:
                with suppress(ProcessLookupError, PermissionError):
                    os.killpg(self._process.pid, signal.SIGKILL)
                self._process.wait()
        with suppress(OSError, KeyError):
            for _ in range(LOG_SIZE // CHUNK):
                if not select.select([self._err], [], [], 0)[0]:
                    break
                self._read_stderr()
        self._log.end()
        for stream in (self._process.stdin, self._process.stdout, self._process.stderr):
            if stream:
                with suppress(OSError):
                    stream.close()
        if self._cgroup:
            self._cgroup.remove()
        shutil.rmtree(self.folder, ignore_errors=True)
        return _ending(code)


def _unread(pipe: int) -> int:
    """Bytes in a pipe that nobody has read."""
    return int.from_bytes(fcntl.ioctl(pipe, termios.FIONREAD, bytes(4)), sys.byteorder)


def _ending(code: int | None) -> str:
    if code is None:
        return "it closed its pipe"
    if code > 128:
        with suppress(ValueError):
            return signal.Signals(code - 128).name
    return f"exit code {code}"
