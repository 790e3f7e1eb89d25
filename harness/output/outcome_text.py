"""A format's own result for people and programs: its tables, its bracket, its sentences, in every table format."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from html import escape

from harness.core.errors import UnknownName
from harness.core.format import Outcome
from harness.core.format_results import BracketRound, ResultTable, ShownValue
from harness.output.bracket_text import bracket_text
from harness.output.columns import NOTHING, Fields
from harness.output.data_table import FORMATS, DataTable, text_of
from harness.output.fitting import wrapped_text
from harness.output.screen import Layout, screen_width

WIDE = 160
"""Characters in a line of a file; a reader of it scrolls."""
FENCED = ("github", "pipe")
MARKUP = ("html", "unsafehtml")
DATA = ("csv", "json", "tsv")
"""Formats for programs: one table to a stream."""
NOT_DRAWN = ("csv", "tsv", "jira", "textile", "mediawiki", "moinmoin", "youtrack", "asciidoc", "rst")
"""Formats in which a drawing would be torn; those of LaTeX, too. A bracket is a table there."""
BRACKET = "bracket"


class FormatResults(Mapping[str, Outcome]):
    """What the format of a run says of each game: shown as tables, and found by the game's name."""

    def __init__(self, outcomes: Mapping[str, Outcome], format_name: str) -> None:
        self._outcomes, self.format = dict(outcomes), format_name

    def __getitem__(self, game: str) -> Outcome:
        if game not in self._outcomes:
            raise UnknownName("game of this run", game, self._outcomes)
        return self._outcomes[game]

    def __iter__(self) -> Iterator[str]:
        return iter(self._outcomes)

    def __len__(self) -> int:
        return len(self._outcomes)

    def only(self, game: str | None) -> FormatResults:
        """Those of one game, or all."""
        kept = {name: one for name, one in self.items() if game in (None, name)}
        return FormatResults(kept, self.format)

    @property
    def has_results(self) -> bool:
        """Whether the format has more to show than sentences."""
        return any(outcome.has_results for outcome in self.values())

    def fields(self) -> dict[str, Fields]:
        """The same for programs: game -> standing, note, what is open, tables and bracket."""
        return {game: outcome_fields(outcome) for game, outcome in self.items()}

    def text(self, table_format: str = "simple", width: int | None = None, notes: bool = True) -> str:
        """Everything in one of the table formats; `width` is that of the terminal unless it is given."""
        return outcome_text(self, table_format, width, notes)

    def __repr__(self) -> str:
        return self.text()

    def _repr_html_(self) -> str:
        return self.text("html")


def outcome_fields(outcome: Outcome) -> Fields:
    """An outcome as plain data."""
    return {
        "standing": list(outcome.standing),
        "note": outcome.note,
        "open": outcome.open,
        "tables": {table.title: table.fields() for table in outcome.tables},
        "bracket": [each.fields() for each in outcome.bracket],
    }


def outcome_text(results: FormatResults, table_format: str, width: int | None = None, notes: bool = True) -> str:
    """The results of all games in one of FORMATS; `notes` leaves out the closing sentences if False."""
    if table_format not in FORMATS:
        raise UnknownName("table format", table_format, FORMATS)
    if table_format == "json":
        return json.dumps(results.fields(), indent=2, allow_nan=False)
    drawn = table_format not in NOT_DRAWN and not table_format.startswith("latex")
    if table_format in DATA:
        return text_of([table for game, one in results.items() for table in data_tables(game, one)], table_format)
    if width is None:
        width = screen_width() if table_format == "simple" else WIDE
    told = _Text(table_format, width)
    for game, outcome in results.items():
        for table in outcome.tables:
            told.table(data_table(game, table))
        if outcome.bracket and drawn:
            told.drawing(f"{game}: {BRACKET}", bracket_text(outcome.bracket, width))
        elif outcome.bracket:
            told.table(bracket_table(game, outcome.bracket))
        if outcome.open:
            told.sentence(f"{game}: still open. {outcome.open}")
        if outcome.note and notes:
            told.sentence(f"{game}: {outcome.note}")
    for legend in dict.fromkeys(table.legend for one in results.values() for table in one.tables if table.legend):
        told.sentence(legend)
    nothing = f"A {results.format} has no result of its own: its leaderboard says it all."
    return "\n\n".join(told.parts) or (nothing if notes else "")


@dataclass
class _Text:
    table_format: str
    width: int

    def __post_init__(self) -> None:
        self.parts: list[str] = []

    def table(self, table: DataTable) -> None:
        self.parts.append(text_of([replace(table, legend="")], self.table_format, Layout(self.width)))

    def drawing(self, title: str, text: str) -> None:
        if self.table_format in MARKUP:
            self.parts.append(f'<h2>{escape(title)}</h2>\n\n<pre style="line-height: 1.2">{escape(text)}</pre>')
        elif self.table_format in FENCED:
            self.parts.append(f"## {title}\n\n```text\n{text}\n```")
        else:
            self.parts.append(f"{title}\n\n{text}")

    def sentence(self, text: str) -> None:
        if self.table_format in MARKUP:
            text = f"<p>{escape(text)}</p>"
        elif self.table_format == "simple":
            text = wrapped_text(text, self.width)
        self.parts.append(text)


def data_tables(game: str, outcome: Outcome) -> list[DataTable]:
    """All of an outcome as tables, its bracket included."""
    tables = [data_table(game, table) for table in outcome.tables]
    return [*tables, bracket_table(game, outcome.bracket)] if outcome.bracket else tables


def data_table(game: str, table: ResultTable) -> DataTable:
    """A format's table as one that can be printed."""
    words = {
        header
        for place, header in enumerate(table.headers)
        if header not in table.numbers and any(isinstance(row[place], str) for row in table.rows)
    }
    return DataTable(
        f"{game}: {table.title}",
        table.fields(),
        list(table.headers),
        [[shown(value) for value in row] for row in table.rows],
        list(table.notes),
        table.legend,
        keys=table.keys,
        words=frozenset(words),
    )


def bracket_table(game: str, rounds: Iterable[BracketRound]) -> DataTable:
    """A bracket as a table: a line for each bot of each round."""
    headers = ["round", "table", "bot", "points", "goes on"]
    rows: list[Fields] = []
    for each in rounds:
        for number, table in enumerate(each.tables, 1):
            rows += [
                {"round": each.name, "table": number, "bot": one.bot, "points": one.points, "goes on": one.through}
                for one in table
            ]
        rows += [{"round": each.name, "table": None, "bot": bot, "points": None, "goes on": True} for bot in each.byes]
    cells = [[shown(row[header]) for header in headers] for row in rows]
    return DataTable(f"{game}: {BRACKET}", rows, headers, cells, keys=2, words=frozenset(("round", "bot", "goes on")))


def shown(value: ShownValue | object) -> str:
    """A value for people."""
    if value is None:
        return NOTHING
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:g}" if isinstance(value, float) else str(value)
