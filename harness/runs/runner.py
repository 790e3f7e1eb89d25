"""Play the missing matches of a run, record them, disqualify bots with too many faults, and report to listeners."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import ExitStack, suppress
from functools import partial

from msgspec.structs import replace

from harness.core.errors import ArenaError, PluginError, StoreError, UsageError
from harness.core.options import BotLimits
from harness.core.records import Fault, GameRecord, MatchSpec
from harness.core.table import Table
from harness.executors.base import HERE, ClusterChoice, Executor, Job, Played, choose_executor
from harness.plugins.bot_files import file_digest
from harness.plugins.hooks import Listeners, RunStatus
from harness.runs.monitor import RunMonitor, Workload
from harness.runs.reader import GAMES, RecordDigest
from harness.runs.scheduler import ResumedScheduler, ScheduleDiff, StaticScheduler, in_play_order, play_matches
from harness.runs.setup import RunSetup
from harness.runs.standings import PlayedCounts
from harness.runs.store import LOGS, RunFolder, now

# Reports one run to listeners.


class RunEvents:
    """Reports a run to listeners: that it starts, each match, and that it is over."""

    def __init__(self, listeners: Listeners, run: RunFolder, monitor: RunMonitor) -> None:
        info = run.info
        self._listeners, self._run, self._monitor, self._started = listeners, run, monitor, False
        self._status = RunStatus(
            name=run.title,
            folder=str(run.folder),
            format=info.plan.format,
            games=tuple(game.name for game in info.plan.games),
            bots=tuple(entrant.name for entrant in info.entrants),
            matches=0,
            planned=monitor.workload.total,
            started=info.started,
        )

    def run_started(self, matches: int | None = None) -> None:
        """Report that the run is played from now on."""
        self._started = True
        self._listeners.run_started(self._status_with(self._monitor.done if matches is None else matches))

    def match_finished(self, record: GameRecord) -> None:
        """Report a match, which the monitor has counted."""
        if not self._started:  # the run was finished, and has lost a record since
            self.run_started(self._monitor.done - 1)
        self._listeners.match_finished(self._status_with(self._monitor.done), record)

    def run_finished(self, make_tables: Callable[[], Sequence[Table]] = tuple) -> None:
        """Report that the run is no longer played, if it was, with the tables that `make_tables` returns."""
        if not self._started:
            return
        tables: Sequence[Table] = ()
        if self._listeners.has_plugins:
            with suppress(ArenaError):  # a record is damaged, or none counts: the command reports that itself
                tables = make_tables()
        finished = self._run.info.finished
        self._listeners.run_finished(
            replace(self._status_with(self._monitor.done), finished=finished, tables=tuple(tables))
        )

    def _status_with(self, matches: int) -> RunStatus:
        return replace(self._status, matches=matches)


# Play what is missing of a schedule, into the folder of its run.


MAX_LISTED = 10
"""Lost workers and given-up matches that a warning lists."""


def play_run(
    run: RunFolder,
    setup: RunSetup,
    limits: BotLimits,
    workers: int | None = None,
    should_stop: Callable[[], bool] = lambda: False,
    monitor: RunMonitor | None = None,
    cluster: ClusterChoice = HERE,
    listeners: Listeners | None = None,
    make_tables: Callable[[RunFolder], Sequence[Table]] = lambda _run: (),
    show_output: bool = False,
) -> bool:
    """Play the missing matches of a run under these limits; return whether it is complete.

    Problems with workers are added to the warnings of the run. `monitor` is given the executor, every record (earlier
    ones first), and the bots that are disqualified. Events are sent to `listeners`, which the caller closes, or by
    default to the listeners among the installed plugins; at the end they get the tables that `make_tables` returns.
    What bots print goes to logs; with `show_output`, also to stderr.
    """
    with ExitStack() as stack:
        if listeners is None and setup.listeners:
            listeners = Listeners(setup.listeners)
            stack.push(partial(_close, listeners, run))
        tournament = Tournament(run, setup, limits.max_faults, monitor, listeners, make_tables)
        try:
            logs = run.folder / LOGS
            executor = choose_executor(setup.roster, limits, workers, should_stop, logs, cluster, show_output)
            tournament.monitor.follow_executor(executor)
            stack.enter_context(executor)
        except UsageError:  # no worker, or not with these settings
            run.discard()  # otherwise a new run would leave an empty folder, and its name would be taken
            raise
        complete = tournament.play(executor)
    # Recorded like changes of a continued run: its records may be of two versions of a bot.
    if changes := list(_changed_meanwhile(setup)):
        run.force(changes)
        run.warnings += [f"{change}." for change in changes]
    ours = [loss for loss in executor.losses if loss.seat is None]
    run.warnings += [f"a worker was lost in {loss.match}: it {loss.what}." for loss in ours[:MAX_LISTED]]
    if executor.given_up:
        listed = ", ".join(executor.given_up[:MAX_LISTED])
        run.warnings.append(f"not played: workers crashed and no bot could be identified as the cause: {listed}.")
    return complete


def _close(listeners: Listeners, run: RunFolder, raised: type[BaseException] | None, *_error: object) -> None:
    """Let listeners catch up, except after a second Ctrl-C."""
    in_haste = raised is not None and issubclass(raised, KeyboardInterrupt)
    run.warnings += listeners.close(grace=0.0) if in_haste else listeners.close()


def _changed_meanwhile(setup: RunSetup) -> Iterator[str]:
    """Yield the bots whose data files changed during the run: which version they read is unknown."""
    for entrant in setup.entrants.values():
        if entrant.sources and entrant.bot.files:
            with suppress(PluginError):
                now_it_is = file_digest(entrant.source, entrant.sources, entrant.bot.files)
                if now_it_is != entrant.own_digest:
                    yield f"the data of the bot {entrant.name} was changed during the run"


class Tournament:
    """One run being played, new or resumed."""

    def __init__(
        self,
        run: RunFolder,
        setup: RunSetup,
        max_faults: int = 0,
        monitor: RunMonitor | None = None,
        listeners: Listeners | None = None,
        make_tables: Callable[[RunFolder], Sequence[Table]] = lambda _run: (),
    ) -> None:
        """A bot is disqualified after `max_faults` faults (0: never)."""
        self.run, self.schedule, self.max_faults = run, setup.schedule, max_faults
        self.monitor = monitor or RunMonitor(Workload(self.schedule.count()), counts_only=True)
        self.events = RunEvents(listeners, run, self.monitor) if listeners else None
        self._make_tables = partial(make_tables, run)
        self.out: dict[str, str] = {}
        """Why a bot is disqualified, by its name."""
        self.digest = RecordDigest()
        """Digest of all records."""

    def play(self, executor: Executor) -> bool:
        """Play what is missing of the plan; return whether it is complete."""
        try:
            complete = self._play(executor)
        except BaseException:  # no tables: the user wants to stop at once, or they would fail again
            if self.events:
                self.events.run_finished()
            raise
        if self.events:
            self.events.run_finished(self._make_tables)
        return complete

    def _play(self, executor: Executor) -> bool:
        run = self.run
        run.played = None
        with run.writing():  # locked before the records are read: nothing is added to them meanwhile
            self.counts = PlayedCounts(run, cached=True)
            known: dict[str, GameRecord] = {}
            scheduler = self._adaptive_scheduler(known) if self.schedule.adaptive else self._static_scheduler()
            complete = play_matches(scheduler, partial(self._played, executor), executor.given_up)
            if complete and known:  # records of matches that the schedule does not contain
                raise self._unknown_record(min(known))
            # The digest goes into run.json after the last record is on disk. After a crash in between, the run is not
            # finished: it is continued with nothing to play, and finished here.
            if complete and (self.monitor.done > self.monitor.earlier or not run.info.finished):
                run.finish(now(), self.digest)
            elif complete and run.info.records != self.digest.text():
                raise StoreError(
                    f"{run.folder / GAMES}: these are not the records that the run was finished with; "
                    f"arena verify {run.folder} has details."
                )
            if self.counts.close(run):
                run.played = self.counts
        return complete

    def _static_scheduler(self) -> StaticScheduler:
        """Return the matches without a record. A record that does not belong to the schedule would spoil the table."""
        # Records and schedule are compared as they are read: a run may have more matches than fit into memory.
        diff = ScheduleDiff(self.schedule.matches())
        unknown = {record.id for record in self._recorded() if not diff.matches_record(record)}
        if unknown:
            self._check_once(unknown)
            raise self._unknown_record(min(unknown))
        return StaticScheduler(in_play_order(diff.missing()), self.schedule.plan.games)

    def _check_once(self, ids: Collection[str]) -> None:
        """Raise StoreError if one of these matches is recorded twice."""
        seen: set[str] = set()
        for record in self.run.results():
            if record.id in seen:
                raise self._twice(record.id)
            if record.id in ids:
                seen.add(record.id)

    def _adaptive_scheduler(self, known: dict[str, GameRecord]) -> ResumedScheduler:
        """Return a scheduler that begins with the records of the run; those that it has not used stay in `known`."""
        # All records are held: they lead the format through its rounds again, in schedule order, and a file has them
        # in the order in which matches ended.
        for record in self._recorded():
            if record.id in known:
                raise self._twice(record.id)
            known[record.id] = record
        return ResumedScheduler(self.schedule.scheduler(), known, self._unknown_record)

    def _recorded(self) -> Iterator[GameRecord]:
        """Yield the earlier records of the run, with their actions only if the format needs them."""
        run = self.run
        reads_actions = self.schedule.format.reads_actions
        for record in run.records(seen=self._add_line) if reads_actions else run.results(seen=self._add_line):
            self._count(record)
            yield record
        self.monitor.start()
        if self.events and not run.info.finished:
            self.events.run_started()

    def _played(self, executor: Executor, specs: Iterable[MatchSpec]) -> Iterator[GameRecord]:
        jobs = map(self._make_job, specs)  # unlike a generator, `map` can continue after the feed has ended
        for record, *_ in executor.run(jobs, self._keep):
            self._count(record)
            if self.events:
                self.events.match_finished(record)
            yield record

    def _keep(self, played: Sequence[Played]) -> None:
        """Append finished matches, with everything that is derived from their lines: nothing is read again later."""
        # On disk first: a listener or the monitor never hears of a match that a crash could lose.
        for each, line in zip(played, self.run.append_all(played), strict=True):
            self.digest.add_line(each.record.index, line)
            self.counts.add(each.record, line)

    def _add_line(self, record: GameRecord, line: bytes) -> None:
        """Add an earlier record to all that is derived from lines."""
        self.digest.add_line(record.index, line)
        self.counts.add(record, line)

    def _count(self, record: GameRecord) -> None:
        """Give a record to the monitor, and disqualify bots that have reached the maximum number of faults."""
        self.monitor.add_record(record)
        if not self.max_faults or not record.faults:
            return
        # Counted in the order in which matches end, so it depends on timing from which match on a bot is out. The
        # records have that as faults of the kind "disqualified".
        for name in dict.fromkeys(record.seats[fault.seat] for fault in record.failures):
            if name not in self.out and self.monitor.faults.by_bot[name] >= self.max_faults:
                plural = "" if self.max_faults == 1 else "s"
                self.out[name] = f"disqualified after {self.max_faults} fault{plural}, the last in {record.id}"
                self.monitor.disqualify(name, self.out[name])

    def _make_job(self, spec: MatchSpec) -> Job:
        """Return a match to play, in which disqualified bots have a fault from the start."""
        seats = [(seat, self.out[name]) for seat, name in enumerate(spec.seats) if name in self.out]
        return Job(spec, tuple(Fault(seat, "disqualified", 0, why) for seat, why in seats))

    def _twice(self, name: str) -> StoreError:
        return StoreError(f"{self.run.folder / GAMES}: the record {name} is there twice.")

    def _unknown_record(self, name: str) -> StoreError:
        path = self.run.folder / GAMES
        return StoreError(f"{path}: the record {name} does not belong to this run; delete its line to continue.")
