"""How the versions of a bot fare, and where the newest decides otherwise than the one before."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from harness.core.errors import UsageError
from harness.core.game import Game
from harness.core.types import GameRecord
from harness.executors.jobs import Roster, isolated
from harness.league.bot_keeping import entered_again
from harness.league.eras import open_era
from harness.league.league_folder import LeagueFolder
from harness.league.members import Member, Standing
from harness.league.standings import Standings
from harness.match.ask_again import ask_again
from harness.plugins.registry import Registry
from harness.ratings.strengths import Strength, chance_better
from harness.runs.run_setup import configure_run, limits_of_run
from harness.runs.store import RunFolder

MATCHES = 6
"""Matches of the version before at whose decisions the newest is asked."""
SHOWN, ALIKE = 6, 2
"""Examples that are shown, and of those the ones of one kind."""


@dataclass(frozen=True, slots=True)
class VersionRow:
    """One version of a bot in one game."""

    name: str
    joined: str
    standing: Standing
    strength: Strength | None
    """None if it has not played."""
    better: float | None
    """How sure it is that it is better than the version before; None if one of the two has not played."""


@dataclass(frozen=True, slots=True)
class OtherDecision:
    """A decision of the version before at which the newest does something else."""

    match: str
    decision: int
    phase: str
    then: str
    now: str


@dataclass(frozen=True, slots=True)
class Differences:
    """Where two versions of a bot decide otherwise, by the decisions of the older one."""

    older: str
    newer: str
    game: str
    asked: int
    """Decisions with a choice that were looked at."""
    by_phase: Mapping[str, tuple[int, int]]
    """Phase -> how many of its decisions differ, and how many there were; where most differ first."""
    examples: Sequence[OtherDecision]
    failed: str = ""
    """What the newer one failed with, if it did."""


def versions_of(league: LeagueFolder, bot: str, standings: Standings) -> dict[str, list[VersionRow]]:
    """Game -> the versions of a bot, the newest first."""
    membership = league.membership
    members = membership.versions(membership.named(bot)[0].entry.bot)
    found: dict[str, list[VersionRow]] = {}
    for game, rows in standings.games.items():
        rated = {row.name: row.strength for row in rows}
        listed: list[VersionRow] = []
        before: Strength | None = None
        for member in members:
            if not member.entry.plays(game):
                continue
            mine = rated.get(member.name)
            better = chance_better(mine, before) if mine is not None and before is not None else None
            standing = membership.standing(member.name)
            listed.append(VersionRow(member.name, member.entry.at, standing, mine, better))
            before = mine
        if listed:
            found[game] = listed[::-1]
    return found


def differences(
    league: LeagueFolder, bot: str, registry: Registry, isolate: Any = "auto", matches: int = MATCHES
) -> list[Differences]:
    """Puts the newest version before decisions of the one before it, in each game that both play."""
    members = league.membership.versions(league.membership.named(bot)[0].entry.bot)
    if len(members) < 2:
        raise UsageError(f"{bot} has one version only: there is nothing to compare it with.")
    older, newer = members[-2:]
    eras = league.played_eras()
    if not eras:
        return []
    run = open_era(league.folder, eras[-1].era)
    games = configure_run(run, registry)
    found = []
    for name in games:
        if older.entry.plays(name) and newer.entry.plays(name):
            records = _newest_matches(run, name, older.name, matches)
            if records:
                found.append(
                    _compared(league, games[name], records, older, newer, registry, isolate, limits_of_run(run))
                )
    return found


def _newest_matches(run: RunFolder, game: str, name: str, count: int) -> list[GameRecord]:
    """The last matches of an entrant in which it did not fail."""
    ids = [record.id for record in run.results() if record.game == game and name in record.seats and not record.faults][
        -count:
    ]
    chosen = run.chosen(ids)
    return [chosen[each] for each in ids]


def _compared(
    league: LeagueFolder,
    game: Game[Any],
    records: Sequence[GameRecord],
    older: Member,
    newer: Member,
    registry: Registry,
    isolate: Any,
    limits: Mapping[str, Any],
) -> Differences:
    asked = entered_again(league.folder, newer, registry)
    terms = {**limits, "isolate": isolate}
    roster = isolated(Roster({game.name: game}, {asked.name: asked}), terms)
    [entrant] = roster.entrants.values()
    entrant.warm_up()
    total: Counter[str] = Counter()
    other: Counter[str] = Counter()
    examples: list[OtherDecision] = []
    failed = ""
    try:
        for record in records:
            for each in ask_again(game, record, entrant, record.seats.index(older.name)):
                phase = each.position.view.phase
                total[phase] += 1
                if each.failure is not None:
                    failed = failed or f"{each.failure.kind} in {record.id}: {each.failure.detail.splitlines()[-1]}"
                elif each.differs:
                    other[phase] += 1
                    then, now = str(each.position.chosen), str(each.now)
                    examples.append(OtherDecision(record.id, each.position.decision, phase, then, now))
    finally:
        roster.close()
    order = sorted(total, key=lambda phase: (-other[phase] / total[phase], phase))
    rank = {phase: place for place, phase in enumerate(order)}
    examples.sort(key=lambda one: (rank[one.phase], one.match, one.decision))
    by_phase = {phase: (other[phase], total[phase]) for phase in order}
    return Differences(older.name, newer.name, game.name, total.total(), by_phase, _varied(examples)[:SHOWN], failed)


def _varied(examples: Sequence[OtherDecision]) -> list[OtherDecision]:
    """At most two of each kind of change."""
    seen: Counter[tuple[str, str, str]] = Counter()
    found = []
    for one in examples:
        kind = (one.phase, one.then, one.now)
        seen[kind] += 1
        if seen[kind] <= ALIKE:
            found.append(one)
    return found
