"""What a confined process may have. Apart from `confine`, which only some systems can import."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SandboxLimits:
    """What a bot's process may have. Everything here can be written as JSON."""

    folder: str
    """An empty folder that belongs to this process alone."""
    readable: Sequence[str] = ()
    """What it needs to run; the system's programs and libraries come on top."""
    hidden: Sequence[str] = ()
    """What it must not see of the system's folders, and of those that are readable: where the operator's own files are.
    Something readable that lies inside is still seen."""
    confined: bool = True
    """Whether to take away more than memory, processor time and open files."""
    strict: bool = False
    """Whether to refuse to go on when something could not be taken away."""
    lenient: bool = False
    """Whether to go on as root where root can turn into nobody else; all the rest is taken away all the same."""
    memory: int = 4096
    """Megabytes of address space; 0 is no limit."""
    cpu: int = 3600
    """Seconds of processor time in the whole life of the process."""
    processes: int = 64
    open_files: int = 256
    file_size: int = 64
    """Megabytes that it may write: for one file, and for its scratch folder where that has a size."""
