"""leaderboard.md, .json and .csv: derived from the records, and written beside them."""

from __future__ import annotations

from harness.output.tables import DataTable, leaderboard_table, text_of
from harness.ratings import leaderboards, rate_records
from harness.runs.store import RunFolder, write_whole

FILES = {"md": "github", "json": "json", "csv": "csv"}
"""Ending -> table format."""


def write_leaderboard(run: RunFolder) -> list[DataTable]:
    """Rates all records and writes the leaderboard beside them; its tables, one for each game and one over all."""
    tables = [leaderboard_table(board) for board in leaderboards(rate_records(run.records()))]
    for ending, table_format in FILES.items():
        write_whole(run.folder / f"leaderboard.{ending}", text_of(tables, table_format).encode() + b"\n")
    return tables
