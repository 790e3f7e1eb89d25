"""A schedule without playing: results are made up, so that an adaptive format can be looked at in advance."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from harness.chance import Chance
from harness.schedule.driver import is_adaptive, matches, rounds
from harness.schedule.plan import Plan
from harness.schedule.pretence import made_up
from harness.types import MatchSpec


def rehearse(plan: Plan, strengths: Mapping[str, float] | None = None) -> Iterator[MatchSpec]:
    """A schedule that the plan may lead to: the schedule itself if results do not matter.

    Bots are as strong as `strengths` says, in spreads of their performance in one match; all alike if left out.
    A ladder of bots that are all alike may go on for long: take as much of it as you need.
    """
    if not is_adaptive(plan):
        yield from matches(plan)
        return
    luck, known = Chance(plan.seed), strengths or {}
    going = rounds(plan)
    specs = next(going)
    while True:
        yield from specs
        try:
            specs = going.send([made_up(spec, known, luck) for spec in specs])
        except StopIteration:
            return
