"""Checks a league: every record follows from journal and earlier records, is played again, and every bot is there."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from msgspec.structs import replace

from harness.core.errors import ReplayError, StoreError, UsageError
from harness.league.bot_keeping import entered_again
from harness.league.eras import ERAS, era_folder
from harness.league.journal import JournalEntry
from harness.league.known_rounds import KnownRounds, round_of
from harness.league.league_course import LeagueCourse
from harness.league.league_folder import LeagueFolder
from harness.league.members import Membership
from harness.league.segments import Segments
from harness.match.replay import verify
from harness.plugins.registry import Registry
from harness.runs.match_result import MatchResult
from harness.runs.run_setup import configure_run
from harness.runs.store import RUN, RunFolder


@dataclass(slots=True)
class LeagueFindings:
    """What a check of a league found."""

    records: int = 0
    replayed: int = 0
    open: int = 0
    """Matches of rounds that are being played."""
    problems: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    """What could not be checked, through no fault of the league."""


def check_league(
    league: LeagueFolder, registry: Registry, every: int = 1, step: Callable[[], None] = lambda: None
) -> LeagueFindings:
    """Goes through all eras; one in `every` so many records is played again."""
    if every < 1:
        raise UsageError(f"One in so many records is played again: at least 1, not {every}.")
    found = LeagueFindings()
    membership = league.membership
    for member in membership.members.values():
        try:
            entered_again(league.folder, member, registry)
        except UsageError as error:
            if not (member.retired or member.banned):
                found.problems.append(f"{member.name} cannot be entered: {error}.")
    told = {str(era.era) for era in league.eras}
    found.problems += [
        f"{path} is of an era that the journal does not know."
        for path in sorted((league.folder / ERAS).glob("*"))
        if path.name not in told
    ]
    for era in league.eras:
        if era not in league.played_eras() and not (era_folder(league.folder, era.era) / RUN).exists():
            continue  # nobody has played in it
        try:
            run = RunFolder.open(era_folder(league.folder, era.era))
            found.problems += _unlike_journal(league, era, run, membership)
            _check_era(league, era, run, found)
            found.problems += _replayed(run, registry, every, step, found)
        except StoreError as error:
            found.problems.append(str(error))
    return found


def _unlike_journal(league: LeagueFolder, era: JournalEntry, run: RunFolder, membership: Membership) -> Iterator[str]:
    """What run.json says otherwise than the journal."""
    info, place = run.info, run.folder / RUN
    if tuple(replace(plan, entrants=()) for plan in info.plan.games) != era.plans:
        yield f"{place} has other games, rules, options or seats than the journal."
    if info.limits != era.limits:
        yield f"{place} has other limits than the journal."
    for entrant in info.entrants:
        member = membership.members.get(entrant.name)
        if member is None or (member.entry.digest, member.entry.team, member.entry.author) != (
            entrant.digest,
            entrant.team,
            entrant.author,
        ):
            yield f"{place} says of {entrant.name} what the journal does not."
    if era is league.eras[-1]:
        if info.finished:
            yield f"{place} says that the era is finished, and the journal knows no later one."
    elif era in league.played_eras() and (not info.finished or info.records != run.digest()):
        yield f"{run.folder} does not hold the records that its era ended with."


def _check_era(league: LeagueFolder, era: JournalEntry, run: RunFolder, found: LeagueFindings) -> None:
    """Plans every round again and looks for its matches among the records."""
    results = list(run.results(found.problems))
    found.records += len(results)
    twice = Counter(record.id for record in results) - Counter({record.id: 1 for record in results})
    found.problems += [f"{name} is there {1 + more} times." for name, more in sorted(twice.items())]
    records = {record.id: record for record in results if _has_round(record, found)}
    segments = Segments(era.era, era.plans, league.journal.entries)
    if not segments:
        found.problems += [f"{name} was played before anybody was let in." for name in records]
        return
    newest = max((round_of(record) for record in records.values()), default=0)
    voids = {entry.match for entry in league.journal.entries if entry.what == "void" and entry.era == era.era}

    def read(banned: frozenset[str], _whole: bool) -> KnownRounds:
        past = KnownRounds(banned)
        for record in records.values():
            past.hold(round_of(record), record)
        return past

    course = LeagueCourse(run.info.plan, segments, read)
    left = dict(records)
    for number in range(1, newest + 1):
        specs = course.planned(number)
        if len(specs) != segments.at(number).size:
            found.problems.append(f"Round {number} has {len(specs)} matches, and the journal says otherwise.")
        for spec in specs:
            record = left.pop(spec.id, None)
            if record is None and spec.id not in voids:
                found.open += 1
                if number < newest - 1:
                    found.problems.append(f"{spec.id} is missing: round {number} was finished before {newest} began.")
            elif record is not None and record.spec != spec:
                found.problems.append(f"{spec.id} is not what journal and records before it lead to.")
    found.problems += [f"{name} is no match of this league." for name in sorted(left)]


def _has_round(record: MatchResult, found: LeagueFindings) -> bool:
    try:
        round_of(record)
    except StoreError as error:
        found.problems.append(str(error))
        return False
    return True


def _replayed(
    run: RunFolder, registry: Registry, every: int, step: Callable[[], None], found: LeagueFindings
) -> Iterator[str]:
    games = configure_run(run, registry)
    changed = [plan for plan in run.info.plan.games if games[plan.name].version != plan.rules]
    for plan in changed:
        now = games[plan.name].version
        found.notes.append(f"{run.folder}: {plan.name} is not played again: its rules are version {now} now.")
    left_out = {plan.name for plan in changed}
    for number, record in enumerate(run.records([])):  # what cannot be read is told elsewhere
        step()
        if number % every or record.game in left_out or record.game not in games:
            continue
        found.replayed += 1
        try:
            verify(games[record.game], record)
        except ReplayError as error:
            yield str(error)
