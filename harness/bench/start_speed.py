"""How long arena takes to start: commands as whole processes, from their start to their end, and what is in them."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from resource import RUSAGE_CHILDREN, getrusage
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter

ROUNDS = 7
ARENA = "import sys; sys.argv[0] = 'arena'; from harness.cli import run; run()"
CONFIGURED = "from harness.runs.run_setup import configure_early; configure_early((), {})"
COMPLETION = {"_ARENA_COMPLETE": "zsh_complete"}
STARTS: Mapping[str, tuple[tuple[str, ...], Mapping[str, str]]] = {
    "Python alone": (("pass",), {}),
    "arena --help": ((ARENA, "--help"), {}),
    "completing a command": ((ARENA,), {**COMPLETION, "COMP_WORDS": "arena tour", "COMP_CWORD": "1"}),
    "completing a bot": ((ARENA,), {**COMPLETION, "COMP_WORDS": "arena tournament --bot r", "COMP_CWORD": "3"}),
    "importing what a run needs": (("import harness.runs.run_setup, harness.output, harness.executors.local",), {}),
    "loading all plugins": (("from harness.plugins.registry import load; load()",), {}),
    "configuring the bundled games": ((CONFIGURED,), {}),
    "arena tournament --deals 1": ((ARENA, "tournament", "--deals", "1", "--seed", "1"), {}),
    "the same, --workers 0": ((ARENA, "tournament", "--deals", "1", "--seed", "1", "--workers", "0"), {}),
}
"""What is measured: code and arguments of a Python, and its environment."""


def measure_start(rounds: int = ROUNDS) -> dict[str, dict[str, float]]:
    """Milliseconds of each, as people wait and of processor time: the median of so many rounds, taken in turns, after
    one that fills the caches."""
    waited: dict[str, list[float]] = {what: [] for what in STARTS}
    worked: dict[str, list[float]] = {what: [] for what in STARTS}
    for number in range(rounds + 1):
        for what, (code, variables) in STARTS.items():
            wall, processor = _started(code, variables)
            if number:
                waited[what].append(1000 * wall)
                worked[what].append(1000 * processor)
    return {
        "ms": {what: median(each) for what, each in waited.items()},
        "ms of processor time": {what: median(each) for what, each in worked.items()},
    }


def _started(code: tuple[str, ...], variables: Mapping[str, str]) -> tuple[float, float]:
    """Seconds until it has ended, and of processor time; workers, whose parent is another process, do not count."""
    with TemporaryDirectory() as folder:
        command, environment = [sys.executable, "-P", "-c", *code], {**os.environ, **variables}
        began, before = perf_counter(), _processor_time()
        subprocess.run(command, cwd=folder, env=environment, capture_output=True, check=True)  # noqa: S603 - ourselves
        return perf_counter() - began, _processor_time() - before


def _processor_time() -> float:
    used = getrusage(RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
