"""A format's own result for a page: its tables, and its bracket with a place in a grid for everything."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from harness.core.format import Outcome
from harness.core.format_results import BracketEntry, BracketRound
from harness.output.bracket_text import FINAL, BracketPlaces, is_tree
from harness.output.outcome_text import bracket_table, data_table
from harness.output.tables import DataTable


@dataclass(frozen=True, slots=True)
class Placed:
    """Something in the grid of a bracket: rows and columns count from 1, the first row is the header's."""

    kind: str
    """name, entry, line (along a row) or joint (down several rows): the CSS class."""
    row: int
    column: int
    rows: int = 1
    entry: BracketEntry | None = None
    points: str = ""
    text: str = ""


@dataclass(frozen=True, slots=True)
class BracketPart:
    """A bracket of a page: a tree in a grid, or where more than one of a table goes on, a column for each round."""

    rounds: Sequence[BracketRound]
    columns: int
    """Of the grid; 0 if it is no tree."""
    rows: int
    placed: Sequence[Placed]
    numbers: DataTable


@dataclass(frozen=True, slots=True)
class OutcomePart:
    """One game's part of the page."""

    title: str
    tables: Sequence[DataTable]
    bracket: BracketPart | None
    sentences: Sequence[str]
    legends: Sequence[str]
    notes: Sequence[str]
    """What decided where points did not."""


def outcome_parts(outcomes: Mapping[str, Outcome]) -> dict[str, OutcomePart]:
    """The parts of all games of which there is anything to show."""
    return {game: _part(game, one) for game, one in outcomes.items() if one.has_results or one.open or one.note}


def _part(game: str, outcome: Outcome) -> OutcomePart:
    still_open = f"Still open: {outcome.open}" if outcome.open else ""
    return OutcomePart(
        game,
        [replace(data_table(game, table), title=table.title) for table in outcome.tables],
        _bracket(game, outcome.bracket) if outcome.bracket else None,
        [text for text in (outcome.note, still_open) if text],
        list(dict.fromkeys(table.legend for table in outcome.tables if table.legend)),
        [f"{each.name}: {note}" for each in outcome.bracket for note in each.notes],
    )


def _bracket(game: str, rounds: Sequence[BracketRound]) -> BracketPart:
    numbers = bracket_table(game, rounds)
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
