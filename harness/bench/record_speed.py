"""Reading runs of many records: what each command takes of processor and memory, and how that grows with them."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import cycle, islice
from pathlib import Path
from tempfile import TemporaryDirectory

from msgspec.structs import asdict, replace

from harness.core.types import GameRecord, MatchSpec
from harness.match.referee import play
from harness.plugins.registry import Registry
from harness.runs.request import RunRequest
from harness.runs.run_files import with_sum
from harness.runs.run_setup import RunSetup, create_run, now, prepare
from harness.runs.store import GAMES, RunFolder, encode

REAL = 40
"""Matches that are played; most others are copies of them under names of their own."""
PLAYED = 100
"""Records that are no copies, evenly spread: those that `verify --sample 100` plays again."""
GROWTH = 10
"""A run of so many times fewer records is measured, too."""
READING: Mapping[str, Sequence[str]] = {
    "leaderboard": ("leaderboard", "{run}"),
    "leaderboard, again": ("leaderboard", "{run}"),
    "resume": ("tournament", "--quiet", "--workers", "0", "--resume", "{run}"),
    "report": ("report", "{run}", "--to", "{scratch}/report.html"),
    "publish": ("publish", "{run}", "--to", "{scratch}/site"),
    "matches --close": ("matches", "{run}", "--close"),
    "verify --sample 100": ("verify", "{run}", "--sample", "100"),
    "verify --sample 100, again": ("verify", "{run}", "--sample", "100"),
}
"""What is measured, in this order: the commands that read all records of a run, the first without a memory of it."""


@dataclass(frozen=True, slots=True)
class Reading:
    """What a command took."""

    seconds: float
    """Of processor time."""
    megabytes: float
    """The most memory that it held at once."""


def make_run(
    folder: Path, records: int, registry: Registry, game: str = "el-paso", players: int | None = None
) -> RunFolder:
    """A complete run of at least so many records: a real schedule with real ids, deals and checksums, and results that
    are copied from a few matches."""
    request = RunRequest(
        games=(game,), players=players, deals=1, seed=7, workers=0, name=folder.name, results=str(folder.parent)
    )
    each = prepare(request, registry).schedule.count() or 1
    run, setup = create_run(replace(request, deals=-(-records // each)), registry, "arena bench --records")
    with (run.folder / GAMES).open("ab") as file:
        for record in _records(setup):
            file.write(with_sum(encode(record)) + b"\n")
    run.finish(now())
    return run


def _records(setup: RunSetup) -> Iterator[GameRecord]:
    every = max(1, (setup.schedule.count() or 1) // PLAYED)
    real = cycle([_played(setup, spec) for spec in islice(setup.schedule.matches(), REAL)])
    for spec in setup.schedule.matches():
        yield GameRecord(**asdict(next(real)) | asdict(spec)) if spec.index % every else _played(setup, spec)


def _played(setup: RunSetup, spec: MatchSpec) -> GameRecord:
    return play(spec, setup.games[spec.game], setup.roster.seats(spec))


def measure_records(
    records: int, registry: Registry, game: str, players: int | None = None
) -> dict[str, dict[str, float]]:
    """What each command takes with a run of so many records, and with one of a tenth of them: of processor time, and
    the most memory."""
    many, few = (_readings(number, registry, game, players) for number in (records, records // GROWTH))
    tenth = f"{records // GROWTH:,}"
    return {
        "seconds": {name: took.seconds for name, took in many.items()},
        "megabytes": {name: took.megabytes for name, took in many.items()},
        f"seconds with {tenth}": {name: took.seconds for name, took in few.items()},
        f"megabytes with {tenth}": {name: took.megabytes for name, took in few.items()},
    }


def _readings(records: int, registry: Registry, game: str, players: int | None) -> dict[str, Reading]:
    with TemporaryDirectory(prefix="arena-bench-") as scratch:
        run = make_run(Path(scratch) / "run", records, registry, game, players)
        return {name: read(run.folder, command, Path(scratch)) for name, command in READING.items()}


def read(run: Path, command: Sequence[str], scratch: Path) -> Reading:
    """What a command of arena takes with a run, in a process of its own."""
    arguments = [part.format(run=run, scratch=scratch) for part in command]
    process = subprocess.Popen(  # noqa: S603 - it is ourselves
        [sys.executable, "-m", "harness", *arguments],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "XDG_CACHE_HOME": str(scratch / "cache")},
    )
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(f"arena {' '.join(arguments)} ended with exit code {process.returncode}")
    return Reading(used.ru_utime + used.ru_stime, used.ru_maxrss / 1024)
