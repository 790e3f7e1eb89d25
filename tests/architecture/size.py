"""Count modules and lines of code: python -m tests.architecture.size

A line of code is a line on which a token other than a comment or a docstring stands. Strings that only document an
attribute count as docstrings. Blank lines count nowhere.
"""

from __future__ import annotations

import ast
import io
import sys
import tokenize
from collections import Counter
from functools import cache
from pathlib import Path
from statistics import median

ROOT = Path(__file__).parents[2]
SILENT = {
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENCODING,
    tokenize.ENDMARKER,
}


def code_lines(path: Path) -> int:
    """Return the number of lines of code in a file."""
    text = path.read_text(encoding="utf-8")
    documentation = {
        line
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
        for line in range(node.lineno, (node.end_lineno or node.lineno) + 1)
    }
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in SILENT:
            lines.update(range(token.start[0], token.end[0] + 1))
    return len(lines - documentation)


@cache
def sizes(top: str) -> dict[str, int]:
    """Return the lines of code of every module below a top-level folder, by path relative to it."""
    folder = ROOT / top
    return {path.relative_to(folder).as_posix(): code_lines(path) for path in sorted(folder.rglob("*.py"))}


def main() -> None:
    """Print the lines of each package, and the totals that the guards check."""
    from tests.architecture.test_imports import FEATURES  # imports pytest, which counting does not need

    found = sizes("harness")
    packages: Counter[str] = Counter()
    for name, lines in found.items():
        packages[name.partition("/")[0] if "/" in name else "(top)"] += lines
    for package, lines in sorted(packages.items()):
        modules = sum(name.startswith(f"{package}/") for name in found)
        sys.stdout.write(f"{package:14}{modules:5} modules{lines:8,} lines\n")
    middle = median(lines for name, lines in found.items() if not name.endswith("__init__.py"))
    core = sum(lines for package, lines in packages.items() if package not in FEATURES)
    sys.stdout.write(f"{len(found)} modules, {sum(found.values()):,} lines, {core:,} in the core, median {middle:g}\n")


if __name__ == "__main__":
    main()
