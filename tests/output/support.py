"""Run folders for pages: made of records that nobody played, or played quickly."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import msgspec

from harness.core.plan import GamePlan, Plan
from harness.core.records import GameRecord
from harness.plugins.entrants import BotInfo
from harness.runs.store import RunFolder, RunInfo
from tests.support.cli import arena
from tests.support.forgery import write_records

HOSTILE = "<script>alert(1)</script>"
LONG = "long-" + 'x"&<' * 73 + "end"
NASTY = (HOSTILE, LONG, "$\\frac{$", "\u202eabc\u0000", "{{ 7 * 7 }}", "'><img src=//evil.example/x onerror=alert(1)>")


def recorded(folder: Path, records: Iterable[GameRecord], game: str = "sim", finished: str = "later") -> RunFolder:
    """A run folder with these records."""
    records = list(records)
    bots = tuple(sorted({bot for record in records for bot in record.seats}))
    plan = Plan((GamePlan(game, "1", {"note": HOSTILE}, 3, bots),), 1, 5)
    entrants = tuple(BotInfo(bot, bot, "made up", "1", "sha256:0123456789abcdef") for bot in bots)
    info = RunInfo(
        arena="0",
        plan=plan,
        entrants=entrants,
        files={},
        limits={"move_time": 2.5},
        command=f"arena tournament --name {HOSTILE}",
        machine={},
        started="2026-01-01T10:00:00",
        finished=finished,
    )
    run = RunFolder.create(folder, info)
    with run.writing():
        for record in records:
            run.append(record)
    return run


def play(folder: Path, *args: object) -> RunFolder:
    """A run that is really played."""
    arena("tournament", "--results", folder.parent, "--name", folder.name, "--workers", 1, *args)
    return RunFolder.open(folder)


def rename(run: RunFolder, names: dict[str, str]) -> RunFolder:
    """The same run with other names of bots, as if somebody had got them past the door."""
    records = [
        msgspec.structs.replace(record, seats=tuple(names.get(bot, bot) for bot in record.seats))
        for record in run.records()
    ]
    write_records(run.folder, records)
    return RunFolder.open(run.folder)
