"""Plays a run: what is missing of its schedule, into its folder."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

from harness.core.errors import PluginError, StoreError
from harness.core.types import Fault, GameRecord, MatchSpec
from harness.executors.jobs import Executor, Job, choose_executor
from harness.plugins.identity import file_digest
from harness.runs.run_setup import RunSetup, now
from harness.runs.store import GAMES, LOGS, RunFolder

TOLD = 10
"""Losses that are told one by one."""


def play_run(
    run: RunFolder,
    setup: RunSetup,
    limits: Mapping[str, Any],
    workers: int | None = None,
    should_stop: Callable[[], bool] = lambda: False,
    seen: Callable[[GameRecord], None] = lambda _record: None,
    begins: Callable[[], None] = lambda: None,
    disqualified: Callable[[str, str], None] = lambda _bot, _why: None,
) -> bool:
    """Plays what is missing of a run under these limits; whether it is complete now. What went wrong with workers
    is added to the run's warnings. `seen` is shown every record, those of before first; `begins` is called after these.
    `disqualified` is told which bot is out and why, as soon as it is, and again when the run is continued.
    """
    tournament = Tournament(run, setup, limits["max_faults"], seen, begins, disqualified)
    with choose_executor(setup.roster, limits, workers, should_stop, run.folder / LOGS) as executor:
        complete = tournament.play(executor)
    run.force(changes := list(_changed_meanwhile(setup)))
    run.warnings += [f"{change}." for change in changes]
    ours = [loss for loss in executor.losses if loss.seat is None]
    run.warnings += [f"a worker was lost in {loss.match}: it {loss.what}." for loss in ours[:TOLD]]
    if executor.given_up:
        listed = ", ".join(executor.given_up[:TOLD])
        run.warnings.append(f"could not be played, through no fault of a bot that could be told: {listed}.")
    return complete


def _changed_meanwhile(setup: RunSetup) -> Iterator[str]:
    """Bots in files whose data is not what it was when the run began: what they read in between cannot be told."""
    for entrant in setup.entrants.values():
        if entrant.sources and entrant.bot.files:
            with suppress(PluginError):
                now_it_is = file_digest(entrant.source, entrant.sources, entrant.bot.files)
                if now_it_is != entrant.own_digest:
                    yield f"the data of the bot {entrant.name} was changed while the run went on"


class Tournament:
    """One run being played, anew or continued."""

    def __init__(
        self,
        run: RunFolder,
        setup: RunSetup,
        max_faults: int = 0,
        seen: Callable[[GameRecord], None] = lambda _record: None,
        begins: Callable[[], None] = lambda: None,
        disqualified: Callable[[str, str], None] = lambda _bot, _why: None,
    ) -> None:
        """`max_faults` disqualifies a bot after so many (0: never)."""
        self.run, self.schedule, self.max_faults, self.seen, self.begins = run, setup.schedule, max_faults, seen, begins
        self.disqualified = disqualified
        self.faults: Counter[str] = Counter()
        self.out: dict[str, str] = {}
        """Why a bot is disqualified, by its name."""
        self.appended = 0
        """Records of this time."""

    def play(self, executor: Executor) -> bool:
        """Plays what is missing of the plan; whether the plan is complete now."""
        run = self.run
        with run.writing():
            before = run.digest() if run.info.records else ""
            complete = self._adaptive(executor) if self.schedule.adaptive else self._static(executor)
            if complete and (self.appended or not run.info.finished):
                run.finish(now())
            elif complete and run.info.records != before:
                raise StoreError(
                    f"{run.folder / GAMES}: these are not the records that the run was finished with; "
                    f"arena verify {run.folder} says more."
                )
        return complete

    def _static(self, executor: Executor) -> bool:
        known, played = self._check_known(), 0
        for _ in self._played(executor, (spec for spec in self.schedule.matches() if spec.id not in known)):
            played += 1
        return len(known) + played == self.schedule.count()

    def _check_known(self) -> set[str]:
        """The matches that are recorded. Each must be one of the schedule: a stranger would spoil the table."""
        recorded = {record.id: record.spec for record in self._recorded()}
        known = set(recorded)
        for spec in self.schedule.matches() if known else ():
            if spec.id in recorded:
                self._check_same(spec, recorded.pop(spec.id))
            if not recorded:
                break
        if recorded:
            raise self._stranger(min(recorded))
        return known

    def _adaptive(self, executor: Executor) -> bool:
        known = {record.id: self.schedule.seen(record) for record in self._recorded()}

        def results(specs: Sequence[MatchSpec]) -> list[GameRecord] | None:
            """Those that are known, and the others played now; None if somebody stopped the executor."""
            found: dict[str, GameRecord] = {}
            for spec in specs:
                if spec.id in known:
                    self._check_same(spec, known[spec.id].spec)
                    found[spec.id] = known.pop(spec.id)
            missing = [spec for spec in specs if spec.id not in found]
            for record in self._played(executor, missing):
                found[record.id] = self.schedule.seen(record)
            return [found[spec.id] for spec in specs] if len(found) == len(specs) else None

        going = self.schedule.follow(results)
        while True:
            try:
                next(going)
            except StopIteration as end:
                if end.value and known:
                    raise self._stranger(min(known)) from None
                return bool(end.value)

    def _recorded(self) -> Iterator[GameRecord]:
        """The records of a run that is continued."""
        ids: set[str] = set()
        for record in self.run.records():
            if record.id in ids:
                raise StoreError(f"{self.run.folder / GAMES}: the record {record.id} is there twice.")
            ids.add(record.id)
            self._count(record)
            yield record
        self.begins()

    def _played(self, executor: Executor, specs: Iterable[MatchSpec]) -> Iterator[GameRecord]:
        for record, line, notes in executor.run(Job(spec, self._disqualified(spec)) for spec in specs):
            self.run.append(line, notes)
            self.appended += 1
            self._count(record)
            yield record

    def _count(self, record: GameRecord) -> None:
        self.seen(record)
        if record.faults:
            self._blame(record)

    def _blame(self, record: GameRecord) -> None:
        """Counts the faults of a match; who has reached the most that are allowed is out."""
        for fault in record.failures:
            name = record.seats[fault.seat]
            self.faults[name] += 1
            if self.faults[name] == self.max_faults:
                plural = "" if self.max_faults == 1 else "s"
                self.out[name] = f"disqualified after {self.max_faults} fault{plural}, the last in {record.id}"
                self.disqualified(name, self.out[name])

    def _disqualified(self, spec: MatchSpec) -> tuple[Fault, ...]:
        if not self.out:
            return ()
        return tuple(
            Fault(seat, "disqualified", 0, self.out[name]) for seat, name in enumerate(spec.seats) if name in self.out
        )

    def _check_same(self, spec: MatchSpec, recorded: MatchSpec) -> None:
        if spec != recorded:
            raise self._stranger(spec.id)

    def _stranger(self, name: str) -> StoreError:
        path = self.run.folder / GAMES
        return StoreError(f"{path}: the record {name} does not belong to this run; take its line out to go on.")
