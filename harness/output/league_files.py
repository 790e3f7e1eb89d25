"""What is written of a league for others: its table beside the journal, and its site."""

from __future__ import annotations

from pathlib import Path

from harness.league.eras import open_era
from harness.league.league_folder import LeagueFolder
from harness.league.standings import Standings, standings_of
from harness.output.data_table import text_of
from harness.output.display_names import file_name
from harness.output.league_table import standings_tables
from harness.plugins.registry import Registry
from harness.runs.run_files import write_derived

STANDINGS = "standings"
MOST_NEWS = 30
NEWS = {
    "joined": "joins",
    "retired": "is retired",
    "banned": "is banned",
    "readmitted": "plays again",
}
"""What readers are told of, and in which words."""


def write_standings(league: LeagueFolder) -> Standings:
    """The standings of the newest era, written beside the journal: all of it can be made again."""
    standings = standings_of(league)
    tables = standings_tables(standings, everybody=True)
    files = {
        f"{STANDINGS}.{ending}": text_of(tables, table_format).encode() + b"\n"
        for ending, table_format in (("md", "github"), ("csv", "csv"), ("json", "json"))
    }
    write_derived(league.folder, files)
    return standings


def publish_league(league: LeagueFolder, registry: Registry, to: Path, url: str = "") -> list[str]:
    """A site of all eras, without the matches of those who are banned; `url` is where it will be, for its feed."""
    from harness.output.pages import publish

    standings_of(league)  # of a league that has not played there is nothing to publish
    runs = [open_era(league.folder, era.era) for era in league.played_eras()]
    entered = {entrant.name for run in runs for entrant in run.info.entrants}
    left_out = [name for name in sorted(league.membership.banned) if name in entered]
    return publish(runs, registry, to, left_out, url, lambda: _pages(league))


def _pages(league: LeagueFolder) -> dict[str, bytes]:
    """The page of the league itself, and its table as data."""
    from harness.output.pages.markup import fill, script
    from harness.output.pages.site import LEAGUE

    standings = standings_of(league)
    tables = standings_tables(standings, everybody=True)
    told = [entry for entry in league.journal.entries if entry.what in NEWS][-MOST_NEWS:]
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
        news=[{"at": one.at, "bot": one.name, "told": NEWS[one.what]} for one in reversed(told)],
    )
    return {
        LEAGUE: page.encode(),
        f"{STANDINGS}.json": text_of(tables, "json").encode() + b"\n",
        f"{STANDINGS}.csv": text_of(tables, "csv").encode() + b"\n",
    }
