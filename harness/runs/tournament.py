"""Plays a run: what is missing of its schedule, into its folder; then the leaderboard."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator

from msgspec.structs import replace

from harness import output, schedule
from harness.core.errors import StoreError
from harness.core.types import Fault, GameRecord, MatchSpec
from harness.executors import Executor, Job
from harness.ratings import Ratings, rate_records
from harness.runs import store
from harness.runs.run_setup import RunSetup, now
from harness.runs.store import RunFolder


class Tournament:
    """One run being played, anew or continued."""

    def __init__(
        self,
        run: RunFolder,
        setup: RunSetup,
        max_faults: int = 0,
        seen: Callable[[GameRecord], None] = lambda _record: None,
        begins: Callable[[], None] = lambda: None,
    ) -> None:
        """`max_faults` disqualifies a bot after so many (0: never). `seen` is shown every record, those of before
        first; `begins` is called after these."""
        self.run, self.setup, self.max_faults, self.seen, self.begins = run, setup, max_faults, seen, begins
        self.faults: Counter[str] = Counter()

    def play(self, executor: Executor) -> bool:
        """Plays what is missing of the plan; whether the plan is complete now."""
        plan = self.setup.plan
        with self.run.writing():
            complete = self._adaptive(executor) if schedule.is_adaptive(plan) else self._static(executor)
            if complete and not self.run.info.finished:
                self.run.finish(now())
        return complete

    def _static(self, executor: Executor) -> bool:
        known = self._check_known()
        played = sum(1 for _ in self._played(executor, self._missing(known)))
        return len(known) + played == schedule.count(self.setup.plan)

    def _check_known(self) -> set[str]:
        """The matches that are recorded. Each must be one of the schedule: a stranger would spoil the table."""
        recorded = {record.id: record.spec for record in self._recorded()}
        known = set(recorded)
        for spec in schedule.matches(self.setup.plan) if known else ():
            if spec.id in recorded:
                self._check_same(spec, recorded.pop(spec.id))
            if not recorded:
                break
        if recorded:
            raise self._stranger(min(recorded))
        return known

    def _missing(self, known: set[str]) -> Iterator[MatchSpec]:
        return (spec for spec in schedule.matches(self.setup.plan) if spec.id not in known)

    def _adaptive(self, executor: Executor) -> bool:
        known = {record.id: replace(record, actions=()) for record in self._recorded()}
        going = schedule.rounds(self.setup.plan)
        specs = next(going)
        while True:
            results: dict[str, GameRecord] = {}
            for spec in specs:
                if spec.id in known:
                    self._check_same(spec, known[spec.id].spec)
                    results[spec.id] = known.pop(spec.id)
            missing = [spec for spec in specs if spec.id not in results]
            for record in self._played(executor, missing):
                results[record.id] = replace(record, actions=())
            if len(results) < len(specs):
                return False
            try:
                specs = going.send([results[spec.id] for spec in specs])
            except StopIteration:
                if known:
                    raise self._stranger(min(known)) from None
                return True

    def _recorded(self) -> Iterator[GameRecord]:
        """The records of a run that is continued."""
        ids: set[str] = set()
        for record in self.run.records():
            if record.id in ids:
                raise StoreError(f"{self.run.folder / store.GAMES}: the record {record.id} is there twice.")
            ids.add(record.id)
            self._count(record)
            yield record
        self.begins()

    def _played(self, executor: Executor, specs: Iterable[MatchSpec]) -> Iterator[GameRecord]:
        for record, line in executor.run(Job(spec, self._disqualified(spec)) for spec in specs):
            self.run.append(line)
            self._count(record)
            yield record

    def _count(self, record: GameRecord) -> None:
        for fault in record.faults:
            self.faults[record.seats[fault.seat]] += 1
        self.seen(record)

    def _disqualified(self, spec: MatchSpec) -> tuple[Fault, ...]:
        if not self.max_faults or not self.faults:
            return ()
        reason = f"disqualified after {self.max_faults} faults"
        return tuple(
            Fault(seat, "disqualified", 0, reason)
            for seat, name in enumerate(spec.seats)
            if self.faults[name] >= self.max_faults
        )

    def _check_same(self, spec: MatchSpec, recorded: MatchSpec) -> None:
        if spec != recorded:
            raise self._stranger(spec.id)

    def _stranger(self, name: str) -> StoreError:
        path = self.run.folder / store.GAMES
        return StoreError(f"{path}: the record {name} does not belong to this run; take its line out to go on.")


def write_leaderboard(run: RunFolder) -> dict[str, Ratings]:
    """Rates all records and writes leaderboard.md, .json and .csv beside them."""
    rated = rate_records(run.records())
    for name, table_format in (("md", "github"), ("json", "json"), ("csv", "csv")):
        text = output.render(rated, table_format)
        store.write_whole(run.folder / f"leaderboard.{name}", text.encode() + b"\n")
    return rated
