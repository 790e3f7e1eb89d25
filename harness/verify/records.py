"""Replay the records of a run and compare; check that its records and tables belong to it."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import nullcontext, suppress
from dataclasses import dataclass, field
from hashlib import sha256
from itertools import islice, takewhile
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import fields

from harness._version import VERSION
from harness.core.errors import ArenaError, ReplayError, StoreError
from harness.core.files import cannot_read
from harness.core.options import BotLimits
from harness.core.plan import Format
from harness.core.records import GameRecord, Isolation, MatchSpec, belongs_to, with_sum
from harness.match.replay import HUMAN, verify
from harness.output.leaderboard import leaderboard_files
from harness.output.outcome import FILES as OUTCOME_FILES
from harness.output.outcome import outcome_files, results_of
from harness.output.progress import at_terminal, shown_work
from harness.plugins.discovery import shown
from harness.plugins.features import FORMATS
from harness.plugins.registry import Registry
from harness.runs.cache import load_cached, save_cached
from harness.runs.reader import BATCH_LINES, GAMES, UNREADABLE, RecordDigest, RecordLine, ordered_results
from harness.runs.scheduler import Schedule, ScheduleDiff
from harness.runs.setup import configure_run, formats_of, limits_of_run
from harness.runs.standings import PlayedCounts, boards_of
from harness.runs.store import NOTES, RUN, RunFolder, digest_of_file, encode, refuse_era
from harness.verify.bots import BotFindings, check_bots

# Fields that Arena does not write: other programs may read them.


SUM = "sum"
_decode = msgspec.json.Decoder(GameRecord).decode


# A record whose actions stay as they are in the line: only a sample is replayed, and these are half of the work.
_FIELDS = [(each.name, each.type, msgspec.field(default=each.default)) for each in fields(GameRecord)]
_UnreadActions: Any = msgspec.defstruct(
    "_UnreadActions",
    [(name, msgspec.Raw if name == "actions" else kind, default) for name, kind, default in _FIELDS],
    bases=(GameRecord,),
    frozen=True,
    gc=False,
)
_decode_unread: Callable[[bytes], GameRecord] = msgspec.json.Decoder(_UnreadActions).decode
_AS_ZEROS, _TOO_LONG = bytes.maketrans(b"123456789", b"0" * 9), b"0" * 20


def _checked(line: RecordLine) -> GameRecord:
    """Return the record of a line, with its actions only if they are not integers from 0 as Arena writes them; raises
    StoreError if the line is damaged."""
    record = line.decode(_decode_unread)
    # The decoder has checked that they are JSON. A list of other digits than these has no spaces, signs or points; an
    # integer of more than 19 digits may be too large to be decoded.
    digits = bytes(record.actions).translate(_AS_ZEROS)
    plain = _TOO_LONG not in digits and digits.translate(None, b"0,") == b"[]"
    return record if plain else line.record()


def extra_fields(run: RunFolder) -> list[str]:
    """Return a sentence for each field of run.json that Arena does not write."""
    data = _run_json(run)
    return [f"{run.folder / RUN} {what}." for what in _extras(data, run.info)]


def _run_json(run: RunFolder) -> bytes:
    try:
        return run.files.read(RUN)
    except OSError as error:
        raise cannot_read(run.folder / RUN, error) from error


def extras_of_line(line: RecordLine, record: GameRecord | None = None) -> list[str]:
    """Return the same for a line of games.jsonl; `record` is its record, if it could be decoded."""
    try:
        record = record or _decode(line.data)
    except UNREADABLE:
        return []  # reported as a damaged line
    if with_sum(encode(record)) == line.data:
        return []  # the usual case, without parsing the line a second time
    return [f"{line.path}, line {line.number}, {what}." for what in _extras(line.data, record, SUM)]


def _extras(data: bytes, read: Struct, besides: str = "") -> Iterator[str]:
    try:
        raw = json.loads(data, object_pairs_hook=_each_once)
    except _SaidTwiceError as twice:
        yield f"has the field {twice} twice"
    except (ValueError, RecursionError):
        yield "cannot be read by every program that reads JSON"
    else:
        yield from (f"has a field {name!r} that no arena writes" for name in _unknown(raw, read, "") if name != besides)


class _SaidTwiceError(Exception):
    pass


def _each_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    # Programs that read JSON differ in which of two fields with the same name they use.
    found: dict[str, Any] = {}
    for name, value in pairs:
        if name in found:
            raise _SaidTwiceError(repr(name))
        found[name] = value
    return found


def _unknown(raw: Any, read: object, where: str) -> Iterator[str]:
    """Yield the names of fields that the struct does not have, with their path."""
    if isinstance(read, Struct) and isinstance(raw, dict):
        fields = dict(zip(read.__struct_encode_fields__, read.__struct_fields__, strict=True))
        for name, value in raw.items():
            if name in fields:
                yield from _unknown(value, getattr(read, fields[name]), f"{where}{name}.")
            else:
                yield f"{where}{name}"
    elif isinstance(read, tuple) and isinstance(raw, list):
        for part, whole in zip(raw, read, strict=False):
            yield from _unknown(part, whole, where)


# One pass over all records: is each as Arena writes it, and does the schedule contain it?


MAX_DAMAGED = 1_000
"""Damaged lines after which a file is not read further: it may have millions of empty lines."""


class RecordCheck:
    """What one pass over the records finds. Only what does not fit is held in memory."""

    def __init__(self, run: RunFolder, expected: Callable[[], Iterable[MatchSpec]]) -> None:
        """`expected` returns the schedule in order, each time that it is called."""
        self.run, self._expected = run, expected
        self._diff = ScheduleDiff(expected())
        self._digest = RecordDigest()
        self._failures: Counter[str] = Counter()
        self._out: dict[str, str] = {}
        """Disqualified bots, each with the first match in which it is out."""
        self._unfit: list[GameRecord] = []
        self.unscheduled: list[GameRecord] = []
        """Records that are not in the schedule, or differ from it."""
        self.damaged: list[str] = []
        """A sentence for each damaged line."""
        self.extras: list[str] = []
        """A sentence for each field that Arena does not write."""
        self.records = self.taken = 0
        """Numbers of records and of faults."""
        self.counts = PlayedCounts(run, cached=False)
        """Of the records that are in the schedule."""

    def fitting(self, seen: Callable[[GameRecord], None]) -> Iterator[tuple[int, RecordLine]]:
        """Yield the lines of the records that are in the schedule, each with the number of records before it; `seen`
        gets all records."""
        lines = self.run.lines()
        while batch := list(islice(lines, BATCH_LINES)):
            read = [(record, line) for line in batch if (record := self._read(line))]
            for record, line in read:
                self._digest.add_line(record.index, line.data)
                if record.faults:
                    self._note_faults(record)
                seen(record)
            for record, line in read:
                if self._diff.matches_record(record):
                    self.counts.add(record, line.data)
                    yield self.records, line
                else:
                    self._unfit.append(record)
                self.records += 1
        # A repeated record does not fit either, but it is in the schedule. Both are rare: the schedule is read again.
        places = {record.index for record in self._unfit if record.index <= self._diff.last_index}
        passed = takewhile(lambda spec: spec.index <= max(places), self._expected()) if places else ()
        due = {spec.index: spec for spec in passed if spec.index in places}
        self.unscheduled = [
            record for record in self._unfit if record.index not in due or not belongs_to(record, due[record.index])
        ]

    def _read(self, line: RecordLine) -> GameRecord | None:
        """Return the record of a line, None if the line is damaged."""
        try:
            record = _checked(line)
        except StoreError as error:
            self.damaged.append(str(error))
            if len(self.damaged) > MAX_DAMAGED:
                why = f"{self.run.folder / GAMES} has more than {MAX_DAMAGED:,} damaged lines: it has no records."
                raise StoreError(why) from error
            record = None
        self.extras += extras_of_line(line, record)
        return record

    def _note_faults(self, record: GameRecord) -> None:
        self.taken += len(record.failures)
        for fault in record.faults:
            name = record.seats[fault.seat]
            if fault.kind == "disqualified":
                self._out.setdefault(name, record.id)
            else:
                self._failures[name] += 1

    def missing(self) -> Iterator[MatchSpec]:
        """Return the matches without any record, not even one that does not fit."""
        there = {record.id for record in self._unfit}
        return (spec for spec in self._diff.missing() if spec.id not in there)

    def twice(self) -> Iterator[str]:
        """Return the matches that have more than one record."""
        ids = {record.id for record in self._unfit}
        times = Counter(result.id for result in self.run.results([]) if result.id in ids) if ids else {}
        return (name for name, often in times.items() if often > 1)

    def digest(self) -> str:
        """Return the digest of all records, "" if a line is damaged."""
        return "" if self.damaged else self._digest.text()

    def disqualified_unduly(self) -> Iterator[str]:
        """Yield a sentence for each bot that is disqualified in a match with too few faults for it."""
        most = self.run.info.limits.get("max_faults", 0)
        for name, match in self._out.items():
            failures = self._failures[name]
            if not isinstance(most, int) or not 0 < most <= failures:
                rule = f"at {most} faults a bot is out" if most else "no bot is disqualified in this run"
                yield f"{name} is disqualified in {match} with {failures} faults in all: {rule}."


# The result of a full check is cached, so that a later check of a sample is quick.


NAME = "verified"


class Verified:
    """The result of a check without problems, valid as long as run.json and games.jsonl do not change."""

    def __init__(self, run: RunFolder, schedule: Schedule) -> None:
        self.run = run
        self.records = self.taken = 0
        self.tables: dict[str, str] | None = None
        """Digests of the tables that follow from the records, by file name; None if unknown."""
        # What a plugin's format says may change with the plugin.
        self._bundled = schedule.format is FORMATS.get(schedule.plan.format)
        self.check: RecordCheck | None = None
        """A check without problems, made now."""

    def recall(self) -> bool:
        """Return whether a check is cached; then the fields have its result."""
        found = load_cached(self.run, NAME, self._about()) if self._bundled else None
        if found is None:
            return False
        self.records, self.taken, self.tables = found
        return True

    def keep(self, tables: dict[str, str]) -> None:
        """Cache the check, if one was made, with the digests of the tables that follow from the records."""
        if (check := self.check) is not None and self._bundled:
            state, cursor = (check.records, check.taken, tables), check.counts.cursor
            assert cursor.hashed is not None
            save_cached(self.run, NAME, state, cursor.hashed.digest(), cursor.size, self._about())

    def _about(self) -> bytes:
        """Return the digest of run.json."""
        return sha256(_run_json(self.run)).digest()


# The check of a run: every record is as it was written, replays to the same result and is in the schedule; none is
# missing.


MAX_MISSING = 20_000
"""Missing matches that are counted: a run of a billion deals may just have begun."""


@dataclass(slots=True)
class Findings:
    """The result of checking a run."""

    records: int = 0
    replayed: int = 0
    every: int = 1
    """One in this many records is replayed: all, or an evenly spread sample."""
    finished: bool = True
    """Whether run.json says that the run is complete."""
    missing: list[str] = field(default_factory=list)
    """Matches of the schedule without a record: the first MAX_MISSING of them."""
    problems: list[str] = field(default_factory=list)
    broken: set[str] = field(default_factory=set)
    """Matches whose records are wrong."""
    taken: int = 0
    """Faults that are accepted as recorded: only the bots, not the rules, can show whether they happened."""
    bots: BotFindings | None = None
    """The result of asking the bots again, if that was done."""
    verified: Verified | None = field(default=None, repr=False, compare=False)
    """The cached check of the same files."""

    @property
    def fine(self) -> bool:
        """Whether the run is complete and has no problems."""
        fits = self.finished and not self.missing and not self.problems
        return fits and (self.bots is None or self.bots.fine)


def verify_run(
    run: RunFolder,
    registry: Registry,
    sample: int | None = None,
    bots: bool = False,
    isolate: Isolation = "on",
    workers: int | None = None,
    quiet: bool = True,
) -> Findings:
    """Check the records and the tables of a run; with `bots`, also ask its bots again, isolated as `isolate` says."""
    with nullcontext() if quiet else shown_work():
        found = check_run(run, registry, sample)
        found.problems += stale_tables(run, registry.formats, found.verified)
    if bots:
        with at_terminal("asked again", found.replayed, quiet, workers, softly=quiet) as (stop, progress):
            found.bots = check_bots(
                run, registry, isolate, workers, found.every, found.broken, stop, progress.step
            )  # fmt: skip
    return found


def check_run(run: RunFolder, registry: Registry, sample: int | None = None) -> Findings:
    """Replay the records of a run, or a sample of them, and return what was found."""
    refuse_era(run, "verify")
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
        # All records of these files were checked before, so only the sample is replayed.
        found.records, found.taken = verified.records, verified.taken
        found.every = max(1, found.records // sample)
        for line in run.lines():
            if not (line.number - 1) % found.every:
                replay(line.record())
        extras = extra_fields(run)
    else:
        extras = _look_at_all(run, schedule, found, sample, replay, noted)
    found.problems += [*extras, *_unfit_limits(run), *_unfit_notes(run, noted)]
    return found


def _look_at_all(
    run: RunFolder,
    schedule: Schedule,
    found: Findings,
    sample: int | None,
    replay: Callable[[GameRecord], None],
    noted: set[str],
) -> list[str]:
    """Check every record and replay the sample; return a sentence for each field that Arena does not write."""
    led = None
    if schedule.adaptive:  # who meets whom follows from the records
        led, _ = schedule.led_by(run.records([]) if schedule.format.reads_actions else run.results([]))
    count = schedule.count() or 0 if led is None else len(led)
    found.every = max(1, count // sample) if sample else 1
    person = any(entrant.name == HUMAN for entrant in run.info.entrants)
    sets: set[str] = set()

    def seen(record: GameRecord) -> None:
        noted.discard(record.id)
        if person:
            sets.add(record.set)

    # Schedule order for the comparison with the file. `led` keeps the order in which matches were given out, in which
    # the missing ones are listed.
    by_place = None if led is None else sorted(led, key=lambda spec: spec.index)
    check = RecordCheck(run, schedule.matches if by_place is None else lambda: by_place)
    for number, line in check.fitting(seen):
        if not number % found.every:
            replay(line.record())
    found.records, found.taken = check.records, check.taken
    missing: Iterable[MatchSpec] = check.missing()
    if led is not None:
        places = {spec.index for spec in missing}
        missing = (spec for spec in led if spec.index in places)
    found.missing = list(islice((spec.id for spec in missing if not (person and spec.set in sets)), MAX_MISSING))
    unfit = _unfit(run, check, schedule.adaptive and bool(found.missing))
    found.problems = check.damaged + unfit + found.problems
    found.broken |= {record.id for record in check.unscheduled}
    # Only a check without any problem is cached: a later sample may then skip everything but the replays.
    if found.verified and not (check.damaged or unfit or check.extras or found.missing):
        found.verified.check = check
    return [*extra_fields(run), *check.extras]


def _unfit_limits(run: RunFolder) -> Iterator[str]:
    """Yield a sentence for each limit of run.json that is unknown or invalid."""
    unknown = sorted(run.info.limits.keys() - set(BotLimits.__struct_fields__))
    yield from (f"{run.folder / RUN} has a limit {name!r} that no arena writes." for name in unknown)
    try:
        limits_of_run(run)
    except StoreError as error:
        yield str(error)


def _noted(run: RunFolder) -> set[str]:
    """Return the matches with notes, as far as they can be read."""
    found: set[str] = set()
    with suppress(StoreError):
        found.update(noted.match for noted in run.all_notes())
    return found


def _unfit_notes(run: RunFolder, without_record: Collection[str]) -> list[str]:
    """Return what is wrong with the notes of bots."""
    path = run.folder / NOTES
    try:
        found = [
            f"{path} has notes of {shown(noted.match)}, which has no record."
            for noted in run.all_notes()
            if noted.match in without_record
        ]
        if run.info.finished and digest_of_file(run.files, NOTES) != run.info.notes:
            found.append(f"{path} is not what the run was finished with: its digest in run.json does not fit.")
    except StoreError as error:
        found = [str(error)]
    return found


def _unfit(run: RunFolder, check: RecordCheck, astray: bool) -> list[str]:
    """Return what is wrong with the records together; `astray`: earlier ones are missing, on which the schedule
    depends."""
    found = [f"{name} is there twice." for name in check.twice()]
    if check.unscheduled and astray:
        found.append(
            f"{len(check.unscheduled)} records come after those that are missing: whether they belong to the schedule "
            f"cannot be determined."
        )
    else:
        found += [
            f"{record.id} is not what the schedule of this run has under that id." for record in check.unscheduled
        ]
    found += check.disqualified_unduly()
    if run.info.finished and not run.ends_whole():
        found.append(f"{run.folder / GAMES} has data after its last complete line; the run was complete without it.")
    if run.info.finished and run.info.records != check.digest():
        found.append("These are not the records that the run was finished with: its digest in run.json does not fit.")
    return found


# Check the tables of a run: they are a function of the records, so they are made again and compared.


def stale_tables(run: RunFolder, formats: Mapping[str, Format], verified: Verified | None = None) -> list[str]:
    """Return a sentence for each table beside the records that does not match them; a missing table is not a problem.

    Digests in `verified` are not computed again, and new ones are stored there.
    """
    # Tables can be compared byte by byte: numbers are added up in schedule order and rounded when they are written.
    try:
        tables = _digests(run, formats, verified)
    except StoreError:
        return []  # arena verify reports problems of records elsewhere
    other = run.info.arena != VERSION
    why = f" (or arena {shown(run.info.arena)} wrote it differently from {VERSION})" if other else ""
    found = []
    for name, rebuilt in tables.items():
        try:
            there = digest_of_file(run.files, name)
        except StoreError as error:
            found.append(str(error))
            continue
        if there not in ("", rebuilt):
            found.append(f"{run.folder / name} is not what the records give{why}; 'arena leaderboard' shows that.")
    return found


def _digests(run: RunFolder, formats: Mapping[str, Format], verified: Verified | None) -> dict[str, str]:
    """Return the digests of the tables that the records give, by file name."""
    known = verified.tables if verified else None
    if known is not None and not any(run.files.has_file(name) for name in OUTCOME_FILES if name not in known):
        return known
    # A check without problems has counted every record.
    counts = verified.check.counts if verified and verified.check else None
    if counts is not None and counts.close(run):
        boards = counts.counts.boards(run.info.end)
    else:
        boards = boards_of(run, ordered_results(run), whole=True)
    files = {**leaderboard_files(boards, run.info.entrants), **_outcome(run, formats)}
    tables = {name: f"sha256:{sha256(data).hexdigest()}" for name, data in files.items()}
    if verified:
        verified.keep(tables)
    return tables


def _outcome(run: RunFolder, formats: Mapping[str, Format]) -> dict[str, bytes]:
    """Return the expected outcome files; none if the run has no such files, because computing them takes time."""
    if not any(run.files.has_file(name) for name in OUTCOME_FILES):
        return {}
    try:
        files = outcome_files(results_of(run, formats))
    except ArenaError:  # the format rejects the records; arena verify reports that elsewhere
        return {}
    return dict.fromkeys(OUTCOME_FILES, b"") | files


# Two runs


def differences(one: RunFolder, other: RunFolder) -> list[str]:
    """Return where the records of two runs differ, except for timing and file order."""
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
    """Return a digest of what must be the same each time the match is played."""
    return sha256(encode(record.without_timing())).digest()
