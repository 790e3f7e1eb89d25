"""Verify a league: records follow from the journal and earlier records, replay to the same result, and bots exist and
decide as recorded. Sign it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from msgspec.structs import asdict, replace

from harness.core.errors import ReplayError, StoreError, UsageError
from harness.core.files import Folder
from harness.core.records import belongs_to
from harness.executors.base import Roster
from harness.league.bots import check_stored_files, check_unchanged, restore_entrant
from harness.league.folder import ERAS, SETTINGS, LeagueFolder, era_folder, open_era
from harness.league.journal import JOURNAL, EraBegun
from harness.league.matchmaking import RoundHistory
from harness.league.members import Membership, RosterEpochs
from harness.league.runner import LeagueScheduler
from harness.match.replay import verify
from harness.plugins.discovery import shown
from harness.plugins.entrants import BotRef, Entrant
from harness.plugins.registry import Registry
from harness.runs.reader import followed
from harness.runs.setup import configure_run
from harness.runs.store import LOGS, RUN, RunFolder
from harness.verify.bots import BotFindings, ask_bots
from harness.verify.signing import Signable, Signature, digests_of_files, sign_folder


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
    every: int = 1
    """One in this many records is replayed."""
    eras: dict[int, RunFolder] = field(default_factory=dict, repr=False)
    """The eras whose records could be read."""
    broken: set[tuple[int, str]] = field(default_factory=set, repr=False)
    """Era and match of records that are wrong."""
    bots: dict[int, BotFindings] = field(default_factory=dict)
    """What the bots of each era answered when they were asked again, if that was done."""

    @property
    def fine(self) -> bool:
        """Whether there are no problems, and all bots that were asked again decided as recorded."""
        return not self.problems and all(asked.fine for asked in self.bots.values())


def check_league(league: LeagueFolder, registry: Registry, every: int = 1) -> LeagueFindings:
    """Verify all eras; one in `every` records is replayed."""
    if every < 1:
        raise UsageError(f"every must be at least 1, got {every}.")
    found = LeagueFindings(every=every)
    membership = league.membership
    for member in membership.members.values():
        try:
            check_unchanged(league.folder, member, registry)
        except UsageError as error:
            if not (member.retired or member.banned):
                found.problems.append(f"{member.name} cannot play: {error}.")
    known = {str(era.era) for era in league.eras}
    found.problems += [
        f"{path} is not an era of the journal."
        for path in sorted((league.folder / ERAS).glob("*"))
        if path.name not in known
    ]
    for era in league.eras:
        if era not in league.played_eras() and not era_folder(league.folder, era.era).has_file(RUN):
            continue  # begun, but stopped before its folder was created
        try:
            run = RunFolder.open(era_folder(league.folder, era.era))
            found.problems += _journal_differences(league, era, run, membership)
            _check_era(league, era, run, found)
            found.problems += _replay_records(era.era, run, registry, found)
            found.eras[era.era] = run
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
    found.broken |= {(era.era, record.id) for record in results if record.round < 1}
    epochs = RosterEpochs(era.era, era.plans, league.journal.entries)
    if not epochs:
        found.problems += [f"{name} was played before any bot could be seated." for name in records]
        found.broken |= {(era.era, name) for name in records}
        return
    newest = max((record.round for record in records.values()), default=0)

    # Hold back all rounds: each is rated only when a later one is planned, from what was known then.
    def read(banned: frozenset[str], _hold_all: bool) -> RoundHistory:
        past = RoundHistory(banned)
        for record in records.values():
            past.hold_match(record)
        return past

    # The games of the journal: run.json may have others, which is reported above.
    scheduler = LeagueScheduler(replace(run.info.plan, games=era.plans), epochs, read)
    left = dict(records)
    for number in followed(range(1, newest + 1), "rounds", lambda: newest):
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
                found.broken.add((era.era, spec.id))
    found.broken |= {(era.era, name) for name in left}
    found.problems += [f"{name} is not a match of this league." for name in sorted(left)]


def _replay_records(era: int, run: RunFolder, registry: Registry, found: LeagueFindings) -> Iterator[str]:
    games = configure_run(run, registry)
    changed = [plan for plan in run.info.plan.games if games[plan.name].version != plan.rules]
    for plan in changed:
        now = games[plan.name].version
        found.notes.append(f"{run.folder}: {plan.name} is not replayed, because its rules are version {now} now.")
    left_out = {plan.name for plan in changed}
    for number, record in enumerate(run.records([])):  # _check_era reports unreadable lines
        if number % found.every or record.game in left_out or record.game not in games:
            continue
        found.replayed += 1
        try:
            verify(games[record.game], record)
        except ReplayError as error:
            found.broken.add((era, record.id))
            yield str(error)


# Asking the bots again, as `verify_bots` does for runs.


def check_league_bots(
    league: LeagueFolder,
    registry: Registry,
    found: LeagueFindings,
    isolate: str = "on",
    workers: int | None = None,
    should_stop: Callable[[], bool] = lambda: False,
    step: Callable[[], None] = lambda: None,
) -> None:
    """Ask the bots about the records that were replayed, and add their answers to `found`; `step` is called after each.

    Bots are isolated as `isolate` says, whatever the league's config file says: the league may be untrusted.
    """
    entered: dict[str, Entrant] = {}
    lost: dict[str, str] = {}
    for name, member in league.membership.members.items():
        try:
            entered[name] = restore_entrant(league.folder, member, registry)
        except UsageError as error:
            lost[name] = str(error)
    for era, run in found.eras.items():
        if should_stop():
            return
        names = [info.name for info in run.info.entrants]
        asked = found.bots[era] = BotFindings(unasked={name: lost[name] for name in names if name in lost})
        asked.given_names = dict(_given_names(league, names))
        roster = Roster(configure_run(run, registry), {name: entered[name] for name in names if name in entered})
        broken = {match for where, match in found.broken if where == era}
        ask_bots(run, roster, asked, isolate, workers, found.every, broken, should_stop, step)


def _given_names(league: LeagueFolder, names: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yield the bots that have other names in the league than they give themselves, and what they are."""
    members = league.membership.members
    for entry in (members[name].entry for name in names if name in members):
        own = entry.described.name if entry.described else BotRef.parse(entry.spec, recorded=True).bot
        if own and own != entry.bot:
            yield entry.name, f"{shown(own)} ({entry.digest})"


# The signature of a league, over its journal, the runs of all eras and the stored bots.


def signable_league(league: LeagueFolder) -> Signable:
    """Return what a signature of a league covers."""
    folder, runs = Folder(league.folder), [f"{ERAS}/{era.era}" for era in league.eras]
    aside = tuple(f"{run}/{LOGS}/" for run in runs if folder.has_file(f"{run}/{LOGS}"))
    return Signable(folder, "league", (JOURNAL, SETTINGS), lambda: dict(digests_of_files(folder, runs)), aside)


def sign_league(league: LeagueFolder, key_file: str | Path | None = None) -> Signature:
    """Sign a league as it is now with the private key in this file; write and return the signature.

    Raise StoreError if it is being played, if a record is damaged, or if a stored bot was edited.
    """
    with league.lock_for_running(), league.journal.lock():
        for era in league.played_eras():
            run = open_era(league.folder, era.era)
            for _ in run.records():
                pass  # reading checks every line, and raises an error for one that was changed
            if run.info.finished and run.info.records != run.digest():
                raise StoreError(f"{run.folder} does not contain the records with which its era ended.")
        for member in league.membership.members.values():
            try:
                check_stored_files(league.folder, member.entry)
            except UsageError as error:
                raise StoreError(f"{member.name}: {error}.") from error
        return sign_folder(signable_league(league), key_file)
