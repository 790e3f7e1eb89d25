"""The standings of a run that goes on, kept up with match by match."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import deepcopy

from harness.core.errors import ArenaError
from harness.core.format import Outcome, Plan, ResultTracker
from harness.core.types import GameRecord
from harness.ratings import Leaderboard
from harness.runs.boards import rating_set_of
from harness.schedule import Schedule
from harness.schedule.schedule import blaming


class LiveRatings:
    """Ratings of all matches so far, and what the format says of them: the same as if all records were read again.

    Matches end out of order and are rated in the order of the schedule. Those that have no gap before them are rated
    once; the few that come later are rated on a copy, whenever somebody wants to know.
    """

    def __init__(self, plan: Plan, schedule: Schedule | None, reached: Callable[[GameRecord], None]) -> None:
        """Without a schedule the format is not installed here, and says nothing. `reached` is told of each match in the
        order of the schedule, once there is no gap before it."""
        self._rated, self._reached = rating_set_of(plan), reached
        self._schedule, self._trackers = schedule, dict[str, ResultTracker]()
        self._due, self._waiting = 0, dict[int, GameRecord]()
        self.trouble = ""
        """What is wrong with the format, which then says nothing."""
        track = schedule.format.track if schedule else None
        if schedule and track:
            with blaming(schedule.format):
                self._trackers = {game.name: track(game, schedule.plan) for game in schedule.plan.games}

    def add(self, record: GameRecord) -> bool:
        """Takes in a match; False if the place that it has in the schedule is another one's."""
        if record.index < self._due or record.index in self._waiting:
            return False
        self._waiting[record.index] = record
        while self._due in self._waiting:
            self._rate(self._waiting.pop(self._due))
            self._due += 1
        return True

    def _rate(self, record: GameRecord) -> None:
        self._rated.add(record)
        self._track(record, self._trackers)
        self._reached(record)

    def _track(self, record: GameRecord, trackers: dict[str, ResultTracker]) -> None:
        if self._schedule and record.game in trackers:
            try:
                with blaming(self._schedule.format):
                    trackers[record.game].add(record)
            except ArenaError as error:  # ratings need no format
                self.trouble = str(error)
                del trackers[record.game]

    def standings(self) -> tuple[list[Leaderboard], Mapping[str, Outcome]]:
        """The leaderboard of each game, and what the format says of it."""
        rated, trackers = self._rated, self._trackers
        if self._waiting:
            rated, trackers = deepcopy((rated, trackers))
            for _, record in sorted(self._waiting.items()):
                rated.add(record)
                self._track(record, trackers)
        return rated.boards(), self._outcomes(trackers)

    def _outcomes(self, trackers: Mapping[str, ResultTracker]) -> Mapping[str, Outcome]:
        found: dict[str, Outcome] = {}
        for name, tracker in trackers.items():
            assert self._schedule is not None, "there are no trackers without it"
            try:
                with blaming(self._schedule.format):
                    found[name] = tracker.outcome()
            except ArenaError as error:
                self.trouble = str(error)
        return found
