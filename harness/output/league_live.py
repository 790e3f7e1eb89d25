"""The table of a league for somebody who looks at it all the time: made anew now and then."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from time import monotonic

from harness.core.errors import ArenaError
from harness.league.league_folder import LeagueFolder
from harness.league.standings import standings_of
from harness.output.data_table import DataTable
from harness.output.league_table import standings_tables

RESTS = 10
"""So many times as long as making the table took, the last one is shown again."""


class LeagueTables:
    """The tables of leagues by their folders."""

    def __init__(self) -> None:
        self._made: dict[Path, tuple[float, Sequence[DataTable]]] = {}
        """When each may be made anew, and what it was."""

    def __call__(self, folder: Path) -> Sequence[DataTable]:
        """The tables of the league in a folder; none if it has not played yet."""
        due, tables = self._made.get(folder, (0.0, ()))
        began = monotonic()
        if began < due:
            return tables
        try:
            tables = [
                replace(table, title=f"{table.title}: the league's table")
                for table in standings_tables(standings_of(LeagueFolder.open(folder)))
            ]
        except ArenaError:  # it has not begun, or is damaged: whoever plays it is told
            tables = ()
        self._made[folder] = monotonic() + RESTS * (monotonic() - began), tables
        return tables
