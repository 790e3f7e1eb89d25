"""Tables of a league: standings, history of versions, files beside the journal, site and live page."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any
from zlib import crc32

from msgspec.structs import replace

from harness.ask.decisions import ask_again
from harness.core.errors import ArenaError, StoreError, UsageError
from harness.core.files import Folder
from harness.core.game import Game
from harness.core.options import BotLimits
from harness.core.records import GameRecord
from harness.core.table import Column, Table, columns
from harness.executors.base import Roster, isolated
from harness.league.bots import restore_entrant
from harness.league.folder import LeagueFolder, open_era
from harness.league.journal import BotEvent, EraBegun
from harness.league.members import Member, Membership, Standing
from harness.league.skills import MIN_KNOWN_MATCHES, LeagueCounts, Skill
from harness.output.columns import BEATS_LEGEND, SKILL_LEGEND, Fields, interval_fields, number
from harness.output.tables import text_of
from harness.plugins.registry import Registry
from harness.runs.cache import replay_into
from harness.runs.reader import followed, ordered_results
from harness.runs.setup import configure_run, limits_of_run
from harness.runs.store import RunFolder, write_derived

if TYPE_CHECKING:
    from harness.report import Beside, SiteOptions

# Standings of an era, or of several with the same rules


NOTHING_PLAYED = "Nothing has been played in this league yet. Play with: arena league run"


@dataclass(frozen=True, slots=True)
class LeagueRow:
    """One version of a bot in the table of one game."""

    name: str
    skill: Skill
    standing: Standing
    team: str = ""
    author: str = ""
    joined: str = ""


class CountedEra:
    """Counts of the matches of an era, for all games; matches of banned bots do not count."""

    classes: Mapping[type, Sequence[str]] = {}

    def __init__(self, banned: Collection[str]) -> None:
        self.banned = frozenset(banned)
        # The name of the cache entry: a ban changes what counts.
        self.name = f"skills-{crc32(repr(sorted(self.banned)).encode()):08x}"
        self.games: dict[str, LeagueCounts] = {}
        self.matches = self.left_out = 0

    def add(self, record: GameRecord) -> None:
        """Add one record."""
        if self.banned.isdisjoint(record.seats):
            self.games.setdefault(record.game, LeagueCounts()).add_match(record.seats, record.ranks)
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
            self.games[game] = LeagueCounts()
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


def standings_of(
    league: LeagueFolder, era: int | None = None, *, across: bool = False, before: Standings | None = None
) -> Standings:
    """Return the standings of an era, by default of the newest; raise UsageError if nothing was played.

    With `across`, return those of all eras with the rules, options and seats of the newest; limits may differ. With
    `before`, earlier standings, the fit is faster, and may differ in the fifth digit.
    """
    eras, membership = league.played_eras(), league.membership
    if not eras or (era is None and eras[-1] is not league.eras[-1]):
        raise UsageError(NOTHING_PLAYED)
    chosen = _choose_eras(eras, era, across)
    counted = CountedEra(membership.banned)
    whole = counted if len(chosen) == 1 else None
    for each in chosen:
        run = open_era(league.folder, each.era)
        if whole is not None:
            replay_into(run, whole)  # cached; the counts of several eras together are not
            continue
        for record in ordered_results(run):
            counted.add(record)
    if not counted.matches and not counted.left_out and len(eras) == 1:
        raise UsageError(NOTHING_PLAYED)
    games = {
        plan.name: _rows(counted.games[plan.name], membership, before.games.get(plan.name) if before else None)
        if plan.name in counted.games
        else []
        for plan in chosen[-1].plans
    }
    waiting = {
        game: [name for name in membership.playing(game) if name not in seated]
        for game, rows in games.items()
        for seated in [{row.name for row in rows}]
    }
    return Standings(tuple(one.era for one in chosen), games, counted.matches, counted.left_out, waiting)


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
            "No earlier era has the same rules, options and seats as this one, so there is no table across eras.",
            fix="league-era",
        )
    return alike


def _rules(era: EraBegun) -> object:
    return {plan.name: (plan.rules, plan.settings, plan.players) for plan in era.plans}


def _rows(counts: LeagueCounts, membership: Membership, before: Sequence[LeagueRow] | None = None) -> list[LeagueRow]:
    """Return a row for each version that has played and is not banned: the known ones first, by skill."""
    start = {row.name: row.skill.interval.value for row in before} if before else None
    rows = []
    for name, skill in counts.fit(start).items():
        if name not in membership.members:
            raise StoreError(f"The records have matches of {name}, which never joined. See: arena league verify")
        entry = membership.members[name].entry
        rows.append(LeagueRow(name, skill, membership.standing(name), entry.team, entry.author, entry.at))
    return sorted(rows, key=lambda row: (not row.skill.known, -row.skill.interval.value, row.name))


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
    skill: Skill | None
    """None if it has not played."""


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
        skills = {row.name: row.skill for row in rows}
        listed = [
            VersionRow(one.name, one.entry.at, membership.standing(one.name), skills.get(one.name))
            for one in reversed(members)
            if one.entry.plays(game)
        ]
        if listed:
            found[game] = listed
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
        for record in followed(records, "matches", lambda: len(records)):
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


SKILL = Column(
    "skill",
    "number",
    legend=f"{SKILL_LEGEND} ± is a 95% interval.",
)
BEATS = Column("beats", "number", legend=BEATS_LEGEND)
STATE = Column("state", legend="State: the newest version plays, older ones are kept as opponents.")
MAX_NAMED_RIVALS = 3
"""Bots that the sentences about the leader name."""


def standings_tables(standings: Standings, everybody: bool = False) -> list[Table]:
    """Return a table for each game: of the newest versions, or with `everybody` of all that have played."""
    return [_table(game, visible_rows(rows, everybody), standings, everybody) for game, rows in standings.games.items()]


def _table(game: str, rows: Sequence[LeagueRow], standings: Standings, everybody: bool) -> Table:
    teams = any(row.team for row in rows)
    head: list[Column | str] = [Column("place", "number"), "bot", SKILL, BEATS, Column("matches", "number")]
    head += ([STATE] if everybody else []) + (["team"] if teams else [])
    places = places_of(rows)
    cells = []
    for place, row in zip(places, rows, strict=True):
        shown: list[object] = [place, row.name, *_skill_cells(row.skill)]
        cells.append(shown + ([row.standing] if everybody else []) + ([row.team or None] if teams else []))
    notes = []
    if None in places:
        notes.append(f"Without a place: provisional, fewer than {MIN_KNOWN_MATCHES} matches.")
    if waiting := standings.waiting.get(game):
        notes.append(f"Not seated yet: {', '.join(waiting)}.")
    if standings.left_out:
        notes.append(f"{standings.left_out:,} matches do not count: a banned bot took part.")
    data = [_fields(place, row) for place, row in zip(places, rows, strict=True)]
    leads = leader_sentences(visible_rows(standings.games[game], everybody=False))
    return Table(game, head, cells, data, notes=notes, summary=leads)


def leader_sentences(rows: Sequence[LeagueRow]) -> list[str]:
    """Return who leads and which bots may be as good, as far as intervals show, and which bots without a place have a
    higher skill; empty without bots.

    A league can be looked at after every match, so nothing is called significant here.
    """
    if not rows:
        return []
    known = [row for row in rows if row.skill.known]
    if len(known) < 2:
        return [f"No bot leads yet: fewer than two have played {MIN_KNOWN_MATCHES} matches."]
    leader = known[0]
    higher = [row for row in rows if not row.skill.known and row.skill.interval.value > leader.skill.interval.value]
    return [_leader_sentence(known), *(_unplaced_sentence(row) for row in higher[:MAX_NAMED_RIVALS])]


def _unplaced_sentence(row: LeagueRow) -> str:
    plural = "" if row.skill.matches == 1 else "es"
    return f"{row.name} has a higher skill after {row.skill.matches} match{plural}, and no place yet."


def _leader_sentence(known: Sequence[LeagueRow]) -> str:
    leader = known[0]
    rivals = [row.name for row in known[1:] if row.skill.interval.high >= leader.skill.interval.low]
    if not rivals:
        return f"{leader.name} leads; its interval is above those of all other bots with a place."
    if len(rivals) > MAX_NAMED_RIVALS:
        more = len(rivals) - MAX_NAMED_RIVALS + 1
        rivals = [*rivals[: MAX_NAMED_RIVALS - 1], f"{more} others"]
        return f"{leader.name} leads; {', '.join(rivals[:-1])} and {rivals[-1]} may be as good."
    listed = " or ".join(filter(None, (", ".join(rivals[:-1]), rivals[-1])))
    return f"{leader.name} leads; {listed} may be as good."


def places_of(rows: Sequence[LeagueRow]) -> list[int | None]:
    """Return the places of these rows; equal ones share a place, and provisional ones have none."""
    found: list[int | None] = []
    for number_, row in enumerate(rows, 1):
        tied = number_ > 1 and rows[number_ - 2].skill.interval.value == row.skill.interval.value
        found.append(None if not row.skill.known else found[-1] if tied else number_)
    return found


def _skill_cells(skill: Skill | None) -> list[object]:
    if skill is None:
        return [None, None, "0"]
    return [number(skill.interval), f"{skill.beats:.0%}", f"{skill.matches:,}"]


def _skill_fields(skill: Skill | None) -> Fields:
    return {
        **interval_fields("skill", None if skill is None else skill.interval, 3),
        "beats": None if skill is None else round(skill.beats, 4),
        "matches": 0 if skill is None else skill.matches,
    }


def _fields(place: int | None, row: LeagueRow) -> Fields:
    return {
        "place": place,
        "bot": row.name,
        **_skill_fields(row.skill),
        "state": row.standing,
        "team": row.team,
        "author": row.author,
        "joined": row.joined,
    }


def history_table(bot: str, game: str, rows: Sequence[VersionRow]) -> Table:
    """Return the table of the versions of a bot in one game, the newest first."""
    cells = [[row.name, row.joined[:10], row.standing, *_skill_cells(row.skill)] for row in rows]
    fields: list[Fields] = [
        {"version": row.name, "joined": row.joined, "state": row.standing, **_skill_fields(row.skill)} for row in rows
    ]
    head = (*columns("text", "version", "joined", "state"), SKILL, BEATS, Column("matches", "number"))
    return Table(f"{bot}, {game}", head, cells, fields)


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
    write_derived(Folder(league.folder), files)
    return standings


def publish_league(league: LeagueFolder, registry: Registry, to: Path, options: SiteOptions | None = None) -> list[str]:
    """Write a site of all eras without the matches of banned bots, and return problems."""
    from harness.report import SiteOptions, publish  # takes 0.7 s, which only sites need

    standings_of(league)  # raises UsageError if the league has not played
    runs = [open_era(league.folder, era.era) for era in league.played_eras()]
    entered = {entrant.name for run in runs for entrant in run.info.entrants}
    left_out = [name for name in sorted(league.membership.banned) if name in entered]
    return publish(runs, registry, to, left_out, options or SiteOptions(), lambda: _pages(league))


def _pages(league: LeagueFolder) -> Beside:
    """Return the page of the league and its table as data."""
    from harness.report import Beside  # as in publish_league

    standings = standings_of(league)
    tables = standings_tables(standings, everybody=True)
    news = [entry for entry in league.journal.entries if isinstance(entry, BotEvent) and entry.headline]
    page = {
        "title": league.folder.resolve().name,
        "eras": standings.eras,
        "matches": standings.matches,
        "left_out": standings.left_out,
        "tables": {table.title: table.rows for table in tables},
        "sentences": {table.title: table.summary for table in tables},
        "known": MIN_KNOWN_MATCHES,
        "legend": f"{SKILL.legend} {BEATS_LEGEND}",
        "news": [
            {"at": one.at, "bot": one.name, "headline": one.headline} for one in news[: -MAX_NEWS_ENTRIES - 1 : -1]
        ],
    }
    files = {f"{STANDINGS}.{ending}": text_of(tables, ending).encode() + b"\n" for ending in ("json", "csv")}
    return Beside(files, {"league.html": page})


# Live page


REUSE_FACTOR = 10
"""A table is reused for this many times as long as it took to make: serving takes a tenth of a core at most."""


class LeagueTables:
    """Computes the tables of leagues for the live page, and reuses them for a while."""

    def __init__(self) -> None:
        self._made: dict[Path, tuple[float, Sequence[Table]]] = {}
        """Folder -> when its tables expire, and the tables."""
        self._standings: dict[Path, Standings] = {}

    def __call__(self, folder: Path) -> Sequence[Table]:
        """Return the tables of the league in a folder; none if it has not played yet."""
        due, tables = self._made.get(folder, (0.0, ()))
        began = monotonic()
        if began < due:
            return tables
        try:
            standings = standings_of(LeagueFolder.open(folder), before=self._standings.get(folder))
            self._standings[folder] = standings
            tables = standings_tables(standings)
        except ArenaError:  # it has not begun, or is damaged: arena league run reports that
            tables = ()
        self._made[folder] = monotonic() + REUSE_FACTOR * (monotonic() - began), tables
        return tables
