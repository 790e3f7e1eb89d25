"""How wide the reader's screen is, and whether it has colours."""

from __future__ import annotations

import os
import shutil
import sys
from dataclasses import dataclass

COLUMNS = 80
"""What fits everywhere: the width where there is no terminal, so that a file does not depend on somebody's window."""
NARROWEST = 40


@dataclass(frozen=True, slots=True)
class Layout:
    """How tables are laid out for a person."""

    width: int = COLUMNS
    wide: bool = False
    """Every column and every name in full, however wide that is."""
    colour: bool = False
    more: str = "--wide"
    """What to write to see what was left out."""


def screen(wide: bool = False, more: str = "--wide") -> Layout:
    """The reader's layout: as COLUMNS says, or as wide as the terminal, or 80 columns."""
    return Layout(screen_width(), wide, colourful(), more)


def screen_width() -> int:
    """Columns of the terminal that stdout is; COLUMNS in the environment counts before it."""
    return max(NARROWEST, shutil.get_terminal_size((COLUMNS, 24)).columns)


def progress_width() -> int:
    """The same for stderr."""
    asked = os.environ.get("COLUMNS", "")
    if asked.isdecimal() and int(asked):
        return int(asked)
    try:
        return os.get_terminal_size(sys.stderr.fileno()).columns or COLUMNS
    except (OSError, ValueError, AttributeError):
        return COLUMNS


def colourful() -> bool:
    """Whether stdout is a terminal that may be given colours: NO_COLOR says that it may not."""
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
