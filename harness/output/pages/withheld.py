"""What is not for everybody while a run goes on: its seed, from which all deals follow, and the deals being played."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from harness.core.errors import ArenaError
from harness.core.format import Format
from harness.core.types import GameRecord
from harness.runs.store import RunFolder, RunInfo
from harness.schedule import Schedule
from harness.schedule.league_format import LEAGUE

LATER = "withheld"
STILL_OPEN = "Its deal is still being played: it can be seen when all matches of that deal have ended."
_TYPED = re.compile(r"(--seed(?:=|\s+))(?:'[^']*'|\S+)")
_CALLED = re.compile(r"((?:\(|, )seed=)\d+")
_NAMED = re.compile(r"(?i)(\bseed\s+)\d+")


def shown_seed(info: RunInfo) -> int | None:
    """The seed of a run that is finished."""
    return info.plan.seed if info.finished else None


def shown_command(info: RunInfo) -> str:
    """What plays the run again, and has extended it, without its seed as long as it goes on."""
    typed = "\n".join([info.command, *info.extended])
    return typed if info.finished else "\n".join(map(without_seed, typed.split("\n")))


def without_seed(command: str) -> str:
    """A command, or a call from Python, without its seed."""
    typed = _TYPED.sub(rf"\g<1>{LATER}", command)
    return _CALLED.sub(rf"\g<1>{LATER}", typed) if command.startswith("harness.") else typed


def shown_warnings(run: RunFolder) -> list[str]:
    """What a reader should know, without the seed as long as the run goes on."""
    return run.warnings if run.info.finished else [_NAMED.sub(rf"\g<1>{LATER}", text) for text in run.warnings]


def still_open(run: RunFolder, formats: Mapping[str, Format], records: Iterable[GameRecord]) -> set[str]:
    """Those of these matches whose deal is still to be played by somebody: who saw them would know its cards."""
    return {name for part, own in run.split(records) for name in _open_in(part, formats, own)}


def _open_in(run: RunFolder, formats: Mapping[str, Format], asked: Sequence[GameRecord]) -> set[str]:
    """The same for matches of one run."""
    if run.info.finished or run.info.plan.format == LEAGUE.name:  # which plays each deal once
        return set()
    seeds = {record.seed for record in asked}
    try:
        deals = _to_be_played(run, formats, seeds)
    except ArenaError:  # its format is not installed here, or its schedule is not known beforehand
        deals = _not_whole(run, seeds)
    return {record.id for record in asked if record.seed in deals}


def _to_be_played(run: RunFolder, formats: Mapping[str, Format], seeds: set[int]) -> set[int]:
    """The deals among these of which the schedule has matches that are not recorded."""
    schedule = Schedule(run.info.plan, formats)
    if schedule.adaptive:
        records = list(run.records() if schedule.format.reads_actions else run.results())
        played = {record.index for record in records}
        specs, _ = schedule.led_by(records)
        return {spec.seed for spec in specs if spec.seed in seeds and spec.index not in played}
    played = {record.index for record in run.results()}
    return {spec.seed for spec in schedule.matches() if spec.seed in seeds and spec.index not in played}


def _not_whole(run: RunFolder, seeds: set[int]) -> set[int]:
    """The deals among these that not everybody of a table has played from every seat."""
    sets: Counter[tuple[int, str, int]] = Counter()
    for record in run.results():
        if record.seed in seeds:
            sets[record.seed, record.set, len(record.seats)] += 1
    return {seed for (seed, _, seats), matches in sets.items() if matches < seats}
