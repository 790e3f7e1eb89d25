"""The leaderboards of a run: what its plan says about how results decided what was played, and its records."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from harness.core.format import Plan
from harness.core.types import GameRecord
from harness.ratings import Leaderboard, RatingSet, by_game, in_schedule_order
from harness.ratings.rating_set import RunningClaims
from harness.runs.store import RunFolder


def boards_of(
    run: RunFolder, records: Iterable[GameRecord] | None = None, by: Callable[[GameRecord], str] = by_game
) -> list[Leaderboard]:
    """The leaderboards of a run: one for each game, or for what else `by` tells apart; of some of its `records` only,
    if given."""
    rating_set = rating_set_of(run.info.plan, by, whole=records is None)
    for record in in_schedule_order(run.records() if records is None else records):
        rating_set.add(record)
    return rating_set.boards()


def rating_set_of(plan: Plan, by: Callable[[GameRecord], str] = by_game, *, whole: bool = True) -> RatingSet:
    """An empty set of ratings for the records of a run with this plan: `whole` if it will get all of them."""
    design = plan.claims_allow_for
    if design != "anytime":
        return RatingSet(by, seated=design == "seated")
    return RatingSet(by, anytime=_anytime(plan) if whole and by is by_game else {})


def _anytime(_plan: Plan) -> Mapping[str, RunningClaims]:
    """What tests the claims of each game while it goes on."""
    return {}
