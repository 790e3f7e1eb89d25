"""The results of a run in the order of its schedule, in little memory whatever the order of its file."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING

from harness.ratings.ratings import placed_twice
from harness.runs.match_result import MatchResult
from harness.runs.store import GAMES, RunFolder

if TYPE_CHECKING:
    from hashlib import _Hash

MOST_WAITING = 10_000
"""Results that may wait for earlier ones. Workers leave a few; where more wait a match is missing, or somebody has put
the file into another order: then it is looked through for the places of all."""


@dataclass(slots=True)
class Mark:
    """How far a run has been read in the order of its schedule."""

    due: int = 0
    """The place in the schedule of the result that comes next."""
    waiting: dict[int, MatchResult] = field(default_factory=dict)
    """Those that were read and come later, by their places."""
    lines: int = 0
    """Lines of the file that were read, and their bytes."""
    size: int = 0
    hashed: _Hash | None = None
    """Takes in what is read, if anybody wants to know."""


def ordered_results(
    run: RunFolder, mark: Mark | None = None, at_end: Callable[[Mark], None] = lambda _mark: None
) -> Iterator[MatchResult]:
    """All results of a run as they are rated: in the order of the schedule, not in that in which matches ended; from a
    mark on, if one is given. `at_end` is called when the file is at its end, before those that wait for nothing. Runs
    that have an order of their own come in that, from their beginning."""
    if (run.merged or run.info.plan.before) and (own := run.ordered()) is not None:
        yield from own
        return
    mark = mark or Mark()
    waiting, due, read, hashed = mark.waiting, mark.due, run.read_result, mark.hashed
    number, size = mark.lines, mark.size
    for number, line in run.lines(mark.lines, mark.size):
        result = read(number, line)
        size += len(line) + 1
        if hashed is not None:
            hashed.update(line)
            hashed.update(b"\n")
        index = result.index
        if index == due:
            yield result
            due += 1
            while waiting and due in waiting:
                yield waiting.pop(due)
                due += 1
            continue
        if index < due or index in waiting:
            raise placed_twice(result)
        waiting[index] = result
        if len(waiting) > MOST_WAITING:
            waiting.clear()
            yield from _by_place(run, due)
            return
    mark.due, mark.lines, mark.size = due, number, size
    at_end(mark)
    for index in sorted(waiting):
        yield waiting[index]


def _by_place(run: RunFolder, due: int) -> Iterator[MatchResult]:
    """The results from a place of the schedule on, read where they stand in the file."""
    places, starts = array("q"), array("q", [0])
    for _, index, line in run.places():
        places.append(index)
        starts.append(starts[-1] + len(line) + 1)
    numbers = range(len(places))
    in_order = all(one < other for one, other in pairwise(places))
    order = numbers if in_order else sorted(numbers, key=places.__getitem__)
    last = -1
    with (run.folder / GAMES).open("rb") as file:
        for number in order:
            twice, last = places[number] == last, places[number]
            if last < due and not twice:
                continue
            file.seek(starts[number])
            result = run.read_result(number + 1, file.readline()[:-1])
            if twice:
                raise placed_twice(result)
            yield result
