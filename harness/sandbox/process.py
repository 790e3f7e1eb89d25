"""A bot's process as arena sees it: lines out, lines in, within a time; its stderr in a log; and its end."""

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

from harness.match.faults import without_addresses
from harness.protocol.messages import LONGEST_LINE
from harness.sandbox.confine import SandboxLimits

ROOT = Path(__file__).parents[2]
"""The folder that has `harness` in it."""
CHUNK = 1 << 16
LAST_WORDS = 2000
LOG_SIZE = 256 * 1024
"""Bytes of a bot's log; what it writes beyond is thrown away."""
GRACE = 2.0
"""Seconds for the warden to clear up before it is killed itself."""
LOUD = b"\n[arena: this log is full; the rest is not kept]\n"


class Ended(Exception):
    """The program has closed its stdout or stdin, or has ended."""


class TooLate(Exception):
    """The time is over; `unfinished` is how much of a line had come by then."""

    def __init__(self, unfinished: int) -> None:
        super().__init__("the time is over")
        self.unfinished = unfinished


class TooLong(Exception):
    """The program sends more than any honest line has."""


@dataclass(frozen=True, slots=True)
class Launch:
    """How a program is started: a command, or a Python bot that `child` serves."""

    argv: tuple[str, ...] = ()
    python: Mapping[str, object] = field(default_factory=dict)
    readable: tuple[str, ...] = ()


class Process:
    """A running program with its warden. It belongs to this object, and ends with `kill` at the latest."""

    def __init__(self, launch: Launch, home: str, log: Path | None = None, **terms: object) -> None:
        self.place = tempfile.mkdtemp(prefix="bot-", dir=home)
        self.log, self._tail, self._buffer = log, b"", b""
        request = {
            "argv": launch.argv,
            "python": dict(launch.python),
            "path": [path for path in sys.path if path],
            "home": str(ROOT),
            "parent": os.getpid(),
            "environment": _environment(),
            "terms": asdict(SandboxLimits(self.place, launch.readable, **terms)),  # type: ignore[arg-type]
        }
        command = [sys.executable, "-S", "-P", str(Path(__file__).with_name("warden.py")), json.dumps(request)]
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

    def ask(self, data: bytes, deadline: float, longest: int = LONGEST_LINE) -> bytes:
        """Sends a line and returns the line that comes next. `deadline` is in perf_counter's time."""
        self.send(data, deadline)
        while True:
            if self._buffer:
                line, newline, rest = self._buffer.partition(b"\n")
                if newline:
                    self._buffer = rest
                    return line
                if len(line) > longest:
                    raise TooLong
            for descriptor, _ in self._wait(deadline):
                if descriptor == self._err:
                    self._listen()
                else:
                    self._read()

    def send(self, data: bytes, deadline: float) -> None:
        """Sends a line, as fast as the program takes it."""
        while True:
            try:
                sent = os.write(self._in, data)
            except BlockingIOError:
                self._wait_to_send(deadline)
                continue
            except (BrokenPipeError, ConnectionResetError):
                raise Ended from None
            if sent == len(data):
                return
            data = data[sent:]

    def _wait_to_send(self, deadline: float) -> None:
        self._poll.register(self._in, select.POLLOUT)
        self._poll.unregister(self._out)  # an answer to nothing can wait; it must not keep us busy here
        try:
            if any(descriptor == self._err for descriptor, _ in self._wait(deadline)):
                self._listen()
        finally:
            self._poll.register(self._out, select.POLLIN)
            self._poll.unregister(self._in)

    def _wait(self, deadline: float) -> list[tuple[int, int]]:
        left = deadline - perf_counter()
        if left <= 0:
            raise TooLate(len(self._buffer))
        ready = self._poll.poll(None if left == inf else int(1000 * left) + 1)
        if not ready:
            raise TooLate(len(self._buffer))
        return ready

    def _read(self) -> None:
        part = os.read(self._out, CHUNK)
        if not part:
            raise Ended
        self._buffer += part

    def _listen(self) -> None:
        """Takes in what the program has written to stderr: the last words are kept, the log has an end."""
        try:
            part = os.read(self._err, CHUNK)
        except BlockingIOError:
            return
        if not part:
            self._poll.unregister(self._err)
            return
        self._tail = (self._tail + part)[-LAST_WORDS:]
        if self.log:
            _append(self.log, part)

    def last_words(self) -> str:
        """The last line that the program wrote to stderr."""
        lines = self._tail.decode(errors="replace").strip().splitlines()
        return without_addresses(lines[-1].strip()[:200]) if lines else ""

    def memory(self) -> float:
        """Megabytes of memory that the program has used at most; 0 where that cannot be told."""
        most = 0
        with suppress(OSError):
            for child in Path(f"/proc/{self.pid}/task/{self.pid}/children").read_text().split():
                found = re.search(r"VmHWM:\s+(\d+)", Path("/proc", child, "status").read_text())
                most = max(most, int(found[1]) if found else 0)
        return most / 1000

    def kill(self, patience: float = 0.0) -> str:
        """Ends the program with everything that it has started; how it had ended by itself, in words.

        `patience` is for a program that seems to be ending: its exit code is worth a moment.
        """
        self.alive = False
        code: int | None = None
        try:
            code = self._process.wait(patience)
        except subprocess.TimeoutExpired:
            self._process.terminate()
            try:
                self._process.wait(GRACE)
            except subprocess.TimeoutExpired:
                with suppress(ProcessLookupError, PermissionError):
                    os.killpg(self._process.pid, signal.SIGKILL)
                self._process.wait()
        with suppress(OSError, KeyError):
            for _ in range(LOG_SIZE // CHUNK):
                if not select.select([self._err], [], [], 0)[0]:
                    break
                self._listen()
        for stream in (self._process.stdin, self._process.stdout, self._process.stderr):
            if stream:
                with suppress(OSError):
                    stream.close()
        shutil.rmtree(self.place, ignore_errors=True)
        return _ending(code)


def _ending(code: int | None) -> str:
    if code is None:
        return "it closed its pipe"
    if code > 128:
        with suppress(ValueError):
            return signal.Signals(code - 128).name
    return f"exit code {code}"


def _append(log: Path, text: bytes) -> None:
    with suppress(OSError):
        log.parent.mkdir(parents=True, exist_ok=True)
    with suppress(OSError), log.open("ab") as file:
        room = LOG_SIZE - file.tell()
        if room > 0:
            file.write(text[:room] + (LOUD if len(text) >= room else b""))


def _environment() -> dict[str, str]:
    """All that a bot's process is told by its environment."""
    return {
        "PATH": os.environ.get("PATH", os.defpath),
        "LANG": "C.UTF-8",
        "PYTHONHASHSEED": "0",
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONNOUSERSITE": "1",
    }


def absolute(argv: Sequence[str]) -> tuple[str, ...]:
    """A command whose files are named by absolute paths: its program runs in another folder."""
    found = [str(Path(word).resolve()) if i and Path(word).exists() else word for i, word in enumerate(argv)]
    program = shutil.which(argv[0])
    if program:
        found[0] = str(Path(program).absolute())
    return tuple(found)


def files_of(argv: Sequence[str]) -> tuple[str, ...]:
    """What a command needs to read: the folders of the files it names, and where its program is installed."""
    folders = set()
    for number, word in enumerate(argv):
        path = Path(word)
        if not path.is_absolute() or not path.exists():
            continue
        for real in {path, path.resolve()}:
            folder = real if real.is_dir() else real.parent
            folders.add(str(folder.parent if number == 0 and folder.name == "bin" else folder))
    return tuple(sorted(folders))
