"""A confined process as arena sees it: lines out, lines in, within a time; its stderr in a log; and its end."""

from __future__ import annotations

import json
import os
import re
import select
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from math import inf
from pathlib import Path
from time import perf_counter
from typing import Any

from harness.core.types import FaultKind
from harness.match.bot_prints import TaggedLines, match_being_played
from harness.match.faults import BotFault, without_addresses
from harness.sandbox.limits import SandboxLimits

ROOT = Path(__file__).parents[2]
"""The folder that has `harness` in it."""
CHUNK = 1 << 16
LONGEST_LINE = 1 << 16
"""Bytes that a program's line may have unless the asker expects more."""
STDERR_KEPT = 2000
"""Bytes of stderr that are kept to tell why a program ended."""
LOG_SIZE = 256 * 1024
"""Bytes of a program's log; what it writes beyond is thrown away."""
LOG_FULL = b"\n[arena: this log is full; the rest is not kept]\n"
WARDEN_TIME = 2.0
"""Seconds for the warden to clear up before it is killed itself."""
EXIT_CODE_TIME = 1.0
"""Seconds that a program's exit code is waited for once it has closed its pipe."""
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


class LineTooLong(Exception):
    """The program sends more in one line than is allowed."""


@dataclass(frozen=True, slots=True)
class Launch:
    """What a process runs: a command, or else a function of ours in a fresh Python."""

    argv: tuple[str, ...] = ()
    """The command with its arguments."""
    entry: str = ""
    """The function, as module:name; it is called once the process is confined, and the process ends with it."""
    request: Mapping[str, object] = field(default_factory=dict)
    """The argument of that function. Everything in it can be written as JSON."""
    readable: tuple[str, ...] = ()
    """Folders and files that it needs to read."""
    packages: Mapping[str, str] = field(default_factory=dict)
    """Where Python packages begin that lie in no folder of installed ones, for `entry`: name -> file."""
    environment: Mapping[str, str] = field(default_factory=dict)
    """What it is told by its environment beside the usual."""


class Process:
    """A running program with its warden. It belongs to this object, and ends with `kill` at the latest."""

    def __init__(self, launch: Launch, home: str, log: Path | None = None, **limits: Any) -> None:
        """`home` is the folder in which it gets a folder of its own; `limits` are fields of SandboxLimits."""
        self.folder = tempfile.mkdtemp(prefix="bot-", dir=home)
        self.log, self._stderr_end, self._buffer = log, b"", b""
        self._lines, self._match = TaggedLines(self._keep), ""
        orders = {
            "argv": launch.argv,
            "entry": launch.entry,
            "request": dict(launch.request),
            "packages": dict(launch.packages),
            "import_path": [path for path in sys.path if path],
            "root": str(ROOT),
            "parent": os.getpid(),
            "environment": {**_environment(), **launch.environment},
            "limits": asdict(SandboxLimits(self.folder, launch.readable, **limits)),
        }
        command = [sys.executable, "-S", "-P", str(Path(__file__).with_name("warden.py")), json.dumps(orders)]
        pipe = subprocess.PIPE
        self._process = subprocess.Popen(  # noqa: S603 - running a stranger's program is what this is for
            command,
            stdin=pipe,
            stdout=pipe,
            stderr=pipe,
            cwd="/",
            env=_environment(),
            process_group=0,
            bufsize=0,
        )
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

    @property
    def running(self) -> bool:
        """Whether the program has not ended yet."""
        return self._process.poll() is None

    @property
    def pid(self) -> int:
        """The warden's process id."""
        return self._process.pid

    def exchange(self, line: bytes, deadline: float, longest: int = LONGEST_LINE, awaited: str = "answered") -> bytes:
        """Sends a line and returns the next one; where none comes, kills the process and raises the BotFault this is.

        `awaited` completes the sentence "it had not ..." in the detail of the fault.
        """
        began = perf_counter()
        try:
            return self.ask(line, deadline, longest)
        except DeadlinePassed as late:
            self.kill()
            half = f"; {late.unfinished} bytes without an end of line had come" if late.unfinished else ""
            raise BotFault(
                "timeout", f"had not {awaited} after {deadline - began:.3g} s; its process was killed{half}"
            ) from None
        except LineTooLong:
            self.kill()
            raise BotFault("illegal", f"sent more than {longest} bytes in one line") from None
        except ProcessEnded:
            ending = self.kill(EXIT_CODE_TIME)
            words = self.last_stderr_line()
            kind: FaultKind = "memory" if _OUT_OF_MEMORY.search(words) else "crash"
            raise BotFault(kind, f"its process ended: {ending}" + (f": {words}" if words else "")) from None

    def ask(self, line: bytes, deadline: float, longest: int = LONGEST_LINE) -> bytes:
        """Sends a line and returns the line that comes next. `deadline` is in perf_counter's time."""
        self.send(line, deadline)
        while True:
            if self._buffer:
                answer, newline, rest = self._buffer.partition(b"\n")
                if len(answer) > longest:  # whether its end has come with it or not
                    raise LineTooLong
                if newline:
                    self._buffer = rest
                    return answer
            for descriptor, _ in self._wait(deadline):
                if descriptor == self._err:
                    self._read_stderr()
                else:
                    self._read_stdout()

    def send(self, line: bytes, deadline: float) -> None:
        """Sends a line, as fast as the program takes it."""
        while True:
            try:
                sent = os.write(self._in, line)
            except BlockingIOError:
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
        left = deadline - perf_counter()
        if left <= 0:
            raise DeadlinePassed(len(self._buffer))
        ready = self._poll.poll(None if left == inf else int(1000 * left) + 1)
        if not ready:
            raise DeadlinePassed(len(self._buffer))
        return ready

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
        self._stderr_end = (self._stderr_end + part)[-STDERR_KEPT:]
        match = match_being_played()
        if match != self._match:
            self._lines.end()
            self._lines, self._match = TaggedLines(self._keep), match
        self._lines.add(f"[{match}] ".encode() if match else b"", part)

    def _keep(self, text: bytes) -> None:
        if self.log:
            append_to_log(self.log, text)

    def last_stderr_line(self) -> str:
        """The last line that the program wrote to stderr."""
        lines = self._stderr_end.decode(errors="replace").strip().splitlines()
        words = lines[-1].strip().replace(f"{Path(self.folder).parent}/", "")[:200] if lines else ""
        return without_addresses(words)

    def peak_memory(self) -> float:
        """Megabytes of memory that the program has used at most; 0 where that cannot be told."""
        most = 0
        with suppress(OSError):
            for child in Path(f"/proc/{self.pid}/task/{self.pid}/children").read_text().split():
                found = re.search(r"VmHWM:\s+(\d+)", Path("/proc", child, "status").read_text())
                most = max(most, int(found[1]) if found else 0)
        return most / 1000

    def dismiss(self, line: bytes, grace: float) -> None:
        """Sends a last line, gives the program up to `grace` seconds to end by itself, and then ends it."""
        if not self.alive:
            return
        with suppress(ProcessEnded, DeadlinePassed):
            self.send(line, perf_counter() + LAST_LINE_TIME)
        assert self._process.stdin is not None
        with suppress(OSError):
            self._process.stdin.close()  # who does not understand the line may understand that there is no other
        self.kill(grace)

    def kill(self, grace: float = 0.0) -> str:
        """Ends the program with everything that it has started; how it had ended by itself, in words.

        `grace` is for a program that seems to be ending: so many seconds it is waited for.
        """
        self.alive = False
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
        self._lines.end()
        for stream in (self._process.stdin, self._process.stdout, self._process.stderr):
            if stream:
                with suppress(OSError):
                    stream.close()
        shutil.rmtree(self.folder, ignore_errors=True)
        return _ending(code)


def _ending(code: int | None) -> str:
    if code is None:
        return "it closed its pipe"
    if code > 128:
        with suppress(ValueError):
            return signal.Signals(code - 128).name
    return f"exit code {code}"


def append_to_log(log: Path, text: bytes) -> None:
    """Adds to a log what it has room for."""
    with suppress(OSError):
        log.parent.mkdir(parents=True, exist_ok=True)
    with suppress(OSError), log.open("ab") as file:
        room = LOG_SIZE - file.tell()
        if room > 0:
            file.write(text[:room] + (LOG_FULL if len(text) >= room else b""))


def _environment() -> dict[str, str]:
    """All that a program is told by its environment."""
    return {
        "PATH": os.environ.get("PATH", os.defpath),
        "LANG": "C.UTF-8",
        "PYTHONHASHSEED": "0",
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONNOUSERSITE": "1",
    }


def with_absolute_paths(argv: Sequence[str]) -> tuple[str, ...]:
    """A command whose files are named by absolute paths: its program runs in another folder."""
    found = [str(Path(word).resolve()) if i and Path(word).exists() else word for i, word in enumerate(argv)]
    program = shutil.which(argv[0])
    if program:
        found[0] = str(Path(program).absolute())
    return tuple(found)
