"""Play a league: the scheduler of its rounds, and the loop that plays them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from functools import partial
from math import ceil
from time import monotonic

from harness.core.errors import StoreError, UsageError
from harness.core.plan import Outcome, Plan
from harness.core.records import GameRecord, MatchSpec
from harness.core.rng import Chance
from harness.executors.base import Job, Roster, choose_executor
from harness.league.bots import restore_entrant
from harness.league.folder import (
    LeagueFolder,
    SeasonConfig,
    create_era,
    describe_change,
    era_folder,
    open_era,
    open_listeners,
    send_changes,
    write_entrants,
)
from harness.league.journal import BotEvent, BotRests, BotRetired, BotReturns, EntriesSeen, EraBegun, MatchVoided
from harness.league.matchmaking import RoundHistory, SeatedMatch, is_settled, matches_to_settle, seat_tables
from harness.league.members import Membership, RosterEpochs, split_version
from harness.league.standings import standings_of, standings_tables
from harness.output.progress import Progress, StopSignal, at_terminal, naming_logs
from harness.output.text import warn_about_isolation
from harness.plugins.entrants import Entrant
from harness.plugins.hooks import Listeners
from harness.plugins.registry import Registry
from harness.runs.cache import replay_into
from harness.runs.monitor import FaultGroups, RunMonitor, Workload
from harness.runs.reader import ordered_results
from harness.runs.request import RunRequest
from harness.runs.runner import RunEvents
from harness.runs.scheduler import play_matches
from harness.runs.store import LOGS, RUN, RunFolder, now

# Scheduler: the matches of an era follow from its seed, the journal and the records, round by round.


class LeagueScheduler:
    """The scheduler of an era.

    A round is planned from the results up to two rounds before it: it can be played while the round before is finished.
    """

    def __init__(self, plan: Plan, epochs: RosterEpochs, read: Callable[[frozenset[str], bool], RoundHistory]) -> None:
        """`read` returns the recorded rounds without the matches of banned bots; if its second argument is true, no
        round is rated yet."""
        self.plan, self.epochs, self._read = plan, epochs, read
        past = self.past = read(epochs.roster_of(epochs.last).membership.banned if epochs else frozenset(), False)
        self._luck = Chance(plan.seed)
        self._voids = dict(epochs.void_matches)
        incomplete = self._first_incomplete(past.newest - 2)
        self._from_start = bool(incomplete)
        # A record was removed. Later rounds were planned with it, so all rounds from there on are planned again, which
        # gives the same matches once the missing one is played.
        if incomplete:
            past = self.past = read(past.banned, True)
        self._recorded = {match.id: match for match in past.matches()}
        self._waiting: list[MatchSpec] = []
        self.in_flight: dict[str, MatchSpec] = {}
        """Matches that were given out and have no result."""
        # The last two rounds may be unfinished: planning them again finds the matches that are still to be played.
        self.next_round = incomplete or max(1, past.newest - 1)
        self.may_plan: Callable[[], bool] = lambda: True
        """Whether a round without records may be planned now."""
        self.cannot_play: Callable[[MatchSpec], bool] = lambda _spec: False
        """Whether a bot of a match cannot be loaded any more; then this function has voided the match."""
        self.matches_left: int | None = None
        """Matches that may still be given out; None means any number."""

    def _first_incomplete(self, last: int) -> int:
        """Return the first round up to `last` that lacks a match; 0 if there is none."""
        voids = Counter(self._voids.values())
        for round_ in range(1, last + 1):
            if self.past.counts[round_] + voids[round_] < self.epochs.epoch_at(round_).size:
                return round_
        return 0

    def next_matches(self) -> list[MatchSpec]:
        """Return the rest of the newest round, or the next one; [] if the results that it depends on are missing."""
        while not self._waiting:
            if not self._plan_next_round():
                return []
        specs = self._waiting[: self.matches_left]  # all of them if there is no limit
        del self._waiting[: len(specs)]
        if self.matches_left is not None:
            self.matches_left -= len(specs)
        self.in_flight.update((spec.id, spec) for spec in specs)
        return specs

    def outcome(self) -> dict[str, Outcome]:
        """Return {}: a league has no end."""
        return {}

    def requeue_in_flight(self) -> None:
        """Queue the matches without a result again, because their executor has stopped."""
        if self.matches_left is not None:
            self.matches_left += len(self.in_flight)
        self._waiting = [*self.in_flight.values(), *self._waiting]
        self.in_flight.clear()

    def _plan_next_round(self) -> bool:
        """Plan the next round; return False if the results that it depends on are missing."""
        if not self._is_complete(self.next_round - 2) or not self.epochs.epoch_at(self.next_round).size:
            return False
        if self.next_round > self.past.newest and not self.may_plan():
            return False
        for spec in self.plan_round(self.next_round):
            there = self._recorded.pop(spec.id, None)
            if there is not None:
                self._check_record(spec, there)
            elif spec.id not in self._voids and not self.cannot_play(spec):
                self._waiting.append(spec)
        self.next_round += 1
        return True

    def plan_round(self, round_: int) -> list[MatchSpec]:
        """Return the matches of a round; call it for one round after the other."""
        roster, index = self.epochs.roster_of(self.epochs.epoch_at(round_)), self.epochs.first_index(round_)
        # A ban changes which of the earlier matches count, so the ratings start again from the records.
        if roster.membership.banned != self.past.banned:
            self.past = self._read(roster.membership.banned, self._from_start)
        self.past.rate_rounds(round_ - 2)
        specs: list[MatchSpec] = []
        for game in self.plan.games:
            field = roster.games[game.name]
            if not field.tables:
                continue
            lots = self._luck.rng("league", game.name, round_)
            tables = seat_tables(
                self.past.ratings(game.name), field.playing, field.opponents, game.players, field.tables, lots
            )
            for number, seats in enumerate(tables, 1):
                name = f"{game.name}-{round_}.{number}"
                deal, place = self._luck.derive("deal", game.name, round_, number), index + len(specs)
                specs.append(
                    MatchSpec(
                        id=f"{name}.1", index=place, set=name, game=game.name, options=game.settings, seed=deal,
                        seats=tuple(seats), round=round_, table=number,
                    )
                )  # fmt: skip
        return specs

    def _check_record(self, spec: MatchSpec, there: SeatedMatch) -> None:
        if (spec.index, spec.seed, spec.seats) != (there.place, there.seed, there.seats):
            raise StoreError(f"The record {spec.id} does not follow from earlier records. Run: arena league verify")

    def _is_complete(self, round_: int) -> bool:
        if round_ <= self.past.rated:
            return True
        held = self.past.held.get(round_, {})
        voids = sum(1 for number in self._voids.values() if number == round_)
        return len(held) + voids == self.epochs.epoch_at(round_).size

    def add_result(self, record: GameRecord) -> None:
        """Add the result of a match that was given out."""
        self.in_flight.pop(record.id, None)
        self.past.hold_match(record)

    def void_match(self, spec: MatchSpec) -> None:
        """Count a match as not played: its round is complete without it."""
        self.in_flight.pop(spec.id, None)
        self._voids[spec.id] = spec.round

    @property
    def first_unplanned(self) -> int:
        """The first round without matches given out: bots that join now may play from it on."""
        return max(self.next_round, self.past.newest + 1, self.epochs.last.first_round if self.epochs else 1)

    def is_settled(self) -> bool:
        """Return whether all bots are known well enough in all games that are played."""
        games = self.epochs.roster_of(self.epochs.last).games
        return all(is_settled(self.past.ratings(game), field.playing) for game, field in games.items() if field.tables)

    def matches_to_settle(self) -> dict[tuple[str, str], tuple[int, float]]:
        """Return by game and bot the matches that it has played, and about how many it needs until it is settled."""
        games = self.epochs.roster_of(self.epochs.last).games
        found = {}
        for game, seated in games.items():
            ratings = self.past.ratings(game)
            for bot, more in (matches_to_settle(ratings, seated.playing) if seated.tables else {}).items():
                found[game, bot] = ratings.matches(bot), more
        return found


# Runner


MIN_ESTIMATE_MATCHES = 5
"""Matches that each bot must have played before the number of matches until the end is estimated."""
ADD = "Add some: arena league add BOT"
DISQUALIFIED = "disqualified"
"""First word of the reason for which a bot with too many faults is retired. Journals have it: never change it."""


@dataclass(frozen=True, slots=True)
class StopCondition:
    """When to stop: at whichever condition is met first."""

    matches: int | None = None
    seconds: float | None = None
    until_settled: bool = False

    def __post_init__(self) -> None:
        limits: dict[str, object] = {"matches": self.matches, "seconds": self.seconds}
        for name, value in limits.items():
            if value is not None and not (isinstance(value, int | float) and value > 0):
                raise UsageError(f"{name} must be a positive number, got {value!r}.")


@dataclass(slots=True)
class LeagueRun:
    """What one `arena league run` has played."""

    era: int = 0
    played: int = 0
    settled: bool = False
    faults: FaultGroups = field(default_factory=FaultGroups)
    """Faults of bots, by cause."""
    too_few: list[str] = field(default_factory=list)
    """Games that have too few bots, as clauses."""
    warnings: list[str] = field(default_factory=list)


def run_league(
    league: LeagueFolder,
    registry: Registry,
    request: RunRequest,
    until: StopCondition,
    *,
    quiet: bool = False,
    softly: bool = False,
) -> LeagueRun:
    """Play with progress at the terminal until the stop condition is met or the user interrupts.

    Matches in progress are finished and kept.
    """
    workload = Workload(until.matches, rounds=dict.fromkeys(league.games(registry)))
    with (
        open_listeners(registry) as listeners,
        at_terminal("matches", workload, quiet, request.workers, softly) as (stop, progress),
        league.lock_for_running(),
    ):
        done = _Runner(league, registry, request, until, progress, stop, listeners, quiet).run()
        done.faults = progress.faults
    done.warnings += listeners.problems
    return done


@dataclass
class _Runner:
    league: LeagueFolder
    registry: Registry
    request: RunRequest
    until: StopCondition
    progress: Progress
    stop: StopSignal
    listeners: Listeners
    """Installed listeners, which receive matches and changes."""
    quiet: bool

    def __post_init__(self) -> None:
        self.done = LeagueRun()
        self.entrants: dict[str, Entrant] = {}
        self._reported: set[str] = set()
        """Entrants whose isolation was reported."""
        self.disqualified = {
            entry.name
            for entry in self.league.journal.read()
            if isinstance(entry, BotRetired) and entry.reason.startswith(DISQUALIFIED)
        }
        """Bots that were disqualified once: if readmitted, they stay in."""
        self._at_first: dict[tuple[str, str], int] = {}
        """Matches that each bot had played in each game when these bots began to play together."""
        self._played_at_first = 0
        self._deadline = None if self.until.seconds is None else monotonic() + self.until.seconds

    def run(self) -> LeagueRun:
        league, journal = self.league, self.league.journal
        journal.read()
        config = SeasonConfig.from_request(self.request, self.registry)
        self._begin_era(config)
        era = league.eras[-1]
        self.done.era = era.era
        run = self._open_run(config)
        self.epochs = RosterEpochs(era.era, era.plans, journal.entries)
        with run.writing(), naming_logs(run, self.progress):
            self.done.warnings += [*journal.warnings, *run.warnings]
            for warning in self.done.warnings:
                self.progress.print_line(f"Warning: {warning}")
            scheduler = LeagueScheduler(run.info.plan, self.epochs, partial(read_rounds, run))
            # Recorded matches may have too many faults already: the limit was lowered, or the last run crashed before
            # it retired the bot.
            self._disqualify(scheduler)
            scheduler.may_plan = lambda: self._may_plan(scheduler)
            scheduler.cannot_play = lambda spec: self._cannot_play(spec, scheduler)
            scheduler.matches_left = self.until.matches
            self._begin_epoch(scheduler, run)
            earlier = sum(1 for _ in run.lines())
            self.era_monitor = RunMonitor(Workload(), earlier=earlier, counts_only=True)
            self.events = RunEvents(self.listeners, run, self.era_monitor)
            self.events.run_started()
            try:
                self._play_epochs(scheduler, run, config)
            except BaseException:
                self.events.run_finished()
                raise
            self.events.run_finished(lambda: standings_tables(standings_of(league)))
        self.done.too_few = list(_too_few(self.epochs, run))
        if not self.epochs.last.size and not self.done.played:
            raise UsageError(f"There are too few bots to play: {'; '.join(self.done.too_few)}. {ADD}")
        return self.done

    def _play_epochs(self, scheduler: LeagueScheduler, run: RunFolder, config: SeasonConfig) -> None:
        """Play as long as there are matches, and let bots join and leave in between."""
        failed_before = False
        while True:
            before = self.done.played
            try:
                self._play(scheduler, run, config)
                failed_before = False
            except UsageError:  # a bot is no longer what was entered: it will rest, and all others play on
                # Without a match in between it is not a bot that changed: report the error instead of looping.
                if failed_before and self.done.played == before:
                    raise
                failed_before = True
                self.entrants.clear()
            else:
                if self._stopped() or scheduler.matches_left == 0 or self.done.settled or not self._uncounted():
                    return
            self._begin_epoch(scheduler, run)

    # Eras

    def _begin_era(self, config: SeasonConfig) -> None:
        """Begin an era if there is none, or if the config is no longer that of the last one."""
        league, eras = self.league, self.league.eras
        if eras and config.is_of_era(eras[-1]):
            return
        number, change = len(eras) + 1, describe_change(eras[-1], config) if eras else ""
        league.journal.add_entries(EraBegun(era=number, plans=config.plans, limits=config.limits, reason=change))
        send_changes(self.listeners, league, league.journal.entries[-1:])
        if change:
            self.progress.print_line(f"Era {number} begins: {change}.")

    def _open_run(self, config: SeasonConfig) -> RunFolder:
        """Open the run folder of the newest era, created if it is new, and finish those before it."""
        league, era = self.league, self.league.eras[-1]
        for each in league.played_eras():
            if each is era:
                continue
            ended = open_era(league.folder, each.era)
            if not ended.info.finished:
                with ended.writing():
                    ended.finish(now())
        # The journal comes first, the folder second: after a crash in between, the folder is created here.
        if not era_folder(league.folder, era.era).has_file(RUN):
            seed = self.request.seed
            create_era(league.folder, era.era, config, None if seed is None else Chance(seed).derive("era", era.era))
        run = open_era(league.folder, era.era)
        if run.info.finished:  # run.json was edited: the newest era is never finished
            run.extend(run.info.plan)
        return run

    # Bots join and leave.

    def _uncounted(self) -> list[BotEvent]:
        """Return the events about bots that do not count yet."""
        journal = self.league.journal
        entries = journal.read() if journal.has_grown() else journal.entries
        return [entry for entry in entries[self.epochs.upto :] if isinstance(entry, BotEvent)]

    def _may_plan(self, scheduler: LeagueScheduler) -> bool:
        """Return whether the next round may be planned: not if bots have joined or left, or if all are known."""
        if self._uncounted():
            return False
        if self.until.until_settled:
            self.done.settled = scheduler.is_settled()
            self._estimate_total(scheduler)
        return not self.done.settled

    def _estimate_total(self, scheduler: LeagueScheduler) -> None:
        """Estimate the matches until all bots are settled: the bot that needs most decides, at its share of seats."""
        needed = scheduler.matches_to_settle()
        if self._at_first.keys() != needed.keys():  # bots have joined or left
            self._at_first, self._played_at_first = (
                {one: played for one, (played, _) in needed.items()},
                self.done.played,
            )
        left = 0.0
        for one, (played, more) in needed.items():
            own, all_ = played - self._at_first[one], self.done.played - self._played_at_first
            if played < MIN_ESTIMATE_MATCHES or (more and not own):
                return
            left = max(left, more * all_ / max(1, own))
        if self.until.matches is None:
            self.progress.expect(self.done.played + ceil(left))

    def _begin_epoch(self, scheduler: LeagueScheduler, run: RunFolder) -> None:
        """Let all entries of the journal count from the next round on, and load the bots that play."""
        journal, era = self.league.journal, self.done.era
        upto = -1
        while upto < len(journal.read()):  # bots may join while others are loaded
            upto = len(journal.entries)
            membership = Membership.after_entries(journal.entries)
            self._load_entrants(membership, scheduler)
        uncounted = [entry for entry in journal.entries[self.epochs.upto :] if isinstance(entry, BotEvent)]
        if uncounted or not self.epochs:
            first = scheduler.first_unplanned
            roster = self.epochs.roster_after(upto)
            membership = roster.membership
            # Recorded before any match of the round is played: after a crash the same bots are seated.
            journal.add_entries(EntriesSeen(era=era, round=first, upto=upto, size=roster.size))
            self.epochs.begin_epoch(first, upto, roster.size)
            for entry in uncounted if first > 1 else ():  # at the start of an era all bots are new
                self.progress.print_line(f"{entry.name} {entry.notice or entry.what}.")
        files = {digest: text for one in self.entrants.values() for digest, text in one.contents.items()}
        infos = {info.name: info for info in run.info.entrants}
        infos |= {name: self.entrants[name].info for name in membership.members if name in self.entrants}
        write_entrants(run, [infos[name] for name in membership.members if name in infos], membership, files)

    def _load_entrants(self, membership: Membership, scheduler: LeagueScheduler) -> None:
        """Load all bots that may play; one that cannot be loaded rests until it can."""
        seated = self.epochs.active_since(scheduler.next_round)
        events: list[BotEvent] = []
        for member in membership.members.values():
            if member.name in self.entrants and not member.rests:
                continue
            if member.retired or member.banned:
                if member.name in seated:  # it may sit in a round that is not finished
                    with suppress(UsageError):
                        self.entrants[member.name] = restore_entrant(self.league.folder, member, self.registry)
                continue
            entry = member.entry
            try:
                self.entrants[member.name] = restore_entrant(self.league.folder, member, self.registry)
            except UsageError as error:
                if not member.rests:
                    events.append(BotRests(bot=entry.bot, version=entry.version, reason=str(error)))
                    self.progress.print_line(f"Warning: {member.name} rests: {error}.")
            else:
                if member.rests:
                    events.append(BotReturns(bot=entry.bot, version=entry.version))
        if events:
            self.league.journal.add_entries(*events)
            send_changes(self.listeners, self.league, self.league.journal.entries[-len(events) :])

    # Matches

    def _stopped(self) -> bool:
        late = self._deadline is not None and monotonic() >= self._deadline
        return late or self.stop()

    def _play(self, scheduler: LeagueScheduler, run: RunFolder, config: SeasonConfig) -> None:
        """Play until the bots that may be seated change, or until the run stops."""
        # An executor sends its bots to workers once, so a change of bots needs another executor.
        roster = Roster(config.games, dict(self.entrants))
        new = {name: one for name, one in roster.entrants.items() if name not in self._reported}
        self._reported.update(new)
        self.progress.clear()
        warn_about_isolation(new, self.request.isolate, self.quiet, here=not self.request.cluster)
        with ExitStack() as stack:
            executor = choose_executor(
                roster,
                self.request.limits,
                self.request.workers,
                self._stopped,
                run.folder / LOGS,
                self.request.on_cluster,
            )
            self.progress.follow_executor(executor)
            stack.enter_context(executor)

            def play(specs: Iterator[MatchSpec]) -> Iterator[GameRecord]:
                for record, *_ in executor.run(map(Job, specs), run.append_all):
                    yield record  # the play loop adds it to the scheduler before it continues here
                    self._report_result(record, scheduler)

            # A bot that changed ends an executor early: then its matches are given out again.
            scheduler.requeue_in_flight()
            play_matches(scheduler, play, executor.given_up, partial(self._void_matches, scheduler))

    def _report_result(self, record: GameRecord, scheduler: LeagueScheduler) -> None:
        self.done.played += 1
        self.progress.add_record(record)
        self.era_monitor.add_record(record)
        self.events.match_finished(record)
        if record.faults:
            self._disqualify(scheduler, *{record.seats[fault.seat] for fault in record.failures})

    def _cannot_play(self, spec: MatchSpec, scheduler: LeagueScheduler) -> bool:
        """Return whether a bot of a match has left and cannot be loaded; void the match then."""
        missing = any(name not in self.entrants for name in spec.seats)
        if missing:
            self._void_matches(scheduler, [spec])
        return missing

    def _void_matches(self, scheduler: LeagueScheduler, specs: list[MatchSpec]) -> None:
        """Record that matches cannot be played, so that their rounds are complete without them."""
        era, why = self.done.era, "no bot could be identified as the cause"
        # The journal comes first: later rounds are planned once the scheduler counts a match as void, and after a crash
        # they can only be planned again if the journal has it.
        self.league.journal.add_entries(*(MatchVoided(era=era, match=spec.id, round=spec.round) for spec in specs))
        for spec in specs:
            scheduler.void_match(spec)
            self.done.warnings.append(
                f"{spec.id} was not played: its bots could not be loaded, or it crashed and {why}."
            )

    def _disqualify(self, scheduler: LeagueScheduler, *names: str) -> None:
        """Retire bots with too many faults, each once: one that is readmitted stays in."""
        most = self.request.max_faults
        for name in names or sorted(scheduler.past.faults) if most else ():
            if scheduler.past.faults[name] < most or name in self.disqualified:
                continue
            self.disqualified.add(name)
            bot, version = split_version(name)
            why = f"{DISQUALIFIED} after {most} fault{'' if most == 1 else 's'}"
            self.league.journal.add_entries(BotRetired(bot=bot, version=version, reason=why))
            send_changes(self.listeners, self.league, self.league.journal.entries[-1:])
            self.progress.print_line(f"{name} is {why}.")


def read_rounds(run: RunFolder, banned: frozenset[str], hold_all: bool = False) -> RoundHistory:
    """Return the recorded rounds of an era without the matches of banned bots; `hold_all`: rate none of them yet."""
    past = RoundHistory(banned)
    if hold_all:
        for record in ordered_results(run):
            past.hold_match(record)
    else:
        replay_into(run, past)
    return past


def _too_few(epochs: RosterEpochs, run: RunFolder) -> Iterator[str]:
    """Return the games that cannot be played, as clauses."""
    for game in run.info.plan.games:
        field = epochs.roster_of(epochs.last).games[game.name]
        if not field.tables:
            yield f"{game.name} needs {game.players} bots and has {len(field.playing) + len(field.opponents)}"
