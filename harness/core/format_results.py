"""What a format shows of its own, as plain values: tables, and a bracket."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

ShownValue = str | int | float | None


@dataclass(frozen=True, slots=True)
class ResultTable:
    """One table of a format's own result: terminal, files, pages and notebooks show it.

    Examples:
        >>> ResultTable("the hill", ("bot", "deals held"), [("outlaw", 4), ("random", 1)]).fields()
        [{'bot': 'outlaw', 'deals held': 4}, {'bot': 'random', 'deals held': 1}]
    """

    title: str
    headers: Sequence[str]
    rows: Sequence[Sequence[ShownValue]]
    """A line each, with a value under each header. Text stands on the left, numbers on the right, None is nothing."""
    data: Sequence[Mapping[str, object]] = ()
    """What programs get in place of the rows, where there is more to say: a dict for each line."""
    numbers: Sequence[str] = ()
    """Headers of columns whose text is figures, as in `12.5 ± 3`: they stand on the right, too."""
    keys: int = 1
    """So many columns, the first ones, name the line: they are repeated where a wide table goes on below."""
    notes: Sequence[str] = ()
    """Sentences below the table."""
    legend: str = ""
    """How to read it; stands once, below the tables of all games."""

    def __post_init__(self) -> None:
        for row in self.rows:
            if len(row) != len(self.headers):
                raise ValueError(f"a line of {len(row)} values under {len(self.headers)} headers: {row!r}")

    def fields(self) -> list[dict[str, object]]:
        """The lines for programs."""
        return [dict(one) for one in self.data] or [dict(zip(self.headers, row, strict=True)) for row in self.rows]


class BracketEntry(NamedTuple):
    """A bot at a table of a bracket."""

    bot: str
    points: float = 0.0
    through: bool | None = None
    """Whether it goes on, or wins the final; None while that is open."""


@dataclass(frozen=True, slots=True)
class BracketRound:
    """One round of a bracket: its tables, each with its bots, best first, and who sat out and goes on."""

    name: str
    tables: Sequence[Sequence[BracketEntry]]
    byes: Sequence[str] = ()
    most: float = 0
    """The points that a bot can win in this round."""
    notes: Sequence[str] = ()
    """What decided where points did not."""

    def fields(self) -> dict[str, object]:
        """The round for programs."""
        return {
            "name": self.name,
            "tables": [[entry._asdict() for entry in table] for table in self.tables],
            "byes": list(self.byes),
            "most": self.most,
            "notes": list(self.notes),
        }
