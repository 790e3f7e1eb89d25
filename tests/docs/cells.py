"""Runs the Python of a page as a notebook would: block after block, each followed by what it shows."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.docs.pages import Block, blocks, change


def run(code: str, names: dict[str, Any]) -> list[str]:
    """Executes a cell; the lines that its last expression shows."""
    tree = ast.parse(code)
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, "<page>", "exec"), names)  # noqa: S102 - the code is our own page's
    if not isinstance(last, ast.Expr):
        return []
    value = eval(compile(ast.Expression(last.value), "<page>", "eval"), names)  # noqa: S307 - likewise
    return [] if value is None else repr(value).splitlines()


def follow(page: Path, folder: Path) -> Iterator[tuple[Block, Block | None, list[str]]]:
    """Each cell of a page, the block of text below it that tells what it shows, and what it did show.

    The current folder must be `folder`: files that the page has are written into it before the cells after them run.
    """
    names: dict[str, Any] = {"__name__": "__main__"}
    found = blocks(page)
    for block, after in zip(found, [*found[1:], None], strict=True):
        if block.path is not None:
            change(folder / block.path, block)
        elif block.language == "python":
            yield block, after if after and after.language == "text" else None, run(block.text, names)
