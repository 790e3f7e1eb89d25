"""A loop in a process of its own, in whatever interpreter: started once, measured as often as one likes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

import msgspec

from harness.core.errors import ArenaError
from harness.executors.threads import thread_variables

HERE = Path(__file__).parents[2]
"""Where this arena is."""
LOOPS = Path(__file__).parent / "loops"
SERVER = LOOPS / "server.py"
OURS = LOOPS / "arena.py"


class LoopFailed(ArenaError):
    """A loop could not be run; the others can."""


class LoopVersions(msgspec.Struct, frozen=True):
    """What a loop says of itself."""

    python: str
    versions: dict[str, str]

    def __str__(self) -> str:
        parts = [f"{name} {version}" for name, version in self.versions.items()]
        return ", ".join([*parts, f"Python {self.python}"])


class Measured(msgspec.Struct, frozen=True):
    """One measurement of a loop."""

    games: int
    choices: int
    forced: int
    seconds: float

    @property
    def rate(self) -> float:
        """Choices of two or more a second of processor time."""
        return self.choices / self.seconds if self.seconds else 0.0


class LoopProcess:
    """A loop that waits to be measured; use it in a `with`, and its process ends there."""

    def __init__(self, python: str | None, loop: Path, workload: str, under: Sequence[str] = ()) -> None:
        """Starts it in this interpreter, or in another one; `under` is a program that runs it, with its options."""
        interpreter = python or sys.executable
        self.what = f"{loop.stem} ({workload}) in {interpreter}"
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the process
        try:
            self._process = subprocess.Popen(  # noqa: S603 - the interpreter that the user named, and our own file
                [*under, interpreter, str(SERVER), str(loop), workload],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._errors,
                env=_environment(python),
                text=True,
            )
        except OSError as error:
            self._errors.close()
            raise LoopFailed(f"{interpreter} cannot be started: {error.strerror}. Name a Python interpreter.") from None
        try:
            self.versions = msgspec.convert(self._answer(), LoopVersions)
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def play(self, games: int, first: int = 1) -> Measured:
        """Plays so many matches from this seed on."""
        return self._measure({"first": first, "games": games})

    def play_for(self, seconds: float, first: int = 1) -> Measured:
        """Plays for so many seconds of its processor time, one match at least."""
        return self._measure({"first": first, "seconds": seconds})

    def finish(self) -> str:
        """Lets the process end, and gives what it wrote to its error stream."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()
        return self._told()

    def close(self) -> None:
        """Ends the process at once."""
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout, self._errors):
            if pipe is not None and not pipe.closed:
                pipe.close()

    def _measure(self, asked: dict[str, float]) -> Measured:
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps(asked) + "\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            raise self._failure() from None
        return msgspec.convert(self._answer(), Measured)

    def _answer(self) -> object:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise self._failure()
        return json.loads(line)

    def _failure(self) -> LoopFailed:
        """It has closed its end: what it said last."""
        self._process.wait()
        last = self._told().strip().splitlines()[-1:] or [f"exit code {self._process.returncode}"]
        return LoopFailed(f"{self.what} failed: {last[0].removeprefix('ModuleNotFoundError: ')}.")

    def _told(self) -> str:
        self._errors.seek(0)
        return self._errors.read().decode(errors="replace")


def outside() -> dict[str, str]:
    """The environment without what would bring our own packages into another interpreter."""
    return {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "PYTHONHOME")}


def _environment(python: str | None) -> dict[str, str]:
    """One thread, the same hashes each time, no modules from where one happens to stand. Another interpreter finds only
    what is installed in it, ours the arena that runs now."""
    kept = outside()
    if python is None:
        before = os.environ.get("PYTHONPATH")
        kept["PYTHONPATH"] = os.pathsep.join([str(HERE), *([before] if before else [])])
    return {**kept, **thread_variables(1), "PYTHONHASHSEED": "0", "PYTHONSAFEPATH": "1"}
