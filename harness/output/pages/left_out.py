"""Bots whose matches a page leaves out: they cheated, or should not have been there."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from harness.core.errors import UnknownName
from harness.core.types import GameRecord
from harness.output.display_names import short
from harness.runs.store import RunFolder


def check_left_out(runs: Sequence[RunFolder], names: Iterable[str]) -> None:
    """Raises UnknownName for a bot that is in none of these runs."""
    entered = {entrant.name for run in runs for entrant in run.info.entrants}
    for name in names:
        if name not in entered:
            raise UnknownName("bot of this run" if len(runs) == 1 else "bot of these runs", name, entered)


def left_out_of(run: RunFolder, names: Iterable[str]) -> tuple[str, ...]:
    """Those of these bots that are in the run."""
    entered = {entrant.name for entrant in run.info.entrants}
    return tuple(name for name in dict.fromkeys(names) if name in entered)


def without_bots(names: Sequence[str]) -> Callable[[GameRecord], bool]:
    """Whether a match is one in which none of these bots played."""
    gone = frozenset(names)
    return lambda record: gone.isdisjoint(record.seats)


def left_out_sentence(names: Sequence[str], matches: int, left_out: int) -> str:
    """What a reader must know of a page that leaves matches out."""
    named = ", ".join(short(name, 30) for name in names)
    return f"All matches of {named} are left out: {left_out:,} of {matches + left_out:,}."
