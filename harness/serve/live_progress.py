"""How far a run is that another process plays, and how long it will go on, from how its results come in."""

from __future__ import annotations

import os
from pathlib import Path

from harness.core.types import GameRecord
from harness.output.columns import Fields
from harness.output.durations import about, rate
from harness.output.progress import round_of
from harness.output.time_left import Outlook, TimeLeft
from harness.runs.run_files import LOCK
from harness.runs.store import RunFolder
from harness.schedule import Schedule

TOLD_EVERY = 5.0
"""Seconds after which it is said anew how long a run will go on, also if nothing has come."""
QUIET = 30.0
"""Seconds without a result after which, if they usually come faster, nobody says how long it will go on."""
RECENT = 5.0
"""Seconds within which, or within the usual time of five results, a result proves that somebody plays."""


class LiveProgress:
    """Takes in results as they come. Those that were there at first say what matches cost, and nothing of the pace."""

    def __init__(self, schedule: Schedule | None, now: float) -> None:
        """Without a schedule nobody knows how many there will be."""
        self.outlook = Outlook.of(schedule) if schedule else Outlook()
        self._left = TimeLeft(self.outlook, now)
        self._rounds: dict[str, int] = {}
        self._began = now
        self.took: float | None = None
        """Seconds for what was there at first; None while it is being read."""
        self._watched = self._last_came = now
        self._came = 0
        self._left_told = self._rate_told = ""
        self._due = 0.0

    def add(self, record: GameRecord, now: float) -> None:
        """A match has ended."""
        self._left.add(record, now)
        if record.game in self.outlook.rounds:
            self._rounds[record.game] = max(self._rounds.get(record.game, 0), round_of(record))
        if self.took is not None:
            self._came += 1
            self._last_came = now

    def caught_up(self, now: float) -> None:
        """All that was there has been read."""
        if self.took is None:
            self.took, self._watched = now - self._began, now
            self._left.began_anew(now)

    def fields(self, run: RunFolder, now: float) -> Fields:
        """For programs, and for people in words."""
        state = self._state(run, now)
        if state == "playing" and self._came and now >= self._due:
            self._estimate(now)
        playing = state == "playing"
        return {
            "total": self.outlook.total,
            "most": self.outlook.most,
            "state": state,
            "left": self._left_told if playing else "",
            "rate": self._rate_told if playing else "",
            "round": self._round(),
        }

    def _state(self, run: RunFolder, now: float) -> str:
        if self.took is None:
            return "reading"
        if run.info.finished:
            return "finished"
        recent = self._came and now - self._last_came < max(RECENT, 5 * self._usual(now))
        return "playing" if recent or is_played(run.folder) else "stopped"

    def _estimate(self, now: float) -> None:
        quiet = now - self._last_came > max(QUIET, 10 * self._usual(now))
        seconds = None if quiet else self._left.seconds(now)
        most = "at most " if self.outlook.most else ""
        self._left_told = "" if seconds is None else f"{most}{about(seconds)}"
        self._rate_told = "" if quiet or self._came < 2 else rate(1 / self._usual(now))
        self._due = now + (TOLD_EVERY if seconds and seconds > 60 else 1.0)

    def _usual(self, now: float) -> float:
        """Seconds from one result to the next, since it watches."""
        return max(now - self._watched, 1e-3) / max(1, self._came)

    def _round(self) -> str:
        """`round 3 of 5`: of the game that is farthest behind, where results decide."""
        return self.outlook.round_text(self._rounds)


def is_played(folder: Path) -> bool:
    """Whether somebody seems to be writing to a run. A process that was killed leaves its lock behind; one on another
    machine is known by the records that come."""
    try:
        owner = (folder / LOCK).read_text(encoding="ascii")
    except (OSError, UnicodeDecodeError):
        return False
    try:
        os.kill(int(owner), 0)
    except (ValueError, PermissionError):  # nobody knows who, or it is somebody else's
        return True
    except OSError:
        return False
    return True
