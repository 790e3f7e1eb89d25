"""Mutants on trial: each in a copy of the tree, before the tests that matter to it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic
from typing import Literal, NamedTuple

from tests.mutation.mutator import Mutant
from tests.mutation.targets import ROOT

Fate = Literal["killed", "killed late", "hangs", "lives"]
"""`killed late`: by the slow tests only. One that hangs would be noticed, too."""
NEEDED = ("harness", "engines", "bots", "tests", "docs", "pyproject.toml", "README.md", "LICENSE")
PATIENCE = 3.0
"""A mutant has this many times the time that the tests take otherwise ..."""
GRACE = 10.0
"""... and so many seconds."""


class Verdict(NamedTuple):
    """What became of a mutant."""

    module: str
    mutant: Mutant
    fate: Fate

    def __str__(self) -> str:
        return f"{self.module}:{self.mutant.line}  {self.mutant.old} -> {self.mutant.new}"


class Tree:
    """A copy of what the tests need, in which a module can be replaced."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._usual: dict[tuple[str, ...], float] = {}
        self._writes = 0
        for name in NEEDED:
            if (ROOT / name).is_dir():
                shutil.copytree(ROOT / name, folder / name)  # with bytecode, so that no trial has to compile it all
            else:
                shutil.copy(ROOT / name, folder / name)

    def fate(self, module: str, mutant: Mutant, quick: Sequence[str], slow: Sequence[str] = ()) -> Fate:
        """How the tests take it; the slow ones are asked if the quick ones notice nothing."""
        for tests, fate in ((tuple(quick), "killed"), (tuple(slow), "killed late")):
            if not tests:
                continue
            limit = PATIENCE * self._usual_time(tests) + GRACE
            path = self.folder / module
            original = path.read_text(encoding="utf-8")
            self._write(path, mutant.source)
            try:
                passed = self._passes(tests, limit)
            except subprocess.TimeoutExpired:
                return "hangs"
            finally:
                self._write(path, original)
            if not passed:
                return fate  # type: ignore[return-value]
        return "lives"

    def _write(self, path: Path, source: str) -> None:
        """Replaces a module, with a time of change of its own: bytecode of the one before must not pass for it."""
        path.write_text(source, encoding="utf-8")
        self._writes += 1
        os.utime(path, (self._writes, self._writes))

    def _usual_time(self, tests: tuple[str, ...]) -> float:
        """Seconds that the tests take where nothing is wrong; they must pass there."""
        if tests not in self._usual:
            began = monotonic()
            assert self._passes(tests, None), f"{' '.join(tests)}: fails without a mutant"
            self._usual[tests] = monotonic() - began
        return self._usual[tests]

    def _passes(self, tests: Sequence[str], limit: float | None) -> bool:
        """Whether these tests pass in the copy."""
        command = [sys.executable, "-B", "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", "--hypothesis-seed=0",
                   "--assert=plain"]  # fmt: skip # only the exit code is read: rewritten asserts would double the time
        environment = {**os.environ, "PYTHONPATH": str(self.folder), "PYTHONDONTWRITEBYTECODE": "1"}
        with subprocess.Popen(
            [*command, *tests],
            cwd=self.folder,
            env=environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        ) as process:
            try:
                code = process.wait(limit)
            finally:
                if process.poll() is None:
                    os.killpg(process.pid, 9)
        assert code in (0, 1, 2), f"{' '.join(tests)}: pytest ended with {code}"
        return code == 0


@contextmanager
def tree() -> Iterator[Tree]:
    """A copy of the tree that is gone afterwards."""
    with TemporaryDirectory(prefix="arena-mutants-") as folder:
        yield Tree(Path(folder))
