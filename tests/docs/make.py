"""Writes what commands print now into the pages: python -m tests.docs.make. Read the difference before you keep it."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from tests.docs.fresh import Fresh
from tests.docs.pages import DOCS, follow, lay_out

ANYTHING = "..."


def renew(page: Path) -> None:
    """Replace the outputs that a page shows; one that ends with `...` keeps its number of lines."""
    text = page.read_text(encoding="utf-8")
    with TemporaryDirectory() as folder:
        fresh = Fresh(Path(folder))
        lay_out(fresh)
        for command, shown, printed in follow(page, fresh):
            kept = [*printed[: len(shown) - 1], ANYTHING] if shown[-1:] == [ANYTHING] else printed
            while kept and not kept[-1].strip():
                kept.pop()
            text = text.replace(_block(command, shown), _block(command, kept))
    page.write_text(text, encoding="utf-8")


def _block(command: str, lines: list[str]) -> str:
    return "".join(f"{line}\n" for line in (f"$ {command}", *lines))


if __name__ == "__main__":
    for name in ("tutorial.md", "add-a-game.md"):
        renew(DOCS / name)
