"""Checks what people read of a run: a leaderboard is a function of the records, so it is made again and compared."""

from __future__ import annotations

from hashlib import sha256

from harness._version import VERSION
from harness.core.errors import StoreError
from harness.output.tables import leaderboard_files, leaderboard_table
from harness.plugins.loading import shown
from harness.runs.boards import boards_of
from harness.runs.run_files import digest_of_file
from harness.runs.store import RunFolder


def unfit_tables(run: RunFolder) -> list[str]:
    """A sentence for each leaderboard beside the records that is not theirs, to the byte: numbers are rounded when they
    are written, and added up in the order of the schedule. One that is not there is no harm."""
    try:
        tables = [leaderboard_table(board) for board in boards_of(run)]
    except StoreError:
        return []  # what is wrong with the records is told elsewhere
    other = run.info.arena != VERSION
    why = f" (or arena {shown(run.info.arena)} wrote it otherwise than {VERSION} does)" if other else ""
    found = []
    for name, rebuilt in leaderboard_files(tables).items():
        try:
            there = digest_of_file(run.folder / name)
        except StoreError as error:
            found.append(str(error))
            continue
        if there not in ("", f"sha256:{sha256(rebuilt).hexdigest()}"):
            what = f"is not what the records give{why}"
            found.append(f"{run.folder / name} {what}; arena leaderboard {run.folder} shows what is.")
    return found
