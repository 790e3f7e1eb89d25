"""Verify a league: records follow from the journal and earlier records, replay to the same result, and bots exist."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from msgspec.structs import asdict, replace

from harness.core.errors import ReplayError, StoreError, UsageError
from harness.core.records import belongs_to
from harness.league.folder import ERAS, LeagueFolder, era_folder, restore_entrant
from harness.league.journal import EraBegun, Membership, RosterEpochs
from harness.league.matchmaking import RoundHistory
from harness.league.runner import LeagueScheduler
from harness.match.replay import verify
from harness.plugins.registry import Registry
from harness.runs.setup import configure_run
from harness.runs.store import RUN, RunFolder


@dataclass(slots=True)
class LeagueFindings:
    """Result of verifying a league."""

    records: int = 0
    replayed: int = 0
    open: int = 0
    """Matches of unfinished rounds."""
    problems: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    """What could not be checked, although nothing is wrong with the league."""


def check_league(
    league: LeagueFolder, registry: Registry, every: int = 1, step: Callable[[], None] = lambda: None
) -> LeagueFindings:
    """Verify all eras; one in `every` records is replayed."""
    if every < 1:
        raise UsageError(f"every must be at least 1, got {every}.")
    found = LeagueFindings()
    membership = league.membership
    for member in membership.members.values():
        try:
            restore_entrant(league.folder, member, registry)
        except UsageError as error:
            if not (member.retired or member.banned):
                found.problems.append(f"{member.name} cannot be loaded: {error}.")
    known = {str(era.era) for era in league.eras}
    found.problems += [
        f"{path} is not an era of the journal."
        for path in sorted((league.folder / ERAS).glob("*"))
        if path.name not in known
    ]
    for era in league.eras:
        if era not in league.played_eras() and not (era_folder(league.folder, era.era) / RUN).exists():
            continue  # begun, but stopped before its folder was created
        try:
            run = RunFolder.open(era_folder(league.folder, era.era))
            found.problems += _journal_differences(league, era, run, membership)
            _check_era(league, era, run, found)
            found.problems += _replay_records(run, registry, every, step, found)
        except StoreError as error:
            found.problems.append(str(error))
    return found


def _journal_differences(league: LeagueFolder, era: EraBegun, run: RunFolder, membership: Membership) -> Iterator[str]:
    """Yield the differences between run.json and the journal, as sentences."""
    info, place = run.info, run.folder / RUN
    if tuple(replace(plan, entrants=()) for plan in info.plan.games) != era.plans:
        yield f"{place} and the journal have different games, rules, options or seats."
    if era.limits is None or info.limits != asdict(era.limits):
        yield f"{place} and the journal have different limits."
    for entrant in info.entrants:
        member = membership.members.get(entrant.name)
        entry = member.entry if member else None
        recorded = (entrant.digest, entrant.team, entrant.author)
        if entry is None or (entry.digest, entry.team, entry.author) != recorded:
            yield f"{place} and the journal differ in digest, team or author of {entrant.name}."
    if era is league.eras[-1]:
        if info.finished:
            yield f"{place} says that the era is finished, but the journal has no later era."
    elif era in league.played_eras() and (not info.finished or info.records != run.digest()):
        yield f"{run.folder} does not contain the records with which its era ended."


def _check_era(league: LeagueFolder, era: EraBegun, run: RunFolder, found: LeagueFindings) -> None:
    """Plan every round again and compare its matches with the records."""
    results = list(run.results(found.problems))
    found.records += len(results)
    twice = Counter(record.id for record in results) - Counter({record.id: 1 for record in results})
    found.problems += [f"{name} was recorded {1 + more} times." for name, more in sorted(twice.items())]
    records = {record.id: record for record in results if record.round > 0}
    found.problems += [f"The record {record.id} has no round." for record in results if record.round < 1]
    epochs = RosterEpochs(era.era, era.plans, league.journal.entries)
    if not epochs:
        found.problems += [f"{name} was played before any bot could be seated." for name in records]
        return
    newest = max((record.round for record in records.values()), default=0)

    # Hold back all rounds: each is rated only when a later one is planned, from what was known then.
    def read(banned: frozenset[str], _hold_all: bool) -> RoundHistory:
        past = RoundHistory(banned)
        for record in records.values():
            past.hold_match(record)
        return past

    scheduler = LeagueScheduler(run.info.plan, epochs, read)
    left = dict(records)
    for number in range(1, newest + 1):
        specs = scheduler.plan_round(number)
        if len(specs) != epochs.epoch_at(number).size:
            found.problems.append(
                f"Round {number} has {len(specs)} matches, but the journal says {epochs.epoch_at(number).size}."
            )
        for spec in specs:
            record = left.pop(spec.id, None)
            if record is None and spec.id not in epochs.void_matches:
                found.open += 1
                if number < newest - 1:
                    found.problems.append(f"{spec.id} is missing, but round {newest} began after it was played.")
            elif record is not None and not belongs_to(record, spec):
                found.problems.append(f"{spec.id} does not follow from the journal and the records before it.")
    found.problems += [f"{name} is not a match of this league." for name in sorted(left)]


def _replay_records(
    run: RunFolder, registry: Registry, every: int, step: Callable[[], None], found: LeagueFindings
) -> Iterator[str]:
    games = configure_run(run, registry)
    changed = [plan for plan in run.info.plan.games if games[plan.name].version != plan.rules]
    for plan in changed:
        now = games[plan.name].version
        found.notes.append(f"{run.folder}: {plan.name} is not replayed, because its rules are version {now} now.")
    left_out = {plan.name for plan in changed}
    for number, record in enumerate(run.records([])):  # _check_era reports unreadable lines
        step()
        if number % every or record.game in left_out or record.game not in games:
            continue
        found.replayed += 1
        try:
            verify(games[record.game], record)
        except ReplayError as error:
            yield str(error)
