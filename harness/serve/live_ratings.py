"""The standings of a run that goes on, kept up with match by match."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from copy import deepcopy

from harness.core.errors import ArenaError
from harness.core.format import Outcome, Plan, ResultTracker
from harness.core.types import GameRecord
from harness.ratings import Leaderboard
from harness.runs.boards import rating_set_of
from harness.schedule import Schedule
from harness.schedule.schedule import blaming

MOST_WAITING, LEFT_WAITING = 1000, 250
"""Matches that may wait for earlier ones, and how many are left waiting when there are more: the earlier ones may never
come, for a league leaves places empty."""


class LiveRatings:
    """Ratings of all matches so far, and what the format says of them: the same as if all records were read again.

    Matches end out of order and are rated in the order of the schedule. Those that have no gap before them are rated
    once; the few that come later are rated on a copy, whenever somebody wants to know.
    """

    def __init__(self, plan: Plan, schedule: Schedule | None, reached: Callable[[GameRecord], None]) -> None:
        """Without a schedule the format is not installed here, and says nothing. `reached` is told of each match in the
        order of the schedule, as long as there is no gap before it."""
        self._rated, self._reached = rating_set_of(plan), reached
        self._schedule, self._trackers = schedule, dict[str, ResultTracker]()
        self._due, self._waiting = 0, dict[int, GameRecord]()
        self._passed = False
        """Whether a gap was given up."""
        self.late = False
        """Whether a match was rated after later ones: whoever wants it exactly reads all records again."""
        self.trouble = ""
        """What is wrong with the format, which then says nothing."""
        track = schedule.format.track if schedule else None
        if schedule and track:
            try:
                with blaming(schedule.format):
                    self._trackers = {game.name: track(game, schedule.plan) for game in schedule.plan.games}
            except ArenaError as error:
                self.trouble = str(error)

    def add(self, record: GameRecord) -> bool:
        """Takes in a match; False if the place that it has in the schedule is another one's."""
        if record.index in self._waiting or (record.index < self._due and not self._passed):
            return False
        if record.index < self._due:
            self.late = True
            self._rate(record)
            return True
        self._waiting[record.index] = record
        self._go_on()
        return True

    def give_up_gaps(self) -> None:
        """Where too many wait for a match that may never come, rates them without it: everything has been read."""
        if len(self._waiting) > MOST_WAITING:
            self._passed = True
            for index in sorted(self._waiting)[:-LEFT_WAITING]:
                self._rate(self._waiting.pop(index))
                self._due = index + 1
            self._go_on()

    def _go_on(self) -> None:
        while self._due in self._waiting:
            self._rate(self._waiting.pop(self._due))
            self._due += 1

    def _rate(self, record: GameRecord) -> None:
        self._rated.add(record)
        self._track(record, self._trackers)
        if not self._passed:
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
        if not self._waiting:
            return self._rated.boards(), self._outcomes(self._trackers)
        rated, trackers = deepcopy(self._rated), dict[str, ResultTracker]()
        for name, tracker in self._trackers.items():
            with suppress(Exception):  # a plugin's may be nothing that can be copied: then it says what it knows so far
                trackers[name] = deepcopy(tracker)
        for _, record in sorted(self._waiting.items()):
            rated.add(record)
            self._track(record, trackers)
        return rated.boards(), self._outcomes({**self._trackers, **trackers})

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
