"""What the process between Arena and a bot needs to know: the limits of the bot, and where its packages are.

Each bot's process imports this file, so it imports little: what `launch` needs besides would take 20 of the 50 ms
in which such a process starts.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from importlib.machinery import ModuleSpec
from importlib.util import spec_from_file_location
from pathlib import Path
from typing import Any, NamedTuple


class SandboxLimits(NamedTuple):
    """Limits of a bot's process. All values can be written as JSON, for the supervisor."""

    folder: str
    """An empty folder for this process alone."""
    readable: Sequence[str] = ()
    """Paths it needs to run; the system's programs and libraries are added."""
    hidden: Sequence[str] = ()
    """Folders with the operator's own files, hidden even if they are inside system or readable folders. A readable
    path inside a hidden one stays visible.
    """
    confined: bool = True
    """Whether to restrict more than memory, processor time and open files."""
    strict: bool = False
    """Whether to refuse to start if a restriction cannot be enforced."""
    lenient: bool = False
    """Whether to start as root where root cannot change its user id; everything else is still restricted."""
    memory: int = 4096
    """Megabytes of address space; 0 is no limit."""
    cpu: int = 3600
    """Seconds of processor time over the whole life of the process."""
    processes: int = 64
    open_files: int = 256
    file_size: int = 64
    """Megabytes for one file, and for the whole scratch folder where that has a size limit."""


# Imports from folders that a sandboxed process may not list


class _PackageFinder:
    def __init__(self, packages: Mapping[str, str]) -> None:
        self.packages = packages

    def find_spec(self, name: str, _path: Sequence[str] | None = None, _target: object = None) -> ModuleSpec | None:
        """Return the spec of one of our packages; None for all others."""
        file = self.packages.get(name)
        if file is None:
            return None
        inside = [str(Path(file).parent)] if Path(file).name == "__init__.py" else None
        return spec_from_file_location(name, file, submodule_search_locations=inside)


def find_packages(packages: Mapping[str, str]) -> None:
    """Make these packages importable, after everything that Python finds itself: name -> file that it begins with."""
    finder: Any = _PackageFinder(packages)
    # Last in the list: installed packages win, as they do in the process that entered the bot.
    sys.meta_path.append(finder)
