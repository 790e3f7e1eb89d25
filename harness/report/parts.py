"""Parts shared by several pages: leaderboards, outcomes, scripts, templates."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from hashlib import sha256
from importlib import resources
from typing import TYPE_CHECKING

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from harness._version import VERSION
from harness.core.errors import LINES, printable
from harness.core.plan import BracketEntry, BracketRound, Outcome
from harness.core.table import Column, Table
from harness.output.columns import ScoreText, duration
from harness.output.leaderboard import leaderboard_table
from harness.output.outcome import FINAL, BracketPlaces, bracket_table, is_tree
from harness.output.tables import QUIET, as_text, escape_json, file_name, short
from harness.plugins.entrants import BotInfo
from harness.ratings.leaderboard import Leaderboard
from harness.report.picks import closeness

if TYPE_CHECKING:
    from harness.report.charts import Chart


# Leaderboards and similar tables on a page, with the values they are sorted by.


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell of a leaderboard: its text, its sort key and its CSS classes."""

    text: str
    key: str
    kind: str
    link: bool = False
    """Whether it has the name of the bot, which is linked to the bot's page."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A line of a leaderboard."""

    bot: str
    cells: list[Cell]


@dataclass(frozen=True, slots=True)
class BoardPart:
    """A leaderboard on a page."""

    title: str
    headers: Sequence[tuple[str, str]]
    """Each header with its CSS classes."""
    lines: list[Entry]
    summary: Sequence[str]
    notes: Sequence[str]
    charts: Sequence[Chart] = ()


def board_part(
    board: Leaderboard,
    drawn: Sequence[Chart] = (),
    score_text: ScoreText | None = None,
    entrants: Sequence[BotInfo] = (),
) -> BoardPart:
    """Return a leaderboard for a page."""
    return table_part(leaderboard_table(board, score_text=score_text, entrants=entrants), drawn)


def table_part(table: Table, drawn: Sequence[Chart] = ()) -> BoardPart:
    """Return a table for a page; it must have a column "bot"."""
    shown = as_text(table)
    columns = shown.columns
    lines = []
    for row, cells in zip(table.rows, shown.cells, strict=True):
        texts = [str(cell) for cell in cells]
        keys = [row.get(column.sort_by or column.name, text) for column, text in zip(columns, texts, strict=True)]
        found = [
            Cell(text, "" if key is None else str(key), _classes(column, text), column.name == "bot")
            for column, text, key in zip(columns, texts, keys, strict=True)
        ]
        lines.append(Entry(str(row["bot"]), found))
    legend = " ".join([*(column.legend for column in columns if column.legend), table.legend]).strip()
    titles = [(column.name.upper() if column.alarm else column.name, _classes(column)) for column in columns]
    return BoardPart(table.title, titles, lines, table.summary, [*table.notes, legend], drawn)


def _classes(column: Column, text: str = "") -> str:
    """Return the CSS classes of a cell, or of a header."""
    classes = (
        ("word", column.kind == "text"),
        ("bot", column.name == "bot"),
        ("alarm", column.alarm and text not in QUIET),
    )
    return " ".join(name for name, fits in classes if fits)


# The result of a format on a page: its tables, and its bracket as a grid.


@dataclass(frozen=True, slots=True)
class Placed:
    """An item in the grid of a bracket: rows and columns count from 1, and row 1 is the header."""

    kind: str
    """The CSS class: name, entry, line (along a row), joint (across several rows), in or out."""
    row: int
    column: int
    rows: int = 1
    entry: BracketEntry | None = None
    points: str = ""
    text: str = ""


@dataclass(frozen=True, slots=True)
class BracketPart:
    """A bracket on a page: a tree in a grid, or a column for each round if several bots of a table advance."""

    rounds: Sequence[BracketRound]
    columns: int
    """Columns of the grid; 0 if the bracket is not a tree."""
    rows: int
    placed: Sequence[Placed]
    numbers: Table


@dataclass(frozen=True, slots=True)
class OutcomePart:
    """The format's result for one game on a page."""

    title: str
    tables: Sequence[Table]
    bracket: BracketPart | None
    sentences: Sequence[str]
    legends: Sequence[str]
    notes: Sequence[str]
    """How ties were broken."""


def outcome_parts(outcomes: Mapping[str, Outcome]) -> dict[str, OutcomePart]:
    """Return the part of each game whose outcome is not empty."""
    return {game: _part(game, one) for game, one in outcomes.items() if one.has_results or one.open or one.note}


def _part(game: str, outcome: Outcome) -> OutcomePart:
    still_open = f"Still open: {outcome.open}" if outcome.open else ""
    return OutcomePart(
        game,
        list(map(as_text, outcome.tables)),
        _bracket(game, outcome.bracket) if outcome.bracket else None,
        [text for text in (outcome.note, still_open) if text],
        list(dict.fromkeys(table.legend for table in outcome.tables if table.legend)),
        [f"{each.name}: {note}" for each in outcome.bracket for note in each.notes],
    )


def _bracket(game: str, rounds: Sequence[BracketRound]) -> BracketPart:
    numbers = as_text(bracket_table(game, rounds))
    if not is_tree(rounds):
        return BracketPart(rounds, 0, 0, [], numbers)
    places = BracketPlaces(rounds)
    placed: list[Placed] = []
    for number, each in enumerate(rounds):
        column = 2 * number + 1
        placed.append(Placed("name", 1, column, text=each.name))
        for at, table in enumerate(each.tables):
            for entry in table:
                row = places.rows[number][entry.bot] + 2
                placed.append(Placed("entry", row, column, entry=entry, points=_points(entry, each)))
            placed += _joints(places, (number, at), column + 1)
            placed += _winner(places, number, at, column + 2) if number == len(rounds) - 1 else []
        for bot in each.byes:
            row = places.rows[number][bot] + 2
            placed.append(Placed("entry", row, column, entry=BracketEntry(bot, 0.0, True), points="bye"))
            placed.append(Placed("line", row, column + 1))
    return BracketPart(rounds, 2 * len(rounds) + 1, places.next_row, placed, numbers)


def _joints(places: BracketPlaces, node: tuple[int, int], column: int) -> list[Placed]:
    rows, out = places.rows_of(node), places.row_of(node)
    joints = [Placed("joint", rows[0] + 2, column, rows[-1] - rows[0] + 1)]
    joints += [Placed("in", row + 2, column) for row in rows[1:-1]]
    return [*joints, Placed("out", out + 2, column)]


def _winner(places: BracketPlaces, number: int, table: int, column: int) -> list[Placed]:
    row = places.row_of((number, table)) + 2
    won = [entry for entry in places.rounds[number].tables[table] if entry.through]
    if not won:
        return [Placed("entry", row, column, text="?")]
    header = [Placed("name", 1, column, text="winner")] if places.rounds[number].name == FINAL else []
    return [*header, Placed("entry", row, column, entry=won[0])]


def _points(entry: BracketEntry, each: BracketRound) -> str:
    return f"{entry.points:g}" if each.most or entry.points else ""


# Page templates. Names of bots are untrusted: everything is escaped, and only Arena's scripts may run.


@dataclass(frozen=True, slots=True)
class Script:
    """The script of a page, and the source expression that allows it in the Content-Security-Policy."""

    text: Markup
    allowed: Markup


@cache
def asset(name: str) -> str:
    """Return the text of a file in assets/."""
    return (resources.files("harness.report") / "assets" / name).read_text(encoding="utf-8")


def script(*sources: str) -> Script:
    """Return one script made of these sources. The policy contains its digest, so no other script runs in the page."""
    # Each source is a block, so their names do not collide; names meant for all of them are global.
    # "</script>" inside a string would end the script element.
    text = "\n".join(sources).replace("</", "<\\/")
    if not text:
        return Script(Markup(), Markup("'none'"))
    digest = base64.b64encode(sha256(text.encode()).digest()).decode()
    return Script(_trusted(text), _trusted(f"'sha256-{digest}'"))


def _json_block(text: str) -> Markup:
    """Return JSON for a script element: escaped so that it cannot end the element."""
    return _trusted(escape_json(text.encode()).decode().replace("<", "\\u003c"))


def _trusted(text: str) -> Markup:
    """Return text marked as safe HTML; use it only for charts, styles and scripts that Arena generated."""
    return Markup(text)  # noqa: S704 - the only place where text is marked as safe


BRIEF = ("place", "bot", "skill", "chance", "FAULTS")
"""Columns of a leaderboard that a narrow screen shows; the others are behind a tap."""
EXTRA = ("time", "mean rank", "sigma", "cautious")
"""Columns that are behind a tap on any screen."""
STYLES = ("style.css", "outcome.css", "viewer.css")


@cache
def page_environment(*packages: str) -> Environment:
    """Return the Jinja environment for the templates of this package and of other `packages`, which come first."""
    from harness.report.faces import face_svg  # it reads its parts with `asset`

    environment = Environment(
        loader=ChoiceLoader([PackageLoader(name, "assets") for name in (*packages, "harness.report")]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        # Called with every value before it is escaped: no template needs to remember it.
        finalize=lambda value: type(value)(printable(value, keep=LINES)) if isinstance(value, str) else value,
    )
    environment.filters |= {
        "short": short, "trusted": _trusted, "duration": duration, "closeness": closeness, "day": day, "moment": moment,
        "json_block": _json_block,
    }  # fmt: skip
    environment.globals |= {
        "face": lambda bot: _trusted(face_svg(bot)), "bot_file": file_name, "brief": BRIEF, "extra": EXTRA,
    }  # fmt: skip
    return environment


def moment(time: str) -> str:
    """Return the day and the time of day, of a time of run.json; empty if it is invalid."""
    return f"{day(time)}, {datetime.fromisoformat(time).astimezone(UTC):%H:%M} UTC" if day(time) else ""


def day(time: str) -> str:
    """Return the day of a time of run.json; empty if it is invalid, because the file may have been edited."""
    try:
        found = datetime.fromisoformat(time)
    except ValueError:
        return ""
    found = (found if found.tzinfo else found.replace(tzinfo=UTC)).astimezone(UTC)
    return f"{found.day} {found:%B %Y}"


def fill(template: str, page_script: Script, **values: object) -> str:
    """Return the page rendered from a template with these values; style and script are part of it."""
    page = page_environment().get_template(template)
    style = "\n".join(map(asset, STYLES))
    return page.render(style=_trusted(style), script=page_script, version=VERSION, **values)
