"""Checks what people read of a run: a leaderboard is a function of the records, so it is made again and compared."""

from __future__ import annotations

import re
from contextlib import suppress
from itertools import zip_longest

from harness.core.errors import StoreError
from harness.output.tables import leaderboard_files, leaderboard_table
from harness.ratings import leaderboards, rate_records
from harness.runs.store import RunFolder

CLOSE = 1e-6
"""By how much of itself a number may differ: another machine's arithmetic is not the same to the last digit."""
_WORD = re.compile(r"""[^\s|,"]+""")
_NUMBER = re.compile(r"[-+±]?\d+(\.\d+)?(e[-+]?\d+)?%?")


def unfit_tables(run: RunFolder) -> list[str]:
    """A sentence for each leaderboard beside the records that is not theirs. One that is not there is no harm."""
    try:
        tables = [leaderboard_table(board) for board in leaderboards(rate_records(run.records()))]
    except StoreError:
        return []  # what is wrong with the records is told elsewhere
    found = []
    for name, rebuilt in leaderboard_files(tables).items():
        with suppress(FileNotFoundError):
            there = (run.folder / name).read_bytes()
            if there != rebuilt and not _alike(there.decode(errors="replace"), rebuilt.decode()):
                found.append(
                    f"{run.folder / name} is not what the records give; arena leaderboard {run.folder} shows what is."
                )
    return found


def _alike(one: str, other: str) -> bool:
    """Whether two texts have the same words, and numbers that differ only by how they were rounded."""
    return all(
        left == right or (left is not None and right is not None and _close(left, right))
        for left, right in zip_longest(_WORD.findall(one), _WORD.findall(other))
    )


def _close(one: str, other: str) -> bool:
    """Whole numbers are the same or not; others may differ by one in the last digit that is shown."""
    if not (_NUMBER.fullmatch(one) and _NUMBER.fullmatch(other)):
        return False
    is_share = one.endswith("%") and other.endswith("%")
    left, right = (text.strip("±%") for text in (one, other))
    if not is_share and not ("." in left and "." in right):
        return False
    last_digit = 10.0 ** -len(left.partition(".")[2].partition("e")[0])
    return abs(float(left) - float(right)) <= max(last_digit * 1.01, CLOSE * abs(float(left)))
