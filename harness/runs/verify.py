"""Checks a run: every record is as it was written, is played again, belongs to the schedule, and none is missing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from harness.core.errors import ReplayError, StoreError
from harness.core.types import GameRecord, MatchSpec
from harness.match.narration import HUMAN
from harness.match.replay import verify
from harness.plugins.loading import shown
from harness.plugins.registry import Registry
from harness.runs.extra_fields import extra_fields
from harness.runs.request import LIMITS
from harness.runs.run_files import digest_of_file
from harness.runs.run_setup import configure_run, formats_of, limits_of_run
from harness.runs.store import GAMES, NOTES, RUN, RunFolder
from harness.runs.verify_bots import BotFindings
from harness.schedule import Schedule


@dataclass(slots=True)
class Findings:
    """What a check of a run found."""

    records: int = 0
    replayed: int = 0
    every: int = 1
    """One in so many records is looked at closely; all, or a sample that is evenly spread."""
    finished: bool = True
    """Whether the run says of itself that it is complete."""
    missing: list[str] = field(default_factory=list)
    """Matches of the schedule that have no record."""
    problems: list[str] = field(default_factory=list)
    broken: set[str] = field(default_factory=set)
    """Matches whose records do not fit."""
    taken: int = 0
    """Faults that are taken as they are recorded: the rules cannot tell whether a bot had them, only the bots can."""
    bots: BotFindings | None = None
    """What the bots say, if they were asked."""

    @property
    def fine(self) -> bool:
        """Whether the run is complete and all of it fits."""
        fits = self.finished and not self.missing and not self.problems
        return fits and (self.bots is None or self.bots.fine)


def check_run(
    run: RunFolder, registry: Registry, sample: int | None = None, step: Callable[[], None] = lambda: None
) -> Findings:
    """Plays the records of a run again (every so many of them if a sample will do) and compares."""
    found = Findings(finished=bool(run.info.finished))
    found.problems += [f"Not all of its records may be of the same bots and rules: {each}." for each in run.info.forced]
    games = configure_run(run, registry)
    schedule = Schedule(run.info.plan, formats_of(run, registry))
    expected = {spec.id: spec for spec in _expected(run, schedule)}
    found.every = max(1, len(expected) // sample) if sample else 1
    seen: Counter[str] = Counter()
    sets: set[str] = set()
    strangers: list[GameRecord] = []
    damaged: list[str] = []
    for number, record in enumerate(run.records(damaged)):
        found.records += 1
        step()
        seen[record.id] += 1
        found.taken += len(record.failures)
        sets.add(record.set)
        if expected.get(record.id) != record.spec:
            strangers.append(record)
        elif not number % found.every:
            found.replayed += 1
            try:
                verify(games[record.game], record)
            except ReplayError as error:
                found.problems.append(str(error))
                found.broken.add(record.id)
    person = any(entrant.name == HUMAN for entrant in run.info.entrants)
    found.missing = [
        spec.id for spec in expected.values() if spec.id not in seen and not (person and spec.set in sets)
    ]  # fmt: skip
    found.problems = damaged + _unfit(run, seen, strangers, schedule.adaptive and bool(found.missing)) + found.problems
    found.problems += [*extra_fields(run), *_unfit_limits(run), *_unfit_notes(run, seen, found.finished)]
    found.broken |= {record.id for record in strangers}
    return found


def _unfit_limits(run: RunFolder) -> Iterator[str]:
    """What run.json has among the limits that is no limit, or could be none."""
    unknown = sorted(run.info.limits.keys() - set(LIMITS))
    yield from (f"{run.folder / RUN} has a limit {name!r} that no arena writes." for name in unknown)
    try:
        limits_of_run(run)
    except StoreError as error:
        yield str(error)


def _unfit_notes(run: RunFolder, seen: Collection[str], finished: bool) -> list[str]:
    """What is wrong with the notes of bots."""
    path = run.folder / NOTES
    try:
        found = [
            f"{path} has notes of {shown(noted.match)}, which has no record."
            for noted in run.all_notes()
            if finished and noted.match not in seen
        ]
        if run.info.notes and digest_of_file(path) != run.info.notes:
            found.append(f"{path} is not what the run was finished with: its digest in run.json does not fit.")
    except StoreError as error:
        found = [str(error)]
    return found


def _expected(run: RunFolder, schedule: Schedule) -> Iterable[MatchSpec]:
    """The matches that the run's schedule has; of an adaptive format, as far as its records lead."""
    return schedule.led_by(run.records([]))[0] if schedule.adaptive else schedule.matches()


def _unfit(run: RunFolder, seen: Counter[str], strangers: Sequence[GameRecord], astray: bool) -> list[str]:
    """What is wrong with the records together. `astray`: earlier ones are missing that the format goes by."""
    found = [f"{name} is there twice." for name, times in seen.items() if times > 1]
    if strangers and astray:
        found.append(
            f"{len(strangers)} records come after those that are missing: whether they belong to the schedule "
            f"cannot be told."
        )
    else:
        found += [f"{record.id} is not what the schedule of this run has under that id." for record in strangers]
    found += _disqualified_unduly(run)
    if run.info.finished and not run.ends_whole():
        found.append(f"{run.folder / GAMES} goes on after its last whole line, and the run was complete without that.")
    if run.info.records:
        try:
            same = run.digest() == run.info.records
        except StoreError:
            same = False
        if not same:
            found.append(
                "These are not the records that the run was finished with: its digest in run.json does not fit."
            )
    return found


def _disqualified_unduly(run: RunFolder) -> Iterator[str]:
    """Bots that are out in some match, and have not failed as often as that takes."""
    most = run.info.limits.get("max_faults", 0)
    failures: Counter[str] = Counter()
    out: dict[str, str] = {}
    for record in run.records([]):
        for fault in record.faults:
            name = record.seats[fault.seat]
            if fault.kind == "disqualified":
                out.setdefault(name, record.id)
            else:
                failures[name] += 1
    for name, match in out.items():
        if not isinstance(most, int) or not 0 < most <= failures[name]:
            rule = f"at {most} faults a bot is out" if most else "nobody is disqualified in this run"
            yield f"{name} is disqualified in {match} with {failures[name]} faults in all: {rule}."


def differences(one: RunFolder, other: RunFolder) -> list[str]:
    """Where the records of two runs differ, timing and file order aside."""
    first = {record.id: record.without_timing() for record in one.records([])}
    found = []
    for record in other.records([]):
        mine = first.pop(record.id, None)
        if mine is None:
            found.append(f"{record.id} is only in {other.folder}.")
        elif mine != record.without_timing():
            found.append(f"{record.id} differs.")
    return found + [f"{name} is only in {one.folder}." for name in first]
