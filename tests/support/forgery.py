"""Runs that somebody has bent: carefully, so that every checksum and the digest of all records fit again."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import msgspec

from harness.core.records import GameRecord
from harness.output.leaderboard import write_leaderboard
from harness.runs.reader import GAMES, SUM_SIZE, with_sum
from harness.runs.store import RUN, RunFolder


def records_of(folder: Path) -> list[GameRecord]:
    """The records of a run in the order of its file."""
    return [msgspec.json.decode(line, type=GameRecord) for line in (folder / GAMES).read_bytes().splitlines()]


def write_records(folder: Path, records: list[GameRecord], sealed: bool = True) -> None:
    """Puts these in the place of a run's records, each with its checksum; `sealed` has the digest and the leaderboard
    fit them, too."""
    lines = [with_sum(msgspec.json.encode(record)) + b"\n" for record in records]
    (folder / GAMES).write_bytes(b"".join(lines))
    if sealed:
        info = RunFolder.open(folder).info
        edit_info(folder, lambda raw: raw | {"records": RunFolder(folder, info).digest()})
        write_leaderboard(RunFolder.open(folder))


def bent(line: bytes, old: bytes, new: bytes) -> bytes:
    """A line of games.jsonl with something else in it, and a checksum that fits."""
    return with_sum(line[: -SUM_SIZE - 1].replace(old, new) + b"}") + b"\n"


def edit_info(folder: Path, change: Callable[[dict[str, object]], dict[str, object]]) -> None:
    """Changes what run.json says."""
    path = folder / RUN
    path.write_bytes(msgspec.json.encode(change(msgspec.json.decode(path.read_bytes()))))
