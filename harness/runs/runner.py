"""Play the missing matches of a run, record them, and report events to listeners."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import ExitStack, suppress
from functools import partial

from msgspec.structs import replace

from harness.core.errors import PluginError, StoreError, UsageError
from harness.core.options import BotLimits
from harness.core.records import Fault, GameRecord, MatchSpec
from harness.executors.base import HERE, ClusterChoice, Executor, Job, choose_executor
from harness.plugins.bot_files import file_digest
from harness.plugins.hooks import Listeners, RunStatus
from harness.runs.scheduler import LiveMatches, RollCall, play_live
from harness.runs.setup import RunSetup, now
from harness.runs.store import GAMES, LOGS, RecordDigest, RunFolder

# Tells listeners how one run goes.


class RunTeller:
    """What listeners hear of a run: that it starts, each match, and that it is over."""

    def __init__(self, listeners: Listeners, run: RunFolder, planned: int | None) -> None:
        info = run.info
        self._listeners, self._run, self._told = listeners, run, False
        self._status = RunStatus(
            name=run.folder.name,
            folder=str(run.folder),
            format=info.plan.format,
            games=tuple(game.name for game in info.plan.games),
            bots=tuple(entrant.name for entrant in info.entrants),
            matches=0,
            planned=planned,
            started=info.started,
        )

    def started(self, matches: int) -> None:
        """It is played from now on, and has so many matches already."""
        self._told = True
        self._listeners.run_started(self._at(matches))

    def match(self, matches: int, record: GameRecord) -> None:
        """A match has ended, with which there are so many."""
        if not self._told:  # the run was finished, and has lost a record since
            self.started(matches - 1)
        self._listeners.match_finished(self._at(matches), record)

    def over(self, matches: int) -> None:
        """Nobody plays it any more; nothing is said if nobody did."""
        if self._told:
            self._listeners.run_finished(replace(self._at(matches), finished=self._run.info.finished))

    def _at(self, matches: int) -> RunStatus:
        return replace(self._status, matches=matches)


# Plays a run: what is missing of its schedule, into its folder.


TOLD = 10
"""Losses that are told one by one."""


def play_run(
    run: RunFolder,
    setup: RunSetup,
    limits: BotLimits,
    workers: int | None = None,
    should_stop: Callable[[], bool] = lambda: False,
    seen: Callable[[GameRecord], None] = lambda _record: None,
    begins: Callable[[], None] = lambda: None,
    disqualified: Callable[[str, str], None] = lambda _bot, _why: None,
    cluster: ClusterChoice = HERE,
    playing: Callable[[Executor], None] = lambda _executor: None,
    listeners: Listeners | None = None,
) -> bool:
    """Plays what is missing of a run under these limits; whether it is complete now. What went wrong with workers
    is added to the run's warnings. `seen` is shown every record, those of before first; `begins` is called after these.
    `disqualified` is told which bot is out and why, as soon as it is, and again when the run is continued. `playing` is
    shown the executor before it begins. Plugins that listen are told what happens, or those `listeners` that somebody
    else will close.
    """
    with ExitStack() as stack:
        if listeners is None and setup.listeners:
            listeners = Listeners(setup.listeners)
            stack.push(partial(_close, listeners, run))
        tournament = Tournament(run, setup, limits.max_faults, seen, begins, disqualified, listeners)
        try:
            executor = choose_executor(setup.roster, limits, workers, should_stop, run.folder / LOGS, cluster)
            playing(executor)
            stack.enter_context(executor)
        except UsageError:  # there is nobody to play it, or not as it was asked for
            run.discard()
            raise
        complete = tournament.play(executor)
    run.force(changes := list(_changed_meanwhile(setup)))
    run.warnings += [f"{change}." for change in changes]
    ours = [loss for loss in executor.losses if loss.seat is None]
    run.warnings += [f"a worker was lost in {loss.match}: it {loss.what}." for loss in ours[:TOLD]]
    if executor.given_up:
        listed = ", ".join(executor.given_up[:TOLD])
        run.warnings.append(f"could not be played, through no fault of a bot that could be told: {listed}.")
    return complete


def _close(listeners: Listeners, run: RunFolder, raised: type[BaseException] | None, *_error: object) -> None:
    """Lets listeners catch up, unless somebody wants to leave at once."""
    in_haste = raised is not None and issubclass(raised, KeyboardInterrupt)
    run.warnings += listeners.close(grace=0.0) if in_haste else listeners.close()


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
        listeners: Listeners | None = None,
    ) -> None:
        """`max_faults` disqualifies a bot after so many (0: never)."""
        self.run, self.schedule, self.max_faults, self.seen, self.begins = run, setup.schedule, max_faults, seen, begins
        self.disqualified = disqualified
        self.teller = RunTeller(listeners, run, setup.schedule.count()) if listeners else None
        self.faults: Counter[str] = Counter()
        self.out: dict[str, str] = {}
        """Why a bot is disqualified, by its name."""
        self.earlier, self.appended = 0, 0
        """Records that were there, and those of this time."""
        self.before: RecordDigest | None = None
        """Of those that were there, if the run was finished with them."""

    def play(self, executor: Executor) -> bool:
        """Plays what is missing of the plan; whether the plan is complete now."""
        try:
            return self._play(executor)
        finally:
            if self.teller:
                self.teller.over(self.earlier + self.appended)

    def _play(self, executor: Executor) -> bool:
        run = self.run
        with run.writing():
            complete = self._adaptive(executor) if self.schedule.adaptive else self._static(executor)
            if complete and (self.appended or not run.info.finished):
                run.finish(now())
            elif complete and run.info.records != (self.before.text() if self.before else ""):
                raise StoreError(
                    f"{run.folder / GAMES}: these are not the records that the run was finished with; "
                    f"arena verify {run.folder} says more."
                )
        return complete

    def _static(self, executor: Executor) -> bool:
        roll = self._called()
        for _ in self._played(executor, roll.missing()):
            roll.fitting += 1
        return roll.fitting == self.schedule.count()

    def _called(self) -> RollCall:
        """What is recorded beside the schedule. Each must be one of its matches: a stranger would spoil the table."""
        roll = RollCall(self.schedule.matches())
        unfit = {record.id for record in self._recorded() if not roll.fits(record)}
        if unfit:
            self._check_once(unfit)
            raise self._stranger(min(unfit))
        return roll

    def _check_once(self, ids: Collection[str]) -> None:
        """Raises StoreError if one of these matches is recorded twice."""
        seen: set[str] = set()
        for record in self.run.results():
            if record.id in seen:
                raise self._twice(record.id)
            if record.id in ids:
                seen.add(record.id)

    def _adaptive(self, executor: Executor) -> bool:
        known: dict[str, GameRecord] = {}
        for record in self._recorded():
            if record.id in known:
                raise self._twice(record.id)
            known[record.id] = self.schedule.seen(record)

        matches = LiveMatches(self.schedule.course(), known, self._check_same)
        complete = play_live(
            matches, lambda specs: map(self.schedule.seen, self._played(executor, specs)), executor.given_up
        )
        if complete and known:
            raise self._stranger(min(known))
        return complete

    def _recorded(self) -> Iterator[GameRecord]:
        """The records of a run that is continued, with their actions only if the format looks at them."""
        run = self.run
        self.before = RecordDigest() if run.info.finished else None
        reads_actions = self.schedule.format.reads_actions
        for record in run.records(digest=self.before) if reads_actions else run.results(digest=self.before):
            self.earlier += 1
            self._count(record)
            yield record
        self.begins()
        if self.teller and not run.info.finished:
            self.teller.started(self.earlier)

    def _played(self, executor: Executor, specs: Iterable[MatchSpec]) -> Iterator[GameRecord]:
        jobs = map(self._job, specs)  # which, unlike a generator, asks again after an end
        for record, *_ in executor.run(jobs, self.run.append_all):
            self.appended += 1
            self._count(record)
            if self.teller:
                self.teller.match(self.earlier + self.appended, record)
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

    def _job(self, spec: MatchSpec) -> Job:
        return Job(spec, self._disqualified(spec))

    def _disqualified(self, spec: MatchSpec) -> tuple[Fault, ...]:
        if not self.out:
            return ()
        return tuple(
            Fault(seat, "disqualified", 0, self.out[name]) for seat, name in enumerate(spec.seats) if name in self.out
        )

    def _twice(self, name: str) -> StoreError:
        return StoreError(f"{self.run.folder / GAMES}: the record {name} is there twice.")

    def _check_same(self, spec: MatchSpec, recorded: GameRecord) -> None:
        if spec != recorded.spec:
            raise self._stranger(spec.id)

    def _stranger(self, name: str) -> StoreError:
        path = self.run.folder / GAMES
        return StoreError(f"{path}: the record {name} does not belong to this run; take its line out to go on.")
