"""The English of Python files: docstrings, comments and string literals.

python -m tests.docs.code_text lists the banned words that are left.
"""

from __future__ import annotations

import ast
import io
import sys
import tokenize
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGES = ("harness", "engines", "bots")
KEPT_TEXTS = (
    "nobody is told apart here",
    "told apart",
    "Nobody is hired",
    "Nobody may take",
    "hires nobody",
    "that nobody knows",
    "somebody has too many",
    "nobody can answer a bot here",
    "NOBODY SEAT_NAMES",
)
"""Texts that stay: those of leaderboards and report pages until they are rewritten, what a game narrates, the texts of
faults, which are in records, and a constant of the facade."""


def modules() -> list[Path]:
    """Return every module whose English is checked."""
    return sorted(path for package in PACKAGES for path in (ROOT / package).rglob("*.py"))


def english(path: Path) -> Iterator[tuple[int, str]]:
    """Return line number and text of each line of a docstring, a comment or a string literal.

    Literals without a space are left out: these are keys of JSON, names and patterns. So are texts that stay.
    """
    source = path.read_text(encoding="utf-8")
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and " " in node.value:
            text = node.value
            for kept in KEPT_TEXTS:
                text = text.replace(kept, "")
            for number, line in enumerate(text.splitlines()):
                yield node.lineno + number, line
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string


def main() -> None:
    from tests.docs.test_plain_english import problems_of

    for path in modules():
        sys.stdout.writelines(f"{problem}\n" for problem in problems_of(path, english(path)))


if __name__ == "__main__":
    main()
