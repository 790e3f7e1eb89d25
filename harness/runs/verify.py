"""Checks a run: every record is played again, belongs to the schedule, and is there once."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from msgspec.structs import replace

from harness import schedule
from harness.core.errors import ReplayError
from harness.core.game import Game
from harness.core.types import MatchSpec
from harness.match.replay import verify
from harness.runs.store import RunFolder


@dataclass(slots=True)
class Findings:
    """What a check of a run found."""

    records: int = 0
    replayed: int = 0
    missing: int = 0
    problems: list[str] = field(default_factory=list)


def check_run(
    run: RunFolder, games: dict[str, Game[Any]], sample: int | None = None, step: Callable[[], None] = lambda: None
) -> Findings:
    """Plays the records of a run again (every so many of them if a sample will do) and compares."""
    found = Findings()
    expected = {spec.id: spec for spec in _expected(run)}
    every = max(1, len(expected) // sample) if sample else 1
    seen: set[str] = set()
    for number, record in enumerate(run.records()):
        found.records += 1
        step()
        if record.id in seen:
            found.problems.append(f"{record.id} is there twice.")
        seen.add(record.id)
        if expected.get(record.id) != record.spec:
            found.problems.append(f"{record.id} is not what the schedule of this run has under that id.")
            continue
        if number % every:
            continue
        found.replayed += 1
        try:
            verify(games[record.game], record)
        except ReplayError as error:
            found.problems.append(str(error))
    found.missing = len(expected.keys() - seen)
    return found


def _expected(run: RunFolder) -> Iterator[MatchSpec]:
    """The matches that the run's schedule has; of an adaptive format, as far as its records lead."""
    plan = run.info.plan
    if not schedule.is_adaptive(plan):
        yield from schedule.matches(plan)
        return
    known = {record.id: replace(record, actions=()) for record in run.records()}
    going = schedule.rounds(plan)
    specs = next(going)
    while True:
        yield from specs
        if not all(spec.id in known for spec in specs):
            return
        try:
            specs = going.send([known[spec.id] for spec in specs])
        except StopIteration:
            return


def differences(one: RunFolder, other: RunFolder) -> list[str]:
    """Where the records of two runs differ, timing and file order aside."""
    first = {record.id: record.without_timing() for record in one.records()}
    found = []
    for record in other.records():
        mine = first.pop(record.id, None)
        if mine is None:
            found.append(f"{record.id} is only in {other.folder}.")
        elif mine != record.without_timing():
            found.append(f"{record.id} differs.")
    return found + [f"{name} is only in {one.folder}." for name in first]
