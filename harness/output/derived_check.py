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
from harness.runs.store import RunFolder


def unfit_tables(run: RunFolder, formats: Mapping[str, Format]) -> list[str]:
    """A sentence for each table beside the records that is not theirs, to the byte: numbers are rounded when they
    are written, and added up in the order of the schedule. One that is not there is no harm."""
    try:
        boards = boards_of(run)
    except StoreError:
        return []  # what is wrong with the records is told elsewhere
    other = run.info.arena != VERSION
    why = f" (or arena {shown(run.info.arena)} wrote it otherwise than {VERSION} does)" if other else ""
    found = []
    for name, rebuilt in {**leaderboard_files(boards), **_outcome(run, formats)}.items():
        try:
            there = digest_of_file(run.folder / name)
        except StoreError as error:
            found.append(str(error))
            continue
        if there not in ("", f"sha256:{sha256(rebuilt).hexdigest()}"):
            what = f"is not what the records give{why}"
            show = " --show format" if name in outcome_files.FILES else ""
            found.append(f"{run.folder / name} {what}; arena leaderboard {run.folder}{show} shows what is.")
    return found


def _outcome(run: RunFolder, formats: Mapping[str, Format]) -> dict[str, bytes]:
    """What the files of the format's own result should hold, if there are any: to follow a format again takes time."""
    if not any((run.folder / name).exists() for name in outcome_files.FILES):
        return {}
    try:
        files = outcome_files.outcome_files(outcome_files.results_of(run, formats))
    except ArenaError:  # the records lead a format nowhere: they are told elsewhere
        return {}
    return dict.fromkeys(outcome_files.FILES, b"") | files
