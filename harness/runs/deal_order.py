"""Results deal by deal, where the matches of one deal do not follow each other.

A late candidate of a gauntlet plays the deals of before, and several folders may hold matches of the same deals. Claims
compare deals with deals, so all matches of a deal are rated together, where its first one stands.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from operator import attrgetter
from typing import Annotated

import msgspec

from harness.core.errors import StoreError
from harness.core.format import Plan
from harness.core.types import GameRecord
from harness.ratings import in_schedule_order
from harness.ratings.ratings import placed_twice
from harness.runs.store import GAMES, UNREADABLE, RunFolder


class _DealPlace(msgspec.Struct):
    index: Annotated[int, msgspec.Meta(ge=0, le=2**50)]
    seed: int


def deals_come_again(plan: Plan) -> bool:
    """Whether deals that were over have been played again by whoever came late."""
    return bool(plan.before) and len(plan.candidates) > plan.before[0].candidates


def rated_order(plan: Plan, records: Iterable[GameRecord]) -> Iterator[GameRecord]:
    """Records of a run with this plan in the order in which they are rated."""
    if not deals_come_again(plan):
        return in_schedule_order(records)
    ordered = sorted(records, key=attrgetter("index"))
    first: dict[int, int] = {}
    for record in ordered:
        first.setdefault(record.seed, record.index)
    return iter(sorted(ordered, key=lambda record: first[record.seed]))  # which keeps the order within a deal


def lines_by_deal(runs: Sequence[RunFolder]) -> Iterator[tuple[RunFolder, int, bytes]]:
    """The lines of these folders with their numbers, deal by deal: the deal that comes first in a schedule first, and
    in each deal in the order of the schedule. Memory is needed for their places, not for themselves."""
    whose, places, deals, starts, numbers = array("l"), array("q"), array("q"), array("q"), array("q")
    known: dict[int, int] = {}
    first = array("q")
    """The place of each deal's first match in its schedule, and in which of the folders."""
    decode = msgspec.json.Decoder(_DealPlace).decode
    for folder, run in enumerate(runs):
        start = 0
        for number, line in run.lines():
            try:
                found = decode(line)
            except UNREADABLE as error:
                raise StoreError(f"{run.folder / GAMES}, line {number}, is not a record: {error}.") from error
            place = found.index * len(runs) + folder
            deal = known.setdefault(found.seed, len(first))
            if deal == len(first):
                first.append(place)
            elif place < first[deal]:
                first[deal] = place
            for into, value in ((whose, folder), (places, found.index), (deals, deal), (starts, start)):
                into.append(value)
            numbers.append(number)
            start += len(line) + 1
    del known
    order = list(range(len(places)))
    for key in (places.__getitem__, lambda at: first[deals[at]]):  # the first stays the order within what is equal
        order.sort(key=key)
    last = (-1, -1)
    with ExitStack() as stack:
        files = [stack.enter_context((run.folder / GAMES).open("rb")) for run in runs]
        for at in order:
            files[whose[at]].seek(starts[at])
            run, line = runs[whose[at]], files[whose[at]].readline()[:-1]
            if last == (last := (whose[at], places[at])):
                raise placed_twice(run.read_result(numbers[at], line))
            yield run, numbers[at], line
