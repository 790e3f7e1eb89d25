"""Checks a league: every record follows from journal and earlier records, is played again, and every bot is there."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from harness.core.errors import ReplayError, UsageError
from harness.core.types import GameRecord
from harness.league.bot_keeping import entered_again
from harness.league.eras import open_era
from harness.league.journal import JournalEntry
from harness.league.known_rounds import KnownRounds, round_of
from harness.league.league_course import LeagueCourse
from harness.league.league_folder import LeagueFolder
from harness.league.segments import Segments
from harness.match.replay import verify
from harness.plugins.registry import Registry
from harness.runs.run_setup import configure_run
from harness.runs.store import RunFolder


@dataclass(slots=True)
class LeagueFindings:
    """What a check of a league found."""

    records: int = 0
    replayed: int = 0
    open: int = 0
    """Matches of rounds that are being played."""
    problems: list[str] = field(default_factory=list)


def check_league(
    league: LeagueFolder, registry: Registry, every: int = 1, step: Callable[[], None] = lambda: None
) -> LeagueFindings:
    """Goes through all eras; one in `every` so many records is played again."""
    found = LeagueFindings()
    for member in league.membership.members.values():
        try:
            entered_again(league.folder, member, registry)
        except UsageError as error:
            if not (member.retired or member.banned):
                found.problems.append(f"{member.name} cannot be entered: {error}.")
    for era in league.eras:
        run = open_era(league.folder, era.era)
        _check_era(league, era, run, found)
        found.problems += _replayed(run, registry, every, step, found)
    return found


def _check_era(league: LeagueFolder, era: JournalEntry, run: RunFolder, found: LeagueFindings) -> None:
    """Plans every round again and looks for its matches among the records."""
    records = {record.id: record for record in run.results(found.problems)}
    found.records += len(records)
    segments = Segments(era.era, era.plans, league.journal.entries)
    if not segments:
        found.problems += [f"{name} was played before anybody was let in." for name in records]
        return
    newest = max((round_of(record) for record in records.values()), default=0)
    voids = {entry.match for entry in league.journal.entries if entry.what == "void" and entry.era == era.era}

    def read(banned: frozenset[str]) -> KnownRounds:
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


def _replayed(
    run: RunFolder, registry: Registry, every: int, step: Callable[[], None], found: LeagueFindings
) -> Iterator[str]:
    games = configure_run(run, registry)
    for number, record in enumerate(_sound(run)):
        step()
        if number % every:
            continue
        found.replayed += 1
        try:
            verify(games[record.game], record)
        except ReplayError as error:
            yield str(error)


def _sound(run: RunFolder) -> Iterator[GameRecord]:
    """The records that are as they were written; others are told elsewhere."""
    return run.records([])
