"""Writes what commands print now into the pages: python -m tests.docs.make. Read the difference before you keep it."""

from __future__ import annotations

from contextlib import chdir
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.docs import cells
from tests.docs.fresh import Fresh
from tests.docs.pages import DOCS, follow, lay_out
from tests.docs.sections import pages, renew_sections

ANYTHING = "..."


def renew(page: Path) -> None:
    """Replace the outputs that a page shows; one that ends with `...` keeps its number of lines."""
    text = page.read_text(encoding="utf-8")
    with TemporaryDirectory() as folder:
        fresh = Fresh(Path(folder))
        lay_out(fresh)
        for command, shown, printed in follow(page, fresh):
            text = text.replace(_block(command, shown), _block(command, _kept(shown, printed)))
    page.write_text(text, encoding="utf-8")


def _kept(shown: list[str], printed: list[str]) -> list[str]:
    kept = [*printed[: len(shown) - 1], ANYTHING] if shown[-1:] == [ANYTHING] else list(printed)
    while kept and not kept[-1].strip():
        kept.pop()
    return kept


def _block(command: str, lines: list[str]) -> str:
    return "".join(f"{line}\n" for line in (f"$ {command}", *lines))


def renew_cells(page: Path) -> None:
    """Replace what the Python cells of a page show, likewise."""
    text = page.read_text(encoding="utf-8")
    with TemporaryDirectory() as folder, chdir(folder):
        for cell, told, shown in cells.follow(page, Path(folder)):
            if told is not None:
                old = f"```python\n{cell.text}```\n\n```text\n{told.text}```\n"
                new = "".join(f"{line}\n" for line in _kept(told.text.splitlines(), shown))
                assert text.count(old) == 1, cell.text
                text = text.replace(old, f"```python\n{cell.text}```\n\n```text\n{new}```\n")
    page.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    for page in pages():
        renew_sections(page)
    for name in ("python.md", "formats.md"):
        renew_cells(DOCS / name)
    for name in ("tutorial.md", "bots.md", "add-a-game.md"):
        renew(DOCS / name)
