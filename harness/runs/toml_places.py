"""Line and column of each key in a TOML file: tomllib returns values without their positions.

The scanner only gets text that tomllib has accepted, so it does not check the syntax. It only records where each table,
key and value begins.
"""

from __future__ import annotations

import re
import tomllib
from bisect import bisect_right
from collections.abc import Callable
from typing import NamedTuple

KeyPath = tuple[str | int, ...]
"""The path to a value: keys of tables and indexes of lists, counted from 0."""


class Place(NamedTuple):
    """Line and column, counted from 1."""

    line: int
    column: int

    def prefix(self, path: object) -> str:
        """Return the prefix of a message about this place in a file."""
        return f"{path}, line {self.line}, column {self.column}:"


_SPACE = re.compile(r"[ \t]*")
_BLANK = re.compile(r"(?:[ \t\r\n]|#[^\n]*)*")
_KEY = re.compile(r"""[A-Za-z0-9_-]+|"(?:[^"\\\n]|\\.)*"|'[^'\n]*'""")
_TEXT = re.compile(
    r'"""(?:[^"\\]|\\.|"(?!""))*"{3,5}' + r"|'''(?:[^']|'(?!''))*'{3,5}" + r"""|"(?:[^"\\\n]|\\.)*"|'[^'\n]*'""",
    re.DOTALL,
)
_PLAIN = re.compile(r"[^,\]}#\n]*")


def places_in(text: str) -> dict[KeyPath, Place]:
    """Return the place of each table, key and list item in a valid TOML text.

    If a path occurs several times, as the parent of dotted keys does, its first place is returned.
    """
    scan = _Scan(text)
    scan.statements()
    return {path: scan.place_at(position) for path, position in scan.found.items()}


class _Scan:
    def __init__(self, text: str) -> None:
        self.text, self.position = text, 0
        self.found: dict[KeyPath, int] = {}
        self._tables: dict[KeyPath, int] = {}
        """Index of the last item of each array of tables."""
        self._starts = [0, *(found.end() for found in re.finditer("\n", text))]
        """Where each line begins."""

    def place_at(self, position: int) -> Place:
        line = bisect_right(self._starts, position)
        return Place(line, position - self._starts[line - 1] + 1)

    def statements(self) -> None:
        table: KeyPath = ()
        self._skip(_BLANK)
        while self.position < len(self.text):
            if self.text[self.position] == "[":
                table = self._header()
            else:
                self._setting(table)
            self._skip(_BLANK)

    def _header(self) -> KeyPath:
        """Read `[a.b]`, or `[[a.b]]`, which adds an item to an array of tables; return the path of the table."""
        begin = self.position
        several = self.text.startswith("[[", begin)
        self._skip(_SPACE, 2 if several else 1)
        *above, last = (key for key, _ in self._keys())
        self._skip(_SPACE, 2 if several else 1)
        table = (*self._within((), above), last)
        if several:
            self._note(table, begin)
            self._tables[table] = self._tables.get(table, -1) + 1
        table = self._newest(table)
        self._note(table, begin)
        return table

    def _within(self, table: KeyPath, keys: list[str]) -> KeyPath:
        for key in keys:
            table = self._newest((*table, key))
        return table

    def _newest(self, table: KeyPath) -> KeyPath:
        return (*table, self._tables[table]) if table in self._tables else table

    def _setting(self, table: KeyPath) -> None:
        """Read `a.b = value`."""
        path = table
        for key, position in self._keys():
            path = (*path, key)
            self._note(path, position)
        self._skip(_SPACE, 1)
        self._value(path)

    def _keys(self) -> list[tuple[str, int]]:
        """Read a dotted key; return its parts, each with its position."""
        found = []
        while True:
            self._skip(_SPACE)
            begin = self.position
            key = self._take(_KEY)
            found.append((tomllib.loads(f"key = {key}")["key"] if key[:1] in "\"'" else key, begin))
            self._skip(_SPACE)
            if not self.text.startswith(".", self.position):
                return found
            self.position += 1

    def _value(self, path: KeyPath) -> None:
        begins = self.text[self.position : self.position + 1]
        if begins == "[":
            self._items("]", lambda number: self._item((*path, number)))
        elif begins == "{":
            self._items("}", lambda _number: self._setting(path))
        else:
            self._take(_TEXT if begins in ('"', "'") else _PLAIN)

    def _item(self, path: KeyPath) -> None:
        self._note(path, self.position)
        self._value(path)

    def _items(self, end: str, each: Callable[[int], None]) -> None:
        """Read comma-separated items up to the closing bracket `end`; call `each` with the index of each item."""
        self.position += 1
        number = 0
        self._skip(_BLANK)
        while not self.text.startswith(end, self.position):
            each(number)
            number += 1
            self._skip(_BLANK)
            if self.text.startswith(",", self.position):
                self.position += 1
                self._skip(_BLANK)
        self.position += 1

    def _note(self, path: KeyPath, position: int) -> None:
        self.found.setdefault(path, position)

    def _take(self, pattern: re.Pattern[str]) -> str:
        found = pattern.match(self.text, self.position)
        assert found, "Python's reader has accepted this text"
        self.position = found.end()
        return found[0]

    def _skip(self, pattern: re.Pattern[str], characters: int = 0) -> None:
        """Skip this number of characters and the text after them that matches the pattern."""
        self.position += characters
        self._take(pattern)
