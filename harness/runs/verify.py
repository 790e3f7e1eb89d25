"""Checks a run: every record is as it was written, is played again, belongs to the schedule, and none is missing."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from hashlib import sha256

from harness.core.errors import ReplayError, StoreError
from harness.core.types import GameRecord, MatchSpec
from harness.match.narration import HUMAN
from harness.match.replay import verify
from harness.plugins.loading import shown
from harness.plugins.registry import Registry
from harness.runs.extra_fields import extra_fields
from harness.runs.record_check import RecordCheck
from harness.runs.request import LIMITS
from harness.runs.run_files import digest_of_file
from harness.runs.run_setup import configure_run, formats_of, limits_of_run
from harness.runs.store import GAMES, NOTES, RUN, RunFolder, encode
from harness.runs.verified import Verified
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
    verified: Verified | None = field(default=None, repr=False, compare=False)
    """What is remembered of a check of the same files."""

    @property
    def fine(self) -> bool:
        """Whether the run is complete and all of it fits."""
        fits = self.finished and not self.missing and not self.problems
        return fits and (self.bots is None or self.bots.fine)


def check_run(
    run: RunFolder, registry: Registry, sample: int | None = None, step: Callable[[], None] = lambda: None
) -> Findings:
    """Plays the records of a run again (every so many of them if a sample will do) and compares."""
    games = configure_run(run, registry)
    schedule = Schedule(run.info.plan, formats_of(run, registry))
    found = Findings(finished=bool(run.info.finished), verified=(verified := Verified(run, schedule)))
    found.problems += [f"Not all of its records may be of the same bots and rules: {each}." for each in run.info.forced]

    def replay(record: GameRecord) -> None:
        found.replayed += 1
        try:
            verify(games[record.game], record)
        except ReplayError as error:
            found.problems.append(str(error))
            found.broken.add(record.id)

    noted = _noted(run) if found.finished else set()
    if sample and not noted and verified.recall():
        found.records, found.taken = verified.records, verified.taken
        found.every = max(1, found.records // sample)
        _look_at_some(run, found.every, step, replay)
        extras = extra_fields(run)
    else:
        extras = _look_at_all(run, schedule, found, sample, step, replay, noted)
    found.problems += [*extras, *_unfit_limits(run), *_unfit_notes(run, noted)]
    return found


def _look_at_some(run: RunFolder, every: int, step: Callable[[], None], replay: Callable[[GameRecord], None]) -> None:
    """Plays a sample of records again that are, all of them, known to be the schedule's."""
    for number, line in run.lines():
        step()
        if not (number - 1) % every:
            replay(run.read_record(number, line))


def _look_at_all(
    run: RunFolder,
    schedule: Schedule,
    found: Findings,
    sample: int | None,
    step: Callable[[], None],
    replay: Callable[[GameRecord], None],
    noted: set[str],
) -> list[str]:
    """Looks at every record, and plays those again that are to be; a sentence on each field that no arena writes."""
    led = schedule.led_by(_looked_at(run, schedule))[0] if schedule.adaptive else None
    count = schedule.count() or 0 if led is None else len(led)
    found.every = max(1, count // sample) if sample else 1
    person = any(entrant.name == HUMAN for entrant in run.info.entrants)
    sets: set[str] = set()

    def seen(record: GameRecord) -> None:
        step()
        noted.discard(record.id)
        if person:
            sets.add(record.set)

    by_place = None if led is None else sorted(led, key=lambda spec: spec.index)
    check = RecordCheck(run, schedule.matches if by_place is None else lambda: by_place)
    for number, record in check.fitting(seen):
        if not number % found.every:
            replay(record)
    found.records, found.taken = check.records, check.taken
    missing: Iterable[MatchSpec] = check.missing()
    if led is not None:
        places = {spec.index for spec in missing}
        missing = (spec for spec in led if spec.index in places)
    found.missing = [spec.id for spec in missing if not (person and spec.set in sets)]
    unfit = _unfit(run, check, schedule.adaptive and bool(found.missing))
    found.problems = check.damaged + unfit + found.problems
    found.broken |= {record.id for record in check.strangers}
    if found.verified and not (check.damaged or unfit or check.extras or found.missing):
        found.verified.take(check)
    return [*extra_fields(run), *check.extras]


def _looked_at(run: RunFolder, schedule: Schedule) -> Iterator[GameRecord]:
    """As much of the records as the format of the run looks at."""
    return run.records([]) if schedule.format.reads_actions else run.results([])


def _unfit_limits(run: RunFolder) -> Iterator[str]:
    """What run.json has among the limits that is no limit, or could be none."""
    unknown = sorted(run.info.limits.keys() - set(LIMITS))
    yield from (f"{run.folder / RUN} has a limit {name!r} that no arena writes." for name in unknown)
    try:
        limits_of_run(run)
    except StoreError as error:
        yield str(error)


def _noted(run: RunFolder) -> set[str]:
    """The matches in which bots have noted something, as far as that can be read."""
    found: set[str] = set()
    with suppress(StoreError):
        found.update(noted.match for noted in run.all_notes())
    return found


def _unfit_notes(run: RunFolder, without_record: Collection[str]) -> list[str]:
    """What is wrong with the notes of bots."""
    path = run.folder / NOTES
    try:
        found = [
            f"{path} has notes of {shown(noted.match)}, which has no record."
            for noted in run.all_notes()
            if noted.match in without_record
        ]
        if run.info.notes and digest_of_file(path) != run.info.notes:
            found.append(f"{path} is not what the run was finished with: its digest in run.json does not fit.")
    except StoreError as error:
        found = [str(error)]
    return found


def _unfit(run: RunFolder, check: RecordCheck, astray: bool) -> list[str]:
    """What is wrong with the records together. `astray`: earlier ones are missing that the format goes by."""
    found = [f"{name} is there twice." for name in check.twice()]
    if check.strangers and astray:
        found.append(
            f"{len(check.strangers)} records come after those that are missing: whether they belong to the schedule "
            f"cannot be told."
        )
    else:
        found += [f"{record.id} is not what the schedule of this run has under that id." for record in check.strangers]
    found += check.disqualified_unduly()
    if run.info.finished and not run.ends_whole():
        found.append(f"{run.folder / GAMES} goes on after its last whole line, and the run was complete without that.")
    if run.info.records not in ("", check.digest()):
        found.append("These are not the records that the run was finished with: its digest in run.json does not fit.")
    return found


def differences(one: RunFolder, other: RunFolder) -> list[str]:
    """Where the records of two runs differ, timing and file order aside."""
    first = {record.id: _plain_digest(record) for record in one.records([])}
    found = []
    for record in other.records([]):
        mine = first.pop(record.id, None)
        if mine is None:
            found.append(f"{record.id} is only in {other.folder}.")
        elif mine != _plain_digest(record):
            found.append(f"{record.id} differs.")
    return found + [f"{name} is only in {one.folder}." for name in first]


def _plain_digest(record: GameRecord) -> bytes:
    """What must be the same in every play of the match, in few bytes."""
    return sha256(encode(record.without_timing())).digest()
