"""All records of a run, looked at once: is each as arena writes it, and one of the schedule's?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from hashlib import sha256

from harness.core.errors import StoreError
from harness.core.types import GameRecord, MatchSpec
from harness.runs.extra_fields import extras_of_line
from harness.runs.match_result import RecordDigest
from harness.runs.roll_call import RollCall, is_of
from harness.runs.store import RunFolder


class RecordCheck:
    """What one pass over the records finds. Memory is needed for what does not fit, and for nothing else."""

    def __init__(self, run: RunFolder, expected: Callable[[], Iterable[MatchSpec]]) -> None:
        """`expected` gives the schedule, in the order of its places, as often as it is asked."""
        self.run, self._expected = run, expected
        self._roll = RollCall(expected())
        self._digest = RecordDigest()
        self._failures: Counter[str] = Counter()
        self._out: dict[str, str] = {}
        """Who is disqualified in some match, with the first one."""
        self._unfit: list[GameRecord] = []
        self.strangers: list[GameRecord] = []
        """Records that the schedule has not, or not so."""
        self.damaged: list[str] = []
        """A sentence on each line that cannot be read."""
        self.extras: list[str] = []
        """A sentence on each field that no arena writes."""
        self.records = self.taken = 0
        """Records, and faults in them."""
        self.hashed, self.size = sha256(), 0
        """What was read, byte by byte."""

    def fitting(self, seen: Callable[[GameRecord], None]) -> Iterator[tuple[int, GameRecord]]:
        """The records that are of the schedule, each with how many were read before it; `seen` is shown all."""
        for number, line in self.run.lines():
            self.hashed.update(line + b"\n")
            self.size += len(line) + 1
            try:
                record = self.run.read_record(number, line)
            except StoreError as error:
                self.damaged.append(str(error))
                self.extras += extras_of_line(self.run, number, line)
                continue
            self._digest.add(record.index, line)
            self.extras += extras_of_line(self.run, number, line, record)
            if record.faults:
                self._note_faults(record)
            seen(record)
            if self._roll.fits(record):
                yield self.records, record
            else:
                self._unfit.append(record)
            self.records += 1
        if self._unfit:
            self._tell_strangers()

    def _note_faults(self, record: GameRecord) -> None:
        self.taken += len(record.failures)
        for fault in record.faults:
            name = record.seats[fault.seat]
            if fault.kind == "disqualified":
                self._out.setdefault(name, record.id)
            else:
                self._failures[name] += 1

    def _tell_strangers(self) -> None:
        """A record that came a second time is none."""
        places = {record.index for record in self._unfit}
        due = {spec.index: spec for spec in self._expected() if spec.index in places}
        self.strangers = [
            record for record in self._unfit if record.index not in due or not is_of(record, due[record.index])
        ]

    def missing(self) -> Iterator[MatchSpec]:
        """The matches that have no record, not even one that does not fit."""
        there = {record.id for record in self._unfit}
        return (spec for spec in self._roll.missing() if spec.id not in there)

    def twice(self) -> Iterator[str]:
        """Matches that have more than one record."""
        ids = {record.id for record in self._unfit}
        times = Counter(result.id for result in self.run.results([]) if result.id in ids) if ids else {}
        return (name for name, often in times.items() if often > 1)

    def digest(self) -> str:
        """The digest of all records; empty if there are some that cannot be read."""
        return "" if self.damaged else self._digest.text()

    def disqualified_unduly(self) -> Iterator[str]:
        """A sentence on each bot that is out in some match, and has not failed as often as that takes."""
        most = self.run.info.limits.get("max_faults", 0)
        for name, match in self._out.items():
            failures = self._failures[name]
            if not isinstance(most, int) or not 0 < most <= failures:
                rule = f"at {most} faults a bot is out" if most else "nobody is disqualified in this run"
                yield f"{name} is disqualified in {match} with {failures} faults in all: {rule}."
