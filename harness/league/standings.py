"""The table of a league: ratings of an era, or of several that were played by the same rules, from its records."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from zlib import crc32

from harness.core.errors import StoreError, UsageError
from harness.core.types import GameRecord
from harness.league.eras import open_era
from harness.league.journal import JournalEntry
from harness.league.league_folder import LeagueFolder
from harness.league.members import Membership, Standing
from harness.ratings.strengths import Strength, Strengths
from harness.runs.remembered import feed
from harness.runs.schedule_order import ordered_results

NOTHING_YET = "Nothing has been played in this league yet: arena league run"


@dataclass(frozen=True, slots=True)
class LeagueRow:
    """One version of a bot in the table of one game."""

    name: str
    strength: Strength
    standing: Standing
    team: str = ""
    author: str = ""
    joined: str = ""


class RatedEra:
    """The strengths in all games of an era; matches of those who are banned do not count."""

    known: Mapping[type, Sequence[str]] = {}

    def __init__(self, banned: Collection[str]) -> None:
        self.banned = frozenset(banned)
        self.name = f"strengths-{crc32(repr(sorted(self.banned)).encode()):08x}"
        self.games: dict[str, Strengths] = {}
        self.matches = self.left_out = 0

    def add(self, record: GameRecord) -> None:
        """Takes in one match."""
        if self.banned.isdisjoint(record.seats):
            self.games.setdefault(record.game, Strengths()).add(record.seats, record.ranks)
            self.matches += 1
        else:
            self.left_out += 1

    def state(self) -> object:
        """All of it, to be kept."""
        games = {game: each.state() for game, each in self.games.items()}
        return {"games": games, "matches": self.matches, "left out": self.left_out}

    def restore(self, state: Any) -> None:
        """Puts it back to where `state` was taken."""
        for game, each in state["games"].items():
            self.games[game] = Strengths()
            self.games[game].restore(each)
        self.matches, self.left_out = state["matches"], state["left out"]


@dataclass(frozen=True, slots=True)
class Standings:
    """The tables of a league."""

    eras: tuple[int, ...]
    games: Mapping[str, Sequence[LeagueRow]]
    matches: int
    left_out: int
    """Matches that do not count, for somebody in them is banned."""
    waiting: Mapping[str, Sequence[str]]
    """Game -> who plays it and has not been seated yet."""


def standings_of(league: LeagueFolder, era: int | None = None, *, across: bool = False) -> Standings:
    """The standings of an era, by default the newest; `across` all eras that were played by the same rules and options
    as the newest, whatever the time control."""
    eras, membership = league.played_eras(), league.membership
    if not eras or (era is None and eras[-1] is not league.eras[-1]):
        raise UsageError(NOTHING_YET)
    chosen = _chosen(eras, era, across)
    rated = RatedEra(membership.banned)
    whole = rated if len(chosen) == 1 else None
    for each in chosen:
        run = open_era(league.folder, each.era)
        if whole is not None:
            feed(run, whole)
            continue
        for record in ordered_results(run):
            rated.add(record)
    if not rated.matches and not rated.left_out and len(eras) == 1:
        raise UsageError(NOTHING_YET)
    games = {
        plan.name: _rows(rated.games[plan.name], membership) if plan.name in rated.games else []
        for plan in chosen[-1].plans
    }
    waiting = {
        game: [name for name in membership.seekers(game) if name not in {row.name for row in rows}]
        for game, rows in games.items()
    }
    return Standings(tuple(one.era for one in chosen), games, rated.matches, rated.left_out, waiting)


def _chosen(eras: Sequence[JournalEntry], era: int | None, across: bool) -> list[JournalEntry]:
    if not across:
        found = [one for one in eras if one.era == (era or eras[-1].era)]
        if not found:
            raise UsageError(f"There is no era {era}: this league has played {', '.join(str(e.era) for e in eras)}.")
        return found
    newest = {plan.name: (plan.rules, plan.settings, plan.players) for plan in eras[-1].plans}
    alike = []
    for one in eras:
        terms = {plan.name: (plan.rules, plan.settings, plan.players) for plan in one.plans}
        if terms == newest:
            alike.append(one)
    if len(alike) < 2:
        raise UsageError(
            "No earlier era was played by the same rules, options and seats as this one, so there is no table across: "
            "look at one with --era N."
        )
    return alike


def _rows(strengths: Strengths, membership: Membership) -> list[LeagueRow]:
    """Everybody who has played and is not banned, the best first."""
    fitted = strengths.fit()
    rows = []
    for name in sorted(fitted, key=lambda name: (-fitted[name].ahead, name)):
        if name not in membership.members:
            raise StoreError(f"The records have matches of {name}, which never joined: arena league verify says more.")
        entry = membership.members[name].entry
        standing = membership.standing(name)
        rows.append(LeagueRow(name, fitted[name], standing, entry.team, entry.author, entry.at))
    return rows


def shown(rows: Iterable[LeagueRow], everybody: bool) -> list[LeagueRow]:
    """The rows that a table shows: the newest versions, or also older and retired ones."""
    return [row for row in rows if everybody or row.standing in ("plays", "rests")]
