"""A table as a value: formats, runs and features make one, `output/tables.py` renders it in every format."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

Kind = Literal["auto", "text", "number"]
"""Text is aligned left and numbers right. `auto` is text if a cell of the column is a string."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table."""

    name: str
    kind: Kind = "auto"
    legend: str = ""
    """How to read it; printed below the tables, where the column is shown."""
    optional: int = 0
    """0: always shown. Others are shown where there is room, the lowest number first."""
    alarm: bool = False
    """Shown only if a cell is not 0, with the header in capitals and, on a terminal, in red."""
    sort_by: str = ""
    """The key of `Table.rows` by which a page sorts this column; by default the column's name."""


def columns(kind: Kind, *names: str) -> list[Column]:
    """Return columns of one kind: `columns("number", "ahead", "mean score")`."""
    return [Column(name, kind) for name in names]


@dataclass(frozen=True, slots=True)
class Table:
    """One table: cells for people, rows for programs.

    Examples:
        >>> hill = Table("the hill", ("bot", "deals held"), [("outlaw", 4), ("random", 1)])
        >>> hill.rows
        [{'bot': 'outlaw', 'deals held': 4}, {'bot': 'random', 'deals held': 1}]
        >>> [(column.name, column.kind) for column in hill.columns]
        [('bot', 'text'), ('deals held', 'number')]
    """

    title: str
    head: Sequence[Column | str]
    """The columns: a name, or a `Column` where there is more to say."""
    cells: Sequence[Sequence[object]]
    """Lines with one plain value for each column; None is shown as `-`. Text that is a figure, as `12.5 ± 3`, needs a
    column of kind "number"."""
    data: Sequence[Mapping[str, object]] | None = None
    """What programs get instead of the cells, for example unrounded values: dicts with the same keys."""
    keys: int = 0
    """The number of leading columns that identify a line. They are repeated where a wide table continues below. 0: all
    columns up to "bot", or the first one."""
    notes: Sequence[str] = ()
    """Sentences below the table."""
    legend: str = ""
    """How to read tables of this kind; printed once below all of them."""
    summary: Sequence[str] = ()
    """What the table says, in plain sentences; printed above the notes."""

    def __post_init__(self) -> None:
        for line in self.cells:
            if len(line) != len(self.head):
                raise ValueError(f"a line of {len(line)} values under {len(self.head)} headers: {line!r}")

    @property
    def headers(self) -> list[str]:
        """The names of the columns."""
        return [one if isinstance(one, str) else one.name for one in self.head]

    @property
    def columns(self) -> list[Column]:
        """The columns, each of kind "text" or "number"."""
        found = []
        for place, one in enumerate(self.head):
            column = Column(one) if isinstance(one, str) else one
            if column.kind == "auto":
                has_text = any(isinstance(line[place], str) for line in self.cells)
                column = replace(column, kind="text" if has_text else "number")
            found.append(column)
        return found

    @property
    def rows(self) -> list[dict[str, object]]:
        """The lines for programs, as dicts."""
        if self.data is not None:
            return [dict(row) for row in self.data]
        headers = self.headers
        return [dict(zip(headers, line, strict=True)) for line in self.cells]
