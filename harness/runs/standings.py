"""The leaderboards of a run: what its plan says about how results decided what was played, and its records."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from harness.core.plan import LEAGUE, SEVERAL, Plan, RunningClaims
from harness.core.records import GameRecord
from harness.plugins.features import FORMATS
from harness.ratings.anytime import AnytimeClaims
from harness.ratings.leaderboard import CACHED_FIELDS, Leaderboard, RatingSet
from harness.ratings.trueskill import by_game, in_schedule_order
from harness.runs.index import feed, ordered_results
from harness.runs.store import RunFolder


def boards_of(
    run: RunFolder,
    records: Iterable[GameRecord] | None = None,
    by: Callable[[GameRecord], str] = by_game,
    shares: Mapping[str, Sequence[float]] | None = None,
    *,
    chosen: Callable[[GameRecord], bool] | None = None,
    whole: bool | None = None,
) -> list[Leaderboard]:
    """The leaderboards of a run: one for each game, or for what else `by` tells apart; of some of its `records` only,
    if given, or of those that are `chosen`. `shares` has what counts in each match, by its id, in place of the shares
    finished ahead of. `whole`: the records given are all of those games."""
    rating_set = rating_set_of(run.info.plan, by, whole=records is None if whole is None else whole)
    if by is by_game and rating_set.cacheable and records is None and shares is None and chosen is None:
        feed(run, RatedRun(rating_set))
        return rating_set.boards()
    ordered = ordered_results(run) if records is None else _in_order(run.info.plan, records)
    for record in ordered if chosen is None else filter(chosen, ordered):
        rating_set.add(record, shares[record.id] if shares else None)
    return rating_set.boards()


def _in_order(plan: Plan, records: Iterable[GameRecord]) -> Iterable[GameRecord]:
    if not plan.before:
        return in_schedule_order(records)
    from harness.runs.index import rated_order

    return rated_order(plan, records)


class RatedRun:
    """The ratings of a whole run by its games, to be remembered."""

    name, known = "ratings", CACHED_FIELDS

    def __init__(self, rating_set: RatingSet, rate: bool = True) -> None:
        """Without `rate` somebody else sees to it that matches are rated."""
        self.add: Callable[[GameRecord], None] = rating_set.add if rate else lambda _record: None
        self.state, self.restore = rating_set.state, rating_set.restore


def rating_set_of(plan: Plan, by: Callable[[GameRecord], str] = by_game, *, whole: bool = True) -> RatingSet:
    """An empty set of ratings for the records of a run with this plan: `whole` if it will get all of them."""
    design = plan.design
    if design != "anytime":
        return RatingSet(by, seated=design == "seated")
    return RatingSet(by, anytime=_anytime(plan) if whole and by is by_game and plan.format != SEVERAL else {})


def _anytime(plan: Plan) -> Mapping[str, RunningClaims]:
    """What tests the claims of each game while it goes on; of the many bots of a league nothing is claimed."""
    if plan.format == LEAGUE.name:
        return {}
    form = FORMATS.get(plan.format)
    test = AnytimeClaims.for_plan if form is None or form.claims is None else form.claims
    return {game.name: test(game, plan) for game in plan.games}
