"""Checks what people read of a run: tables are a function of the records, so they are made again and compared."""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha256

from harness._version import VERSION
from harness.core.errors import ArenaError, StoreError
from harness.core.format import Format
from harness.output import outcome_files
from harness.output.tables import leaderboard_files
from harness.plugins.loading import shown
from harness.runs.boards import boards_of
from harness.runs.run_files import digest_of_file
from harness.runs.schedule_order import ordered_results
from harness.runs.store import RunFolder
from harness.runs.verified import Verified


def unfit_tables(run: RunFolder, formats: Mapping[str, Format], verified: Verified | None = None) -> list[str]:
    """A sentence for each table beside the records that is not theirs, to the byte: numbers are rounded when they
    are written, and added up in the order of the schedule. One that is not there is no harm. What is `verified` of the
    records need not be made again, and is remembered."""
    try:
        tables = _digests(run, formats, verified)
    except StoreError:
        return []  # what is wrong with the records is told elsewhere
    other = run.info.arena != VERSION
    why = f" (or arena {shown(run.info.arena)} wrote it otherwise than {VERSION} does)" if other else ""
    found = []
    for name, rebuilt in tables.items():
        try:
            there = digest_of_file(run.folder / name)
        except StoreError as error:
            found.append(str(error))
            continue
        if there not in ("", rebuilt):
            what = f"is not what the records give{why}"
            show = " --show format" if name in outcome_files.FILES else ""
            found.append(f"{run.folder / name} {what}; arena leaderboard {run.folder}{show} shows what is.")
    return found


def _digests(run: RunFolder, formats: Mapping[str, Format], verified: Verified | None) -> dict[str, str]:
    """The digests of the tables that the records give, by their names."""
    known = verified.tables if verified else None
    if known is not None and not any((run.folder / name).exists() for name in outcome_files.FILES if name not in known):
        return known
    files = {
        **leaderboard_files(boards_of(run, ordered_results(run), whole=True), run.info.entrants),
        **_outcome(run, formats),
    }
    tables = {name: f"sha256:{sha256(data).hexdigest()}" for name, data in files.items()}
    if verified:
        verified.keep(tables)
    return tables


def _outcome(run: RunFolder, formats: Mapping[str, Format]) -> dict[str, bytes]:
    """What the files of the format's own result should hold, if there are any: to follow a format again takes time."""
    if not any((run.folder / name).exists() for name in outcome_files.FILES):
        return {}
    try:
        files = outcome_files.outcome_files(outcome_files.results_of(run, formats))
    except ArenaError:  # the records lead a format nowhere: they are told elsewhere
        return {}
    return dict.fromkeys(outcome_files.FILES, b"") | files
