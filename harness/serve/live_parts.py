"""What is sent of a run: chosen piece by piece, so that nothing goes out that nobody meant to send.

No seed, no source line of a bot, no path, no command: what is not named here stays here.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from harness.core.format import Outcome
from harness.core.game import Game
from harness.core.types import GameRecord
from harness.match.faults import cause_of
from harness.output.columns import Fields
from harness.output.data_table import DataTable
from harness.output.outcome_text import FormatResults
from harness.output.overall_table import overall_tables
from harness.output.pages.board_part import board_part, table_part
from harness.output.pages.markup import page_environment
from harness.output.pages.outcome_part import outcome_parts
from harness.output.tables import leaderboard_table
from harness.ratings import Leaderboard
from harness.runs.fault_groups import FaultGroups
from harness.runs.store import EntrantInfo

TEMPLATES = "harness.serve"
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
    entrants: Sequence[EntrantInfo],
    own: Iterable[DataTable],
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
    entrants: Sequence[EntrantInfo],
    games: Games,
    own: Iterable[DataTable],
) -> str:
    """The same for people: the tables of the report, as a piece of a page."""
    parts = [
        board_part(board, score_text=game.score_text if (game := games.get(board.title)) else None, entrants=entrants)
        for board in boards
    ]
    parts += [table_part(table, {}) for table in overall_tables(boards)]
    template = page_environment(TEMPLATES).get_template("standings.html")
    return template.render(
        own=list(own), boards=parts, outcomes=outcome_parts(outcomes), format_name=format_name, links={}
    )
