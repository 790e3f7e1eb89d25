"""What is written of a league for others: its table beside the journal, and its site."""

from __future__ import annotations

from pathlib import Path

from harness.league.eras import open_era
from harness.league.league_folder import LeagueFolder
from harness.league.standings import Standings, standings_of
from harness.output.data_table import text_of
from harness.output.league_table import standings_tables
from harness.plugins.registry import Registry
from harness.runs.run_files import write_derived

STANDINGS = "standings"


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

    runs = [open_era(league.folder, era.era) for era in league.eras]
    entered = {entrant.name for run in runs for entrant in run.info.entrants}
    return publish(runs, registry, to, [name for name in sorted(league.membership.banned) if name in entered], url)
