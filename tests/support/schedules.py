"""Follow a schedule with results that a test gives, instead of playing its matches."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence

from harness.core.plan import Outcome
from harness.core.records import GameRecord, MatchSpec
from harness.runs.scheduler import Schedule


def follow(
    schedule: Schedule, results: Callable[[list[MatchSpec]], Sequence[GameRecord] | None]
) -> Generator[list[MatchSpec], None, dict[str, Outcome]]:
    """Yield the matches of any plan, list by list; `results` is called for the records of each list after it.

    The generator returns the outcome of each game; {} if `results` returned None.
    """
    scheduler = schedule.scheduler()
    while specs := scheduler.next_matches():
        yield specs
        records = results(specs)
        if records is None:
            return {}
        assert [spec.id for spec in specs] == [record.id for record in records], "records are in schedule order"
        for record in records:
            scheduler.add_result(record)
    return scheduler.outcome()
