"""The format of a league's eras: who meets whom is for the league to say, so a run folder alone has no schedule."""

from __future__ import annotations

from harness.core.chance import Chance
from harness.core.errors import UsageError
from harness.core.format import Format, GamePlan, Outcome, Plan, Rounds
from harness.core.types import GameRecord


def _rounds(_game: GamePlan, _plan: Plan, _luck: Chance) -> Rounds:
    raise UsageError(
        "Whom a league seats with whom is told by its journal: see arena league run, and arena league verify."
    )


class NoResult:
    """Follows the records of a league, which has no result of its own beside its table."""

    def __init__(self, _game: GamePlan, _plan: Plan) -> None:
        """There is nothing to prepare."""

    def add(self, _record: GameRecord) -> None:
        """Takes in one match."""

    def outcome(self) -> Outcome:
        """Nothing."""
        return Outcome()


LEAGUE = Format(
    "league",
    "whoever is least known, where most is learned; bots join and leave while it goes on",
    _rounds,
    lambda _game, _plan: None,
    adaptive=True,
    anytime=True,
    track=NoResult,
)
