"""Where in a file that stands which a run was asked for by: whoever finds a mistake names the line."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from harness.core.errors import ArenaError

KeyPath = tuple[str | int, ...]
"""The keys that lead to a value, and the places in lists, counted from 0."""


class Place(NamedTuple):
    """A place in a text, counted from 1."""

    line: int
    column: int

    def of(self, path: object) -> str:
        """What stands before a sentence about this place of a file."""
        return f"{path}, line {self.line}, column {self.column}:"


@dataclass(frozen=True, slots=True, eq=False)
class FilePlaces:
    """Where each thing that was asked for stands in a file."""

    path: str
    given: Mapping[str, Any] = field(repr=False)
    """What the file says, field by field."""
    places: Mapping[KeyPath, Place] = field(repr=False)
    """Fields, and items of those that have several, by their number in the request or by their key."""
    left_out: str = ""
    """What it says and may not, in a sentence: the file is a stranger's, and would let bots play with our rights."""

    def blame(self, error: ArenaError, request: object, name: str, *item: str | int) -> None:
        """Lets an error begin with where that stands which it is about, if the request has it from the file."""
        place = self.places.get((name, *item)) or self.places.get((name,))
        if place is not None and self._is_from_here(getattr(request, name), name, item):
            error.args = (f"{place.of(self.path)} {error}",)

    def _is_from_here(self, asked: Any, name: str, item: KeyPath) -> bool:
        given = self.given.get(name)
        if name == "options" and item and isinstance(given, Mapping):
            return item[0] in given and bool(given[item[0]] == asked.get(item[0]))
        return bool(given == asked)
