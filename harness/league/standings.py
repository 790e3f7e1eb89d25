"""Tables of a league: standings, history of versions, files beside the journal, site and live page."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from dataclasses import replace as replaced
from pathlib import Path
from time import monotonic
from typing import Any
from zlib import crc32

from msgspec.structs import replace

from harness.core.errors import ArenaError, StoreError, UsageError
from harness.core.game import Game
from harness.core.options import BotLimits
from harness.core.records import GameRecord
from harness.core.table import Column, Table, columns
from harness.executors.base import Roster, isolated
from harness.league.folder import LeagueFolder, open_era, restore_entrant
from harness.league.journal import BotEvent, EraBegun, Member, Membership, Standing
from harness.league.strengths import Strength, Strengths, prob_better
from harness.match.ask import ask_again
from harness.output.columns import Fields, percent
from harness.output.tables import file_name, text_of
from harness.plugins.registry import Registry
from harness.ratings.statistics import Interval
from harness.runs.cache import replay_into
from harness.runs.reader import ordered_results
from harness.runs.setup import configure_run, limits_of_run
from harness.runs.store import RunFolder, write_derived

# Standings of an era, or of several with the same rules


NOTHING_PLAYED = "Nothing has been played in this league yet. Play with: arena league run"


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
    """Counts of the matches of an era, for all games; matches of banned bots do not count."""

    classes: Mapping[type, Sequence[str]] = {}

    def __init__(self, banned: Collection[str]) -> None:
        self.banned = frozenset(banned)
        # The name of the cache entry: a ban changes what counts.
        self.name = f"strengths-{crc32(repr(sorted(self.banned)).encode()):08x}"
        self.games: dict[str, Strengths] = {}
        self.matches = self.left_out = 0

    def add(self, record: GameRecord) -> None:
        """Add one record."""
        if self.banned.isdisjoint(record.seats):
            self.games.setdefault(record.game, Strengths()).add_match(record.seats, record.ranks)
            self.matches += 1
        else:
            self.left_out += 1

    def state(self) -> object:
        """Return everything, for the cache."""
        games = {game: each.state() for game, each in self.games.items()}
        return {"games": games, "matches": self.matches, "left out": self.left_out}

    def restore(self, state: Any) -> None:
        """Restore what `state()` returned."""
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
    """Matches that do not count, because a banned bot took part."""
    waiting: Mapping[str, Sequence[str]]
    """Game -> bots that play it and have not been seated yet."""


def standings_of(league: LeagueFolder, era: int | None = None, *, across: bool = False) -> Standings:
    """Return the standings of an era, by default of the newest; raise UsageError if nothing was played.

    With `across`, return those of all eras with the rules, options and seats of the newest; limits may differ.
    """
    eras, membership = league.played_eras(), league.membership
    if not eras or (era is None and eras[-1] is not league.eras[-1]):
        raise UsageError(NOTHING_PLAYED)
    chosen = _choose_eras(eras, era, across)
    rated = RatedEra(membership.banned)
    whole = rated if len(chosen) == 1 else None
    for each in chosen:
        run = open_era(league.folder, each.era)
        if whole is not None:
            replay_into(run, whole)  # cached; the counts of several eras together are not
            continue
        for record in ordered_results(run):
            rated.add(record)
    if not rated.matches and not rated.left_out and len(eras) == 1:
        raise UsageError(NOTHING_PLAYED)
    games = {
        plan.name: _rows(rated.games[plan.name], membership) if plan.name in rated.games else []
        for plan in chosen[-1].plans
    }
    waiting = {
        game: [name for name in membership.playing(game) if name not in {row.name for row in rows}]
        for game, rows in games.items()
    }
    return Standings(tuple(one.era for one in chosen), games, rated.matches, rated.left_out, waiting)


def _choose_eras(eras: Sequence[EraBegun], era: int | None, across: bool) -> list[EraBegun]:
    if not across:
        found = [one for one in eras if one.era == (era or eras[-1].era)]
        if not found:
            raise UsageError(f"There is no era {era}; this league has played {', '.join(str(e.era) for e in eras)}.")
        return found
    newest = _rules(eras[-1])
    alike = [era_ for era_ in eras if _rules(era_) == newest]
    if len(alike) < 2:
        raise UsageError(
            "No earlier era has the same rules, options and seats as this one, so there is no table across eras. "
            "Show a single one with: --era N"
        )
    return alike


def _rules(era: EraBegun) -> object:
    return {plan.name: (plan.rules, plan.settings, plan.players) for plan in era.plans}


def _rows(strengths: Strengths, membership: Membership) -> list[LeagueRow]:
    """Return a row for each version that has played and is not banned, best first."""
    fitted = strengths.fit()
    rows = []
    for name in sorted(fitted, key=lambda name: (-fitted[name].ahead, name)):
        if name not in membership.members:
            raise StoreError(f"The records have matches of {name}, which never joined. See: arena league verify")
        entry = membership.members[name].entry
        standing = membership.standing(name)
        rows.append(LeagueRow(name, fitted[name], standing, entry.team, entry.author, entry.at))
    return rows


def visible_rows(rows: Iterable[LeagueRow], everybody: bool) -> list[LeagueRow]:
    """Return the rows to show: the newest versions, or with `everybody` also older and retired ones."""
    return [row for row in rows if everybody or row.standing in ("plays", "rests")]


# Versions of a bot, and where the newest decides differently from the one before


MAX_COMPARED_MATCHES = 6
"""Matches of the version before, at whose decisions the newest is asked."""
MAX_EXAMPLES, MAX_SIMILAR_EXAMPLES = 6, 2
"""Examples to show, and examples of one kind."""


@dataclass(frozen=True, slots=True)
class VersionRow:
    """One version of a bot in one game."""

    name: str
    joined: str
    standing: Standing
    strength: Strength | None
    """None if it has not played."""
    better: float | None
    """Probability that it is better than the version before; None if one of the two has not played."""


@dataclass(frozen=True, slots=True)
class OtherDecision:
    """A decision of the version before at which the newest chooses another action."""

    match: str
    decision: int
    phase: str
    then: str
    now: str


@dataclass(frozen=True, slots=True)
class Differences:
    """Where two versions of a bot decide differently, at decisions of the older one."""

    older: str
    newer: str
    game: str
    asked: int
    """Decisions with more than one legal action at which the newer one was asked."""
    by_phase: Mapping[str, tuple[int, int]]
    """Phase -> decisions that differ, and all decisions; the phase with the largest share first."""
    examples: Sequence[OtherDecision]
    failed: str = ""
    """The first error of the newer one, if it failed."""


def versions_of(league: LeagueFolder, bot: str, standings: Standings) -> dict[str, list[VersionRow]]:
    """Return the versions of a bot by game, the newest first."""
    membership = league.membership
    members = membership.versions(membership.find_members(bot)[0].entry.bot)
    found: dict[str, list[VersionRow]] = {}
    for game, rows in standings.games.items():
        rated = {row.name: row.strength for row in rows}
        listed: list[VersionRow] = []
        before: Strength | None = None
        for member in members:
            if not member.entry.plays(game):
                continue
            mine = rated.get(member.name)
            better = prob_better(mine, before) if mine is not None and before is not None else None
            standing = membership.standing(member.name)
            listed.append(VersionRow(member.name, member.entry.at, standing, mine, better))
            before = mine
        if listed:
            found[game] = listed[::-1]
    return found


def differences(
    league: LeagueFolder, bot: str, registry: Registry, isolate: Any = "auto", matches: int = MAX_COMPARED_MATCHES
) -> list[Differences]:
    """Ask the newest version at decisions of the one before it; return the differences for each game that both play."""
    members = league.membership.versions(league.membership.find_members(bot)[0].entry.bot)
    if len(members) < 2:
        raise UsageError(f"{bot} has only one version, so there is nothing to compare it with.")
    older, newer = members[-2:]
    eras = league.played_eras()
    if not eras:
        return []
    run = open_era(league.folder, eras[-1].era)
    games = configure_run(run, registry)
    limits = replace(limits_of_run(run), isolate=isolate)
    found = []
    for name in games:
        if older.entry.plays(name) and newer.entry.plays(name):
            records = _newest_matches(run, name, older.name, matches)
            if records:
                found.append(_compare_decisions(league, games[name], records, older, newer, registry, limits))
    return found


def _newest_matches(run: RunFolder, game: str, name: str, count: int) -> list[GameRecord]:
    """Return the last matches of an entrant without faults."""
    played = (record for record in run.results() if record.game == game and name in record.seats)
    ids = [record.id for record in played if not record.faults][-count:]
    chosen = run.chosen(ids)
    return [chosen[each] for each in ids]


def _compare_decisions(
    league: LeagueFolder,
    game: Game[Any],
    records: Sequence[GameRecord],
    older: Member,
    newer: Member,
    registry: Registry,
    limits: BotLimits,
) -> Differences:
    asked = restore_entrant(league.folder, newer, registry)
    roster = isolated(Roster({game.name: game}, {asked.name: asked}), limits)
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
    return Differences(
        older.name, newer.name, game.name, total.total(), by_phase, _varied(examples)[:MAX_EXAMPLES], failed
    )


def _varied(examples: Sequence[OtherDecision]) -> list[OtherDecision]:
    """Return the examples without those of a kind that was shown often enough."""
    seen: Counter[tuple[str, str, str]] = Counter()
    found = []
    for one in examples:
        kind = (one.phase, one.then, one.now)
        seen[kind] += 1
        if seen[kind] <= MAX_SIMILAR_EXAMPLES:
            found.append(one)
    return found


# Tables


AHEAD = Column(
    "ahead",
    "number",
    legend="ahead: percentage of the other bots that it is expected to finish ahead of, with a 95% interval.",
)
STATE = Column("state", legend="state: the newest version plays, older ones are kept as opponents.")
SURE = Column("sure", "number", legend="sure: probability that this version is better than the one before.")


def standings_tables(standings: Standings, everybody: bool = False) -> list[Table]:
    """Return a table for each game: of the newest versions, or with `everybody` of all that have played."""
    return [_table(game, visible_rows(rows, everybody), standings, everybody) for game, rows in standings.games.items()]


def _table(game: str, rows: Sequence[LeagueRow], standings: Standings, everybody: bool) -> Table:
    teams = any(row.team for row in rows)
    head: list[Column | str] = ["place", "bot", AHEAD, *columns("number", "rating", "matches")]
    head += ([STATE] if everybody else []) + (["team"] if teams else [])
    cells = []
    for place, row in zip(places_of(rows), rows, strict=True):
        strength = row.strength
        shown: list[object] = [place, row.name, _percent(strength), f"{strength.value:+.2f}", f"{strength.matches:,}"]
        cells.append(shown + ([row.standing] if everybody else []) + ([row.team or None] if teams else []))
    notes = [f"Not seated yet: {', '.join(waiting)}."] if (waiting := standings.waiting.get(game)) else []
    if standings.left_out:
        notes.append(f"{standings.left_out:,} matches do not count: a banned bot took part.")
    data = [_fields(place, row) for place, row in zip(places_of(rows), rows, strict=True)]
    return Table(game, head, cells, data, notes=notes)


def places_of(rows: Sequence[LeagueRow]) -> list[int]:
    """Return the places of these rows; equal ones share a place."""
    found: list[int] = []
    for number, row in enumerate(rows, 1):
        tied = number > 1 and rows[number - 2].strength.ahead == row.strength.ahead
        found.append(found[-1] if tied else number)
    return found


def _fields(place: int, row: LeagueRow) -> Fields:
    strength = row.strength
    return {
        "place": place,
        "bot": row.name,
        "ahead": round(strength.ahead, 6),
        "ahead_low": round(strength.low, 6),
        "ahead_high": round(strength.high, 6),
        "rating": round(strength.value, 6),
        "error": round(strength.error, 6),
        "matches": strength.matches,
        "state": row.standing,
        "team": row.team,
        "author": row.author,
        "joined": row.joined,
    }


def history_table(bot: str, game: str, rows: Sequence[VersionRow]) -> Table:
    """Return the table of the versions of a bot in one game, the newest first."""
    cells = [
        [
            row.name,
            row.joined[:10],
            row.standing,
            None if row.strength is None else _percent(row.strength),
            "0" if row.strength is None else f"{row.strength.matches:,}",
            None if row.better is None else f"{row.better:.0%}",
        ]
        for row in rows
    ]
    fields: list[Fields] = [
        {
            "version": row.name,
            "joined": row.joined,
            "state": row.standing,
            "ahead": None if row.strength is None else round(row.strength.ahead, 6),
            "ahead_low": None if row.strength is None else round(row.strength.low, 6),
            "ahead_high": None if row.strength is None else round(row.strength.high, 6),
            "matches": 0 if row.strength is None else row.strength.matches,
            "sure": None if row.better is None else round(row.better, 4),
        }
        for row in rows
    ]
    head = (*columns("text", "version", "joined", "state"), AHEAD, Column("matches", "number"), SURE)
    return Table(f"{bot}, {game}", head, cells, fields)


def _percent(strength: Strength) -> str:
    return percent(Interval(strength.ahead, strength.low, strength.high))


# Files and site


STANDINGS = "standings"
MAX_NEWS_ENTRIES = 30


def write_standings(league: LeagueFolder) -> Standings:
    """Write the standings of the newest era beside the journal, and return them. The files can be deleted."""
    standings = standings_of(league)
    tables = standings_tables(standings, everybody=True)
    files = {
        f"{STANDINGS}.{ending}": text_of(tables, table_format).encode() + b"\n"
        for ending, table_format in (("md", "github"), ("csv", "csv"), ("json", "json"))
    }
    write_derived(league.folder, files)
    return standings


def publish_league(league: LeagueFolder, registry: Registry, to: Path, url: str = "") -> list[str]:
    """Write a site of all eras without the matches of banned bots, and return problems; `url` is for the feed."""
    from harness.report import publish

    standings_of(league)  # raises UsageError if the league has not played
    runs = [open_era(league.folder, era.era) for era in league.played_eras()]
    entered = {entrant.name for run in runs for entrant in run.info.entrants}
    left_out = [name for name in sorted(league.membership.banned) if name in entered]
    return publish(runs, registry, to, left_out, url, lambda: _pages(league))


def _pages(league: LeagueFolder) -> dict[str, bytes]:
    """Return the page of the league and its table as data, by file name."""
    from harness.report.parts import fill, script
    from harness.report.site import LEAGUE

    standings = standings_of(league)
    tables = standings_tables(standings, everybody=True)
    news = [entry for entry in league.journal.entries if isinstance(entry, BotEvent) and entry.headline]
    bots = {str(row["bot"]) for table in tables for row in table.rows}
    page = fill(
        "league.html",
        script(),
        title=league.folder.resolve().name,
        eras=standings.eras,
        matches=standings.matches,
        left_out=standings.left_out,
        tables={table.title: table.rows for table in tables},
        files={bot: file_name(bot) for bot in bots},
        news=[{"at": one.at, "bot": one.name, "told": one.headline} for one in news[: -MAX_NEWS_ENTRIES - 1 : -1]],
    )
    return {
        LEAGUE: page.encode(),
        f"{STANDINGS}.json": text_of(tables, "json").encode() + b"\n",
        f"{STANDINGS}.csv": text_of(tables, "csv").encode() + b"\n",
    }


# Live page


REUSE_FACTOR = 10
"""A table is reused for this many times as long as it took to make: serving takes a tenth of a core at most."""


class LeagueTables:
    """Computes the tables of leagues for the live page, and reuses them for a while."""

    def __init__(self) -> None:
        self._made: dict[Path, tuple[float, Sequence[Table]]] = {}
        """Folder -> when its tables expire, and the tables."""

    def __call__(self, folder: Path) -> Sequence[Table]:
        """Return the tables of the league in a folder; none if it has not played yet."""
        due, tables = self._made.get(folder, (0.0, ()))
        began = monotonic()
        if began < due:
            return tables
        try:
            tables = [
                replaced(table, title=f"{table.title}: the league's table")
                for table in standings_tables(standings_of(LeagueFolder.open(folder)))
            ]
        except ArenaError:  # it has not begun, or is damaged: arena league run reports that
            tables = ()
        self._made[folder] = monotonic() + REUSE_FACTOR * (monotonic() - began), tables
        return tables
