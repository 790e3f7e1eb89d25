"""What a confined process runs, and how it is started."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

from harness.sandbox.limits import SandboxLimits

ROOT = Path(__file__).parents[2]
"""The folder that has `harness` in it."""


@dataclass(frozen=True, slots=True)
class Launch:
    """What a process runs: a command, or else a function of ours in a fresh Python."""

    argv: tuple[str, ...] = ()
    """The command with its arguments."""
    entry: str = ""
    """The function, as module:name; it is called once the process is confined, and the process ends with it."""
    request: Mapping[str, object] = field(default_factory=dict)
    """The argument of that function. Everything in it can be written as JSON."""
    readable: tuple[str, ...] = ()
    """Folders and files that it needs to read."""
    packages: Mapping[str, str] = field(default_factory=dict)
    """Where Python packages begin that lie in no folder of installed ones, for `entry`: name -> file."""
    environment: Mapping[str, str] = field(default_factory=dict)
    """What it is told by its environment beside the usual."""
    copied: bool = False
    """Whether it forks a copy of itself for each match, once it has said hello (`harness.protocol.child`)."""

    def start(self, limits: SandboxLimits, cgroup: str) -> subprocess.Popen[bytes]:
        """Starts it under a warden, within these limits, in this cgroup if there is one."""
        orders = {
            "argv": self.argv,
            "entry": self.entry,
            "request": {**self.request, "copied": self.copied},
            "packages": dict(self.packages),
            "import_path": [path for path in sys.path if path],
            "root": str(ROOT),
            "parent": os.getpid(),
            "environment": {**environment_of_programs(), **self.environment},
            "limits": asdict(limits),
            "cgroup": cgroup,
        }
        command = [sys.executable, "-S", "-P", str(Path(__file__).with_name("warden.py")), json.dumps(orders)]
        pipe = subprocess.PIPE
        return subprocess.Popen(  # noqa: S603 - running a stranger's program is what this is for
            command,
            stdin=pipe,
            stdout=pipe,
            stderr=pipe,
            cwd="/",
            env=environment_of_programs(),
            process_group=0,
            bufsize=0,
        )


def environment_of_programs() -> dict[str, str]:
    """All that a program is told by its environment."""
    return {
        "PATH": os.environ.get("PATH", os.defpath),
        "LANG": "C.UTF-8",
        "PYTHONHASHSEED": "0",
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONNOUSERSITE": "1",
    }


def with_absolute_paths(argv: Sequence[str]) -> tuple[str, ...]:
    """A command whose files are named by absolute paths: its program runs in another folder."""
    found = [str(Path(word).resolve()) if i and Path(word).exists() else word for i, word in enumerate(argv)]
    program = shutil.which(argv[0])
    if program:
        found[0] = str(Path(program).absolute())
    return tuple(found)
