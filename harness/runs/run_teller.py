"""Tells listeners how one run goes."""

from __future__ import annotations

from msgspec.structs import replace

from harness.core.types import GameRecord
from harness.plugins.listeners import Listeners
from harness.plugins.run_events import RunStatus
from harness.runs.store import RunFolder


class RunTeller:
    """What listeners hear of a run: that it starts, each match, and that it is over."""

    def __init__(self, listeners: Listeners, run: RunFolder, planned: int | None) -> None:
        info = run.info
        self._listeners, self._run, self._told = listeners, run, False
        self._status = RunStatus(
            name=run.folder.name,
            folder=str(run.folder),
            format=info.plan.format,
            games=tuple(game.name for game in info.plan.games),
            bots=tuple(entrant.name for entrant in info.entrants),
            matches=0,
            planned=planned,
            started=info.started,
        )

    def started(self, matches: int) -> None:
        """It is played from now on, and has so many matches already."""
        self._told = True
        self._listeners.run_started(self._at(matches))

    def match(self, matches: int, record: GameRecord) -> None:
        """A match has ended, with which there are so many."""
        if not self._told:  # the run was finished, and has lost a record since
            self.started(matches - 1)
        self._listeners.match_finished(self._at(matches), record)

    def over(self, matches: int) -> None:
        """Nobody plays it any more; nothing is said if nobody did."""
        if self._told:
            self._listeners.run_finished(replace(self._at(matches), finished=self._run.info.finished))

    def _at(self, matches: int) -> RunStatus:
        return replace(self._status, matches=matches)
