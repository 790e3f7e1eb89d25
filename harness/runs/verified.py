"""That all records of a run were looked at and fit: remembered, so that a sample can be played again at once."""

from __future__ import annotations

from hashlib import sha256

from harness.runs.record_check import RecordCheck
from harness.runs.remembered import is_long, recall, remember
from harness.runs.store import RUN, RunFolder
from harness.schedule import FORMATS, Schedule

NAME = "verified"


class Verified:
    """What a check of a run found where everything fitted, as long as no byte of run.json and games.jsonl changes."""

    def __init__(self, run: RunFolder, schedule: Schedule) -> None:
        self.run = run
        self.records = self.taken = 0
        self.tables: dict[str, str] | None = None
        """The digests of the tables that the records give, by their names; None if they are not known."""
        # What a plugin's format says may change with the plugin.
        self._bundled = schedule.format is FORMATS.get(schedule.plan.format)
        self._checked: RecordCheck | None = None

    def recall(self) -> bool:
        """Whether all records are known to fit; then the fields say what was found."""
        found = recall(self.run, NAME, self._about()) if self._bundled and is_long(self.run) else None
        if found is None:
            return False
        self.records, self.taken, self.tables = found
        return True

    def take(self, check: RecordCheck) -> None:
        """All records were looked at, and fit."""
        self._checked = check

    def keep(self, tables: dict[str, str]) -> None:
        """Remembers the check, if one was made, together with the digests of the tables that the records give."""
        check = self._checked
        if check is not None and self._bundled and is_long(self.run):
            state = (check.records, check.taken, tables)
            remember(self.run, NAME, state, check.hashed.digest(), check.size, self._about())

    def _about(self) -> bytes:
        """What run.json is now."""
        return sha256((self.run.folder / RUN).read_bytes()).digest()
