"""The prose of a page: its lines without code, comments and parts that are generated."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from tests.docs.sections import SECTION

ROOT = Path(__file__).parents[2]
FENCE = re.compile(r"^ *```")


def pages() -> list[Path]:
    """Every page that people write; tests.rules.coverage writes the table of rules and tests."""
    others = ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md", "results/README.md")
    found = [*(ROOT / "docs").rglob("*.md"), *(ROOT / name for name in others)]
    return sorted(page for page in found if page.name != "coverage.md")


def prose(page: Path) -> Iterator[tuple[int, str]]:
    """Line number and text of each line of prose, headings and list items included, tables left out."""
    return (found for found in _lines(page) if not found[1].startswith("|"))


def table_rows(page: Path) -> Iterator[tuple[int, str]]:
    """Line number and text of each row of a table that people write."""
    return (found for found in _lines(page) if found[1].startswith("|"))


def _lines(page: Path) -> Iterator[tuple[int, str]]:
    # A generated part keeps its line breaks, so that line numbers stay right.
    text = SECTION.sub(lambda part: "\n" * part[0].count("\n"), page.read_text(encoding="utf-8"))
    in_code = after_blank = False
    for number, line in enumerate(text.splitlines(), 1):
        if FENCE.match(line):
            in_code = not in_code
        elif not in_code and not line.startswith(("<!--", ":::")) and not (after_blank and line[:4] == "    "):
            yield number, line
        after_blank = not line.strip() or (after_blank and line[:4] == "    ")
