"""The results of a format itself, besides the leaderboard: as text, as brackets, as files."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from html import escape
from textwrap import wrap

from harness.core.errors import ArenaError, UnknownName, UsageError, printable
from harness.core.plan import BracketEntry, BracketRound, Format, Outcome
from harness.core.table import Column, Table
from harness.output.columns import Fields
from harness.output.tables import FORMATS, MARKDOWN, Layout, heading, paragraph, screen_width, text_of, wrapped_text
from harness.plugins.registry import Registry
from harness.runs.reader import ordered_results
from harness.runs.scheduler import Schedule
from harness.runs.setup import formats_of
from harness.runs.store import RunFolder, write_derived

# A bracket drawn with characters: as a tree, as columns of tables, or round by round, whichever fits.


GOES_ON, WINS = "→", "wins"
FINAL = "final"
UNKNOWN = "?"
GAP = "   "
Node = tuple[int, int]
"""A table of a bracket: its round and its number there."""


def bracket_text(rounds: Sequence[BracketRound], width: int) -> str:
    """Return the bracket in lines of at most `width` characters; longer names are not cut."""
    if not rounds:
        return ""
    for drawing in (_Tree(rounds).lines() if is_tree(rounds) else [], _columns(rounds)):
        if drawing and max(map(len, drawing)) <= width:
            return "\n".join([*drawing, *_notes(rounds, width)])
    return "\n".join([*_lists(rounds, width), *_notes(rounds, width)])


def is_tree(rounds: Sequence[BracketRound]) -> bool:
    """Return whether one bot advances from every table but the last, so that lines can connect the tables."""
    played = rounds[:-1]
    return all(sum(entry.through is True for entry in table) == 1 for each in played for table in each.tables)


class BracketPlaces:
    """The layout of a bracket that is a tree: a row for each bot of each round."""

    def __init__(self, rounds: Sequence[BracketRound]) -> None:
        self.rounds = rounds
        self.rows: list[dict[str, int]] = [{} for _ in rounds]
        """For each round the row of each bot that plays or sits out."""
        self.next_row = 0
        self._tables = [{entry.bot: at for at, table in enumerate(each.tables) for entry in table} for each in rounds]
        last = len(rounds) - 1
        for table in range(len(rounds[last].tables)):
            self._place(last, table)
        for bot in rounds[last].byes:
            self._place_bot(last, bot)

    def _place(self, number: int, table: int) -> None:
        for entry in self.rounds[number].tables[table]:
            self._place_bot(number, entry.bot)

    def _place_bot(self, number: int, bot: str) -> None:
        """Assign a row to a bot of a round: the row of the table it comes from, or its row in the round before."""
        if number == 0:
            self.rows[0][bot], self.next_row = self.next_row, self.next_row + 1
            return
        table = self._tables[number - 1].get(bot)
        if table is None:  # it sat out
            self._place_bot(number - 1, bot)
            self.rows[number][bot] = self.rows[number - 1][bot]
            return
        self._place(number - 1, table)
        self.rows[number][bot] = self.row_of((number - 1, table))

    def row_of(self, node: Node) -> int:
        """Return the row of the winner of a table in the next round."""
        rows = self.rows_of(node)
        return (rows[0] + rows[-1] + 1) // 2

    def rows_of(self, node: Node) -> list[int]:
        """Return the rows of the bots at a table."""
        number, table = node
        return sorted(self.rows[number][entry.bot] for entry in self.rounds[number].tables[table])


class _Tree:
    def __init__(self, rounds: Sequence[BracketRound]) -> None:
        self.rounds, self.places = rounds, BracketPlaces(rounds)

    def lines(self) -> list[str]:
        """Return a header and a line for each row."""
        columns: list[list[str]] = []
        for number, each in enumerate(self.rounds):
            columns += [self._names(number, each), self._joints(number, each)]
        columns.append(self._winners())
        wide = [max(map(len, column)) for column in columns]
        lines = [
            "".join(text.ljust(w) for text, w in zip(row, wide, strict=True)) for row in zip(*columns, strict=True)
        ]
        return [line.rstrip() for line in lines]

    def _names(self, number: int, each: BracketRound) -> list[str]:
        points = {entry.bot: _points(entry, each) for table in each.tables for entry in table}
        points |= dict.fromkeys(each.byes, "bye")
        name, figure = max(map(len, points)), max(map(len, points.values()))
        wide = max(len(each.name), name + figure + 3)  # the line to the joint fills the width of the header
        lines = [each.name] + [""] * self.places.next_row
        for bot, text in points.items():
            lines[1 + self.places.rows[number][bot]] = f"{bot:<{name}} {text:>{figure}} ".ljust(wide, "─")
        return lines

    def _joints(self, number: int, each: BracketRound) -> list[str]:
        lines = [""] * (1 + self.places.next_row)
        for table in range(len(each.tables)):
            rows, out = self.places.rows_of((number, table)), self.places.row_of((number, table))
            for row in range(rows[0], rows[-1] + 1):
                lines[1 + row] = _joint(row, rows, row == out) + ("─ " if row == out else "  ")
        for bot in each.byes:
            lines[1 + self.places.rows[number][bot]] = "── "
        return lines

    def _winners(self) -> list[str]:
        last = len(self.rounds) - 1
        lines = ["winner" if self.rounds[last].name == FINAL else ""] + [""] * self.places.next_row
        for number, table in enumerate(self.rounds[last].tables):
            won = [entry.bot for entry in table if entry.through]
            lines[1 + self.places.row_of((last, number))] = won[0] if won else UNKNOWN
        for bot in self.rounds[last].byes:
            lines[1 + self.places.rows[last][bot]] = bot
        return lines


def _joint(row: int, rows: Sequence[int], out: bool) -> str:
    if len(rows) == 1:
        return "─"
    if row == rows[0]:
        return "┬" if out else "┐"
    if row == rows[-1]:
        return "┴" if out else "┘"
    if row in rows:
        return "┼" if out else "┤"
    return "├" if out else "│"


def _points(entry: BracketEntry, each: BracketRound) -> str:
    return f"{entry.points:g}" if each.most or entry.points else "-"


def _columns(rounds: Sequence[BracketRound]) -> list[str]:
    """Return a column for each round, with its tables below each other; arrows mark bots that advance."""
    columns = []
    for each in rounds:
        entries = [entry for table in each.tables for entry in table]
        name = max(len(bot) for bot in [*(entry.bot for entry in entries), *each.byes])
        figure = max(len(_points(entry, each)) for entry in entries)
        lines = [each.name]
        for table in each.tables:
            lines += ["", *(_marked(entry, each, name, figure) for entry in table)]
        if each.byes:
            lines += ["", *(f"{bot:<{name}} {'bye':>{figure}} {GOES_ON}" for bot in each.byes)]
        columns.append(lines)
    height = max(map(len, columns))
    wide = [max(map(len, column)) for column in columns]
    rows = zip(*(column + [""] * (height - len(column)) for column in columns), strict=True)
    return [GAP.join(text.ljust(w) for text, w in zip(row, wide, strict=True)).rstrip() for row in rows]


def _marked(entry: BracketEntry, each: BracketRound, name: int, figure: int) -> str:
    mark = f" {WINS if each.name == FINAL else GOES_ON}" if entry.through else ""
    return f"{entry.bot:<{name}} {_points(entry, each):>{figure}}{mark}"


def _lists(rounds: Sequence[BracketRound], width: int) -> list[str]:
    """Return lines for each table, round by round; bots before the bar advance."""
    lines: list[str] = []
    for each in rounds:
        count = f"{len(each.tables)} table{'s' * (len(each.tables) > 1)}"
        lines += ["", f"{each.name}: {count}, points of {each.most:g}" if each.most else f"{each.name}: {count}"]
        for number, table in enumerate(each.tables, 1):
            on = [f"{entry.bot} {_points(entry, each)}" for entry in table if entry.through]
            out = [f"{entry.bot} {_points(entry, each)}" for entry in table if not entry.through]
            text = " | ".join(", ".join(part) for part in (on, out) if part)
            lines += _wrapped(f"  {number}. {text}", width, "     ")
        if each.byes:
            lines += _wrapped(f"  bye: {', '.join(each.byes)}", width, "     ")
    return [*lines[1:], "", "Bots before the bar advance."]


def _notes(rounds: Sequence[BracketRound], width: int) -> list[str]:
    notes = [f"{each.name}: {note}" for each in rounds for note in each.notes]
    return ["", *(line for note in notes for line in _wrapped(note, width, "  "))] if notes else []


def _wrapped(text: str, width: int, indent: str) -> list[str]:
    return wrap(
        text, max(20, width), subsequent_indent=indent, break_long_words=False, break_on_hyphens=False,
        drop_whitespace=True,
    )  # fmt: skip


# Tables, bracket and sentences of a format, in every table format.


WIDE = 160
"""Characters in a line of a file, which can be scrolled."""
DATA = ("csv", "json", "tsv")
"""Formats for programs."""
NOT_DRAWN = ("csv", "tsv", "rst")
"""Formats that cannot show drawings: a bracket is written as a table, as in the formats of LaTeX."""
BRACKET = "bracket"


class FormatResults(Mapping[str, Outcome]):
    """The outcome of each game by its name, shown as tables."""

    def __init__(self, outcomes: Mapping[str, Outcome], format_name: str) -> None:
        self._outcomes, self.format = dict(outcomes), format_name
        self.has_results = any(outcome.has_results for outcome in outcomes.values())
        """Whether there is more to show than sentences."""

    def __getitem__(self, game: str) -> Outcome:
        if game not in self._outcomes:
            raise UnknownName("game of this run", game, self._outcomes)
        return self._outcomes[game]

    def __iter__(self) -> Iterator[str]:
        return iter(self._outcomes)

    def __len__(self) -> int:
        return len(self._outcomes)

    def only(self, game: str | None) -> FormatResults:
        """Return the outcome of one game, or of all."""
        kept = {name: one for name, one in self.items() if game in (None, name)}
        return FormatResults(kept, self.format)

    def fields(self) -> dict[str, Fields]:
        """Return the outcomes as plain data: game -> standing, note, what is open, tables and bracket."""
        return {
            game: {
                "standing": list(outcome.standing),
                "note": outcome.note,
                "open": outcome.open,
                "tables": {table.title: table.rows for table in outcome.tables},
                "bracket": [each.fields() for each in outcome.bracket],
            }
            for game, outcome in self.items()
        }

    def text(self, table_format: str = "simple", width: int | None = None, notes: bool = True) -> str:
        """Return everything in one of FORMATS, with closing sentences if `notes`; `width` is that of a line."""
        if table_format not in FORMATS:
            raise UnknownName("table format", table_format, FORMATS)
        if table_format == "json":
            return json.dumps(self.fields(), indent=2, allow_nan=False)
        drawn = table_format not in NOT_DRAWN and not table_format.startswith("latex")
        if table_format in DATA:
            return text_of([table for game, one in self.items() for table in data_tables(game, one)], table_format)
        if width is None:
            width = screen_width() if table_format == "simple" else WIDE
        text = _Text(table_format, width)
        for game, outcome in self.items():
            for table in outcome.tables:
                text.table(titled(game, table))
            if outcome.bracket and drawn:
                text.drawing(f"{game}: {BRACKET}", bracket_text(outcome.bracket, width))
            elif outcome.bracket:
                text.table(bracket_table(game, outcome.bracket))
            if outcome.open:
                text.sentence(f"{game}: still open. {outcome.open}")
            if outcome.note and notes:
                text.sentence(f"{game}: {outcome.note}")
        for legend in dict.fromkeys(table.legend for one in self.values() for table in one.tables if table.legend):
            text.sentence(legend)
        nothing = f"A {self.format} has no result besides its leaderboard."
        return "\n\n".join(text.parts) or (nothing if notes else "")

    def __repr__(self) -> str:
        return self.text()

    def _repr_html_(self) -> str:
        return self.text("html")


@dataclass
class _Text:
    table_format: str
    width: int
    parts: list[str] = field(default_factory=list)

    def table(self, table: Table) -> None:
        self.parts.append(text_of([replace(table, legend="")], self.table_format, Layout(self.width)))

    def drawing(self, title: str, text: str) -> None:
        text = printable(text, keep="\n")
        if self.table_format == "html":
            text = f'<pre style="line-height: 1.2">{escape(text)}</pre>'
        elif self.table_format in MARKDOWN:
            fenced = text.replace("```", "'''")
            text = f"```text\n{fenced}\n```"
        self.parts.append(f"{heading(title, self.table_format)}\n\n{text}")

    def sentence(self, text: str) -> None:
        text = paragraph(text, self.table_format)
        self.parts.append(wrapped_text(text, self.width) if self.table_format == "simple" else text)


def titled(game: str, table: Table) -> Table:
    """Return a table of a format with the game in its title."""
    return replace(table, title=f"{game}: {table.title}")


def data_tables(game: str, outcome: Outcome) -> list[Table]:
    """Return all tables of an outcome, including its bracket."""
    tables = [titled(game, table) for table in outcome.tables]
    return [*tables, bracket_table(game, outcome.bracket)] if outcome.bracket else tables


def bracket_table(game: str, rounds: Iterable[BracketRound]) -> Table:
    """Return a bracket as a table with a line for each bot of each round."""
    cells: list[tuple[str, int | None, str, float | None, bool | None]] = []
    for each in rounds:
        for number, table in enumerate(each.tables, 1):
            cells += [(each.name, number, one.bot, one.points, one.through) for one in table]
        cells += [(each.name, None, bot, None, True) for bot in each.byes]
    head = ("round", "table", "bot", "points", Column("goes on", "text"))
    return Table(f"{game}: {BRACKET}", head, cells, keys=2)


# The files outcome.md and outcome.json beside the records, derived like the leaderboard.


FILES = {"outcome.md": "github", "outcome.json": "json"}
"""Names of files -> table formats."""


def results_of(run: RunFolder, formats: Mapping[str, Format]) -> FormatResults:
    """Return the outcome of the records of a run, which may be incomplete."""
    if run.several:
        raise UsageError("A format's own result is that of one run: name one, or look at the leaderboard.")
    return _results(run, Schedule(run.info.plan, formats))


def _results(run: RunFolder, schedule: Schedule) -> FormatResults:
    reads_actions = schedule.format.reads_actions
    records = run.records() if reads_actions else ordered_results(run)
    return FormatResults(schedule.outcomes(records, ordered=not reads_actions), schedule.plan.format)


def format_results(run: RunFolder, registry: Registry) -> tuple[FormatResults, list[str]]:
    """Return the outcome of a run, and a sentence if there is none, for example if the format is not installed."""
    if run.several:
        return FormatResults({}, run.info.plan.format), []
    try:
        return results_of(run, formats_of(run, registry)), []
    except ArenaError as error:
        nothing = FormatResults({}, run.info.plan.format)
        return nothing, [f"The result of the {run.info.plan.format} itself is missing: {error}"]


def write_outcome(run: RunFolder, schedule: Schedule) -> FormatResults:
    """Write the outcome beside the records, if there is one, and return it."""
    results = _results(run, schedule)
    write_derived(run.files, outcome_files(results))
    return results


def outcome_files(results: FormatResults) -> dict[str, bytes]:
    """Return the files to write, by name; none for a format that has only a sentence."""
    if not results.has_results:
        return {}
    return {name: results.text(table_format).encode() + b"\n" for name, table_format in FILES.items()}
