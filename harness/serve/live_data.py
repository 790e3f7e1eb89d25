"""The messages sent to the live page, as JSON fields and HTML."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from harness.core.files import Folder
from harness.core.game import Game
from harness.core.plan import Outcome
from harness.core.records import GameRecord
from harness.core.table import Table
from harness.match.faults import cause_of
from harness.output.columns import Fields, about, rate
from harness.output.leaderboard import leaderboard_table, overall_tables
from harness.output.outcome import FormatResults
from harness.output.tables import as_text
from harness.plugins.entrants import BotInfo
from harness.ratings.leaderboard import Leaderboard
from harness.report.parts import board_part, outcome_parts, page_environment, table_part
from harness.runs.monitor import FaultGroups, RunMonitor, Workload
from harness.runs.scheduler import Schedule
from harness.runs.store import LOCK, MAX_LOCK_BYTES, RunFolder

# Fields are listed one by one, so that nothing private is sent by accident: no seeds, no source lines of bots, no
# paths, no commands.


TEMPLATES = "harness.serve.cli"
HIDDEN_DEAL = "some matches of its deal are still to be played: until then its cards are hidden"
"""Reason sent when a match cannot be watched yet."""
_FOLDERS = re.compile(r"[^\s'\"(]*[/\\]")

Games = Mapping[str, Game[Any]]


def json_line(value: object) -> bytes:
    """Return a value as one line of JSON; raise ValueError for NaN and infinity, which browsers cannot parse."""
    return json.dumps(value, separators=(",", ":"), allow_nan=False).encode()


def without_folders(text: str) -> str:
    """Return the text with file names instead of paths."""
    return _FOLDERS.sub("", text)


def match_fields(number: int, record: GameRecord, games: Games, secret: bool) -> Fields:
    """Return a match: its bots and scores, how it ended, and whether it can be watched.

    `number` is the line of its record; a `secret` match cannot be watched, because its deal is still in use.
    """
    game = games.get(record.game)
    score_text = game.score_text if game else str
    return {
        "number": number,
        "match": record.id,
        "game": record.game,
        "seats": [
            {"bot": bot, "score": score, "told": score_text(score), "rank": rank}
            for bot, score, rank in zip(record.seats, record.scores, record.ranks, strict=True)
        ],
        "ending": record.ending,
        "decisions": sum(record.decisions),
        "seconds": round(sum(record.time), 3),
        "faults": [
            {
                "bot": record.seats[fault.seat],
                "seat": fault.seat,
                "kind": fault.kind,
                "cause": without_folders(cause_of(fault)),
                "decision": fault.decision,
            }
            for fault in record.faults
        ],
        "replay": bool(game) and not secret,
        "why": HIDDEN_DEAL if secret else "" if game else f"the game {record.game} is not installed here",
    }


def faults_fields(faults: FaultGroups) -> Fields:
    """Return how often each bot failed and why, without messages: a traceback contains lines of a bot's source."""
    return {
        "faults": faults.total,
        "matches": faults.matches,
        "causes": [
            {
                "bot": group.bot,
                "game": group.game,
                "kind": group.kind,
                "cause": without_folders(group.cause),
                "count": group.count,
                "examples": [{"match": one.match, "decision": one.decision} for one in group.examples],
            }
            for group in faults.groups()
        ],
        "more": faults.more,
        "disqualified": [
            {"bot": bot, "why": without_folders(why), "lost": faults.lost[bot]}
            for bot, why in faults.disqualified.items()
        ],
    }


def standings_fields(
    boards: Sequence[Leaderboard],
    outcomes: Mapping[str, Outcome],
    format_name: str,
    entrants: Sequence[BotInfo],
    own: Iterable[Table],
) -> Fields:
    """Return the standings as data: the rows of `arena leaderboard -f json`, game by game."""
    tables = [leaderboard_table(board, entrants=entrants) for board in boards]
    return {
        "games": {table.title: table.rows for table in tables},
        "summaries": {table.title: table.summary for table in tables},
        "overall": [row for table in overall_tables(boards) for row in table.rows],
        "format": FormatResults(outcomes, format_name).fields(),
        "own": {table.title: table.rows for table in own},
    }


def standings_page(
    boards: Sequence[Leaderboard],
    outcomes: Mapping[str, Outcome],
    format_name: str,
    entrants: Sequence[BotInfo],
    games: Games,
    own: Iterable[Table],
) -> str:
    """Return the standings as HTML: the tables of the report."""
    parts = [
        board_part(board, score_text=game.score_text if (game := games.get(board.title)) else None, entrants=entrants)
        for board in boards
    ]
    parts += [table_part(table) for table in overall_tables(boards)]
    template = page_environment(TEMPLATES).get_template("standings.html")
    return template.render(
        own=list(map(as_text, own)),
        boards=parts,
        titles={"overall": "All games", **{name: game.title for name, game in games.items()}},
        outcomes=outcome_parts(outcomes),
        format_name=format_name,
        links={},
    )


# Progress of a run that another process plays, computed from its records.


ESTIMATE_INTERVAL_S = 5.0
"""Seconds between updates of an estimate above a minute; shorter estimates are updated every second."""
QUIET_AFTER_S = 30.0
"""Seconds without a result after which no estimate is shown, if they are also ten times the mean interval."""
RECENT_S = 5.0
"""A result within this many seconds, or within five mean intervals, shows that the run is being played."""


class LiveProgress(RunMonitor):
    """A run monitor for the live page. Another process plays the run, so its state is inferred."""

    def __init__(self, schedule: Schedule | None, now: float) -> None:
        """Start at the time `now`; without a schedule the number of matches is unknown."""
        super().__init__(Workload.of_schedule(schedule) if schedule else Workload(), now)
        self.seconds_read: float | None = None
        """Seconds that reading the existing records took; None while they are being read."""
        self._last_result = now
        self._left = self._rate = ""
        self._due = 0.0
        self._was_stopped = False

    def add_record(self, record: GameRecord, now: float | None = None) -> None:
        """Add a match that has ended."""
        super().add_record(record, now)
        # Until all existing records have been read, the time of reading says nothing about when a match ended.
        if self.seconds_read is not None and now is not None:
            self._last_result = now

    def catch_up(self, now: float) -> None:
        """Start measuring the rate; call it when all existing records have been read. Later calls do nothing."""
        if self.seconds_read is None:
            self.seconds_read = now - self.began
            self.start(now)

    def fields(self, run: RunFolder, now: float) -> Fields:
        """Return the progress as JSON fields; times and rates are texts."""
        state = self._state(run, now)
        playing = state == "playing"
        if playing and self._was_stopped:  # continued: as on the terminal, the pause does not count
            self._time_left.restart(now)
        self._was_stopped = state == "stopped"
        if playing and self.done > self.earlier and now >= self._due:
            self._estimate(now)
        return {
            "total": self.workload.total,
            "most": self.workload.is_maximum,
            "state": state,
            "left": self._left if playing else "",
            "rate": self._rate if playing else "",
            "round": self.round_text(),
        }

    def _state(self, run: RunFolder, now: float) -> str:
        if self.seconds_read is None:
            return "reading"
        if run.info.finished:
            return "finished"
        recent = self.done > self.earlier and now - self._last_result < max(RECENT_S, 5 * self._interval(now))
        return "playing" if recent or is_played(run.files) else "stopped"

    def _estimate(self, now: float) -> None:
        quiet = now - self._last_result > max(QUIET_AFTER_S, 10 * self._interval(now))
        seconds = None if quiet else self.seconds_left(now)
        most = "at most " if self.workload.is_maximum else ""
        self._left = "" if seconds is None else f"{most}{about(seconds)}"
        self._rate = "" if quiet or self.done < self.earlier + 2 else rate(self.rate(now))
        self._due = now + (ESTIMATE_INTERVAL_S if seconds and seconds > 60 else 1.0)

    def _interval(self, now: float) -> float:
        """Return the mean seconds between results."""
        return max(now - self.began, 1e-3) / max(1, self.done - self.earlier)


def is_played(folder: Folder) -> bool:
    """Return whether a process on this machine seems to be playing a run. Runs played on another machine are recognized
    by new records instead."""
    try:
        owner = folder.read(LOCK, MAX_LOCK_BYTES).decode("ascii")
    except (OSError, UnicodeDecodeError):
        return False
    # A killed process leaves its lock behind: signal 0 checks that the process exists, without sending anything.
    try:
        os.kill(int(owner), 0)
    except (ValueError, OverflowError, PermissionError):  # no process id, or the process of another user
        return True
    except OSError:
        return False
    return True
