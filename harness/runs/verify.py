"""Checks a run: every record is played again, belongs to the schedule, and is there once."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from harness.core.errors import ReplayError
from harness.core.types import MatchSpec
from harness.match.replay import verify
from harness.plugins.registry import Registry
from harness.runs.run_setup import configure_run
from harness.runs.store import RunFolder
from harness.schedule import Schedule


@dataclass(slots=True)
class Findings:
    """What a check of a run found."""

    records: int = 0
    replayed: int = 0
    missing: int = 0
    problems: list[str] = field(default_factory=list)


def check_run(
    run: RunFolder, registry: Registry, sample: int | None = None, step: Callable[[], None] = lambda: None
) -> Findings:
    """Plays the records of a run again (every so many of them if a sample will do) and compares."""
    found = Findings(
        problems=[f"Not all of its records may be of the same bots and rules: {change}." for change in run.info.forced]
    )
    games = configure_run(run, registry)
    expected = {spec.id: spec for spec in _expected(run, Schedule(run.info.plan, registry.formats))}
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


def _expected(run: RunFolder, schedule: Schedule) -> Iterable[MatchSpec]:
    """The matches that the run's schedule has; of an adaptive format, as far as its records lead."""
    return schedule.led_by(run.records())[0] if schedule.adaptive else schedule.matches()


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
