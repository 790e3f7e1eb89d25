"""One run as one self-contained page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from harness.core.errors import UnknownName
from harness.core.game import Game
from harness.core.types import GameRecord
from harness.output.columns import COLUMNS
from harness.output.pages.charts import charts
from harness.output.pages.display_names import short
from harness.output.pages.facts import Facts, gather
from harness.output.pages.figure import Chart
from harness.output.pages.markup import Script, asset, fill, script
from harness.output.pages.scenes import ASKED, Scene, scenes
from harness.output.tables import leaderboard_table
from harness.ratings import Leaderboard
from harness.runs.store import RunFolder

Games = Mapping[str, Game[Any]]


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell of a leaderboard: what is read, and what it is sorted by."""

    text: str
    key: str
    word: bool


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of a leaderboard."""

    bot: str
    cells: list[Cell]
    group: str
    """CSS classes: where a group of equals begins, and every other group."""


@dataclass(frozen=True, slots=True)
class BoardPart:
    """One leaderboard's part of the page."""

    title: str
    headers: Sequence[str]
    words: frozenset[str]
    lines: list[Entry]
    notes: Sequence[str]
    charts: Sequence[Chart] = ()


def board_part(board: Leaderboard, drawn: Sequence[Chart] = ()) -> BoardPart:
    """A leaderboard for a page."""
    table = leaderboard_table(board)
    lines = []
    for row, cells in zip(table.rows, table.cells, strict=True):
        entries = [
            Cell(text, _key(row.get(column.sort_by or column.name)), column.word)
            for column, text in zip(COLUMNS, cells, strict=True)
        ]
        lines.append(Entry(str(row["bot"]), entries, ""))
    return BoardPart(board.title, table.headers, table.words, lines, [*table.notes, table.legend], drawn)


def _key(value: object) -> str:
    return "" if value is None else str(value)


def report(run: RunFolder, games: Games, asked: Sequence[str] = (), most: int | None = None) -> str:
    """The page of a run with the matches `asked` for and at most `most` others (all chosen ones if None)."""
    facts = gather(run.records(), run.info.plan)
    return render(run, games, facts, facts.rating_set.boards(), watched(run, games, facts, asked, most))


def render(
    run: RunFolder,
    games: Games,
    facts: Facts,
    boards: Sequence[Leaderboard],
    shown: Sequence[Scene],
    home: str = "",
    links: Mapping[str, str] | None = None,
) -> str:
    """The page of gathered facts; `links` leads from bots to their pages, `home` to the page above."""
    return fill(
        "report.html",
        _viewer(games, shown),
        run=_about(run, facts),
        warnings=[*_remarks(run, facts), *run.warnings],
        boards=[board_part(board, list(charts(board, facts))) for board in boards],
        scenes=[_Listed(scene) for scene in shown],
        shown={scene.record.id for scene in shown},
        faults=facts.faults.groups(),
        fault_counts=facts.faults,
        home=home,
        links=links or {},
    )


def watched(run: RunFolder, games: Games, facts: Facts, asked: Sequence[str], most: int | None = None) -> list[Scene]:
    """The matches of the replay viewer: those asked for, then those worth looking at."""
    picks = [pick for pick in facts.picks.chosen() if pick.match not in asked][:most]
    reasons = {**dict.fromkeys(asked, ASKED), **{pick.match: pick.reason for pick in picks}}
    if not reasons:
        return []
    found = {record.id: record for record in run.records() if record.id in reasons}
    for match in asked:
        if match not in found:
            raise UnknownName(f"match of {run.folder.name}", match, [pick.match for pick in facts.picks.chosen()])
    return scenes(games, [(found[match], reason) for match, reason in reasons.items()])


class _Listed:
    """A scene as the list of matches names it."""

    def __init__(self, scene: Scene) -> None:
        self.record, self.reason = scene.record, scene.reason
        self.packed, self.trouble = scene.packed, scene.trouble
        self.result = _result(scene.record)


def _result(record: GameRecord) -> str:
    order = sorted(range(len(record.seats)), key=lambda seat: (record.ranks[seat], seat))
    return ", ".join(f"{short(record.seats[seat])} {record.scores[seat]}" for seat in order)


def _viewer(games: Games, shown: Sequence[Scene]) -> Script:
    if not shown:
        return script(asset("page.js"))
    played = {scene.record.game for scene in shown if scene.packed}
    boards = [f"{{\n{games[name].viewer_script()}\n}}" for name in sorted(played)]
    return script(asset("drawing.js"), *boards, asset("viewer.js"), asset("page.js"))


def _about(run: RunFolder, facts: Facts) -> dict[str, object]:
    info = run.info
    return {
        "name": run.folder.name,
        "matches": facts.matches,
        "bots": len({bot for ratings in facts.rated().values() for bot in ratings.lines}),
        "when": info.started.replace("T", " ")[:16],
        "command": info.command,
        "seed": info.plan.seed,
        "format": f"{info.plan.format}, {info.plan.deals} deals",
        "arena": info.arena,
        "games": info.plan.games,
        "limits": info.limits,
        "machine": info.machine,
        "started": info.started,
        "finished": info.finished,
        "entrants": [(entrant.name, entrant.source, entrant.version) for entrant in info.entrants],
    }


def _remarks(run: RunFolder, facts: Facts) -> list[str]:
    """What a reader should know first."""
    remarks = []
    if not facts.matches:
        remarks.append("No match has been played yet: there is nothing to rate.")
    elif facts.failed == facts.matches:
        remarks.append("A bot failed in every match: the ratings say who failed, not who plays better.")
    if facts.matches == 1:
        remarks.append("One match has been played: that is luck, not a ranking.")
    if facts.matches and all(len(ratings.lines) == 1 for ratings in facts.rated().values()):
        remarks.append("One bot has played: there is nobody to compare it with.")
    if facts.matches and not run.info.finished:
        remarks.append("The run is not finished: 'arena tournament --resume' goes on with it.")
    return remarks
