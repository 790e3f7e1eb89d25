"""How many machine instructions a decision takes, counted by valgrind: unlike times, the same on a busy machine."""

from __future__ import annotations

import re
from collections.abc import Sequence
from math import ceil
from pathlib import Path
from shutil import which

from harness.bench.loop_process import LoopFailed, LoopProcess
from harness.core.errors import UsageError

DECISIONS = 4000
"""Decisions that are counted, about; whole matches are."""
LEAST = 5
"""Matches that are counted at least, and those before them, which fill tables that are made once."""
TOTAL = re.compile(r"I\s+refs:\s+([\d,]+)")


def counter() -> tuple[str, ...]:
    """The program that counts, with its options; a sentence where it is not installed."""
    found = which("valgrind")
    if found is None:
        raise UsageError("--instructions needs valgrind, which is not installed: try `apt install valgrind`.")
    # Callgrind counts the same, but takes three times as long to say where they were as well.
    return (found, "--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null")


def instructions(python: str | None, loop: Path, workload: str) -> float:
    """Instructions a decision: the difference of two runs, of which one plays more matches, so starting cancels out."""
    under = counter()
    with LoopProcess(python, loop, workload) as quick:
        sample = quick.play(LEAST)
    games = max(LEAST, ceil(DECISIONS * LEAST / max(1, sample.choices)))
    before, few = _counted(python, loop, workload, under, LEAST)
    after, many = _counted(python, loop, workload, under, LEAST + games)
    return (after - before) / (many - few)


def _counted(python: str | None, loop: Path, workload: str, under: Sequence[str], games: int) -> tuple[int, int]:
    """Instructions of a whole process that plays so many matches, and its decisions in them."""
    with LoopProcess(python, loop, workload, under) as process:
        played = process.play(games)
        told = process.finish()
    total = TOTAL.search(told)
    if total is None:
        raise LoopFailed(f"valgrind has counted nothing for {process.what}: {told.strip()[-200:]}")
    return int(total[1].replace(",", "")), played.choices
