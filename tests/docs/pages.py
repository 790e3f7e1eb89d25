"""Pages as things to do: commands with what they print, edits of files, whole files.

```console                 commands after `$ `, each followed by its output; `...` stands for any lines
```diff path/of/file       lines that change, with their surroundings
```toml path/of/file       a file to be written (any language)
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.docs.fresh import Fresh

DOCS = Path(__file__).parents[2] / "docs"
EXAMPLE = DOCS / "examples" / "games" / "liars_dice.py"
BLOCK = re.compile(r"^```(\w+)(?: (\S+))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
FIGURE = re.compile(r"[-+>]?\d[\d,.]*(?:%| (?:µs|ms|s)\b)?|-{2,}")
"""What may differ between versions and machines: a figure, the unit of a duration, the width of a column."""


@dataclass(frozen=True)
class Block:
    language: str
    path: str | None
    text: str


def blocks(page: Path) -> list[Block]:
    """The fenced blocks of a page."""
    return [Block(*found.groups()) for found in BLOCK.finditer(page.read_text(encoding="utf-8"))]


def commands(block: Block) -> Iterator[tuple[str, list[str]]]:
    """Each command of a console block with the lines shown as its output."""
    for part in re.split(r"^\$ ", block.text, flags=re.MULTILINE)[1:]:
        command, *shown = part.splitlines()
        yield command, shown


def plain(lines: list[str]) -> list[str]:
    """Lines without figures and spacing; empty ones left out."""
    return [" ".join(FIGURE.sub("#", line).split()) for line in lines if line.strip()]


def matches(shown: list[str], printed: list[str]) -> bool:
    """Whether a page shows what was printed, apart from figures; a line `...` stands for any lines."""
    pattern = "".join(r"(?:.*\n)*?" if line == "..." else re.escape(line) + r"\n" for line in plain(shown))
    return re.fullmatch(pattern, "".join(f"{line}\n" for line in plain(printed))) is not None


def follow(page: Path, fresh: Fresh) -> Iterator[tuple[str, list[str], list[str]]]:
    """Do everything that a page says, in its order; yields each command, what the page shows, and what was printed."""
    for block in blocks(page):
        if block.language == "console":
            for command, shown in commands(block):
                yield command, shown, fresh.succeed(command).splitlines()
        elif block.path is not None:
            change(fresh.folder / block.path, block)


def lay_out(fresh: Fresh) -> Path:
    """The folder with the example game where add-a-game.md has it."""
    folder = fresh.folder / "liars-dice"
    folder.mkdir()
    shutil.copy(EXAMPLE, folder)
    return folder


def change(path: Path, block: Block) -> None:
    """Edit a file, or write it."""
    if block.language != "diff":
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(block.text)
        return
    lines = block.text.splitlines(keepends=True)
    old = "".join(line[1:] for line in lines if line[0] in " -")
    new = "".join(line[1:] for line in lines if line[0] in " +")
    text = path.read_text()
    assert text.count(old) == 1, f"{path.name} does not hold these lines once:\n{old}"
    path.write_text(text.replace(old, new))
