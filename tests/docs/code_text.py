"""The English of Python files: docstrings, comments and string literals.

python -m tests.docs.code_text lists the banned words that are left; with --prune it takes modules without any off the
list of those that are not clean yet.
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
NOT_CLEAN_YET = Path(__file__).with_name("not_plain_yet.txt")
"""Modules that still have banned words, one a line. It only gets shorter: the owner of a module takes it off."""
KEPT_TEXTS = (
    "nobody is told apart here",
    "told apart",
    "there is nobody to compare it with",
    "Nobody is hired",
    "Nobody may take",
    "hires nobody",
    "that nobody knows",
    "somebody has too many",
    "nobody can answer a bot here",
)
"""Texts that stay: those of leaderboards and report pages until they are rewritten, what a game narrates, and the texts
of faults, which are in records."""


def modules() -> list[Path]:
    """Return every module whose English is checked."""
    return sorted(path for package in PACKAGES for path in (ROOT / package).rglob("*.py"))


def not_clean_yet() -> set[str]:
    """Return the modules that may still have banned words."""
    return set(NOT_CLEAN_YET.read_text(encoding="utf-8").split())


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

    problems = {path.relative_to(ROOT).as_posix(): problems_of(path, english(path)) for path in modules()}
    left = {name for name, found in problems.items() if found}
    if "--prune" in sys.argv:
        NOT_CLEAN_YET.write_text("".join(f"{name}\n" for name in sorted(left & not_clean_yet())), encoding="utf-8")
    for found in problems.values():
        sys.stdout.writelines(f"{problem}\n" for problem in found)
    sys.stdout.write(f"{len(left)} of {len(problems)} modules are not clean yet.\n")


if __name__ == "__main__":
    main()
