"""Follow one deal of El Paso through harness: python -m tests.architecture.trace prints the files in call order.

A file counts when one of its functions runs, a switch is a call into another file than the call before. What is
counted is harness: the engine and the bots are guests, and their share depends on how long they play.
"""

from __future__ import annotations

import os
import sys
from itertools import groupby
from pathlib import Path
from tempfile import TemporaryDirectory
from types import FrameType
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
COMMAND = "tournament --workers 0 --game el-paso --bot random --bot skittish --deals 1 --seed 1 --name traced --quiet"
OPTIMIZED = 1
"""A flag of code that belongs to a function; the body of a class or a module has it not."""


class Walk(NamedTuple):
    """The calls of a run, each as file and function."""

    calls: list[tuple[str, str]]

    @property
    def files(self) -> list[str]:
        """The files, in the order in which they are first entered."""
        return list(dict.fromkeys(file for file, _ in self.calls))

    @property
    def functions(self) -> int:
        """How many different functions run."""
        return len(set(self.calls))

    @property
    def switches(self) -> int:
        """How often a call leads into another file."""
        return sum(1 for _ in groupby(file for file, _ in self.calls)) - 1


def walk(command: str = COMMAND, top: str = "harness") -> Walk:
    """Runs a command in this process, in a folder of its own, and notes every call of a function below `top`."""
    from harness.cli.main import main

    calls: list[tuple[str, str]] = []
    prefix = f"{ROOT / top}{os.sep}"

    def note(frame: FrameType, event: str, _arg: object) -> None:
        code = frame.f_code
        if event == "call" and code.co_flags & OPTIMIZED and code.co_filename.startswith(prefix):
            calls.append((code.co_filename.removeprefix(f"{ROOT}{os.sep}"), code.co_qualname))

    before = Path.cwd()
    with TemporaryDirectory() as folder:
        os.chdir(folder)
        sys.setprofile(note)
        try:
            main(command.split(), standalone_mode=False)
        finally:
            sys.setprofile(None)
            os.chdir(before)
    return Walk(calls)


if __name__ == "__main__":
    found = walk()
    sys.stdout.write("".join(f"{file}\n" for file in found.files))
    sys.stdout.write(f"{len(found.files)} files, {found.functions} functions, {found.switches} switches\n")
