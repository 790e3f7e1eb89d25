"""Plays a league: brings its era up to date, lets in who has joined, and goes on round by round."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from functools import partial
from time import monotonic

from harness.core.chance import Chance
from harness.core.errors import UsageError
from harness.core.types import GameRecord, MatchSpec
from harness.executors.jobs import Executor, Job, Roster, choose_executor
from harness.league.bot_keeping import entered_again
from harness.league.eras import EraTerms, begin_era, change_of, era_folder, open_era, tell_entrants
from harness.league.journal import ABOUT_BOTS, JournalEntry
from harness.league.known_rounds import KnownRounds, round_of
from harness.league.league_course import LeagueCourse
from harness.league.league_folder import LeagueFolder
from harness.league.members import Membership, split_version
from harness.league.segments import Segments
from harness.plugins.entrants import Entrant
from harness.plugins.listeners import Listeners
from harness.plugins.registry import Registry
from harness.runs.remembered import feed
from harness.runs.request import RunRequest
from harness.runs.run_setup import entrant_info, now
from harness.runs.run_teller import RunTeller
from harness.runs.schedule_order import ordered_results
from harness.runs.store import LOGS, RUN, RunFolder

ADD = "Add some: arena league add BOT"
DISQUALIFIED = "disqualified"
"""How the reason begins why a bot that kept failing is retired."""


@dataclass(frozen=True, slots=True)
class HowLong:
    """When to stop; whatever comes first."""

    matches: int | None = None
    seconds: float | None = None
    until_settled: bool = False

    def __post_init__(self) -> None:
        asked: dict[str, object] = {"matches": self.matches, "seconds": self.seconds}
        for what, value in asked.items():
            if value is not None and not (isinstance(value, int | float) and value > 0):
                raise UsageError(f"The {what} that a league plays are a number above 0, not {value!r}.")


@dataclass(slots=True)
class LeagueListener:
    """Who is told how it goes; everything may be left out."""

    tell: Callable[[str], None] = lambda _sentence: None
    seen: Callable[[GameRecord], None] = lambda _record: None
    playing: Callable[[Executor], None] = lambda _executor: None
    entered: Callable[[Mapping[str, Entrant]], None] = lambda _entrants: None
    """Told who plays from now on."""
    changed: Callable[[JournalEntry], None] = lambda _entry: None
    """Told of every entry about a bot when it begins to count."""
    noted: Callable[..., None] = lambda *_entries: None
    """Told of entries that the runner itself has made."""
    should_stop: Callable[[], bool] = lambda: False
    plugins: Listeners | None = None
    """Those who are told of matches."""


@dataclass(slots=True)
class LeagueRun:
    """What a league has played this time."""

    era: int = 0
    played: int = 0
    settled: bool = False
    too_few: list[str] = field(default_factory=list)
    """Games that have not enough bots, in clauses."""
    warnings: list[str] = field(default_factory=list)


def run_league(
    league: LeagueFolder, registry: Registry, request: RunRequest, how_long: HowLong, listener: LeagueListener
) -> LeagueRun:
    """Plays until it is enough or somebody stops it; what is under way is finished and kept."""
    with league.running():
        return _Runner(league, registry, request, how_long, listener).run()


class _Runner:
    def __init__(
        self,
        league: LeagueFolder,
        registry: Registry,
        request: RunRequest,
        how_long: HowLong,
        listener: LeagueListener,
    ) -> None:
        self.league, self.registry, self.request = league, registry, request
        self.how_long, self.listener = how_long, listener
        self.done = LeagueRun()
        self.entrants: dict[str, Entrant] = {}
        self.out = {
            entry.name
            for entry in league.journal.read()
            if entry.what == "retired" and entry.reason.startswith(DISQUALIFIED)
        }
        """Who was disqualified once."""
        self._deadline = None if how_long.seconds is None else monotonic() + how_long.seconds

    def run(self) -> LeagueRun:
        """Plays it."""
        league, journal = self.league, self.league.journal
        journal.read()
        terms = EraTerms.of(self.request, self.registry)
        self._begin_era(terms)
        era = league.eras[-1]
        self.done.era = era.era
        run = self._opened(terms)
        self.segments = Segments(era.era, era.plans, journal.entries)
        voids = [entry.match for entry in journal.entries if entry.what == "void" and entry.era == era.era]
        with run.writing():
            self._drop_warnings(run)
            course = LeagueCourse(run.info.plan, self.segments, partial(read_rounds, run), voids)
            self._disqualify(course)
            course.may_plan = lambda: self._may_plan(course)
            course.lacks = lambda spec: self._lacks(spec, course)
            course.left = self.how_long.matches
            self._let_in(course, run)
            self.teller = RunTeller(self.listener.plugins, run, None) if self.listener.plugins else None
            self.before = sum(1 for _ in run.lines()) if self.teller else 0
            if self.teller:
                self.teller.started(self.before)
            try:
                self._go_on(course, run, terms)
            finally:
                if self.teller:
                    self.teller.over(self.before + self.done.played)
        self.done.too_few = list(_too_few(self.segments, run))
        if not self.segments.last.size and not self.done.played:
            raise UsageError(f"There are too few bots to play: {'; '.join(self.done.too_few)}. {ADD}")
        return self.done

    def _go_on(self, course: LeagueCourse, run: RunFolder, terms: EraTerms) -> None:
        """Plays as long as there is something to play, with whoever is in by then."""
        in_vain = False
        while True:
            before = self.done.played
            try:
                self._play(course, run, terms)
                in_vain = False
            except UsageError:  # somebody is not what was entered: it rests, and everybody else plays on
                if in_vain and self.done.played == before:
                    raise
                in_vain = True
                course.take_back()
                self.entrants.clear()
            else:
                if self._stopped() or course.left == 0 or self.done.settled or not self._unseen():
                    return
            self._let_in(course, run)

    def _drop_warnings(self, run: RunFolder) -> None:
        self.done.warnings += [*self.league.journal.warnings, *run.warnings]
        for warning in self.done.warnings:
            self.listener.tell(f"Warning: {warning}")

    # Eras

    def _begin_era(self, terms: EraTerms) -> None:
        """Begins an era if there is none, or if games, rules, options or limits are no longer those of the last one."""
        league, eras = self.league, self.league.eras
        if eras and terms.begun_by(eras[-1]):
            return
        number, change = len(eras) + 1, change_of(eras[-1], terms) if eras else ""
        league.journal.add(
            JournalEntry(what="era", era=number, plans=terms.plans, limits=dict(terms.limits), reason=change)
        )
        self.listener.noted(league.journal.entries[-1])
        if change:
            self.listener.tell(f"Era {number} begins: {change}.")

    def _opened(self, terms: EraTerms) -> RunFolder:
        """The run folder of the newest era, made now if it is new; earlier ones are over, and it is not."""
        league, era = self.league, self.league.eras[-1]
        for each in league.played_eras():
            if each is era:
                continue
            ended = open_era(league.folder, each.era)
            if not ended.info.finished:
                with ended.writing():
                    ended.finish(now())
        if not (era_folder(league.folder, era.era) / RUN).exists():
            seed = self.request.seed
            begin_era(league.folder, era.era, terms, None if seed is None else Chance(seed).derive("era", era.era))
        run = open_era(league.folder, era.era)
        if run.info.finished:  # somebody has written that
            run.extend(run.info.plan)
        return run

    # Who plays

    def _unseen(self) -> bool:
        """Whether the journal says something about bots that does not count yet."""
        journal = self.league.journal
        entries = journal.read() if journal.grown() else journal.entries
        return any(entry.what in ABOUT_BOTS for entry in entries[self.segments.upto :])

    def _may_plan(self, course: LeagueCourse) -> bool:
        """Whether the next round may be planned: not if somebody has come or gone, or if it is enough."""
        if self._unseen():
            return False
        self.done.settled = self.how_long.until_settled and course.settled()
        return not self.done.settled

    def _let_in(self, course: LeagueCourse, run: RunFolder) -> None:
        """Lets everything that the journal says by now count from the next round on, and enters who plays."""
        journal, era = self.league.journal, self.done.era
        known = -1
        while known < len(journal.read()):  # somebody may come while others are entered
            known = len(journal.entries)
            membership = Membership.after(journal.entries)
            self._enter(membership, course)
        entries = journal.entries
        unseen = [entry for entry in entries[self.segments.upto :] if entry.what in ABOUT_BOTS]
        if unseen or not self.segments:
            first, upto = course.fresh, known
            seated = self.segments.after(upto)
            membership = seated.membership
            journal.add(JournalEntry(what="seen", era=era, round=first, upto=upto, size=seated.size))
            self.segments.begin(first, upto, seated.size)
            for entry in unseen if first > 1 else ():  # at its start nobody is new
                self.listener.changed(entry)
        files = {digest: text for one in self.entrants.values() for digest, text in one.contents.items()}
        told = [entrant_info(self.entrants[name]) for name in membership.members if name in self.entrants]
        all_told = {info.name: info for info in (*run.info.entrants, *told)}
        tell_entrants(run, [all_told[name] for name in membership.members if name in all_told], membership, files)

    def _enter(self, membership: Membership, course: LeagueCourse) -> None:
        """Enters all who may play; who cannot be entered rests, by the journal, until that is mended."""
        open_ = self.segments.active_since(course.next)
        said = []
        for member in membership.members.values():
            if member.name in self.entrants and not member.rests:
                continue
            if member.retired or member.banned:
                if member.name in open_:  # it may sit in a round that is being played
                    with suppress(UsageError):
                        self.entrants[member.name] = entered_again(self.league.folder, member, self.registry)
                continue
            entry = member.entry
            try:
                self.entrants[member.name] = entered_again(self.league.folder, member, self.registry)
            except UsageError as error:
                if not member.rests:
                    said.append(JournalEntry(what="rests", bot=entry.bot, version=entry.version, reason=str(error)))
                    self.listener.tell(f"Warning: {member.name} rests: {error}.")
            else:
                if member.rests:
                    said.append(JournalEntry(what="returns", bot=entry.bot, version=entry.version))
        if said:
            self.league.journal.add(*said)
            self.listener.noted(*self.league.journal.entries[-len(said) :])

    # Matches

    def _stopped(self) -> bool:
        late = self._deadline is not None and monotonic() >= self._deadline
        return late or self.listener.should_stop()

    def _play(self, course: LeagueCourse, run: RunFolder, terms: EraTerms) -> None:
        """Plays as long as the same bots may be seated."""
        limits = dict(self.request.limits)
        roster = Roster(terms.games, dict(self.entrants))
        self.listener.entered(roster.entrants)
        with ExitStack() as stack:
            executor = choose_executor(
                roster, limits, self.request.workers, self._stopped, run.folder / LOGS, self.request.on_cluster
            )
            self.listener.playing(executor)
            stack.enter_context(executor)
            while True:
                played = self.done.played
                for record, *_ in executor.run(map(Job, course), run.append_all):
                    course.take(record)
                    self.done.played += 1
                    self.listener.seen(record)
                    if self.teller:
                        self.teller.match(self.before + self.done.played, record)
                    if record.faults:
                        self._disqualify(course, *{record.seats[fault.seat] for fault in record.failures})
                given_up = [name for name in executor.given_up if name in course.out]
                if given_up:
                    self._void(given_up, course)
                if self.done.played == played or course.out or self._stopped():
                    break

    def _lacks(self, spec: MatchSpec, course: LeagueCourse) -> bool:
        """Whether somebody is not to be had who was seated before it left; then the match is not played."""
        missing = [name for name in spec.seats if name not in self.entrants]
        if missing:
            self._void([spec.id], course)
        return bool(missing)

    def _void(self, names: list[str], course: LeagueCourse) -> None:
        """Notes matches that nobody survived, so that the league goes on without them."""
        self.league.journal.add(*(JournalEntry(what="void", era=self.done.era, match=name) for name in names))
        for name in names:
            course.give_up(name)
            self.done.warnings.append(f"could not be played, through no fault of a bot that could be told: {name}.")

    def _disqualify(self, course: LeagueCourse, *names: str) -> None:
        """Retires who has failed too often, once: who is readmitted may go on."""
        most = self.request.max_faults
        for name in names or sorted(course.past.faults) if most else ():
            if course.past.faults[name] < most or name in self.out:
                continue
            self.out.add(name)
            bot, version = split_version(name)
            why = f"{DISQUALIFIED} after {most} fault{'' if most == 1 else 's'}"
            self.league.journal.add(JournalEntry(what="retired", bot=bot, version=version, reason=why))
            self.listener.noted(self.league.journal.entries[-1])
            self.listener.tell(f"{name} is {why}.")


def read_rounds(run: RunFolder, banned: frozenset[str], whole: bool = False) -> KnownRounds:
    """What the records of an era say, without those of bots that are banned; `whole`: all of them are held back."""
    past = KnownRounds(banned)
    if whole:
        for record in ordered_results(run):
            past.hold(round_of(record), record)
    else:
        feed(run, past)
    return past


def _too_few(segments: Segments, run: RunFolder) -> Iterator[str]:
    """The games that cannot be played, in clauses."""
    for game in run.info.plan.games:
        field = segments.seated(segments.last).fields[game.name]
        if not field.tables:
            yield f"{game.name} needs {game.players} bots and has {len(field.seekers) + len(field.opponents)}"
