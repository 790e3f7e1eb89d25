"""A bracket drawn with characters: as a tree, as columns of tables, or round by round, whichever fits."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import wrap

from harness.core.format_results import BracketEntry, BracketRound

GOES_ON, WINS = "→", "wins"
FINAL = "final"
UNKNOWN = "?"
GAP = "   "
Node = tuple[int, int]
"""A table of a bracket: its round and its number there."""


def bracket_text(rounds: Sequence[BracketRound], width: int) -> str:
    """The bracket in lines of at most `width` characters; names that are wider than that stay whole."""
    if not rounds:
        return ""
    for drawing in (_Tree(rounds).lines() if is_tree(rounds) else [], _columns(rounds)):
        if drawing and max(map(len, drawing)) <= width:
            return "\n".join([*drawing, *_notes(rounds, width)])
    return "\n".join([*_lists(rounds, width), *_notes(rounds, width)])


def is_tree(rounds: Sequence[BracketRound]) -> bool:
    """Whether of every table but the last one goes on, so that lines can lead from each to the next."""
    played = rounds[:-1]
    return all(sum(entry.through is True for entry in table) == 1 for each in played for table in each.tables)


class BracketPlaces:
    """Where everything of a bracket that is a tree stands: a row for each bot of each round."""

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
        """Gives a row to a bot of a round: that of the table it comes from, or of itself the round before."""
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
        """The row in which the winner of a table stands in the next round."""
        rows = self.rows_of(node)
        return (rows[0] + rows[-1] + 1) // 2

    def rows_of(self, node: Node) -> list[int]:
        """The rows of those who sit at a table."""
        number, table = node
        return sorted(self.rows[number][entry.bot] for entry in self.rounds[number].tables[table])


class _Tree:
    def __init__(self, rounds: Sequence[BracketRound]) -> None:
        self.rounds, self.places = rounds, BracketPlaces(rounds)

    def lines(self) -> list[str]:
        """A header, then a line for each row."""
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
        wide = max(len(each.name), name + figure + 3)  # the line to the joint is as long as the header asks for
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
    """A column for each round, with its tables below each other; arrows mark who goes on."""
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
    """Round by round, a line or more for each table; who stands before the bar goes on."""
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
    return [*lines[1:], "", "Before the bar: goes on."]


def _notes(rounds: Sequence[BracketRound], width: int) -> list[str]:
    notes = [f"{each.name}: {note}" for each in rounds for note in each.notes]
    return ["", *(line for note in notes for line in _wrapped(note, width, "  "))] if notes else []


def _wrapped(text: str, width: int, indent: str) -> list[str]:
    return wrap(
        text, max(20, width), subsequent_indent=indent, break_long_words=False, break_on_hyphens=False,
        drop_whitespace=True,
    )  # fmt: skip
