"""What is sent to the live page."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from harness.core.game import Game
from harness.core.plan import Outcome
from harness.core.records import GameRecord
from harness.core.table import Table
from harness.match.faults import FaultGroups, cause_of
from harness.output.columns import Fields, about, rate
from harness.output.leaderboard import leaderboard_table, overall_tables
from harness.output.outcome import FormatResults
from harness.output.progress import Outlook, TimeLeft
from harness.output.tables import as_text
from harness.plugins.entrants import BotInfo
from harness.ratings.leaderboard import Leaderboard
from harness.report.parts import board_part, outcome_parts, page_environment, table_part
from harness.runs.scheduler import Schedule
from harness.runs.store import LOCK, RunFolder

# What is sent of a run: chosen piece by piece, so that nothing goes out that nobody meant to send.
#
# No seed, no source line of a bot, no path, no command: what is not named here stays here.


TEMPLATES = "harness.serve.cli"
HIDDEN_DEAL = "some matches of its deal are still to be played: until then nobody sees its cards"
"""Why a match cannot be watched yet."""
_FOLDERS = re.compile(r"[^\s'\"(]*[/\\]")

Games = Mapping[str, Game[Any]]


def json_line(value: object) -> bytes:
    """JSON in one line."""
    return json.dumps(value, separators=(",", ":"), allow_nan=False).encode()


def without_folders(text: str) -> str:
    """A text in which files are named without the folders that they are in."""
    return _FOLDERS.sub("", text)


def match_fields(number: int, record: GameRecord, games: Games, secret: bool) -> Fields:
    """One match: who played, how it ended, and whether it can be watched. `number` is its line in the records."""
    game = games.get(record.game)
    told = game.score_text if game else str
    return {
        "number": number,
        "match": record.id,
        "game": record.game,
        "seats": [
            {"bot": bot, "score": score, "told": told(score), "rank": rank}
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
    """Who failed how often and why, without what bots said: a traceback has lines of their source in it."""
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
    """The standings for programs: the rows of `arena leaderboard -f json`, game by game."""
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
    """The same for people: the tables of the report, as a piece of a page."""
    parts = [
        board_part(board, score_text=game.score_text if (game := games.get(board.title)) else None, entrants=entrants)
        for board in boards
    ]
    parts += [table_part(table) for table in overall_tables(boards)]
    template = page_environment(TEMPLATES).get_template("standings.html")
    return template.render(
        own=list(map(as_text, own)), boards=parts, outcomes=outcome_parts(outcomes), format_name=format_name, links={}
    )


# How far a run is that another process plays, and how long it will go on, from how its results come in.


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
            self._rounds[record.game] = max(self._rounds.get(record.game, 0), record.round)
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
